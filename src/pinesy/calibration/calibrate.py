"""Calibrate rules on samples whose true values are known: those of inputs, or answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices, name_of
from pinesy._common.validation import FloatArray, check_known, check_number
from pinesy.calibration.calibrated_rules import (
    CalibratedRules,
    Outputs,
    Possibilities,
    Weights,
    named_targets,
    true_places,
)
from pinesy.calibration.conformal_scores import ALL, refuse_degrees, refuse_sums
from pinesy.calibration.conformal_transform import ConformalTransform, Unit
from pinesy.calibration.score_counts import ScoreCounts, significance
from pinesy.engine.evidence import Evidence, Transform
from pinesy.exceptions import DataError
from pinesy.learning.estimates import ParameterEstimate
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.cascade_evidence import evidence_form, evidence_rows
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target
from pinesy.rules.possibility import Possibility
from pinesy.transforms import transform_name


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedInputs(CalibratedRules):
    """Rules on calibrated inputs.

    Attributes
    ----------
    exceptions : if it is known, how possible the rules leave the true answers where they are given
        the true inputs: ``1 - pi(w)``, counted
    """

    exceptions: ScoreCounts | None = None
    _of_inputs: ClassVar[bool] = True

    def calibrate_more(
        self, evidence: Evidence, targets: Mapping[Any, Any], weights: npt.ArrayLike | None = None
    ) -> Self:
        """Return the calibration by more samples too; answers tell how often the rules fail."""
        found = super().calibrate_more(evidence, targets, weights)
        named = by_name(targets, "target")
        answers = {name: content for name, content in named.items() if name in self.rules.sets}
        if not answers:
            return found
        seen = _exceptions(self.rules, named, answers)
        return replace(found, exceptions=_sum(self.exceptions, seen))

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

    def degrees(self, evidence: Evidence) -> FloatArray:
        """Return the calibrated possibilities of all inputs, side by side."""
        return self._calibrated(evidence)[0]

    def _reasoned(self, evidence: Evidence) -> Any:
        degrees = self.degrees(evidence)
        return {name: degrees[..., c] for name, c in column_slices(self.rules.inputs).items()}

    def _calibrated(self, evidence: Evidence, weights: Weights = None) -> tuple[FloatArray, Any]:
        """Return calibrated possibilities, side by side, and the conformity of samples."""
        block, is_batch = self._block(evidence)
        given = None if weights is None else np.atleast_1d(weights)
        found, conformity = self.transform.conformed(self._split(block), given)
        if self._is_uniform:
            joined = found[ALL].reshape(block.shape)
        else:
            joined = np.hstack([*found.values()])
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
        if self.exceptions is None:
            return 0.0
        least = 1.0 - significance(level)
        bad = self.exceptions.scores >= least
        return float(self.exceptions.counts[bad].sum() / self.exceptions.total)


def _sum(one: ScoreCounts | None, other: ScoreCounts | None) -> ScoreCounts | None:
    return one + other if one and other else one or other


def _exceptions(
    cascade: Cascade, targets: Mapping[str, Any], answers: Mapping[str, Any]
) -> ScoreCounts:
    """Count how far the rules exclude the true answers, given the true inputs."""
    n = len(next(iter(answers.values())))
    truth = true_places(cascade.inputs, targets, n)
    certain = {a.name: np.eye(len(a.domain))[truth[a.name]] for a in cascade.inputs}
    inferred = cascade.infer(certain, list(answers))
    scores = [_answer_scores(inferred[name], answers[name], n) for name in answers]
    return ScoreCounts.of(np.max(scores, axis=0))


def _answer_scores(pi: Possibility, answers: Any, n: int) -> FloatArray:
    places = Target.of_values(answers, pi.attribute, n).labels
    return np.asarray(1.0 - pi.degrees[np.arange(n), places])


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
            check_known(name, self.outputs, f"{name!r} was not calibrated")
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


def calibrate(
    rules: Cascade | RuleSet | LearnedRules | LearningResult | ParameterEstimate,
    evidence: Evidence,
    targets: Mapping[Any, Any],
    *,
    score: str = "complement",
    unit: Unit = "sample",
    class_conditional: bool = False,
    kinds: Mapping[Any, Any] | None = None,
    weights: npt.ArrayLike | None = None,
    exceptions: float | None = None,
    transform: Transform = None,
) -> "CalibratedRules":
    """Calibrate rules on samples whose true values are known, so that their answers are guaranteed.

    The samples must not have been used to train what the evidence comes from. With the true values
    of all inputs as targets, inputs are calibrated and the rules carry the guarantee to their
    answers, which is right where the rules are. With true answers, the answers are calibrated:
    that holds for any rules, even wrong ones. docs/guarantees.md says which to take.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`, or what `learn` returns
    evidence : of the calibration samples: possibilities, or probabilities (then with
        ``transform``, if answers are calibrated)
    targets : by input, or by output, the true values. With both, inputs are calibrated, and the
        answers tell how often the rules fail.
    score, unit, class_conditional, kinds : as `ConformalTransform` takes them
    weights : of the samples, for a shift of the inputs; see `ConformalTransform.fit`
    exceptions : the share of cases in which the rules do not hold, where it is known
    transform : if answers are calibrated and the evidence holds probabilities, their transformation

    Examples
    --------
    >>> import numpy as np
    >>> from pinesy import Attribute, function, joint
    >>> left, right = Attribute("left", range(3)), Attribute("right", range(3))
    >>> rules = function("total", joint("pair", left, right), "left + right")
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=(200, 2))
    >>> noisy = np.eye(3)[truth] + rng.gamma(0.2, size=(200, 2, 3))
    >>> p = noisy / noisy.sum(axis=2, keepdims=True)
    >>> evidence = {"left": p[:, 0], "right": p[:, 1]}
    >>> sure = calibrate(rules, evidence, {"left": truth[:, 0], "right": truth[:, 1]})
    >>> sure.predict_set({"left": [0.9, 0.1, 0.0], "right": [0.0, 0.6, 0.4]}, level=0.95)
    PredictionSets(total in {1, 2} at 0.95)
    """
    cascade, learned = _rules(rules)
    named = named_targets(cascade, targets)
    options: dict[str, Any] = {
        "unit": unit,
        "class_conditional": class_conditional,
        "kinds": None if kinds is None else by_name(kinds, "input"),
    }
    if not any(name in named for name in (a.name for a in cascade.inputs)):
        if score != "complement":
            raise DataError(
                f"score is {score!r:.60}; answers are scored by 1 - pi ('complement') alone"
            )
        name = None if transform is None else transform_name(transform)
        answers = CalibratedAnswers(
            cascade, ConformalTransform(**options), learned, tuple(named), name
        )
        return answers.calibrate_more(evidence, named, weights)
    if transform is not None:
        raise DataError(
            "inputs are calibrated by their scores in the place of a transformation; leave "
            "transform out, or choose score='antipignistic'"
        )
    found = CalibratedInputs(cascade, ConformalTransform(score, **options), learned)
    found = found.calibrate_more(evidence, named, weights)
    return found if exceptions is None else replace(found, exceptions=_rate(exceptions))


def _rules(given: Any) -> tuple[Cascade, LearnedRules | None]:
    """Return rules, and how they were learned if they come with that."""
    if isinstance(given, LearningResult | ParameterEstimate):
        given = LearnedRules(given, {})
    if isinstance(given, LearnedRules):
        return given.cascade, given
    return as_cascade(given), None


def _rate(exceptions: float) -> ScoreCounts:
    rate = check_number(exceptions, "exceptions", most=1.0)
    return ScoreCounts.of([0.0, 1.0], [1.0 - rate, rate])
