"""Counting remappings: all of them, value by value, kept while the answers are right.

The observed combinations join variables into groups; what one group is read as does not matter for
the others, so that the counts of groups are multiplied.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinesy.concepts.observed_answers import ObservedAnswers, Positions

#: Partial remappings that are held at a time; where there are more, a solver takes over.
MAX_PARTIAL = 1 << 17
#: Combinations that are looked up at a time.
MAX_CELLS = 1 << 21
#: Combinations that are inferred to extend one variable, where there is no table of answers.
MAX_INFERRED = 1 << 18


@dataclass(frozen=True, eq=False)
class Group:
    """Variables that observed combinations join, directly or through others.

    Attributes
    ----------
    variables : their numbers
    rows : the combinations that hold one of them
    """

    variables: Positions
    rows: Positions


def groups_of(answers: ObservedAnswers) -> list[Group]:
    """Return the groups of the variables that are not labelled.

    Each variable takes the least number of those it is joined with, until nothing changes.
    """
    free = np.flatnonzero(~answers.fixed)
    n, places = len(answers.truth), np.where(answers.fixed[answers.places], -1, answers.places)
    leader, before = np.arange(n), np.full(n, -1)
    while not np.array_equal(leader, before):
        before = leader.copy()
        least = np.where(places >= 0, leader[places], n).min(axis=1)
        for column in places.T:
            held = column >= 0
            np.minimum.at(leader, column[held], least[held])
    of_row = np.where(places >= 0, leader[places], n).min(axis=1)
    return [
        Group(free[leader[free] == first], np.flatnonzero(of_row == first))
        for first in np.unique(leader[free])
    ]


def counted(answers: ObservedAnswers, group: Group) -> Positions | None:
    """Return all remappings (n, variables) of a group that keep its answers right, sorted.

    None if there are too many partial ones on the way. Cost: for each variable, the partial
    remappings times its values times the combinations that it completes.
    """
    maps = answers.truth[None, :]
    for variable, rows in _steps(answers, group):
        size = int(answers.sizes[variable])
        if len(maps) * size > MAX_PARTIAL:
            return None
        if not answers.is_tabled and len(maps) * size * len(rows) > MAX_INFERRED:
            return None
        maps = np.repeat(maps, size, axis=0)
        maps[:, variable] = np.tile(np.arange(size), len(maps) // size)
        maps = _right(answers, maps, rows)
    return in_order(maps[:, group.variables], answers.truth[group.variables])


def _steps(answers: ObservedAnswers, group: Group) -> Iterator[tuple[int, Positions]]:
    """Yield the variables one by one, each with the combinations that it completes.

    The one that completes most comes first, then the one that begins or continues most.
    """
    numbers = group.variables
    holds = np.zeros((len(group.rows), len(answers.truth)), dtype=bool)
    np.put_along_axis(holds, answers.places[group.rows], True, axis=1)
    holds = holds[:, numbers]
    left = list(range(len(numbers)))
    while left:
        open_ones = holds[:, left].sum(axis=1)
        begun = (open_ones > 0) & (open_ones < holds.sum(axis=1))
        completes = holds[open_ones == 1][:, left].sum(axis=0)
        continues = holds[begun][:, left].sum(axis=0)
        # the last key is the first to be looked at
        best = left.pop(int(np.lexsort((-holds[:, left].sum(axis=0), -continues, -completes))[0]))
        yield int(numbers[best]), group.rows[(open_ones == 1) & holds[:, best]]


def _right(answers: ObservedAnswers, maps: Positions, rows: Positions) -> Positions:
    """Return the remappings that give the right answers for rows."""
    width = answers.places.shape[1]
    while len(rows):
        step = max(1, MAX_CELLS // (max(1, len(maps)) * width))
        now, rows = rows[:step], rows[step:]
        read = maps[:, answers.places[now]].reshape(-1, width)
        right = answers.codes(read).reshape(len(maps), len(now)) == answers.right[now]
        maps = maps[right.all(axis=1)]
    return maps


def in_order(maps: Positions, truth: Positions) -> Positions:
    """Return remappings with those first that read fewest values wrongly: the true one."""
    wrong = (maps != truth).sum(axis=1)
    return maps[np.lexsort((*maps.T[::-1], wrong))]


def smallest_hitting_set(sets: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return a smallest set that has an element of each of some non-empty sets.

    By iterative deepening, branching on the elements of the smallest set that is not hit.

    Examples
    --------
    >>> smallest_hitting_set([[0, 1], [1, 2], [2, 3], [0, 3], [1, 3]])
    (1, 3)
    """
    ordered = sorted({tuple(sorted(s)) for s in sets}, key=lambda s: (len(s), s))
    size = 0
    while (found := _hitting(ordered, (), size)) is None:
        size += 1
    return tuple(sorted(found))


def _hitting(
    sets: Sequence[tuple[int, ...]], chosen: tuple[int, ...], left: int
) -> tuple[int, ...] | None:
    """Return the elements chosen and at most `left` more that hit all sets, if there are such."""
    missed = [s for s in sets if not set(s) & set(chosen)]
    if not missed:
        return chosen
    for element in missed[0] if left else ():
        found = _hitting(missed, (*chosen, element), left - 1)
        if found is not None:
            return found
    return None


def labels_of(maps: Positions, truth: Positions) -> tuple[int, ...]:
    """Return a smallest set of columns that tells all remappings from the true one."""
    wrong = np.unique(maps != truth, axis=0)
    return smallest_hitting_set([np.flatnonzero(row).tolist() for row in wrong if row.any()])
