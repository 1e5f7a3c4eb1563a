"""What calibrated rules are asked: distributions, sets, and what is guaranteed."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices, name_of
from pinesy._common.validation import FloatArray, check_known, listed
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.prediction_sets import LevelExplanation, LevelWhyNot, PredictionSets
from pinesy.evidence.evidence_form import Evidence, evidence_form
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.explanations import explain, why_not
from pinesy.learning.model_file import LearnedRules
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition

Outputs = Iterable[str | Attribute] | None
Possibilities = Mapping[str, Possibility]
Weights = npt.ArrayLike | None


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
    def places(self, targets: Mapping[str, Any], n: int) -> dict[Any, npt.NDArray[np.int64]]:
        """Return the places of the true values of `n` samples, in the form of `scores`."""

    def doubt(self, evidence: Evidence, *, weights: Weights = None) -> FloatArray:
        """Return for each sample the p-value of how unsure it is, which needs no labels.

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
        """Say at which levels a value is excluded, and which p-values and rules do it.

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
        named = true_values(self.rules, targets)
        parts = self.parts(evidence)
        n = len(next(iter(parts.values())))
        transform = copy(self.transform).partial_fit(parts, self.places(named, n), weights)
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

    def places(self, targets: Mapping[str, Any], n: int) -> dict[str, npt.NDArray[np.int64]]:
        """Return the places of the true answers of `n` samples, by output."""
        return true_places([self.rules[name].output for name in self.outputs], targets, n)

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


def true_values(cascade: Cascade, targets: Mapping[Any, Any]) -> dict[str, Any]:
    """Return true values by the names of inputs and outputs, or raise an error."""
    if not isinstance(targets, Mapping) or not targets:
        raise DataError(
            f"targets is {targets!r:.60}; give a dict from inputs, or from outputs, to true values"
        )
    named = by_name(targets, "target")
    known = dict.fromkeys([*(a.name for a in cascade.inputs), *cascade.sets])
    for name in named:
        check_known(name, known, f"no rule uses {name!r}")
    return named


def true_places(
    attributes: Iterable[Attribute], targets: Mapping[str, Any], n: int
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the places of the true values of `n` samples in the domains, by attribute."""
    places, wanted = {}, list(attributes)
    names = [a.name for a in wanted]
    for a in wanted:
        if a.name not in targets:
            raise DataError(
                f"there are no true values of {a.name!r}; give those of {listed(names)} together "
                "(or calibrate by answers alone)"
            )
        places[a.name] = Target.of_values(targets[a.name], a, n).labels.astype(np.int64)
    return places
