"""`decide`: of the cases that are decided without review, at most a promised share is wrong."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_known
from pinesy.calibration.calibrated_rules import CalibratedAnswers, CalibratedRules, true_indices
from pinesy.evidence.evidence_form import Evidence, Transform, evidence_form
from pinesy.evidence.targets import named_targets
from pinesy.exceptions import DataError, DomainError, ShapeError
from pinesy.guarantees.decision_threshold import DecisionThreshold, read_threshold, threshold_of
from pinesy.guarantees.decisions import (
    RankedAnswers,
    SelectiveDecisions,
    rank_answers,
    rank_classes,
    rank_points,
    wrong_answers,
)
from pinesy.guarantees.grouped_rules import GroupedRules
from pinesy.induction.points_cascade import CardCascade
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import as_transform

#: Rules, with what was learned or calibrated.
Model = Cascade | LearnedRules | CalibratedRules | GroupedRules
#: Costs of answers: ``costs[true][answer]``, or by pairs ``(true, answer)``, 0 for others.
Costs = npt.ArrayLike | Mapping[tuple[Hashable, Hashable], float]


def decide(
    rules: Model | RuleSet | LearningResult | ParameterEstimate,
    evidence: Evidence,
    targets: Any,
    *,
    error: float = 0.01,
    confidence: float = 0.95,
    costs: Costs | None = None,
    transform: Transform = None,
    seed: int = 0,
) -> "SelectiveRules":
    """Choose which cases rules decide, so that at most a share `error` of these is wrong.

    A case is decided if the certainty of its best answer (the margin to the second best; of several
    outputs the least) reaches a threshold. The threshold is tested on samples with true answers,
    which must not have been used to train or learn the model. With probability `confidence` over
    these samples, the share of wrong answers among decided cases to come is at most `error`. The
    certainty is that of the rules before calibration, so that samples that calibrate may decide
    too; of induced rules, that of their points before these were rounded.

    Parameters
    ----------
    rules : rules, what `learn` returns, or calibrated rules
    evidence : of the samples, as `Cascade.infer` takes it
    targets : the true answers by output; of a single output they need no name
    costs : the cost of each answer, of a single output: an array ``costs[true, answer]``, or a dict
        from pairs ``(true, answer)`` to numbers, 0 for the others. Then the mean cost of decided
        cases is at most `error`.
    transform : of probabilities in the evidence into possibilities
    seed : of the choice of the samples that fix the sequence of thresholds

    Examples
    --------
    >>> from pinesy import Attribute, function, joint
    >>> left, right = Attribute("left", range(3)), Attribute("right", range(3))
    >>> rules = function("total", joint("pair", left, right), "left + right")
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.1, 0.1, 0.1], (2000, 2))
    >>> digits = (p.cumsum(axis=2) < rng.random((2000, 2, 1))).sum(axis=2)
    >>> read = {"left": p[:, 0], "right": p[:, 1]}
    >>> selective = decide(
    ...     rules, read, digits.sum(axis=1), error=0.05, transform="antipignistic"
    ... )
    >>> new = {"left": [[0.99, 0.01, 0.0], [0.6, 0.4, 0.0]], "right": [[0.0, 1.0, 0.0]] * 2}
    >>> print(selective.decisions(new).text(0))
    decided: total is 1, certain at 0.98
    >>> selective.decisions(new)["total"].tolist()
    [1, None]
    """
    if isinstance(rules, LearningResult | ParameterEstimate):
        rules = LearnedRules(rules, {})
    kinds = LearnedRules | CalibratedRules | GroupedRules
    model = rules if isinstance(rules, kinds) else as_cascade(rules)
    cascade = cascade_of(model)
    outputs = {a.name: a for a in cascade.outputs}
    if isinstance(model, CalibratedAnswers):
        outputs = {name: cascade[name].output for name in model.outputs}
        transform = model.probabilities if transform is None else transform
    attributes = {name: rule_set.output for name, rule_set in cascade.sets.items()}
    only = next(iter(outputs.values())) if len(outputs) == 1 else None
    truth = named_targets(targets, attributes, only)
    name = None if transform is None else as_transform(transform).name
    answers = _ranked_answers(cascade, evidence, tuple(truth), name)
    threshold = _tested_threshold(answers, truth, error, confidence, costs, seed)
    return SelectiveRules(model, threshold, tuple(truth), name)


def cascade_of(model: Model) -> Cascade:
    """Return the rules of a model."""
    if isinstance(model, GroupedRules):
        return model.base.rules
    if isinstance(model, CalibratedRules):
        return model.rules
    return model.cascade if isinstance(model, LearnedRules) else model


def _ranked_answers(
    cascade: Cascade, evidence: Evidence, outputs: tuple[str, ...], transform: str | None
) -> RankedAnswers:
    if isinstance(cascade, CardCascade) and outputs == (cascade.card.output.name,):
        if transform is None:
            return rank_points(cascade.card, cascade.card_rows(evidence))
        form = evidence_form(cascade, cascade.inputs)
        return rank_points(cascade.card, form.rows(evidence, transform))
    inferred = cascade.infer(evidence, outputs, transform=transform)
    return rank_answers({name: inferred[name] for name in outputs})


def _tested_threshold(
    answers: RankedAnswers,
    truth: Mapping[str, Any],
    error: float,
    confidence: float,
    costs: Costs | None,
    seed: int,
) -> DecisionThreshold:
    """Return the threshold that the true answers allow."""
    indices = true_indices(answers.attributes, truth, len(answers))
    matrix = None if costs is None else cost_matrix(costs, answers.attributes)
    return threshold_of(
        answers.certainty,
        wrong_answers(answers, indices, matrix),
        error=error,
        confidence=confidence,
        max_cost=None if matrix is None else float(matrix.max()),
        seed=seed,
    )


def cost_matrix(costs: Costs, attributes: Sequence[Attribute]) -> FloatArray:
    """Return costs as an array ``(true values, answers)``, or raise an error."""
    if len(attributes) > 1:
        names = ", ".join(a.name for a in attributes)
        raise DataError(f"costs are of a single output; these are {names}: decide on one of them")
    domain = attributes[0].domain
    shape = (len(domain), len(domain))
    if isinstance(costs, Mapping):
        matrix = np.zeros(shape)
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DataError(f"costs has the key {pair!r:.60}; give pairs (true, answer)")
            for value in pair:
                problem = f"costs: {attributes[0].name!r} has no {value!r:.60}"
                check_known(value, domain, problem, DomainError)
            matrix[attributes[0].position(pair[0]), attributes[0].position(pair[1])] = cost
    else:
        matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != shape:
        raise ShapeError(
            f"costs has shape {matrix.shape}; {attributes[0].name!r} has {len(domain)} values, "
            f"so give costs[true, answer] of shape {shape}"
        )
    if not (np.isfinite(matrix).all() and matrix.min() >= 0.0 and matrix.max() > 0.0):
        raise DataError("costs must be finite, at least 0, and not all 0")
    return matrix


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveRules:
    """Rules that decide the cases of which they are certain, and hand over the others.

    Attributes
    ----------
    model : the rules; with what was learned or calibrated, if something was
    threshold : the certainty from which cases are decided, and the promise
    outputs : the names of the attributes that are decided together
    transform : of probabilities in the evidence; None for possibilities
    """

    model: Model
    threshold: DecisionThreshold
    outputs: tuple[str, ...]
    transform: str | None = None

    @property
    def rules(self) -> Cascade:
        """The rules."""
        return cascade_of(self.model)

    @property
    def promise(self) -> str:
        """What is promised, as sentences."""
        return self.threshold.promise

    def decisions(self, evidence: Evidence) -> SelectiveDecisions:
        """Return which cases are decided, and how; the others are handed over."""
        answers = _ranked_answers(self.rules, evidence, self.outputs, self.transform)
        return SelectiveDecisions.of(answers, self.threshold)

    def for_possibilities(self, transform: str) -> "SelectiveRules":
        """Return the rules for possibilities that a transformation has made of probabilities.

        Parameters
        ----------
        transform : its name, ``"none"`` where evidence has possibilities; raises `DataError` for
            another than that of the samples that the threshold was tested on
        """
        expected = (self.transform or "none").replace("_", "-")
        if transform != expected:
            raise DataError(f"decides data read with --transform {expected}; give the same")
        return replace(self, transform=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the threshold and what it is of, without the rules, as plain data for JSON."""
        return {
            "version": 1,
            "outputs": list(self.outputs),
            "transform": self.transform,
            "threshold": self.threshold.to_dict(),
        }

    @classmethod
    def from_dict(cls, model: Model, content: Mapping[str, Any]) -> "SelectiveRules":
        """Return the rules with the threshold of `to_dict`; raise an error for other content."""
        if content["version"] != 1:
            raise DataError('"decisions" is not of version 1, which this pinesy reads')
        outputs, transform = tuple(content["outputs"]), content["transform"]
        if not outputs:
            raise DataError('"decisions" has no outputs; the file was changed')
        for name in outputs:
            check_known(name, cascade_of(model).sets, f"no rule concludes on {name!r}")
        name = transform and as_transform(transform).name
        return cls(model, read_threshold(content["threshold"]), outputs, name)

    def __repr__(self) -> str:
        return f"SelectiveRules({', '.join(self.outputs)}; {self.threshold!r})"


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveClasses:
    """A threshold for the probabilities of any classifier.

    Attributes
    ----------
    threshold : the certainty from which cases are decided, and the promise
    output : the attribute of the classes
    """

    threshold: DecisionThreshold
    output: Attribute

    @property
    def promise(self) -> str:
        """What is promised, as sentences."""
        return self.threshold.promise

    def decisions(self, degrees: npt.ArrayLike) -> SelectiveDecisions:
        """Return which cases are decided, and how, from degrees ``(n, classes)``."""
        answers = rank_classes(degrees, self.output.domain, self.output.name)
        return SelectiveDecisions.of(answers, self.threshold)

    def __repr__(self) -> str:
        return f"SelectiveClasses({self.output.name}; {self.threshold!r})"


def decide_classes(
    degrees: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    classes: Sequence[Hashable] | None = None,
    error: float = 0.01,
    confidence: float = 0.95,
    costs: Costs | None = None,
    seed: int = 0,
    name: str = "answer",
) -> SelectiveClasses:
    """Do as `decide` for the probabilities of any classifier.

    Parameters
    ----------
    degrees : probabilities, or other degrees, of samples that were not used in training
    labels : the true classes: entries of `classes`, or else the numbers of columns
    classes : of the columns, such as ``model.classes_``
    error, confidence, costs, seed : as for `decide`
    name : of what is decided

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.3, 0.3, 0.3], 3000)
    >>> truth = (p.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    >>> decide_classes(p, truth, error=0.05).threshold
    DecisionThreshold(decide from certainty 0.916: 19.0% of cases, at most 5% wrong)
    """
    answers = rank_classes(degrees, classes, name)
    truth = {name: np.asarray(labels).tolist()}
    threshold = _tested_threshold(answers, truth, error, confidence, costs, seed)
    return SelectiveClasses(threshold, answers.attributes[0])
