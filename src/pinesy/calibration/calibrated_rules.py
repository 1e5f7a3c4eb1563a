"""Calibrated rules: distributions, prediction sets, explanations and guarantees.

Either the inputs are calibrated (`CalibratedInputs`), and the guarantee extends to the conclusions
of rules that hold, or the answers are (`CalibratedAnswers`), whatever the rules are.
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
    """Rules with a calibration, as `calibrate` returns them.

    Attributes
    ----------
    rules : Cascade
    transform : maps the degrees of inputs or answers to p-values; it has the calibration counts
    learned : the result of learning the rules, if it is known; it is saved with them
    """

    rules: Cascade
    transform: ConformalTransform
    learned: LearnedRules | None = None
    _of_inputs: ClassVar[bool] = False

    @abstractmethod
    def infer_with_conformity(
        self, evidence: Evidence, outputs: Outputs = None, weights: Weights = None
    ) -> tuple[Possibilities, Any]:
        """Return the calibrated distributions of the outputs, and the conformity of each sample.

        The conformity is the p-value of the best value of the least conforming input, or answer.
        """

    def infer(
        self, evidence: Evidence, outputs: Outputs = None, *, weights: Weights = None
    ) -> Possibilities:
        """Return the calibrated distributions of the outputs; `weights` as in `predict_set`."""
        return self.infer_with_conformity(evidence, outputs, weights)[0]

    def conformity(self, evidence: Evidence, *, weights: Weights = None) -> Any:
        """Return the conformity of each sample, see `infer_with_conformity`."""
        return self.infer_with_conformity(evidence, weights=weights)[1]

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """The guarantee as a sentence."""

    @abstractmethod
    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the degrees that are calibrated, arrays ``(n, ..., values)``."""

    def scores(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the nonconformity scores of all values of the calibrated inputs or answers."""
        return self.transform.scores(self.parts(evidence))

    @abstractmethod
    def label_indices(self, targets: Mapping[str, Any], n: int) -> dict[Any, Indices]:
        """Return the indices of the true values of `n` samples, in the form of `scores`."""

    def doubt(self, evidence: Evidence, *, weights: Weights = None) -> FloatArray:
        """Return the p-value of each sample's margin score, which needs no labels.

        The p-values are uniform while nothing changes; see `DriftMonitor`.
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
        weights : sample weights, on the scale of those of calibration: needed if the calibration
            was weighted for a covariate shift, and refused if it was not. A sample of weight `w`
            keeps all its values at levels above ``W / (W + w)``, where `W` is the sum of the
            weights of calibration.
        """
        self.transform.check_level(level)
        return PredictionSets(level, *self.infer_with_conformity(evidence, outputs, weights))

    @abstractmethod
    def _possibilities(self, evidence: Evidence, weights: Weights) -> Any:
        """Return the possibilities of the inputs from which the rules infer, for one sample."""

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
        evidence, proposition, options : as for `pinesy.explain`
        weights : the weight of the sample, as in `predict_set`
        """
        possibilities = self._possibilities(evidence, weights)
        explanation = explain(self.rules, possibilities, proposition, **options)
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
        evidence, value, output, options : as for `pinesy.why_not`
        weights : the weight of the sample, as in `predict_set`
        """
        possibilities = self._possibilities(evidence, weights)
        reason = why_not(self.rules, possibilities, value, output, **options)
        sets = self.predict_set(evidence, level, [reason.attribute], weights=weights)
        pi = sets.possibilities
        p_value = pi[reason.attribute.name].degrees[reason.attribute.position(value)]
        return LevelWhyNot(level, float(p_value), reason, self._of_inputs)

    def calibrate_more(
        self, evidence: Evidence, targets: Mapping[Any, Any], weights: npt.ArrayLike | None = None
    ) -> Self:
        """Return the calibration with more samples counted.

        It equals the calibration by all samples at once (with weights up to rounding, because
        floats are added in another order), unless there are `kinds`: then the ranks stay.
        """
        truth = true_values(self.rules, targets)
        parts = self.parts(evidence)
        indices = self.label_indices(truth, len(next(iter(parts.values()))))
        transform = copy(self.transform).partial_fit(parts, indices, weights)
        return replace(self, transform=transform)

    def __add__(self, other: Self) -> Self:
        """Return the calibration by the samples of both; the rules must be the same.

        Counts equal those of all samples at once; sums of weights do up to rounding.
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

    def answers(self, evidence: Evidence) -> Possibilities:
        """Return the distributions that are calibrated: those that the rules infer."""
        return self.rules.infer(evidence, self.outputs, transform=self.probabilities)

    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the degrees of `answers`, which are calibrated."""
        inferred = self.answers(evidence)
        return {name: np.atleast_2d(inferred[name].degrees) for name in self.outputs}

    def _possibilities(self, evidence: Evidence, weights: Weights) -> Any:  # noqa: ARG002
        if self.probabilities is None:
            return evidence
        rows = evidence_form(self.rules, self.rules.inputs).rows(evidence, self.probabilities)
        degrees = rows.block(0, rows.n) if rows.is_batch else rows.block(0, 1)[0]
        return {name: degrees[..., c] for name, c in column_slices(self.rules.inputs).items()}

    def infer_with_conformity(
        self, evidence: Evidence, outputs: Outputs = None, weights: Weights = None
    ) -> tuple[Possibilities, Any]:
        """Return the calibrated distributions of answers, and the conformity of each sample."""
        names = self.outputs if outputs is None else [str(name_of(o)) for o in outputs]
        for name in names:
            check_known(name, self.outputs, f"{name!r} was not calibrated")
        inferred = self.answers(evidence)
        degrees = {name: np.atleast_2d(inferred[name].degrees) for name in self.outputs}
        pis, conformity = self.transform.with_conformity(degrees, weights)
        rows: Any = slice(None) if inferred[self.outputs[0]].is_batch else 0
        return {
            name: Possibility(inferred[name].attribute, pis[name][rows], inferred[name].coherence)
            for name in names
        }, conformity[rows]

    @property
    def guarantee(self) -> str:
        """The guarantee as a sentence."""
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
    exceptions : the share of cases in which the rules fail, if it is known; or the counts of
        ``1 - pi(w)`` of true answers `w`, inferred from the true inputs
    """

    exceptions: ScoreCounts | float | None = None
    _of_inputs: ClassVar[bool] = True

    def calibrate_more(
        self, evidence: Evidence, targets: Mapping[Any, Any], weights: npt.ArrayLike | None = None
    ) -> Self:
        """Return the calibration with more samples; answers estimate how often the rules fail."""
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
        return replace(calibrated, exceptions=_add_exceptions(self.exceptions, exceptions))

    def __add__(self, other: Self) -> Self:
        """Return the calibration by the samples of both; the rules must be the same."""
        return replace(
            super().__add__(other), exceptions=_add_exceptions(self.exceptions, other.exceptions)
        )

    def label_indices(self, targets: Mapping[str, Any], n: int) -> dict[Any, Indices]:
        """Return the indices of the true values of the inputs of `n` samples."""
        indices = true_indices(self.rules.inputs, targets, n)
        return {ALL: np.stack([*indices.values()], axis=1)} if self._is_uniform else indices

    def parts(self, evidence: Evidence) -> dict[Any, FloatArray]:
        """Return the degrees of all inputs: by input, or in one array if sizes are equal."""
        return self._split_inputs(self._input_degrees(evidence)[0])

    def _input_degrees(self, evidence: Evidence) -> tuple[FloatArray, bool]:
        """Return the degrees (n, values of all inputs), and whether the evidence is a batch."""
        rows = evidence_rows(self.rules, evidence)
        block = rows.block(0, rows.n)
        if not (block.min(initial=0.0) >= 0.0 and block.max(initial=1.0) <= 1.0):  # or NaN
            raise_bad_degree(block, self.rules.inputs, rows.is_batch)
        if self.transform.score != "complement":
            check_sums(block, self.rules.inputs, rows.is_batch)
        return block, rows.is_batch

    def _split_inputs(self, block: FloatArray) -> dict[Any, FloatArray]:
        """Return the degrees of all inputs, side by side in `block`, as `parts` does."""
        if self._is_uniform:
            size = len(self.rules.inputs[0].domain)  # -1 is ambiguous for an empty batch
            return {ALL: block.reshape(len(block), len(self.rules.inputs), size)}
        return {name: block[:, c] for name, c in column_slices(self.rules.inputs).items()}

    @property
    def _is_uniform(self) -> bool:
        """Whether all inputs fit one array ``(n, inputs, values)``."""
        return len({len(a.domain) for a in self.rules.inputs}) == 1 and not self.transform.kinds

    def degrees(self, evidence: Evidence, *, weights: Weights = None) -> FloatArray:
        """Return the calibrated possibilities (n, values of all inputs)."""
        return self.degrees_with_conformity(evidence, weights)[0]

    def _possibilities(self, evidence: Evidence, weights: Weights) -> Any:
        degrees = self.degrees(evidence, weights=weights)
        return {name: degrees[..., c] for name, c in column_slices(self.rules.inputs).items()}

    def degrees_with_conformity(
        self, evidence: Evidence, weights: Weights = None
    ) -> tuple[FloatArray, Any]:
        """Return the calibrated possibilities of inputs, and the conformity of each sample."""
        block, is_batch = self._input_degrees(evidence)
        parts, conformity = self.transform.with_conformity(self._split_inputs(block), weights)
        if self._is_uniform:
            joined = parts[ALL].reshape(block.shape)
        else:
            joined = np.hstack([*parts.values()])
        return (joined, conformity) if is_batch else (joined[0], conformity[0])

    def infer_with_conformity(
        self, evidence: Evidence, outputs: Outputs = None, weights: Weights = None
    ) -> tuple[Possibilities, Any]:
        """Return what the rules infer from calibrated inputs, and the conformity of each sample."""
        degrees, conformity = self.degrees_with_conformity(evidence, weights)
        program = self.rules.compile(outputs)
        if program.inputs != self.rules.inputs:
            columns = column_slices(self.rules.inputs)
            degrees = np.concatenate(
                [degrees[..., columns[a.name]] for a in program.inputs], axis=-1
            )
        return program.infer(degrees), conformity

    @property
    def guarantee(self) -> str:
        """The guarantee as a sentence."""
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
        return self.exceptions.share_at_least(least)


def _add_exceptions(
    first: ScoreCounts | float | None, second: ScoreCounts | float | None
) -> ScoreCounts | float | None:
    """Return the sum of two counts of exceptions; a known share takes precedence over counts."""
    if isinstance(first, ScoreCounts) and isinstance(second, ScoreCounts):
        return first + second
    shares = {share for share in (first, second) if isinstance(share, float)}
    if len(shares) > 1:
        raise DataError(f"the calibrations have other shares of exceptions: {first} and {second}")
    return shares.pop() if shares else second if first is None else first


def raise_bad_degree(degrees: FloatArray, attributes: Sequence[Attribute], is_batch: bool) -> None:
    """Raise `DegreeError` that names the attribute, row and value of the first bad degree.

    `degrees` is an array (n, values of all attributes).
    """
    row, column = np.argwhere(~((degrees >= 0.0) & (degrees <= 1.0)))[0].tolist()
    for attribute, columns in zip(attributes, column_slices(attributes).values(), strict=True):
        if column < columns.stop:
            value = attribute.domain[column - columns.start]
            where = f"attribute {attribute.name!r}" + f", row {row}" * is_batch
            check_degree(degrees[row, column], f"{where}: the degree of {value!r}")


def check_sums(degrees: FloatArray, attributes: Sequence[Attribute], is_batch: bool) -> None:
    """Raise `DegreeError` for the first attribute and row whose degrees do not sum to 1."""
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
