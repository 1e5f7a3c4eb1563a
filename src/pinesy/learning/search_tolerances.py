"""`search_tolerances`: choose the tolerances of learning on validation data.

The search of the paper [subsec:thresholdsdetermination]; see docs/learning.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isclose, isfinite, nan
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import Bar
from pinesy._common.console import progress as progress_bar
from pinesy._common.reports import ReportTable, TableReport
from pinesy._common.validation import FloatArray, check_integer, check_number
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError, LearningError, placed
from pinesy.learning.evaluate import accuracy, final_values
from pinesy.learning.learn import learn_exact
from pinesy.learning.learning_arguments import (
    Rules,
    SetGroup,
    SetParameters,
    Tolerances,
    TrainingBatch,
    batch_of,
    fixed_parameters,
    initial_cascade,
    resolve_groups,
    show_group,
    show_tolerances,
    tolerances_by_set,
)
from pinesy.learning.learning_result import SHOWN, LearningResult
from pinesy.learning.sample_passes import MemorySamples, PassCache
from pinesy.rulebase.cascade import Cascade

#: A function of a cascade, evidence and targets; the larger its value the better.
Metric = Callable[[Cascade, Any, Any], float]


def search_tolerances(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    validation: tuple[Any, Any],
    *,
    groups: Sequence[Any] | None = None,
    metric: Metric = accuracy,
    candidates: npt.ArrayLike | None = None,
    min_improvement: float = 0.01,
    stagnation: int = 1,
    initial: Any = None,
    fixed: Any = "implications",
    progress: bool = True,
) -> "ToleranceSearch":
    """Find the tolerances whose learned rules predict validation data best.

    The search of the paper [subsec:thresholdsdetermination] starts with the lowest candidate for
    every group. Where learning is impossible, because some set has no reliable sample, the group of
    that set goes to the next candidate. Otherwise the metric is evaluated and all groups go to the
    next candidate, until the metric has not improved by `min_improvement` over `stagnation`
    evaluations; the tolerances returned are the lowest tested ones that reach the metric at which
    it stopped improving.

    Parameters
    ----------
    rules, evidence, targets, initial, fixed : as in `learn`
    validation : a pair of evidence and targets, for the metric
    groups : the groups of sets that share a tolerance: each a name, a pattern such as ``"c_*"``, or
        a tuple of these; by default one group of all sets with targets, ``"*"``. Sets in no group
        keep every sample.
    metric : a function of a cascade and of the `validation` evidence and targets; the larger its
        value the better
    candidates : tolerances to choose from, in increasing order; by default `candidate_tolerances()`
    min_improvement, stagnation : when the search stops
    progress : whether to show a progress bar on a terminal, if the search takes long

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.1], [0.2, 1.0], [0.0, 1.0]]}
    >>> targets = ["wet", "dry", "wet"]  # the last one is wrong
    >>> search_tolerances(rules, rains, targets, (rains, targets), candidates=[0.15, 0.5, 1.1])
    ToleranceSearch(*=0.15: metric 0.666667, 2 evaluations)
    """
    check_number(min_improvement, "min_improvement", error=DataError)
    check_integer(stagnation, "stagnation", 1, DataError)
    cascade = initial_cascade(rules, initial)
    batch = batch_of(cascade, evidence, targets)
    evaluate = ValidationMetric(metric, validation, cascade)
    set_groups = resolve_groups(groups, list(batch.targets))
    constants = fixed_parameters(fixed, cascade, list(batch.targets))
    checked = checked_candidates(candidates)
    problem = SearchProblem(cascade, batch, set_groups, checked, evaluate, constants)
    with progress_bar("searching tolerances" if progress else "") as bar:
        return _raise_tolerances(problem, float(min_improvement), stagnation, bar)


def _raise_tolerances(
    problem: "SearchProblem", min_improvement: float, stagnation: int, bar: Bar
) -> "ToleranceSearch":
    """Raise tolerances from the lowest candidates on, until the metric stagnates.

    This is the search of the paper, [subsec:thresholdsdetermination]. Where learning is impossible,
    the tolerance of the group of the set that failed goes to the next candidate. After an
    evaluation all of them do.
    """
    evaluations: list[Evaluation] = []
    last, indices, stagnant = len(problem.candidates) - 1, [0] * len(problem.groups), 0
    best: tuple[Tolerances, float, LearningResult] | None = None
    start = perf_counter()
    while True:
        values = (float(problem.candidates[index]) for index in indices)
        tolerances = dict(zip(problem.groups, values, strict=True))
        bar.advance()
        try:
            result = problem.learn(tolerances)
        except LearningError as error:
            name, smallest = error.rule_set, error.smallest
            reason = f"no sample is reliable for {name!r}: the smallest distance is {smallest!r}"
            seconds, start = perf_counter() - start, perf_counter()
            evaluations.append(Evaluation(tolerances, None, reason, {name: 0}, seconds))
            group = [name in names for names in problem.groups.values()].index(True)
            if indices[group] == last:
                raise LearningError(
                    f"rule set {name!r}: no sample is reliable for the largest candidate, "
                    f"{float(problem.candidates[-1])!r}; the smallest distance of a sample is "
                    f"{smallest!r}: give candidates that go above 1, as those of "
                    "candidate_tolerances() do",
                    name,
                    smallest,
                ) from None
            indices[group] += 1
            continue
        metric = problem.evaluate(result.cascade, tolerances)
        reliable = {name: learned.n_reliable for name, learned in result.sets.items()}
        seconds, start = perf_counter() - start, perf_counter()
        evaluations.append(Evaluation(tolerances, metric, "", reliable, seconds))
        highest = -inf if best is None else best[1]
        improved = improves(metric, highest, min_improvement)
        stagnant = 0 if improved else stagnant + 1
        if best is None or (improved and metric > highest):
            best = tolerances, metric, result
        if stagnant >= stagnation or min(indices) == last:
            return ToleranceSearch(*best, tuple(evaluations))
        indices = [min(index + 1, last) for index in indices]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """One trial of tolerances.

    Attributes
    ----------
    tolerances : the tolerance of each group
    metric : the value of the metric, or None if learning is impossible with these tolerances
    reason : why learning is impossible; empty if it is possible
    reliable : the number of reliable samples of each rule set; if learning is impossible, only of
        the set that has none
    seconds : the time since the previous trial
    """

    tolerances: Tolerances
    metric: float | None
    reason: str
    reliable: Mapping[str, int]
    seconds: float

    def __repr__(self) -> str:
        outcome = self.reason if self.metric is None else f"{self.metric:.6g}"
        return f"Evaluation({show_tolerances(self.tolerances)}: {outcome})"

    @property
    def row(self) -> dict[str, Any]:
        """The evaluation as a row of a table."""
        return {
            **{f"tau {show_group(g)}": t for g, t in self.tolerances.items()},
            "metric": self.metric,
            "reliable": min(self.reliable.values()),
            "seconds": self.seconds,
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceSearch(TableReport):
    """The tolerances that a search chose, the result of learning with them, and all trials.

    Its data frame has a row for each trial: the tolerance ``tau <group>`` of each group,
    ``metric``, ``reliable`` (the smallest number of samples that a rule set was learned from),
    ``seconds`` and ``reason``.

    Attributes
    ----------
    tolerances : the tolerance of each group; `learn` takes it as `tolerance`
    metric : the value of the metric on the validation data
    result : the result of learning with these tolerances
    evaluations : every trial, in order
    """

    tolerances: Tolerances
    metric: float
    result: LearningResult
    evaluations: tuple[Evaluation, ...] = field(default=())

    def _records(self) -> list[dict[str, Any]]:
        return [evaluation.row for evaluation in self.evaluations]

    def __repr__(self) -> str:
        return (
            f"ToleranceSearch({show_tolerances(self.tolerances)}: metric {self.metric:.6g}, "
            f"{len(self.evaluations)} evaluations)"
        )

    def _tables(self) -> list[ReportTable]:
        head = ["", *(f"tau {show_group(g)}" for g in self.tolerances), "metric", "reliable"]
        lines = []
        for evaluation in self.evaluations:
            mark = "*" if evaluation.tolerances == self.tolerances else ""
            metric = "impossible" if evaluation.metric is None else f"{evaluation.metric:.6g}"
            least = min(evaluation.reliable, key=evaluation.reliable.__getitem__)
            numbers = [f"{t:.4g}" for t in evaluation.tolerances.values()]
            lines.append([mark, *numbers, metric, f"{evaluation.reliable[least]} for {least}"])
        return [ReportTable(head, lines, noun="trials", max_lines=SHOWN)]

    def plot(self, axes: Any = None) -> Any:
        """Draw the metric of each trial (of one group, against its tolerance); return the axes."""
        from pinesy.display.report_plots import plot_tolerances

        return plot_tolerances(self, axes)


@dataclass(eq=False)
class SearchProblem:
    """A search for the tolerances of groups: training data, candidates and metric.

    Attributes
    ----------
    cascade : the rules with their initial parameters
    batch : the training samples
    groups : the sets of each group
    candidates : tolerances, in increasing order
    evaluate : the metric on the validation data, as a function of a cascade and of the tolerances
        that it was learned with
    fixed : the fixed parameters of sets that have some
    """

    cascade: Cascade
    batch: TrainingBatch
    groups: Mapping[SetGroup, Sequence[str]]
    candidates: FloatArray
    evaluate: Callable[[Cascade, Tolerances], float]
    fixed: SetParameters = field(default_factory=dict)
    _cache: PassCache = field(default_factory=dict)

    def learn(self, tolerances: Tolerances) -> LearningResult:
        """Learn with these tolerances; passes of earlier trials are reused."""
        by_set = tolerances_by_set(tolerances, list(self.batch.targets))
        samples = MemorySamples(self.batch, self._cache)
        return learn_exact(self.cascade, samples, by_set, self.fixed)


class ValidationMetric:
    """A metric on validation data, as a function of a cascade and of its tolerances."""

    def __init__(self, metric: Metric, validation: object, cascade: Cascade) -> None:
        if not callable(metric):
            raise DataError(
                f"the metric is {metric!r:.60}; give a function of a cascade, evidence and targets"
            )
        if not isinstance(validation, tuple | list) or len(validation) != 2:
            raise DataError(
                f"the validation data are {validation!r:.60}; give a pair (evidence, targets)"
            )
        self._metric = metric
        self._evidence, self._targets = validation
        #: The accuracy of parameters that were evaluated before.
        self._known: dict[bytes, float] = {}
        if metric is accuracy:  # other metrics may take other data
            with placed("the validation data"):
                batch = batch_of(cascade, self._evidence, self._targets)
                final_values(cascade, batch.targets)

    def __call__(self, cascade: Cascade, tolerances: Tolerances) -> float:
        """Return the metric of the rules that were learned with these tolerances.

        The accuracy of the same parameters is computed once; a user's metric may depend on more, so
        it is always called.
        """
        key = b"".join(z.tobytes() for rules in cascade.rule_sets for z in (rules.s, rules.r))
        if self._metric is accuracy and key in self._known:
            return self._known[key]
        value = self._metric(cascade, self._evidence, self._targets)
        number = nan
        if not isinstance(value, bool | np.bool_ | str | bytes) and not np.iscomplexobj(value):
            try:
                number = float(value.item() if hasattr(value, "item") else value)
            except (TypeError, ValueError, OverflowError):
                number = nan
        if not isfinite(number):
            name = getattr(self._metric, "__name__", repr(self._metric))
            raise DataError(
                f"the metric {name:.60} returned {value!r:.60} for the tolerances "
                f"{show_tolerances(tolerances)}; it must return a finite number"
            )
        self._known[key] = number
        return number


def candidate_tolerances(count: int = 30, power: float = 5, epsilon: float = 0.001) -> FloatArray:
    """Return candidates for a tolerance: ``t_i = (i / l)^h (1 + epsilon)``, ``i = 1 .. l``.

    [eq:setTvalidationstep]. The last is above 1 and keeps every sample. The defaults are those of
    the paper's experiments; for few training data the paper takes ``h = 2``.

    Parameters
    ----------
    count : the number `l` of candidates
    power : ``h >= 1``; the higher, the more candidates are close to 0
    epsilon : ``epsilon > 0``

    Examples
    --------
    >>> candidate_tolerances(4, 2)
    array([0.0625625, 0.25025  , 0.5630625, 1.001    ])
    """
    check_integer(count, "count", 1, DataError)
    check_number(power, "power", 1.0, error=DataError)
    if not 1.0 + check_number(epsilon, "epsilon", error=DataError) > 1.0:
        raise DataError(
            f"epsilon is {epsilon!r:.60}; it must be a number > 0, and large enough that "
            "1 + epsilon is not 1, so that the last candidate keeps every sample"
        )
    candidates = (np.arange(1, count + 1) / count) ** power * (1.0 + epsilon)
    if not candidates[0] > 0.0 or (np.diff(candidates) <= 0.0).any():
        raise DataError(
            f"power is {power!r}: the lowest of {count} candidates are the same number, too close "
            "to 0; give a lower power"
        )
    return candidates


def checked_candidates(candidates: npt.ArrayLike | None) -> FloatArray:
    """Return the candidate tolerances as an array, or raise `DataError`."""
    if candidates is None:
        return candidate_tolerances()
    array = np.asarray(candidates)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
        raise DataError(
            f"the candidates are {candidates!r:.60}; give a sequence of numbers, such as "
            "candidate_tolerances(30)"
        )
    checked = array.astype(np.float64)
    if not (np.isfinite(checked).all() and checked[0] > 0.0 and (np.diff(checked) > 0.0).all()):
        raise DataError(
            f"the candidates are {candidates!r:.60}; they must be finite, above 0 and rising"
        )
    return checked


def improves(metric: float, best: float, least: float) -> bool:
    """Return whether a metric is better than the best so far by at least `least`.

    Examples
    --------
    >>> 0.57 - 0.56 >= 0.01, improves(0.57, 0.56, 0.01)  # a little less, in binary
    (False, True)
    """
    return metric - best > least or isclose(metric - best, least, rel_tol=1e-9)
