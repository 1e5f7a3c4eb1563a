"""Rules on calibrated inputs: they carry the guarantee to their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.calibration.calibrated_rules import CalibratedRules, Outputs, Possibilities, true_places
from pinesy.calibration.conformal_scores import ALL
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.score_counts import ScoreCounts, significance
from pinesy.engine.evidence import Evidence
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.cascade_evidence import evidence_rows
from pinesy.rulebase.targets import Target
from pinesy.rules.possibility import Possibility


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedInputs(CalibratedRules):
    """Rules on calibrated inputs.

    Attributes
    ----------
    exceptions : if it is known, how possible the rules leave the true answers where they are given
        the true inputs: ``1 - pi(w)``, counted
    """

    exceptions: ScoreCounts | None = None

    @classmethod
    def of(
        cls,
        cascade: Cascade,
        evidence: Evidence,
        targets: dict[str, Any],
        score: str,
        options: dict[str, Any],
        weights: npt.ArrayLike | None,
    ) -> "CalibratedInputs":
        """Calibrate inputs; see `calibrate`."""
        block, n = _block(cascade, evidence)
        truth = true_places(cascade.inputs, targets, n)
        found = cls(cascade, ConformalTransform(score, **options))
        parts = _split(cascade, block, _is_uniform(cascade, found.transform))
        found.transform.fit(parts, found.places(targets, n), weights)
        answers = {name: content for name, content in targets.items() if name in cascade.sets}
        return replace(found, exceptions=_exceptions(cascade, truth, answers) if answers else None)

    def places(self, targets: Mapping[str, Any], n: int) -> dict[Any, npt.NDArray[np.int64]]:
        """Return the places of the true values of the inputs of `n` samples."""
        truth = true_places(self.rules.inputs, targets, n)
        if _is_uniform(self.rules, self.transform):
            return {ALL: np.stack([*truth.values()], axis=1)}
        return truth

    def degrees(self, evidence: Evidence) -> FloatArray:
        """Return the calibrated possibilities of all inputs, side by side."""
        return self._calibrated(evidence)[0]

    def _calibrated(self, evidence: Evidence) -> tuple[FloatArray, Any]:
        """Return calibrated possibilities, side by side, and the conformity of samples."""
        rows = evidence_rows(self.rules, evidence)
        stacked = _is_uniform(self.rules, self.transform)
        block = rows.block(0, rows.n)
        found, conformity = self.transform.conformed(_split(self.rules, block, stacked))
        joined = found.reshape(block.shape) if stacked else np.hstack([*found.values()])
        return (joined, conformity) if rows.is_batch else (joined[0], conformity[0])

    def conformed(self, evidence: Evidence, outputs: Outputs = None) -> tuple[Possibilities, Any]:
        """Return what the rules infer from calibrated inputs, and the conformity of samples."""
        degrees, conformity = self._calibrated(evidence)
        program = self.rules.compile(outputs)
        if program.inputs != self.rules.inputs:
            columns = column_slices(self.rules.inputs)
            own = [degrees[..., columns[a.name]] for a in program.inputs]
            degrees = np.concatenate(own, axis=-1)
        return program.infer(degrees), conformity

    def scores(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return how badly each value of each input fits."""
        block, _ = _block(self.rules, evidence)
        parts = _split(self.rules, block, _is_uniform(self.rules, self.transform))
        return self.transform.scores(parts)

    @property
    def guarantee(self) -> str:
        """What is guaranteed, in words."""
        said = (
            f"{self.transform.guarantee} Where the rules hold, so does what they conclude: the "
            "true answers are in their sets as often"
        )
        if self.exceptions is None:
            return f"{said}. If they fail in a share e of cases, that is L - e."
        rate = self.exception_rate(0.95)
        return f"{said}, less the share of cases in which the rules fail ({rate:.3g} at L = 0.95)."

    def exception_rate(self, level: float) -> float:
        """Return the share of samples whose true answers the rules exclude at a level.

        A rule whose parameter is above ``1 - level`` excludes nothing at it.
        """
        if self.exceptions is None:
            return 0.0
        least = 1.0 - significance(level)
        bad = self.exceptions.scores >= least
        return float(self.exceptions.counts[bad].sum() / self.exceptions.total)


def _is_uniform(cascade: Cascade, transform: ConformalTransform) -> bool:
    """Tell whether all inputs can be seen as one array ``(n, inputs, values)``."""
    return len({len(a.domain) for a in cascade.inputs}) == 1 and not transform.kinds


def _block(cascade: Cascade, evidence: Evidence) -> tuple[FloatArray, int]:
    rows = evidence_rows(cascade, evidence)
    return rows.block(0, rows.n), rows.n


def _split(cascade: Cascade, block: FloatArray, stacked: bool) -> Any:
    """Return the degrees of all inputs by input, or as one array where that can be."""
    if stacked:
        return block.reshape(len(block), len(cascade.inputs), len(cascade.inputs[0].domain))
    return {name: block[:, c] for name, c in column_slices(cascade.inputs).items()}


def _exceptions(
    cascade: Cascade, truth: Mapping[str, Any], answers: Mapping[str, Any]
) -> ScoreCounts:
    """Count how far the rules exclude the true answers, given the true inputs."""
    n = len(next(iter(truth.values())))
    certain = {a.name: np.eye(len(a.domain))[truth[a.name]] for a in cascade.inputs}
    inferred = cascade.infer(certain, list(answers))
    scores = [_answer_scores(inferred[name], answers[name], n) for name in answers]
    return ScoreCounts.of(np.max(scores, axis=0))


def _answer_scores(pi: Possibility, answers: Any, n: int) -> FloatArray:
    places = Target.of_values(answers, pi.attribute, n).labels
    return np.asarray(1.0 - pi.degrees[np.arange(n), places])
