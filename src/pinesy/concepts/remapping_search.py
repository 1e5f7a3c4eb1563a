"""Search of the remappings that keep answers right: enumeration, or a SAT solver.

The observed combinations connect variables into groups. The remappings of groups are independent,
so the counts of groups are multiplied.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import numpy as np

from pinesy._common.validation import BoolArray
from pinesy.concepts.observed_answers import Indices, ObservedAnswers
from pinesy.exact.clauses import exactly_one
from pinesy.exceptions import needing

#: The most partial remappings that are enumerated; a solver searches if there are more.
MAX_PARTIAL = 1 << 17
#: The most combinations that are looked up at a time.
MAX_CELLS = 1 << 21
#: The most combinations that are inferred for one variable, without a table of answers.
MAX_INFERRED = 1 << 18
#: Deterministic and incremental.
SOLVER = "cadical153"
#: The most combinations with a wrong answer that become clauses at a time.
MAX_LEARNED = 256


@dataclass(frozen=True, eq=False)
class Group:
    """A connected component of variables; observed combinations connect their variables.

    Attributes
    ----------
    variables : the indices of the variables
    rows : the indices of the combinations with one of them
    """

    variables: Indices
    rows: Indices


@dataclass(frozen=True, eq=False)
class GroupRemappings:
    """The remappings of a group of variables.

    Attributes
    ----------
    variables : the indices of the variables
    maps : the position that each variable is read as (n, variables); the true remapping is first
    exact : whether these are all remappings
    labels : the indices of a smallest set of variables whose labels leave only the true remapping
    """

    variables: Indices
    maps: Indices
    exact: bool
    labels: tuple[int, ...]


def variable_groups(answers: ObservedAnswers) -> list[Group]:
    """Return the connected components of the variables that are not labelled.

    Each variable takes the least index of its neighbours until convergence.
    """
    free = np.flatnonzero(~answers.fixed)
    n, variables = (
        len(answers.truth),
        np.where(answers.fixed[answers.variable_of], -1, answers.variable_of),
    )
    leader, before = np.arange(n), np.full(n, -1)
    while not np.array_equal(leader, before):
        before = leader.copy()
        least = np.where(variables >= 0, leader[variables], n).min(axis=1)
        for column in variables.T:
            is_free = column >= 0
            np.minimum.at(leader, column[is_free], least[is_free])
    of_row = np.where(variables >= 0, leader[variables], n).min(axis=1)
    return [
        Group(free[leader[free] == first], np.flatnonzero(of_row == first))
        for first in np.unique(leader[free])
    ]


def _enumerate_remappings(answers: ObservedAnswers, group: Group) -> Indices | None:
    """Return all remappings (n, variables) of a group that keep its answers right, sorted.

    None if there are too many partial remappings. Cost: for each variable, the partial remappings
    times its values times the combinations that it completes.
    """
    maps = answers.truth[None, :]
    for variable, rows in _variable_order(answers, group):
        size = int(answers.sizes[variable])
        if len(maps) * size > MAX_PARTIAL:
            return None
        if not answers.is_tabled and len(maps) * size * len(rows) > MAX_INFERRED:
            return None
        maps = np.repeat(maps, size, axis=0)
        maps[:, variable] = np.tile(np.arange(size), len(maps) // size)
        maps = _filter_right(answers, maps, rows)
    return sort_remappings(maps[:, group.variables], answers.truth[group.variables])


def _variable_order(answers: ObservedAnswers, group: Group) -> Iterator[tuple[int, Indices]]:
    """Yield the variables in search order, each with the rows of combinations that it completes.

    Greedy: the one that completes most combinations, then the one that continues most.
    """
    variables = group.variables
    holds = np.zeros((len(group.rows), len(answers.truth)), dtype=bool)
    np.put_along_axis(holds, answers.variable_of[group.rows], True, axis=1)
    holds = holds[:, variables]
    remaining = list(range(len(variables)))
    while remaining:
        n_open = holds[:, remaining].sum(axis=1)
        begun = (n_open > 0) & (n_open < holds.sum(axis=1))
        completes = holds[n_open == 1][:, remaining].sum(axis=0)
        continues = holds[begun][:, remaining].sum(axis=0)
        total = holds[:, remaining].sum(axis=0)
        # lexsort: the last key is the primary one
        best = remaining.pop(int(np.lexsort((-total, -continues, -completes))[0]))
        yield int(variables[best]), group.rows[(n_open == 1) & holds[:, best]]


def _filter_right(answers: ObservedAnswers, maps: Indices, rows: Indices) -> Indices:
    """Return the remappings that give the right answers for some rows."""
    width = answers.variable_of.shape[1]
    while len(rows):
        step = max(1, MAX_CELLS // (max(1, len(maps)) * width))
        block, rows = rows[:step], rows[step:]
        combinations = maps[:, answers.variable_of[block]].reshape(-1, width)
        right = answers.codes(combinations).reshape(len(maps), len(block)) == answers.right[block]
        maps = maps[right.all(axis=1)]
    return maps


def sort_remappings(maps: Indices, truth: Indices) -> Indices:
    """Return remappings sorted by the number of wrong values, so the true one is first."""
    wrong = (maps != truth).sum(axis=1)
    return maps[np.lexsort((*maps.T[::-1], wrong))]


def smallest_hitting_set(sets: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return a smallest set with an element of each of some non-empty sets.

    Iterative deepening, branching on the elements of the smallest set that is not hit.

    Examples
    --------
    >>> smallest_hitting_set([[0, 1], [1, 2], [2, 3], [0, 3], [1, 3]])
    (1, 3)
    """
    ordered = sorted({tuple(sorted(s)) for s in sets}, key=lambda s: (len(s), s))
    size = 0
    while (hitting := _find_hitting_set(ordered, (), size)) is None:
        size += 1
    return tuple(sorted(hitting))


