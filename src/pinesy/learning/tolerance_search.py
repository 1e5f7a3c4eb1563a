"""Tolerances from validation data: how reliable a sample must be to be learned from.

There are two searches: the paper's, and one of the grid of all combinations of candidates, in which
each model is learned once. Only which samples are reliable matters to a model, and what is reliable
for a set depends on the parameters of the sets before it alone. So the grid is cut stage by stage:
tolerances that keep the same samples are learned with once, and what then has the same parameters
goes on together. Every cut is across one group: the points of the grid that lead to a model are
always a *box*, all combinations of some candidates for each group. See docs/tolerances.md.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.console import Bar
from pinesy._common.console import progress as progress_bar
from pinesy._common.validation import FloatArray, check_integer, check_known, check_number
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, LearningError
from pinesy.learning.comparison import accuracy
from pinesy.learning.learning_arguments import (
    Rules,
    SetParameters,
    Tolerances,
    batch_of,
    fixed_parameters,
    resolve_groups,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.sample_systems import Measured
from pinesy.learning.stages import CascadeStages, SetsSoFar, solve_stage, with_sets, with_solution
from pinesy.learning.tolerance_trials import (
    Evaluation,
    Judge,
    Metric,
    SearchProblem,
    ToleranceSearch,
    checked_candidates,
    improves,
)
from pinesy.minmax.fronts import reliable_below

Ints = npt.NDArray[np.intp]
#: For each group the places of some candidates, rising: the points that are combinations of them.
Box = tuple[Ints, ...]
#: Parameters of the sets of a cut, and the places of the candidates that lead to them.
Learned = tuple[SetParameters, Ints]


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
    method: str = "paper",
    initial: Any = None,
    fixed: Any = "implications",
    progress: bool = True,
) -> ToleranceSearch:
    """Find the tolerances to learn with, by how well what is learned predicts other data.

    The search of the paper [subsec:thresholdsdetermination] starts with the lowest candidate for
    every group. Where learning is impossible, because some set has no reliable sample, the group of
    that set goes to the next candidate. Otherwise the metric is evaluated and all groups go to the
    next candidate, until the metric has not improved by `min_improvement` over `stagnation`
    evaluations; the tolerances returned are the lowest tested ones that reach the metric at which
    it stopped improving.

    The exhaustive search evaluates every combination of candidates over the groups, and returns
    the best: of those that tie the one with the fewest steps up the candidates, of all groups
    together, then the one with the lowest tolerance of the first group, and so on. A model that
    several combinations give is learned and evaluated once.

    Parameters
    ----------
    rules, evidence, targets, initial, fixed : as in `learn`
    validation : a pair of evidence and targets; what the metric takes
    groups : the groups of sets that share a tolerance: each a name, a pattern such as ``"c_*"``, or
        a tuple of these; by default one group of all sets with targets, ``"*"``. Sets in no group
        keep every sample.
    metric : a function of a cascade and of the `validation` evidence and targets; the larger its
        value the better
    candidates : tolerances to choose from, rising; by default `candidate_tolerances()`
    min_improvement, stagnation : when the search of the paper stops
    method : ``"paper"`` or ``"exhaustive"``
    progress : show on a terminal how far the search is, if it takes long

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
    check_known(method, ("paper", "exhaustive"), f"there is no method {method!r:.60}", DataError)
    check_number(min_improvement, "min_improvement", error=DataError)
    check_integer(stagnation, "stagnation", 1, DataError)
    cascade = with_initial(rules, initial)
    batch = batch_of(cascade, evidence, targets)
    judge = Judge(metric, validation, cascade)
    shared = resolve_groups(groups, list(batch.targets))
    constants = fixed_parameters(fixed, cascade, list(batch.targets))
    steps = checked_candidates(candidates)
    problem = SearchProblem(cascade, batch, shared, steps, judge, constants)
    total = None if method == "paper" else problem.n_grid
    with progress_bar("searching tolerances" if progress else "", total) as bar:
        if method == "paper":
            return _climb(problem, float(min_improvement), stagnation, bar)
        return exhaust(problem, bar)


def _climb(
    problem: SearchProblem, min_improvement: float, stagnation: int, bar: Bar
) -> ToleranceSearch:
    """Raise tolerances from the lowest candidates on, until the metric stagnates.

    This is the search of the paper, [subsec:thresholdsdetermination]. Where learning is impossible,
    the tolerance of the group of the set that failed goes to the next candidate. After an
    evaluation all of them do.
    """
    evaluations: list[Evaluation] = []
    last, steps, stagnant = len(problem.candidates) - 1, [0] * len(problem.groups), 0
    best: tuple[Tolerances, float, LearningResult] | None = None
    while True:
        tolerances = problem.tolerances(steps)
        bar.advance()
        try:
            result = problem.learn(tolerances)
        except LearningError as error:
            evaluations.append(problem.impossible(tolerances, error.rule_set, error.smallest))
            group = [error.rule_set in names for names in problem.groups.values()].index(True)
            if steps[group] == last:
                raise problem.hopeless(error.rule_set, error.smallest) from None
            steps[group] += 1
            continue
        reliable = {name: one.n_reliable for name, one in result.sets.items()}
        evaluations.append(problem.judged(result.cascade, tolerances, reliable))
        metric = cast(float, evaluations[-1].metric)
        highest = -inf if best is None else best[1]
        improved = improves(metric, highest, min_improvement)
        stagnant = 0 if improved else stagnant + 1
        if best is None or (improved and metric > highest):
            best = tolerances, metric, result
        if stagnant >= stagnation or min(steps) == last:
            return ToleranceSearch("paper", *best, tuple(evaluations))
        steps = [min(step + 1, last) for step in steps]


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


