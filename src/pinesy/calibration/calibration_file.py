"""Calibrations in files: counts of scores, and no data.

A file of rules in JSON, learned or not, has one more key::

    "calibration": {"version": 1, "of": "inputs", "score": "complement", "unit": "sample",
                    "class_conditional": false, "kinds": null, "ranks": [],
                    "counts": [{"scores": [...], "counts": [...]}], "doubt": {...},
                    "exceptions": null}

Of answers it has ``"outputs": [...]`` and ``"probabilities": "antipignistic"`` (or null) in the
place of the exceptions.
"""

from collections.abc import Mapping
from typing import Any

from pinesy.calibration.calibrate import CalibratedAnswers, CalibratedInputs
from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.score_counts import ScoreCounts
from pinesy.exceptions import DataError
from pinesy.learning.model_file import LearnedRules
from pinesy.rulebase.cascade import Cascade
from pinesy.transforms import transform_name

VERSION = 1
#: The parameters of the transformation, as they stand in a file.
FORM = ("score", "unit", "class_conditional", "kinds")


def calibration_content(found: CalibratedRules) -> dict[str, Any]:
    """Return a calibration, without its rules, as JSON holds it."""
    transform = found.transform
    kinds = set((transform.kinds or {}).values())
    odd = next((kind for kind in kinds if not isinstance(kind, str | int)), None)
    if odd is not None:
        raise DataError(f"kinds of inputs are saved if they are texts or numbers; got {odd!r:.60}")
    return {
        "version": VERSION,
        **{name: getattr(transform, name) for name in FORM},
        "ranks": [[kind, counts.content] for kind, counts in transform.ranks_.items()],
        "counts": [counts.content for counts in transform.counts_],
        "doubt": transform.doubt_.content,
        **_own_content(found),
    }


def _own_content(found: CalibratedRules) -> dict[str, Any]:
    if isinstance(found, CalibratedAnswers):
        answers = {"outputs": list(found.outputs), "probabilities": found.probabilities}
        return {"of": "answers", **answers}
    assert isinstance(found, CalibratedInputs)
    exceptions = found.exceptions and found.exceptions.content
    return {"of": "inputs", "exceptions": exceptions}


def read_calibration(
    cascade: Cascade, content: Mapping[str, Any], learned: LearnedRules | None = None
) -> CalibratedRules:
    """Return what `calibration_content` was made of, for the rules of the same file.

    Raises `DataError`, or `KeyError`, `TypeError`, `ValueError` and such if something is missing
    or confused.
    """
    if content["version"] != VERSION:
        raise DataError(f'"calibration" is not of version {VERSION}, which this pinesy reads')
    transform = ConformalTransform(**{name: content[name] for name in FORM})
    transform.ranks_ = {kind: ScoreCounts.read(counts) for kind, counts in content["ranks"]}
    transform.counts_ = tuple(ScoreCounts.read(counts) for counts in content["counts"])
    transform.doubt_ = ScoreCounts.read(content["doubt"])
    if content["of"] == "answers":
        return _read_answers(cascade, transform, content, learned)
    if content["of"] != "inputs":
        raise ValueError(f'"of" is {content["of"]!r:.60}')
    _check_counts(
        transform, {len(a.domain) for a in cascade.inputs}, [a.name for a in cascade.inputs]
    )
    exceptions = content["exceptions"] and ScoreCounts.read(content["exceptions"])
    return CalibratedInputs(cascade, transform, learned, exceptions)


def _read_answers(
    cascade: Cascade,
    transform: ConformalTransform,
    content: Mapping[str, Any],
    learned: LearnedRules | None,
) -> CalibratedAnswers:
    outputs = tuple(content["outputs"])
    name = content["probabilities"] and transform_name(content["probabilities"])
    _check_counts(transform, {len(cascade[o].output.domain) for o in outputs}, outputs)
    return CalibratedAnswers(cascade, transform, learned, outputs, name)


def _check_counts(transform: ConformalTransform, sizes: set[int], names: Any) -> None:
    """Raise `DataError` unless the counts are those of attributes of such sizes."""
    wanted = max(sizes) if transform.class_conditional else 1
    kinds = transform.kinds or {}
    fits = {*kinds} == {*names} and {*kinds.values()} == {*transform.ranks_} if kinds else True
    if len(transform.counts_) != wanted or not fits or not sizes:
        raise DataError('"calibration" is not of these rules; the file was changed')
