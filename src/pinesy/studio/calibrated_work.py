"""The calibrated rules of a session, and evidence in the form of their calibration."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pinesy.calibration import CalibratedAnswers, CalibratedInputs, CalibratedRules
from pinesy.exceptions import DataError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.studio.session import Work
from pinesy.transforms import antipignistic_inverse, transform_name


def calibrated_of(work: Work) -> CalibratedRules:
    """Return the calibrated rules, for evidence as `calibrated_evidence` gives it."""
    found = work.calibrated
    if found is None:
        raise DataError(
            "these rules are not calibrated, so nothing is guaranteed at any level: pinesy "
            "calibrate does it"
        )
    return replace(found, probabilities=None) if isinstance(found, CalibratedAnswers) else found


def calibrated_evidence(work: Work, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return evidence, of one sample or several, as calibration saw it.

    The inputs of a model were calibrated by the probabilities of its perception, which are told
    from possibilities by the inverse of the antipignistic transformation.
    """
    model = work.model
    if model is None or not isinstance(work.calibrated, CalibratedInputs):
        return dict(evidence)
    if transform_name(model.transform) != "antipignistic":
        raise DataError(
            "levels need the probabilities of the network, which cannot be told from degrees of "
            f"the transformation {transform_name(model.transform)}"
        )
    inputs = {a.name: a for a in work.rules.inputs}
    return {name: _probabilities(inputs[name], content) for name, content in evidence.items()}


def _probabilities(attribute: Attribute, content: Any) -> Any:
    """Return the probabilities that possibilities were made of; of a value, that it is certain."""
    if isinstance(content, Possibility):
        content = content.degrees
    if content is None:
        return np.full(len(attribute.domain), 1.0 / len(attribute.domain))
    if isinstance(content, list | np.ndarray):
        return antipignistic_inverse(np.asarray(content, dtype=np.float64))
    return np.eye(len(attribute.domain))[attribute.position(content)]