def _find_hitting_set(
    sets: Sequence[tuple[int, ...]], elements: tuple[int, ...], left: int
) -> tuple[int, ...] | None:
    """Return `elements` and at most `left` more that hit all sets, or None."""
    missed = [s for s in sets if not set(s) & set(elements)]
    if not missed:
        return elements
    for element in missed[0] if left else ():
        hitting = _find_hitting_set(missed, (*elements, element), left - 1)
        if hitting is not None:
            return hitting
    return None


def distinguishing_labels(maps: Indices, truth: Indices) -> tuple[int, ...]:
    """Return a smallest set of columns in which every remapping differs from the true one."""
    wrong = np.unique(maps != truth, axis=0)
    return smallest_hitting_set([np.flatnonzero(row).tolist() for row in wrong if row.any()])


def group_remappings(answers: ObservedAnswers, group: Group, limit: int) -> GroupRemappings:
    """Return the remappings of a group: enumerated if they are few, else by a solver."""
    truth, numbers = answers.truth[group.variables], group.variables
    maps, exact = _enumerate_remappings(answers, group), True
    if maps is not None:
        labels = distinguishing_labels(maps, truth)
    else:
        solver = RemappingSolver(answers, group)
        maps, exact = solver.remappings(limit)
        labels = solver.labels(maps)
        maps = sort_remappings(np.unique(np.vstack([truth, maps[:limit]]), axis=0), truth)
    return GroupRemappings(numbers, maps, exact, tuple(int(numbers[i]) for i in labels))


def _pysat() -> tuple[Any, Any]:
    cure = ", or give fewer inputs, values or combinations"
    with needing("shortcuts", "so many remappings need a solver, that of", cure):
        from pysat.examples.hitman import Hitman
        from pysat.solvers import Solver
    return Solver, Hitman


