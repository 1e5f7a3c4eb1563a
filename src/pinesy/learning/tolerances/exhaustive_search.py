"""All combinations of candidate thresholds, each model that comes of them learned once.

Only which samples are reliable matters to a model, so that many thresholds give the same. What is
reliable for a set depends on the parameters of the sets before it, and on nothing else that was
learned. Therefore the grid is cut stage by stage: thresholds that keep the same samples are learned
with once, and what then has the same parameters goes on together. At the end are left the models
that differ. Every cut is across one group, so that the points of the grid that lead to a model are
always a *box*: all combinations of some candidates for each group.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import Bar
from pinesy._common.validation import FloatArray
from pinesy.learning.exact.method import with_sets, with_solution
from pinesy.learning.exact.sample_systems import Batch, Measured, shapes_of
from pinesy.learning.exact.stages import next_stage, stage_numbers
from pinesy.learning.tolerances.cuts import Cut, Ints, counts_of, learn_cuts
from pinesy.learning.tolerances.evaluations import Evaluation, ThresholdSearch
from pinesy.learning.tolerances.paper_search import Problem, Watch, hopeless, impossible
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: For each group the places of some candidates, rising: the points that are combinations of them.
Box = tuple[Ints, ...]


@dataclass(frozen=True, eq=False)
class _State:
    """Points of the grid that have the same parameters so far.

    Attributes
    ----------
    box : the points
    stage : the place of the next stage among the stages
    sets : the rule sets, with the parameters learned so far
    kept : the inferred distributions that later stages need
    counts : for each set learned so far the number of reliable samples at each candidate
    """

    box: Box
    stage: int
    sets: Mapping[str, RuleSet]
    kept: Mapping[str, npt.NDArray[Any]]
    counts: Mapping[str, Ints]

    def after(self, cuts: Sequence[Cut], measured: Measured) -> Iterator["_State"]:
        """Learn the stage; yield a state for all that have the same parameters then."""
        counts = {**self.counts, **{n: c for cut in cuts for n, c in cut.counts.items()}}
        for solutions, steps in learn_cuts(measured, cuts):
            learned = {name: with_solution(self.sets[name], x) for name, x in solutions.items()}
            box = _replaced(self.box, cuts, steps)
            yield _State(box, self.stage + 1, {**self.sets, **learned}, measured.kept, counts)


@dataclass(frozen=True, eq=False)
class _Failure:
    """Points for which a set has no reliable sample; `smallest` is its smallest distance."""

    box: Box
    name: str
    smallest: float


def exhaust(problem: Problem, bar: Bar) -> ThresholdSearch:
    """Evaluate every combination of candidates; of the best ones return the lowest.

    Lowest is: the fewest steps up the candidates, of all groups together; then the lowest
    threshold of the first group, of the second, and so on.
    """
    grid, watch = _Grid(problem), Watch()
    tried: list[tuple[list[int], Evaluation]] = []
    failures: list[_Failure] = []
    for outcome in grid.outcomes():
        tried.append(grid.evaluate(outcome, watch))
        bar.advance(tried[-1][1].points)
        if isinstance(outcome, _Failure):
            failures.append(outcome)
    if len(failures) == len(tried):
        top = next(one for one in failures if grid.has_top(one.box))
        raise hopeless(problem, top.name, top.smallest)
    tried.sort(key=lambda pair: (sum(pair[0]), pair[0]))
    good = [(one.metric, one.thresholds) for _, one in tried if one.metric is not None]
    metric, thresholds = max(good, key=lambda pair: pair[0])  # the first of those that tie
    return ThresholdSearch(
        "exhaustive",
        thresholds,
        metric,
        problem.learn(thresholds),
        tuple(one for _, one in tried),
        problem.n_grid,
        len(good),
    )


class _Grid:
    """The grid of all combinations of candidates, a dimension for each group."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._targets = problem.batch.targets
        self._numbers = stage_numbers(problem.cascade.order, self._targets)
        self._stages = sorted({self._numbers[name] for name in self._targets})
        n_groups = len(problem.groups)
        # Sets in no group keep every sample: one more group, with one candidate.
        self._candidates = [problem.candidates] * n_groups + [np.array([inf])]
        self._group = dict.fromkeys(self._targets, n_groups)
        for group, members in enumerate(problem.groups.values()):
            self._group.update(dict.fromkeys(members, group))

    def outcomes(self) -> Iterator[_State | _Failure]:
        """Yield the models that differ and the failures, each with its points."""
        sets = {s.output.name: s for s in self._problem.cascade.order}
        box = tuple(np.arange(len(candidates)) for candidates in self._candidates)
        waiting = [_State(box, 0, sets, {}, {})]
        while waiting:
            state = waiting.pop()
            if state.stage == len(self._stages):
                yield state
                continue
            measured = self._measured(state)
            cuts = self._cuts(state.box, measured.nabla)
            yield from self._failures(state.box, cuts, measured.nabla)
            if all(len(cut.steps) for cut in cuts.values()):
                waiting += state.after(list(cuts.values()), measured)

    def _measured(self, state: _State) -> Measured:
        batch, number = self._problem.batch, self._stages[state.stage]
        sets = list(state.sets.values())
        stage = next_stage(sets, self._numbers, self._targets, number, state.kept)
        known = Batch(batch.n, {**batch.known, **state.kept}, batch.targets)
        return Measured(stage, known, shapes_of(stage, state.sets))

    def _cuts(self, box: Box, nabla: Mapping[str, FloatArray]) -> dict[int, Cut]:
        """Return the cuts of a stage, by their groups."""
        counts: dict[int, dict[str, Ints]] = {}
        for name, distances in nabla.items():
            group = self._group[name]
            found = counts_of(distances, self._candidates[group])
            counts.setdefault(group, {})[name] = found
        return {g: Cut(g, of, self._candidates[g], box[g]) for g, of in counts.items()}

    def _failures(
        self, box: Box, cuts: dict[int, Cut], nabla: Mapping[str, FloatArray]
    ) -> Iterator[_Failure]:
        """Yield the points that leave a set without samples, and take them off the cuts.

        A point that leaves several sets without belongs to the first, which `learn` would name.
        """
        for name, distances in nabla.items():
            cut = cuts[self._group[name]]
            failing = {**cuts, cut.group: cut.failing(name)}.values()
            cuts[cut.group] = cut.without(name)
            if all(len(one.steps) for one in failing):
                where = _replaced(box, failing, [one.steps for one in failing])
                yield _Failure(where, name, float(distances.min()))

    def has_top(self, box: Box) -> bool:
        """Tell whether the highest thresholds are in a box."""
        ends = zip(box, self._candidates, strict=True)
        return all(steps[-1] == len(candidates) - 1 for steps, candidates in ends)

    def evaluate(self, outcome: _State | _Failure, watch: Watch) -> tuple[list[int], Evaluation]:
        """Return the lowest point of an outcome, and its record."""
        *steps, _ = low = [int(steps[0]) for steps in outcome.box]
        thresholds = self._problem.thresholds(steps)
        points = prod(map(len, outcome.box))
        if isinstance(outcome, _Failure):
            failed = outcome.name, outcome.smallest
            return low, impossible(thresholds, *failed, watch.lap(), points)
        metric = self._problem.evaluate(self._model(outcome), thresholds)
        reliable = {n: int(outcome.counts[n][low[self._group[n]]]) for n in self._targets}
        return low, Evaluation(thresholds, metric, "", reliable, watch.lap(), points)

    def _model(self, state: _State) -> Cascade:
        return with_sets(self._problem.cascade, state.sets)


def _replaced(box: Box, cuts: Iterable[Cut], steps: Iterable[Ints]) -> Box:
    """Return a box with other candidates for the groups of some cuts."""
    new = {cut.group: chosen for cut, chosen in zip(cuts, steps, strict=True)}
    return tuple(new.get(group, old) for group, old in enumerate(box))
