"""Calibrated rules: distributions, prediction sets, explanations, and what is guaranteed.

Either the inputs are calibrated (`CalibratedInputs`), and conclusions are as guaranteed as these,
or the answers (`CalibratedAnswers`), whatever the rules are.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices, name_of
from pinesy._common.validation import FloatArray, check_degree, check_known, listed
from pinesy.calibration.conformal_transform import ALL, ConformalTransform
from pinesy.calibration.prediction_sets import LevelExplanation, LevelWhyNot, PredictionSets
from pinesy.calibration.score_counts import ScoreCounts, significance
from pinesy.evidence.evidence_form import Evidence, evidence_form, evidence_rows
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, placed
from pinesy.explanations import explain, why_not
from pinesy.learning.model_file import LearnedRules
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.transforms import check_probabilities

Outputs = Iterable[str | Attribute] | None
Possibilities = Mapping[str, Possibility]
Weights = npt.ArrayLike | None
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedRules:
    """Rules with a calibration: what `calibrate` returns.

    Attributes
    ----------
    rules : Cascade
    transform : of the inputs' or the answers' degrees into p-values, with its counts
    learned : how the rules were learned, if that was given; it is saved with them
    """

    rules: Cascade
    transform: ConformalTransform
    learned: LearnedRules | None = None
    _of_inputs: ClassVar[bool] = False

    @abstractmethod
    def conformed(
        self, evidence: Evidence, outputs: Outputs = None, weights: Weights = None
    ) -> tuple[Possibilities, Any]:
        """Return the calibrated distributions of the outputs, and the conformity of samples.

        That is the p-value of the best value of the least conforming input, or answer.
        """

    def infer(
        self, evidence: Evidence, outputs: Outputs = None, *, weights: Weights = None
    ) -> Possibilities:
        """Return the calibrated distributions of the outputs; `weights` as in `predict_set`."""
        return self.conformed(evidence, outputs, weights)[0]

    def conformity(self, evidence: Evidence, *, weights: Weights = None) -> Any:
        """Return how well the least conforming input or answer of each sample fits at best."""
        return self.conformed(evidence, weights=weights)[1]

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """What is guaranteed, in words."""

    @abstractmethod
    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the degrees that are calibrated, arrays ``(n, ..., values)``."""

    def scores(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return how badly each value of what is calibrated fits: the scores that are counted."""
        return self.transform.scores(self.parts(evidence))

    @abstractmethod
    def label_indices(self, targets: Mapping[str, Any], n: int) -> dict[Any, Indices]:
        """Return the indices of the true values of `n` samples, in the form of `scores`."""

    def doubt(self, evidence: Evidence, *, weights: Weights = None) -> FloatArray:
        """Return for each sample the p-value of its margin score, which needs no labels.

        These are uniform while nothing changes; see `DriftMonitor`.
        """
        return self.transform.doubt(self.parts(evidence), weights)

    def predict_set(
        self,
        evidence: Evidence,
        level: float = 0.95,
        outputs: Outputs = None,
        *,
        weights: Weights = None,
    ) -> PredictionSets:
        """Return for each output the values that are not excluded at a level.

        The true values of all outputs are in their sets together in at least a share `level` of
        the samples (see `guarantee`), for every level. Raises `DataError` if there were too few
        calibration samples for the level.

        Parameters
        ----------
        weights : of the samples, one for each, on the scale of those of calibration: needed if
            that was weighted for a shift of the inputs, and refused if it was not. A sample of
            weight `w` keeps all its values at levels above ``W / (W + w)``, where `W` is the sum of
            the weights of calibration.
        """
        self.transform.check_level(level)
        return PredictionSets(level, *self.conformed(evidence, outputs, weights))

    @abstractmethod
    def _reasoned(self, evidence: Evidence, weights: Weights) -> Any:
        """Return the evidence on one sample that the rules reason on."""

    def explain(
        self,
        evidence: Evidence,
        proposition: Proposition | Attribute | str | None = None,
        *,
        level: float = 0.95,
        weights: Weights = None,
        **options: Any,
    ) -> LevelExplanation:
        """Explain one sample: which values are excluded at which levels, and why.

        Parameters
        ----------
        evidence, proposition : as `pinesy.explain` takes them; so are the `options`
        weights : that of the sample, as in `predict_set`
        """
        reasoned = self._reasoned(evidence, weights)
        explanation = explain(self.rules, reasoned, proposition, **options)
        sets = self.predict_set(evidence, level, [explanation.attribute], weights=weights)
        return LevelExplanation(sets, explanation, self.guarantee)

    def why_not(
        self,
        evidence: Evidence,
        value: Hashable,
        output: str | Attribute | None = None,
        *,
        level: float = 0.95,
        weights: Weights = None,
        **options: Any,
    ) -> LevelWhyNot:
        """Report at which levels a value is excluded, and by which p-values and rules.

        Parameters
        ----------
        evidence, value, output : as `pinesy.why_not` takes them; so are the `options`
        weights : that of the sample, as in `predict_set`
        """
        reason = why_not(self.rules, self._reasoned(evidence, weights), value, output, **options)
        sets = self.predict_set(evidence, level, [reason.attribute], weights=weights)
        pi = sets.possibilities
        p_value = pi[reason.attribute.name].degrees[reason.attribute.position(value)]
        return LevelWhyNot(level, float(p_value), reason, self._of_inputs)

    def calibrate_more(
        self, evidence: Evidence, targets: Mapping[Any, Any], weights: npt.ArrayLike | None = None
    ) -> Self:
        """Return the calibration by more samples too.

        It is that by all samples at once (with weights up to rounding, since floats that add in
        another order may differ in their last bits), unless `kinds` are ranked: then the ranks
        stay.
        """
        truth = true_values(self.rules, targets)
        parts = self.parts(evidence)
        indices = self.label_indices(truth, len(next(iter(parts.values()))))
        transform = copy(self.transform).partial_fit(parts, indices, weights)
        return replace(self, transform=transform)

    def __add__(self, other: Self) -> Self:
        """Return the calibration by the samples of both; the rules must be the same.

        Counts are those of all samples at once; sums of weights are so up to rounding.
        """
        if type(self) is not type(other) or self.rules != other.rules:
            raise DataError("calibrations add if they are of the same rules and of the same kind")
        return replace(self, transform=self.transform + other.transform)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.transform!r}; {self.rules!r})"


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

    def label_indices(self, targets: Mapping[str, Any], n: int) -> dict[Any, Indices]:
        """Return the indices of the true answers of `n` samples, by output."""
        return true_indices([self.rules[name].output for name in self.outputs], targets, n)

    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the possibilities that the rules infer, which are calibrated."""
        inferred = self.rules.infer(evidence, self.outputs, transform=self.probabilities)
        return {name: np.atleast_2d(inferred[name].degrees) for name in self.outputs}

    def _reasoned(self, evidence: Evidence, weights: Weights) -> Any:  # noqa: ARG002
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
            check_known(name, self.outputs, f"{name!r} was not calibrated")
        inferred = self.rules.infer(evidence, self.outputs, transform=self.probabilities)
        degrees = {name: np.atleast_2d(inferred[name].degrees) for name in self.outputs}
        pis, conformity = self.transform.conformed(degrees, weights)
        rows: Any = slice(None) if inferred.is_batch else 0
        return {
            name: Possibility(inferred[name].attribute, pis[name][rows], inferred[name].coherence)
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
            f"are (calibrated on {self.transform.n} samples; "
            f"{self.transform.assumption('training or learning')})."
        )


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
        truth = by_name(targets, "target")
        answers = {name: content for name, content in truth.items() if name in self.rules.sets}
        if not answers:
            return calibrated
        # How far do the rules exclude the true answers, if they know the true inputs?
        n = len(next(iter(answers.values())))
        indices = true_indices(self.rules.inputs, truth, n)
        certain = {a.name: np.eye(len(a.domain))[indices[a.name]] for a in self.rules.inputs}
        scores = []
        for name, pi in self.rules.infer(certain, list(answers)).items():
            columns = Target.of_values(answers[name], pi.attribute, n).labels
            scores.append(1.0 - pi.degrees[np.arange(n), columns])
        exceptions = ScoreCounts.of(np.max(scores, axis=0), weights)
        return replace(calibrated, exceptions=_sum(self.exceptions, exceptions))

    def __add__(self, other: Self) -> Self:
        """Return the calibration by the samples of both; the rules must be the same."""
        return replace(super().__add__(other), exceptions=_sum(self.exceptions, other.exceptions))

    def label_indices(self, targets: Mapping[str, Any], n: int) -> dict[Any, Indices]:
        """Return the indices of the true values of the inputs of `n` samples."""
        indices = true_indices(self.rules.inputs, targets, n)
        return {ALL: np.stack([*indices.values()], axis=1)} if self._is_uniform else indices

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
            size = len(self.rules.inputs[0].domain)  # -1 is ambiguous for an empty batch
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
            degrees = np.concatenate(
                [degrees[..., columns[a.name]] for a in program.inputs], axis=-1
            )
        return program.infer(degrees), conformity

    @property
    def guarantee(self) -> str:
        """What is guaranteed, in words."""
        text = (
            f"{self.transform.guarantee} Where the rules hold, so does what they conclude: the "
            "true answers are in their sets as often"
        )
        if self.exceptions is None:
            return f"{text}. If they fail in a share e of cases, that is L - e."
        rate = self.exception_rate(0.95)
        return f"{text}, less the share of cases in which the rules fail ({rate:.3g} at L = 0.95)."

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
        distance = abs(degrees[:, columns].sum(axis=1) - 1.0)
        if len(distance) and distance.max() > 0.0:
            row = int(distance.argmax())  # the worst: if it is near enough, all are
            with placed(f"attribute {attribute.name!r}" + f", row {row}" * is_batch):
                check_probabilities(degrees[row, columns], attribute.domain)


def true_values(cascade: Cascade, targets: Mapping[Any, Any]) -> dict[str, Any]:
    """Return true values by the names of inputs and outputs, or raise an error."""
    if not isinstance(targets, Mapping) or not targets:
        raise DataError(
            f"targets is {targets!r:.60}; give a dict from inputs, or from outputs, to true values"
        )
    truth = by_name(targets, "target")
    known = dict.fromkeys([*(a.name for a in cascade.inputs), *cascade.sets])
    for name in truth:
        check_known(name, known, f"no rule uses {name!r}")
    return truth


def true_indices(
    attributes: Sequence[Attribute], targets: Mapping[str, Any], n: int
) -> dict[Any, Indices]:
    """Return the indices of the true values of `n` samples in the domains, by attribute."""
    indices = {}
    for a in attributes:
        if a.name not in targets:
            names = listed([a.name for a in attributes])
            raise DataError(
                f"there are no true values of {a.name!r}; give those of {names} together (or "
                "calibrate by answers alone)"
            )
        indices[a.name] = Target.of_values(targets[a.name], a, n).labels.astype(np.int64)
    return indices
