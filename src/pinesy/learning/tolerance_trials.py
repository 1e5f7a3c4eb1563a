"""Trials of tolerances: candidates, the metric that judges them, what a search returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, isfinite, nan
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.reports import ReportTable, TableReport
from pinesy._common.validation import FloatArray, check_integer, check_number
from pinesy.exceptions import DataError, LearningError, placed
from pinesy.learning.comparison import accuracy, answers
from pinesy.learning.learn import learn_exact
from pinesy.learning.learning_arguments import (
    SetGroup,
    SetParameters,
    Tolerances,
    TrainingBatch,
    resolve,
    show_group,
    show_tolerances,
)
from pinesy.learning.learning_result import SHOWN, LearningResult
from pinesy.learning.sample_passes import InMemory, Past
from pinesy.rulebase.cascade import Cascade

#: A function of a cascade, evidence and targets; the larger its value the better.
Metric = Callable[[Cascade, Any, Any], float]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """One trial of tolerances.

    Attributes
    ----------
    tolerances : for each group
    metric : its value, or None if learning is impossible with these tolerances
    reason : why it is impossible; empty if it is not
    reliable : how many samples each rule set was learned from; if learning is impossible, only
        the set that has none
    seconds : how long it took, since the trial before it
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
    """The tolerances that a search chose, what is learned with them, and all that was tried.

    Its data frame has a row for each trial: the tolerance ``tau <group>`` of each group,
    ``metric``, ``reliable`` (the smallest number of samples that a rule set was learned from),
    ``seconds`` and ``reason``.

    Attributes
    ----------
    tolerances : for each group; `learn` takes it as `tolerance`
    metric : the value that they reach on the validation data
    result : what is learned with them
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
        lines = [self._line(evaluation) for evaluation in self.evaluations]
        return [ReportTable(head, lines, noun="trials", max_lines=SHOWN)]

    def plot(self, axes: Any = None) -> Any:
        """Draw the metric of each trial, of one group against its tolerance; return the axes."""
        from pinesy.display.report_plots import plot_tolerances

        return plot_tolerances(self, axes)

    def _line(self, one: Evaluation) -> list[str]:
        mark = "*" if one.tolerances == self.tolerances else ""
        metric = "impossible" if one.metric is None else f"{one.metric:.6g}"
        least = min(one.reliable, key=one.reliable.__getitem__)
        numbers = [f"{t:.4g}" for t in one.tolerances.values()]
        return [mark, *numbers, metric, f"{one.reliable[least]} for {least}"]


@dataclass(eq=False)
class SearchProblem:
    """Tolerances to be searched for; it makes the records of what is tried.

    Attributes
    ----------
    cascade : with its initial parameters
    batch : the training samples
    groups : the sets of each group
    candidates : tolerances, rising
    evaluate : the metric on the validation data, as a function of a cascade and of the tolerances
        that it was learned with
    fixed : the parameters that are fixed, of sets that have some
    """

    cascade: Cascade
    batch: TrainingBatch
    groups: Mapping[SetGroup, Sequence[str]]
    candidates: FloatArray
    evaluate: Callable[[Cascade, Tolerances], float]
    fixed: SetParameters = field(default_factory=dict)
    _past: Past = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def tolerances(self, steps: Sequence[int]) -> dict[SetGroup, float]:
        """Return the tolerance of each group, given its position among the candidates."""
        chosen = (float(self.candidates[step]) for step in steps)
        return dict(zip(self.groups, chosen, strict=True))

    def learn(self, tolerances: Tolerances) -> LearningResult:
        """Learn with given tolerances."""
        each = resolve(tolerances, list(self.batch.targets))
        return learn_exact(self.cascade, InMemory(self.batch, self._past), each, self.fixed)

    def judged(
        self, cascade: Cascade, tolerances: Tolerances, reliable: Mapping[str, int]
    ) -> Evaluation:
        """Judge what was learned with some tolerances, from so many samples; return the record."""
        metric = self.evaluate(cascade, tolerances)
        return Evaluation(tolerances, metric, "", reliable, self._lap())

    def impossible(self, tolerances: Tolerances, name: str, smallest: float) -> Evaluation:
        """Return the record of tolerances for which a set has no reliable sample."""
        reason = f"no sample is reliable for {name!r}: the smallest distance is {smallest!r}"
        return Evaluation(tolerances, None, reason, {name: 0}, self._lap())

    def _lap(self) -> float:
        """Return the seconds since the trial before."""
        last, self._last = self._last, perf_counter()
        return self._last - last

    def hopeless(self, name: str, smallest: float) -> LearningError:
        """Return the error that no candidate is high enough for a set."""
        return LearningError(
            f"rule set {name!r}: no sample is reliable for the largest candidate, "
            f"{float(self.candidates[-1])!r}; the smallest distance of a sample is {smallest!r}: "
            "give candidates that go above 1, as those of candidate_tolerances() do",
            name,
            smallest,
        )


class Judge:
    """A metric on validation data, checked."""

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
        self._known: dict[bytes, float] = {}
        if metric is accuracy:  # what other metrics take is not known
            with placed("the validation data"):
                answers(cascade, self._evidence, self._targets)

    def __call__(self, cascade: Cascade, tolerances: Tolerances) -> float:
        """Return the metric of what was learned with some tolerances.

        Tolerances that give the same parameters have the same accuracy, which is measured once;
        what a metric of one's own depends on is not known.
        """
        if self._metric is not accuracy:
            return self._measured(cascade, tolerances)
        key = b"".join(z.tobytes() for one in cascade.rule_sets for z in (one.s, one.r))
        if key not in self._known:
            self._known[key] = self._measured(cascade, tolerances)
        return self._known[key]

    def _measured(self, cascade: Cascade, tolerances: Tolerances) -> float:
        value = self._metric(cascade, self._evidence, self._targets)
        number = _as_float(value)
        if not isfinite(number):
            name = getattr(self._metric, "__name__", repr(self._metric))
            raise DataError(
                f"the metric {name:.60} returned {value!r:.60} for the tolerances "
                f"{show_tolerances(tolerances)}; it must return a finite number"
            )
        return number


def _as_float(value: Any) -> float:
    """Return a number, also an array of one, as a float; NaN if it is none."""
    if isinstance(value, bool | np.bool_ | str | bytes) or np.iscomplexobj(value):
        return nan
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError):
        return nan


def candidate_tolerances(count: int = 30, power: float = 5, epsilon: float = 0.001) -> FloatArray:
    """Return candidates for a tolerance: ``t_i = (i / l)^h (1 + epsilon)``, ``i = 1 .. l``.

    [eq:setTvalidationstep]. The last is above 1 and keeps every sample. The defaults are those of
    the paper's experiments; it takes ``h = 2`` where training data are few.

    Parameters
    ----------
    count : their number `l`
    power : ``h >= 1``; the higher, the more of them are close to 0
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


def checked_candidates(given: npt.ArrayLike | None) -> FloatArray:
    """Return the tolerances to choose from, or raise an error."""
    if given is None:
        return candidate_tolerances()
    array = np.asarray(given)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
        raise DataError(
            f"the candidates are {given!r:.60}; give a sequence of numbers, such as "
            "candidate_tolerances(30)"
        )
    rising = array.astype(np.float64)
    if not (np.isfinite(rising).all() and rising[0] > 0.0 and (np.diff(rising) > 0.0).all()):
        raise DataError(
            f"the candidates are {given!r:.60}; they must be finite, above 0 and rising"
        )
    return rising


def improves(metric: float, best: float, least: float) -> bool:
    """Tell whether a metric is better than the best so far by at least `least`.

    Examples
    --------
    >>> 0.57 - 0.56 >= 0.01, improves(0.57, 0.56, 0.01)  # a little less, in binary
    (False, True)
    """
    return metric - best > least or isclose(metric - best, least, rel_tol=1e-9)
