"""All combinations of candidate tolerances, each model that comes of them learned once.

Only which samples are reliable matters to a model, so that many tolerances give the same. What is
reliable for a set depends on the parameters of the sets before it, and on nothing else that was
learned. Therefore the grid is cut stage by stage: tolerances that keep the same samples are learned
with once, and what then has the same parameters goes on together. At the end are left the models
that differ. Every cut is across one group, so that the points of the grid that lead to a model are
always a *box*: all combinations of some candidates for each group. See docs/tolerances.md.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import Bar
from pinesy._common.validation import FloatArray
from pinesy.learning.evaluations import Evaluation, SearchProblem, ToleranceSearch
from pinesy.learning.sample_systems import Measured
from pinesy.learning.stages import CascadeStages, SetsSoFar, solve_stage, with_sets, with_solution
from pinesy.minmax.fronts import reliable_below

Ints = npt.NDArray[np.intp]
#: For each rule set its parameters ``(s_1, r_1, s_2, ...)``.
Solutions = dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class GridCut:
    """The sets of one group that are learned in a stage, and candidates for their tolerance.

    Attributes
    ----------
    counts : for each set, the number of its reliable samples at each candidate
    candidates : all of them
    steps : the places of the candidates that are wanted, rising
    """

    counts: Mapping[str, Ints]
    candidates: FloatArray
    steps: Ints

    @property
    def outcomes(self) -> list[Ints]:
        """The steps, those together that keep the same samples of all sets."""
        table = np.array([counts[self.steps] for counts in self.counts.values()])
        changes = (table[:, 1:] != table[:, :-1]).any(axis=0)
        return np.split(self.steps, np.flatnonzero(changes) + 1)


def _learned(measured: Measured, cuts: Collection[GridCut]) -> list[list[tuple[Solutions, Ints]]]:
    """Return for each cut the different parameters of its sets, and the steps that lead to them.

    Sets of one stage do not depend on each other: an outcome of every cut is learned at a time.
    """
    outcomes = [cut.outcomes for cut in cuts]
    learned: list[list[tuple[Solutions, Ints]]] = [[] for _ in cuts]
    for turn in range(max(map(len, outcomes))):
        chosen = [int(steps[min(turn, len(steps) - 1)][0]) for steps in outcomes]
        tolerances = {
            name: float(cut.candidates[step])
            for cut, step in zip(cuts, chosen, strict=True)
            for name in cut.counts
        }
        solved = solve_stage(measured, tolerances, {}, measured.fixed)
        found = {name: one.lowest for name, one in solved.items()}
        for cut, own, known in zip(cuts, outcomes, learned, strict=True):
            if turn < len(own):
                _add(known, {name: found[name] for name in cut.counts}, own[turn])
    return learned


def _add(known: list[tuple[Solutions, Ints]], solutions: Solutions, steps: Ints) -> None:
    """Add steps and the parameters they lead to, together with others that lead to the same."""
    for place, (others, before) in enumerate(known):
        if all((others[name] == x).all() for name, x in solutions.items()):
            known[place] = others, np.concatenate([before, steps])
            return
    known.append((solutions, steps))


#: For each group the places of some candidates, rising: the points that are combinations of them.
Box = tuple[Ints, ...]


@dataclass(frozen=True, eq=False)
class GridState:
    """Points of the grid that have the same parameters so far.

    Attributes
    ----------
    box : the points
    stage : the place of the next stage among the stages
    sets : the rule sets, with the parameters learned so far
    inferred : the distributions that later stages need
    counts : for each set learned so far the number of reliable samples at each candidate
    """

    box: Box
    stage: int
    sets: SetsSoFar
    inferred: Mapping[str, npt.NDArray[Any]]
    counts: Mapping[str, Ints]

    def after(self, cuts: Mapping[int, GridCut], measured: Measured) -> Iterator["GridState"]:
        """Learn the stage with cuts, by group; yield a state for each choice of parameters."""
        counts = {**self.counts, **{n: c for cut in cuts.values() for n, c in cut.counts.items()}}
        for chosen in product(*_learned(measured, cuts.values())):
            learned = {
                name: with_solution(self.sets.now[name], x[0::2], x[1::2])
                for solutions, _ in chosen
                for name, x in solutions.items()
            }
            steps = (steps for _, steps in chosen)
            box = _replaced(self.box, dict(zip(cuts, steps, strict=True)))
            sets = self.sets.with_learned(learned)
            yield GridState(box, self.stage + 1, sets, measured.inferred, counts)


@dataclass(frozen=True, eq=False)
class GridFailure:
    """Points for which a set has no reliable sample; `smallest` is its smallest distance."""

    box: Box
    name: str
    smallest: float


def exhaust(problem: SearchProblem, bar: Bar) -> ToleranceSearch:
    """Evaluate every combination of candidates; of the best ones return the lowest.

    Lowest is: the fewest steps up the candidates, of all groups together; then the lowest
    tolerance of the first group, of the second, and so on.
    """
    grid = CandidateGrid(problem)
    tried: list[tuple[list[int], Evaluation]] = []
    failures: list[GridFailure] = []
    for outcome in grid.outcomes():
        tried.append(grid.evaluate(outcome))
        bar.advance(tried[-1][1].points)
        if isinstance(outcome, GridFailure):
            failures.append(outcome)
    if len(failures) == len(tried):
        # The box with the highest tolerances: no other goes up as far in every group.
        top = max(failures, key=lambda one: [int(steps[-1]) for steps in one.box])
        raise problem.hopeless(top.name, top.smallest)
    tried.sort(key=lambda pair: (sum(pair[0]), pair[0]))
    good = [(one.metric, one.tolerances) for _, one in tried if one.metric is not None]
    metric, tolerances = max(good, key=lambda pair: pair[0])  # the first of those that tie
    return ToleranceSearch(
        "exhaustive",
        tolerances,
        metric,
        problem.learn(tolerances),
        tuple(one for _, one in tried),
        problem.n_grid,
        len(good),
    )


class CandidateGrid:
    """The grid of all combinations of candidates, a dimension for each group."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._targets = problem.batch.targets
        self._stages = CascadeStages(problem.cascade, self._targets, problem.fixed)
        self._numbers = list(self._stages)
        n_groups = len(problem.groups)
        # Sets in no group keep every sample: one more group, with one candidate.
        self._candidates: list[FloatArray] = [problem.candidates] * n_groups + [np.array([inf])]
        self._group = dict.fromkeys(self._targets, n_groups)
        for group, members in enumerate(problem.groups.values()):
            self._group.update(dict.fromkeys(members, group))

    def outcomes(self) -> Iterator[GridState | GridFailure]:
        """Yield the models that differ and the failures, each with its points."""
        box = tuple(np.arange(len(candidates)) for candidates in self._candidates)
        waiting = [GridState(box, 0, SetsSoFar.of(self._problem.cascade), {}, {})]
        while waiting:
            state = waiting.pop()
            if state.stage == len(self._numbers):
                yield state
                continue
            measured = self._measured(state)
            cuts = self._cuts(state.box, measured.nabla)
            yield from self._failures(state.box, cuts, measured.nabla)
            if all(len(cut.steps) for cut in cuts.values()):
                waiting += state.after(cuts, measured)

    def _measured(self, state: GridState) -> Measured:
        stage = self._stages.stage(self._numbers[state.stage], state.sets, state.inferred)
        return Measured(stage, self._problem.batch.extended(state.inferred))

    def _cuts(self, box: Box, nabla: Mapping[str, FloatArray]) -> dict[int, GridCut]:
        """Return the cuts of a stage, by their groups."""
        counts: dict[int, dict[str, Ints]] = {}
        for name, distances in nabla.items():
            group = self._group[name]
            # How many samples have nabla < tau, for each candidate.
            ordered, of_group = np.sort(distances), counts.setdefault(group, {})
            of_group[name] = np.searchsorted(ordered, reliable_below(self._candidates[group]))
        return {g: GridCut(of, self._candidates[g], box[g]) for g, of in counts.items()}

    def _failures(
        self, box: Box, cuts: dict[int, GridCut], nabla: Mapping[str, FloatArray]
    ) -> Iterator[GridFailure]:
        """Yield the points that leave a set without samples, and take them off the cuts.

        A point that leaves several sets without belongs to the first, which `learn` would name.
        """
        for name, distances in nabla.items():
            group = self._group[name]
            cut = cuts[group]
            fails = cut.counts[name][cut.steps] == 0
            failing = {g: one.steps for g, one in cuts.items()} | {group: cut.steps[fails]}
            cuts[group] = replace(cut, steps=cut.steps[~fails])
            if all(map(len, failing.values())):
                yield GridFailure(_replaced(box, failing), name, float(distances.min()))

    def evaluate(self, outcome: GridState | GridFailure) -> tuple[list[int], Evaluation]:
        """Return the lowest point of an outcome, and its record."""
        *steps, _ = low = [int(steps[0]) for steps in outcome.box]
        tolerances = self._problem.tolerances(steps)
        points = prod(map(len, outcome.box))
        if isinstance(outcome, GridFailure):
            failed = outcome.name, outcome.smallest
            return low, self._problem.impossible(tolerances, *failed, points)
        cascade = with_sets(self._problem.cascade, outcome.sets.now)
        metric = self._problem.evaluate(cascade, tolerances)
        reliable = {n: int(outcome.counts[n][low[self._group[n]]]) for n in self._targets}
        return low, self._problem.evaluated(tolerances, metric, reliable, points)


def _replaced(box: Box, steps: Mapping[int, Ints]) -> Box:
    """Return a box with other candidates for some groups."""
    return tuple(steps.get(group, old) for group, old in enumerate(box))
