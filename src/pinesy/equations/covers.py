"""Minimal vectors that reach every row of a system: its irredundant covers.

Each column has levels, in the order in which ``x_j`` leaves its start; a level reaches the rows of
all levels before it. A cover has a level for each column, such that every row is reached. There may
be exponentially many minimal ones, so they are enumerated lazily.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray
from pinesy.equations.compositions import Composition

#: The rank of a row that a column does not reach, above all levels.
NEVER = np.iinfo(np.int64).max

Ranks = npt.NDArray[np.int64]
Levels = tuple[int, ...]


@dataclass(frozen=True)
class Covers:
    """The rows to reach, and the levels of each column.

    Attributes
    ----------
    ranks : array (rows, columns), the lowest level of each column that reaches a row, or `NEVER`
    values : for each column the entry ``x_j`` of each level; level 0 is the start
    """

    ranks: Ranks
    values: list[Any]

    @classmethod
    def of(
        cls, composition: Composition, reach: Any, is_reached: BoolArray, tolerance: float
    ) -> "Covers":
        """Return the covers of the rows, of which column `j` reaches some with ``x_j = reach``.

        Rows that are reached at the start, or whenever another row is, are left out. O(N M log N)
        and O(R N M) for R remaining rows.
        """
        ranks = np.full(reach.shape, NEVER)
        values = []
        for j in range(reach.shape[1]):
            rows = np.flatnonzero(is_reached[:, j])
            ranks[rows, j], levels = _levels(composition, reach[rows, j], tolerance)
            values.append(levels)
        is_open = (ranks > 0).all(axis=1)
        return cls(_hardest_rows(ranks[is_open]), values)

    def without(self, is_complete: BoolArray) -> "Covers":
        """Return the covers of the rows that columns at their last level do not reach."""
        is_missing = (self.ranks[:, is_complete] == NEVER).all(axis=1)
        return Covers(self.ranks[is_missing], self.values)

    @cached_property
    def masks(self) -> list[list[int]]:
        """For each column and level, the rows that it reaches, as bits."""
        return [
            [_as_bits(self.ranks[:, j] <= level) for level in range(len(values))]
            for j, values in enumerate(self.values)
        ]

    @property
    def root(self) -> tuple[Levels, Levels]:
        """The levels at the start, and the number of levels of each column."""
        return (0,) * len(self.values), tuple(map(len, self.values))

    def minimal(self) -> Iterator[Levels]:
        """Yield the minimal covers, each once, depth first.

        A branch raises a column so that it reaches a row, and keeps the columns of earlier branches
        below that row. It ends when some column cannot be the only one to reach some row.
        """
        stack = [self.root]
        while stack:
            levels, caps = stack.pop()
            if not self._may_be_minimal(levels, caps):
                continue
            is_uncovered = self.uncovered(levels)
            if is_uncovered.any():
                stack.extend(reversed(self.branches(levels, caps, is_uncovered)))
            elif self._may_be_minimal(levels, tuple(level + 1 for level in levels)):
                yield levels

    def uncovered(self, levels: Levels) -> BoolArray:
        """Return which rows are not reached at some levels."""
        return np.asarray((self.ranks > np.array(levels)).all(axis=1))

    def branches(
        self, levels: Levels, caps: Levels, is_uncovered: BoolArray
    ) -> list[tuple[Levels, Levels]]:
        """Return the ways to reach the row that fewest columns may reach, with disjoint caps."""
        ranks = self.ranks[is_uncovered]
        is_choice = ranks < np.array(caps)
        row = int(is_choice.sum(axis=1).argmin())
        children = []
        new_caps = list(caps)
        for j in np.flatnonzero(is_choice[row]).tolist():
            rank = int(ranks[row, j])
            children.append(((*levels[:j], rank, *levels[j + 1 :]), tuple(new_caps)))
            new_caps[j] = rank
        return children

    def _may_be_minimal(self, levels: Levels, caps: Levels) -> bool:
        """Return whether each raised column may reach a row, below its cap, that no other does."""
        raised = [j for j, level in enumerate(levels) if level]
        reached = [self.masks[j][levels[j]] for j in raised]
        for i, j in enumerate(raised):
            others = reduce(or_, reached[:i] + reached[i + 1 :], 0)
            needing = self.masks[j][caps[j] - 1] & ~self.masks[j][levels[j] - 1]
            if not needing & ~others:
                return False
        return True

    def vector(self, levels: Levels) -> Any:
        """Return the entries of `x` at some levels."""
        return np.array([values[k] for values, k in zip(self.values, levels, strict=True)])


def _levels(composition: Composition, reach: Any, tolerance: float) -> tuple[Ranks, Any]:
    """Return the level of each entry, and the value of each level; equal up to the tolerance."""
    direction = 1 if composition.is_max else -1
    heights = direction * np.append(reach, composition.start)
    order = np.argsort(heights, kind="stable")
    # The start is lowest; it is moved to the front of those within the tolerance of it.
    is_new = np.append(False, np.diff(heights[order]) > tolerance)
    level_of = np.cumsum(is_new)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = level_of
    last = np.append(level_of[1:] != level_of[:-1], True)
    values = direction * heights[order][last]
    values[0] = composition.start
    return ranks[:-1], values


def _hardest_rows(ranks: Ranks) -> Ranks:
    """Return the rows that are not reached whenever another row is."""
    remaining = np.unique(ranks, axis=0)
    order = np.lexsort((-_capped_sum(remaining), (remaining == NEVER).sum(axis=1) * -1))
    remaining, hardest = remaining[order], []
    while len(remaining):
        row = remaining[0]
        hardest.append(row)
        remaining = remaining[(remaining > row).any(axis=1)]
    return np.array(hardest, dtype=np.int64).reshape(-1, ranks.shape[1])


def _capped_sum(ranks: Ranks) -> Ranks:
    """Return the sum of the ranks of each row, without `NEVER`."""
    total: Ranks = np.where(ranks == NEVER, 0, ranks).sum(axis=1)
    return total


def _as_bits(is_member: BoolArray) -> int:
    return int.from_bytes(np.packbits(is_member, bitorder="little").tobytes(), "little")
