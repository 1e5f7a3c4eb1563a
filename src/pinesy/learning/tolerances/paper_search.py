"""The search of the paper: thresholds rise until the metric no longer does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isclose
from time import perf_counter
from typing import NamedTuple

from pinesy._common.console import Bar
from pinesy._common.validation import FloatArray
from pinesy.exceptions import LearningError
from pinesy.learning.exact.in_memory import InMemory
from pinesy.learning.exact.method import learn_from
from pinesy.learning.exact.sample_systems import Batch
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.tolerances.evaluations import Evaluation, ThresholdSearch
from pinesy.learning.tolerances.tolerance_groups import Group, resolve
from pinesy.rulebase.cascade import Cascade

#: For each group, the position of its threshold among the candidates.
Steps = Sequence[int]


@dataclass(frozen=True, eq=False)
class Problem:
    """Thresholds to be found.

    Attributes
    ----------
    cascade : with its initial parameters
    batch : the training samples
    groups : the sets of each group
    candidates : thresholds, rising
    evaluate : the metric on the validation data, as a function of a cascade and of the thresholds
        that it was learned with
    """

    cascade: Cascade
    batch: Batch
    groups: Mapping[Group, Sequence[str]]
    candidates: FloatArray
    evaluate: Callable[[Cascade, Mapping[Group, float]], float]

    @property
    def n_grid(self) -> int:
        """The number of all combinations of candidates."""
        return int(len(self.candidates) ** len(self.groups))

    def thresholds(self, steps: Steps) -> dict[Group, float]:
        """Return the threshold of each group."""
        chosen = (float(self.candidates[step]) for step in steps)
        return dict(zip(self.groups, chosen, strict=True))

    def learn(self, thresholds: Mapping[Group, float]) -> LearningResult:
        """Learn with given thresholds."""
        tolerances = resolve(thresholds, list(self.batch.targets))
        self._samples.restart()
        return learn_from(self.cascade, self._samples, self.batch.targets, tolerances)

    @cached_property
    def _samples(self) -> InMemory:
        return InMemory(self.cascade, self.batch, remember=True)


class Watch:
    """Tells how long it is since it was last asked."""

    def __init__(self) -> None:
        self._last = perf_counter()

    def lap(self) -> float:
        """Return the seconds since the last lap."""
        last, self._last = self._last, perf_counter()
        return self._last - last


def climb(problem: Problem, min_improvement: float, stagnation: int, bar: Bar) -> ThresholdSearch:
    """Raise thresholds from the lowest candidates on, until the metric stagnates."""
    search = _Climb(problem, min_improvement, stagnation)
    while (best := search.go_on()) is None:
        bar.advance()
    return ThresholdSearch("paper", *best, tuple(search.evaluations))


class _Best(NamedTuple):
    """The lowest thresholds tested that reach the metric, and what is learned with them."""

    thresholds: Mapping[Group, float]
    metric: float
    result: LearningResult


class _Climb:
    """Thresholds on their way up.

    Where learning is impossible, the threshold of the group of the set that failed goes to the
    next candidate. After an evaluation all of them do.
    """

    def __init__(self, problem: Problem, min_improvement: float, stagnation: int) -> None:
        self._problem = problem
        self._min_improvement = min_improvement
        self._stagnation = stagnation
        self._last = len(problem.candidates) - 1
        self._steps = [0] * len(problem.groups)
        self._best: _Best | None = None
        self._stagnant = 0
        self._watch = Watch()
        self.evaluations: list[Evaluation] = []

    def go_on(self) -> _Best | None:
        """Try the thresholds and raise them; return the best if the search is over."""
        thresholds = self._problem.thresholds(self._steps)
        try:
            result = self._problem.learn(thresholds)
        except LearningError as error:
            self._raise_for(error, thresholds)
            return None
        self._evaluate(thresholds, result)
        is_over = self._stagnant >= self._stagnation or min(self._steps) == self._last
        self._steps = [min(step + 1, self._last) for step in self._steps]
        return self._best if is_over else None

    def _raise_for(self, error: LearningError, thresholds: Mapping[Group, float]) -> None:
        name = error.rule_set
        group = [name in members for members in self._problem.groups.values()].index(True)
        seconds = self._watch.lap()
        self.evaluations.append(impossible(thresholds, name, error.smallest, seconds))
        if self._steps[group] == self._last:
            raise hopeless(self._problem, name, error.smallest)
        self._steps[group] += 1

    def _evaluate(self, thresholds: Mapping[Group, float], result: LearningResult) -> None:
        metric = self._problem.evaluate(result.cascade, thresholds)
        reliable = {name: one.n_reliable for name, one in result.sets.items()}
        self.evaluations.append(Evaluation(thresholds, metric, "", reliable, self._watch.lap()))
        best = -inf if self._best is None else self._best.metric
        improved = improves(metric, best, self._min_improvement)
        self._stagnant = 0 if improved else self._stagnant + 1
        if improved and metric > best:
            self._best = _Best(thresholds, metric, result)


def improves(metric: float, best: float, least: float) -> bool:
    """Tell whether a metric is better than the best so far by at least `least`.

    Examples
    --------
    >>> 0.57 - 0.56 >= 0.01, improves(0.57, 0.56, 0.01)  # a little less, in binary
    (False, True)
    """
    return metric - best > least or isclose(metric - best, least, rel_tol=1e-9)


def impossible(
    thresholds: Mapping[Group, float], name: str, smallest: float, seconds: float, points: int = 1
) -> Evaluation:
    """Return the record of thresholds for which a set has no reliable sample."""
    reason = f"no sample is reliable for {name!r}: the smallest distance is {smallest!r}"
    return Evaluation(thresholds, None, reason, {name: 0}, seconds, points)


def hopeless(problem: Problem, name: str, smallest: float) -> LearningError:
    """Return the error that no candidate is high enough for a set."""
    return LearningError(
        f"rule set {name!r}: no sample is reliable for the largest candidate, "
        f"{float(problem.candidates[-1])!r}; the smallest distance of a sample is {smallest!r}: "
        "give candidates that go above 1, as those of candidates() do",
        name,
        smallest,
    )
