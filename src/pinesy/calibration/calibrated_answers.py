"""Rules whose answers are calibrated, whatever the rules are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import FloatArray, suggestion
from pinesy.calibration.calibrated_rules import (
    CalibratedRules,
    Outputs,
    Possibilities,
    Weights,
    true_places,
)
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import UnknownAttributeError
from pinesy.rulebase.cascade_evidence import evidence_form
from pinesy.rules.possibility import Possibility


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedAnswers(CalibratedRules):
    """Rules whose answers are calibrated: ``sigma(w) = 1 - pi(w)``, the worst of all outputs.

    Attributes
    ----------
    outputs : the names of the attributes that were calibrated together
    probabilities : the transformation of probabilities in the evidence; None for possibilities
    """

    outputs: tuple[str, ...] = ()
    probabilities: str | None = None

    def places(self, targets: Mapping[str, Any], n: int) -> dict[str, npt.NDArray[np.int64]]:
        """Return the places of the true answers of `n` samples, by output."""
        return true_places([self.rules[name].output for name in self.outputs], targets, n)

    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the possibilities that the rules infer, which are calibrated."""
        inferred = self.rules.infer(evidence, self.outputs, transform=self.probabilities)
        return {name: np.atleast_2d(inferred[name].degrees) for name in self.outputs}

    def _reasoned(self, evidence: Evidence) -> Any:
        if self.probabilities is None:
            return evidence
        rows = evidence_form(self.rules, self.rules.inputs).rows(evidence, self.probabilities)
        degrees = rows.block(0, rows.n) if rows.is_batch else rows.block(0, 1)[0]
        return {name: degrees[..., c] for name, c in column_slices(self.rules.inputs).items()}

    def conformed(
        self, evidence: Evidence, outputs: Outputs = None, weights: Weights = None
    ) -> tuple[Possibilities, Any]:
        """Return calibrated distributions of answers, and the conformity of samples."""
        names = self.outputs if outputs is None else [str(name_of(o)) for o in outputs]
        for name in names:
            if name not in self.outputs:
                raise UnknownAttributeError(
                    f"{name!r} was not calibrated{suggestion(name, self.outputs)}"
                )
        inferred = self.rules.infer(evidence, self.outputs, transform=self.probabilities)
        degrees = {name: np.atleast_2d(inferred[name].degrees) for name in self.outputs}
        given = None if weights is None else np.atleast_1d(weights)
        found, conformity = self.transform.conformed(degrees, given)
        rows: Any = slice(None) if inferred.is_batch else 0
        return {
            name: Possibility(inferred[name].attribute, found[name][rows], inferred[name].coherence)
            for name in names
        }, conformity[rows]

    @property
    def guarantee(self) -> str:
        """What is guaranteed, in words."""
        answers = f"the true answer ({self.outputs[0]}) is in its set"
        if len(self.outputs) > 1:
            answers = f"the true answers ({', '.join(self.outputs)}) are in their sets together"
        return (
            f"For any level L, in at least a share L of new samples {answers}, whatever the rules "
            f"are (calibrated on {self.transform.n:g} samples; new ones must be exchangeable with "
            "these, which must not have been used for training or learning)."
        )