class RemappingSolver:
    """Finds remappings of a group that keep all its answers right, one by one, with a SAT solver.

    A literal states that a value is read as another. Clauses are generated lazily: the solver
    proposes a remapping, the rules infer the answers of all observed combinations, and each wrong
    answer becomes a clause that forbids its readings. Values that do not matter for the wrong
    answer are not in the clause: with them unknown, the right answer is still not fully possible,
    and inference is monotone.

    Parameters
    ----------
    answers : ObservedAnswers
    group : the variables that may be read as others
    """

    def __init__(self, answers: ObservedAnswers, group: Group) -> None:
        solver, self._hitman = _pysat()
        self._answers, self._group = answers, group
        self._truth = answers.truth[group.variables]
        sizes = answers.sizes[group.variables]
        self._first = np.concatenate([[1], 1 + np.cumsum(sizes)])
        self._column = {int(v): column for column, v in enumerate(group.variables)}
        self._solver = solver(name=SOLVER)
        # A literal that is assumed to exclude the true remapping.
        self._is_wrong = int(self._first[-1])
        fresh = count(self._is_wrong + 1)
        for first, stop in pairwise(self._first.tolist()):
            for clause in exactly_one(range(first, stop), fresh):
                self._solver.add_clause(clause)
        self._solver.add_clause([-self._is_wrong, *(-lit for lit in self._literals(self._truth))])

    def _literals(self, readings: Indices) -> list[int]:
        """Return the literals of the readings of all variables."""
        return list(map(int, self._first[:-1] + readings))

    def remappings(self, limit: int) -> tuple[Indices, bool]:
        """Return up to `limit` remappings (n, variables), and whether these are all."""
        maps: list[Indices] = []
        while (readings := self._solve([])) is not None:
            if len(maps) == limit:
                return np.array(maps), False
            maps.append(readings)
            self._solver.add_clause([-lit for lit in self._literals(readings)])
        return np.array(maps), True

    def labels(self, maps: Indices) -> tuple[int, ...]:
        """Return a smallest set of variables whose labels leave only the true remapping.

        Implicit hitting sets: find a smallest set for the known `maps`; if the solver finds another
        remapping with these labels, add it, and repeat.
        """
        wrong = [np.flatnonzero(row).tolist() for row in maps != self._truth]
        with self._hitman(bootstrap_with=[row for row in wrong if row]) as hitting:
            while True:
                columns = sorted(hitting.get() or ())
                labelled = [self._literals(self._truth)[column] for column in columns]
                readings = self._solve([self._is_wrong, *labelled])
                if readings is None:
                    return tuple(columns)
                hitting.hit(np.flatnonzero(readings != self._truth).tolist())

    def _solve(self, assumptions: Sequence[int]) -> Indices | None:
        """Return a remapping that keeps all answers right, or None."""
        while self._solver.solve(assumptions=list(assumptions)):
            model = np.array(self._solver.get_model()[: self._first[-1] - 1])
            readings: Indices = np.flatnonzero(model > 0) + 1 - self._first[:-1]
            clauses = self._violated_clauses(readings)
            if not clauses:
                return readings
            for clause in clauses:
                self._solver.add_clause(clause)
        return None

    def _violated_clauses(self, readings: Indices) -> list[list[int]]:
        """Return clauses that forbid a remapping, one for each combination with a wrong answer."""
        answers, rows = self._answers, self._group.rows
        maps = answers.truth.copy()
        maps[self._group.variables] = readings
        wrong = rows[answers.codes(maps[answers.variable_of[rows]]) != answers.right[rows]][
            :MAX_LEARNED
        ]
        if not len(wrong):
            return []
        variables = answers.variable_of[wrong]
        unknown = self._irrelevant_entries(wrong, maps[variables])
        needed = np.where(unknown | answers.fixed[variables], -1, variables)
        literals = self._literals(readings)
        sets = {tuple(sorted({self._column[v] for v in row if v >= 0})) for row in needed.tolist()}
        return [[-literals[column] for column in columns] for columns in sorted(sets)]

    def _irrelevant_entries(self, rows: Indices, readings: Indices) -> BoolArray:
        """Return which entries of combinations do not matter for their wrong answers.

        Greedy: one column after the other is made unknown, in all combinations at once.
        """
        answers = self._answers
        right = answers.possible(answers.rows[rows])
        unknown = np.zeros(readings.shape, dtype=bool)
        for column in range(readings.shape[1]):
            candidate = unknown.copy()
            # all entries of a variable have one reading, so they are unknown together
            same = answers.variable_of[rows] == answers.variable_of[rows, column][:, None]
            candidate |= same & ~answers.fixed[answers.variable_of[rows]]
            excluded = (right & ~answers.possible(readings, candidate)).any(axis=1)
            unknown[excluded] = candidate[excluded]
        return unknown
