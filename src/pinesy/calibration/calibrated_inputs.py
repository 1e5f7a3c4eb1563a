"""Rules on calibrated inputs: what they conclude is as guaranteed as the inputs are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices
from pinesy._common.validation import FloatArray, check_degree
from pinesy.calibration.calibrated_rules import (
    CalibratedRules,
    Outputs,
    Possibilities,
    Weights,
    true_places,
)
from pinesy.calibration.conformal_transform import ALL
from pinesy.calibration.score_counts import ScoreCounts, significance
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, placed
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import check_probabilities


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedInputs(CalibratedRules):
    """Rules on calibrated inputs.

    Attributes
    ----------
    exceptions : if it is known, the share of cases in which the rules fail; or how possible they
        leave the true answers where they are given the true inputs: ``1 - pi(w)``, counted
    """

    exceptions: ScoreCounts | float | None = None
    _of_inputs: ClassVar[bool] = True

    def calibrate_more(
        self, evidence: Evidence, targets: Mapping[Any, Any], weights: npt.ArrayLike | None = None
    ) -> Self:
        """Return the calibration by more samples too; answers tell how often the rules fail."""
        calibrated = super().calibrate_more(evidence, targets, weights)
        named = by_name(targets, "target")
        answers = {name: content for name, content in named.items() if name in self.rules.sets}
        if not answers:
            return calibrated
        seen = _exceptions(self.rules, named, answers, weights)
        return replace(calibrated, exceptions=_sum(self.exceptions, seen))

    def __add__(self, other: Self) -> Self:
        """Return the calibration by the samples of both; the rules must be the same."""
        return replace(super().__add__(other), exceptions=_sum(self.exceptions, other.exceptions))

    def places(self, targets: Mapping[str, Any], n: int) -> dict[Any, npt.NDArray[np.int64]]:
        """Return the places of the true values of the inputs of `n` samples."""
        truth = true_places(self.rules.inputs, targets, n)
        if self._is_uniform:
            return {ALL: np.stack([*truth.values()], axis=1)}
        return truth

    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the degrees of all inputs: by input, or in one array where that can be."""
        return self._split(self._block(evidence)[0])

    def _block(self, evidence: Evidence) -> tuple[FloatArray, bool]:
        """Return the degrees of all inputs side by side, and whether they are of a batch."""
        rows = evidence_rows(self.rules, evidence)
        block = rows.block(0, rows.n)
        if not (block.min(initial=0.0) >= 0.0 and block.max(initial=1.0) <= 1.0):  # or NaN
            refuse_degrees(block, self.rules.inputs, rows.is_batch)
        if self.transform.score != "complement":
            refuse_sums(block, self.rules.inputs, rows.is_batch)
        return block, rows.is_batch

    def _split(self, block: FloatArray) -> dict[Any, FloatArray]:
        if self._is_uniform:
            size = len(self.rules.inputs[0].domain)  # -1 cannot be told of an empty batch
            return {ALL: block.reshape(len(block), len(self.rules.inputs), size)}
        return {name: block[:, c] for name, c in column_slices(self.rules.inputs).items()}

    @property
    def _is_uniform(self) -> bool:
        """Whether all inputs can be seen as one array ``(n, inputs, values)``."""
        return len({len(a.domain) for a in self.rules.inputs}) == 1 and not self.transform.kinds

    def degrees(self, evidence: Evidence, *, weights: Weights = None) -> FloatArray:
        """Return the calibrated possibilities of all inputs, side by side."""
        return self._calibrated(evidence, weights)[0]

    def _reasoned(self, evidence: Evidence, weights: Weights) -> Any:
        degrees = self.degrees(evidence, weights=weights)
        return {name: degrees[..., c] for name, c in column_slices(self.rules.inputs).items()}

    def _calibrated(self, evidence: Evidence, weights: Weights = None) -> tuple[FloatArray, Any]:
        """Return calibrated possibilities, side by side, and the conformity of samples."""
        block, is_batch = self._block(evidence)
        parts, conformity = self.transform.conformed(self._split(block), weights)
        if self._is_uniform:
            joined = parts[ALL].reshape(block.shape)
        else:
            joined = np.hstack([*parts.values()])
        return (joined, conformity) if is_batch else (joined[0], conformity[0])

    def conformed(
        self, evidence: Evidence, outputs: Outputs = None, weights: Weights = None
    ) -> tuple[Possibilities, Any]:
        """Return what the rules infer from calibrated inputs, and the conformity of samples."""
        degrees, conformity = self._calibrated(evidence, weights)
        program = self.rules.compile(outputs)
        if program.inputs != self.rules.inputs:
            columns = column_slices(self.rules.inputs)
            own = [degrees[..., columns[a.name]] for a in program.inputs]
            degrees = np.concatenate(own, axis=-1)
        return program.infer(degrees), conformity

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
        least = 1.0 - significance(level)
        if not isinstance(self.exceptions, ScoreCounts):
            return self.exceptions or 0.0
        return self.exceptions.share_from(least)


def _sum(
    first: ScoreCounts | float | None, second: ScoreCounts | float | None
) -> ScoreCounts | float | None:
    """Return the exceptions of two parts; a share that is known is not mixed with counts."""
    if isinstance(first, ScoreCounts) and isinstance(second, ScoreCounts):
        return first + second
    shares = {share for share in (first, second) if isinstance(share, float)}
    if len(shares) > 1:
        raise DataError(f"the calibrations have other shares of exceptions: {first} and {second}")
    return shares.pop() if shares else second if first is None else first


def _exceptions(
    cascade: Cascade, targets: Mapping[str, Any], answers: Mapping[str, Any], weights: Weights
) -> ScoreCounts:
    """Count how far the rules exclude the true answers, given the true inputs."""
    n = len(next(iter(answers.values())))
    truth = true_places(cascade.inputs, targets, n)
    certain = {a.name: np.eye(len(a.domain))[truth[a.name]] for a in cascade.inputs}
    inferred = cascade.infer(certain, list(answers))
    scores = [_answer_scores(inferred[name], answers[name], n) for name in answers]
    return ScoreCounts.of(np.max(scores, axis=0), weights)


def _answer_scores(pi: Possibility, answers: Any, n: int) -> FloatArray:
    places = Target.of_values(answers, pi.attribute, n).labels
    return np.asarray(1.0 - pi.degrees[np.arange(n), places])


def refuse_degrees(degrees: FloatArray, attributes: Sequence[Attribute], is_batch: bool) -> None:
    """Raise `DegreeError` that names the attribute, row and value of the first bad degree.

    The degrees of all attributes stand side by side, a row for each sample.
    """
    row, column = np.argwhere(~((degrees >= 0.0) & (degrees <= 1.0)))[0].tolist()
    for attribute, columns in zip(attributes, column_slices(attributes).values(), strict=True):
        if column < columns.stop:
            value = attribute.domain[column - columns.start]
            where = f"attribute {attribute.name!r}" + f", row {row}" * is_batch
            check_degree(degrees[row, column], f"{where}: the degree of {value!r}")


def refuse_sums(degrees: FloatArray, attributes: Sequence[Attribute], is_batch: bool) -> None:
    """Raise `DegreeError` for the first attribute and row whose degrees are no probabilities."""
    for attribute, columns in zip(attributes, column_slices(attributes).values(), strict=True):
        far = abs(degrees[:, columns].sum(axis=1) - 1.0)
        if len(far) and far.max() > 0.0:
            row = int(far.argmax())  # the worst: if it is near enough, all are
            with placed(f"attribute {attribute.name!r}" + f", row {row}" * is_batch):
                check_probabilities(degrees[row, columns], attribute.domain)