def _learned(measured: Measured, cuts: Collection[GridCut]) -> list[list[Learned]]:
    """Return for each cut the different parameters of its sets, and the steps that lead to them.

    Sets of one stage do not depend on each other: an outcome of every cut is learned at a time.
    """
    outcomes = [cut.outcomes for cut in cuts]
    learned: list[dict[bytes, Learned]] = [{} for _ in cuts]
    for turn in range(max(map(len, outcomes))):
        chosen = [int(steps[min(turn, len(steps) - 1)][0]) for steps in outcomes]
        tolerances = {
            name: float(cut.candidates[step])
            for cut, step in zip(cuts, chosen, strict=True)
            for name in cut.counts
        }
        solved = solve_stage(measured, tolerances, {}, measured.fixed)
        for cut, own, known in zip(cuts, outcomes, learned, strict=True):
            if turn < len(own):
                solutions = {name: solved[name].lowest for name in cut.counts}
                key = b"".join(x.tobytes() for x in solutions.values())
                _, before = known.get(key, (solutions, own[turn][:0]))
                known[key] = solutions, np.concatenate([before, own[turn]])
    return [list(known.values()) for known in learned]


@dataclass(frozen=True, eq=False)
class GridState:
    """Points of the grid that have the same parameters so far, and where they end the same fate.

    Attributes
    ----------
    box : the points
    stage : the place of the next stage among the stages
    sets : the rule sets, with the parameters learned so far
    inferred : the distributions that later stages need
    counts : for each set learned so far the number of reliable samples at each candidate
    failed : a set that has no reliable sample, and its smallest distance; None if each has some
    """

    box: Box
    stage: int
    sets: SetsSoFar
    inferred: Mapping[str, npt.NDArray[Any]]
    counts: Mapping[str, Ints]
    failed: tuple[str, float] | None = None

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


def exhaust(problem: SearchProblem, bar: Bar) -> ToleranceSearch:
    """Evaluate every combination of candidates; of the best ones return the lowest.

    Lowest is: the fewest steps up the candidates, of all groups together; then the lowest
    tolerance of the first group, of the second, and so on.
    """
    grid = CandidateGrid(problem)
    tried: list[tuple[list[int], Evaluation]] = []
    failures: list[tuple[list[int], tuple[str, float]]] = []
    for state in grid.outcomes():
        tried.append(grid.evaluate(state))
        bar.advance(tried[-1][1].points)
        if state.failed:
            failures.append(([int(steps[-1]) for steps in state.box], state.failed))
    if len(failures) == len(tried):
        # The box with the highest tolerances: no other goes up as far in every group.
        raise problem.hopeless(*max(failures)[1])
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

    def outcomes(self) -> Iterator[GridState]:
        """Yield the models that differ and the failures, each with its points."""
        box = tuple(np.arange(len(candidates)) for candidates in self._candidates)
        waiting = [GridState(box, 0, SetsSoFar.of(self._problem.cascade), {}, {})]
        while waiting:
            state = waiting.pop()
            if state.stage == len(self._numbers):
                yield state
                continue
            stage = self._stages.stage(self._numbers[state.stage], state.sets, state.inferred)
            measured = Measured(stage, self._problem.batch.extended(state.inferred))
            cuts = self._cuts(state.box, measured.nabla)
            yield from self._failures(state, cuts, measured.nabla)
            if all(len(cut.steps) for cut in cuts.values()):
                waiting += state.after(cuts, measured)

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
        self, state: GridState, cuts: dict[int, GridCut], nabla: Mapping[str, FloatArray]
    ) -> Iterator[GridState]:
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
                failed = name, float(distances.min())
                yield replace(state, box=_replaced(state.box, failing), failed=failed)

    def evaluate(self, state: GridState) -> tuple[list[int], Evaluation]:
        """Return the lowest point of an outcome, and its record."""
        *steps, _ = low = [int(steps[0]) for steps in state.box]
        tolerances, points = self._problem.tolerances(steps), prod(map(len, state.box))
        if state.failed:
            return low, self._problem.impossible(tolerances, *state.failed, points)
        cascade = with_sets(self._problem.cascade, state.sets.now)
        reliable = {n: int(state.counts[n][low[self._group[n]]]) for n in self._targets}
        return low, self._problem.judged(cascade, tolerances, reliable, points)


def _replaced(box: Box, steps: Mapping[int, Ints]) -> Box:
    """Return a box with other candidates for some groups."""
    return tuple(steps.get(group, old) for group, old in enumerate(box))
