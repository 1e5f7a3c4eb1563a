"""The search for the readings of least size by which another value would win.

The search is branch and bound on the inputs: inferred degrees rise with the degrees of the inputs.
So what is inferred from the envelope of all readings that are still open is above what any of them
gives, and where the value does not reach the top there, none of them makes it win.

It goes depth first, and an input stays as it is before it is read as anything. So no change that is
found is without need: with one taken back it would have been found before. On tree-shaped coherent
rules such as Addition it does not go back, and takes one inference for each input. Where it would
have to, it looks ahead from then on: of each input that is still open only those readings remain
with which the value may win. Inputs that may stay as they are come first, those that clash with the
fewest others before the rest; then the input that has the fewest readings. If that does not lead to
an end with half of the effort, it begins again with the input that has the fewest readings always.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from pinesy._common.console import Bar, progress
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.alternatives import Alternatives
from pinesy.explanations.decision import Decision
from pinesy.explanations.sample import IntArray

#: For each input, the place of the way chosen among its alternatives; those left out stay.
Choice = dict[int, int]
#: For each input that is not decided, the places of the ways that are open.
_Open = dict[int, IntArray]
#: Whether the value wins, the envelope of what is open, what is decided, and what is open.
_Branch = tuple[bool, FloatArray, Choice, _Open]
#: Degrees of the rows that are inferred together (16 MB).
CELLS = 1 << 21


class SearchEffort:
    """A number of rows that may be inferred, in all parts of a search together."""

    def __init__(self, rows: int, bar: Bar) -> None:
        self._bar = bar
        self.left = rows

    def spend(self, rows: int) -> None:
        """Count rows that are going to be inferred; who watches the search may end it here."""
        self.left -= rows
        self._bar.advance(rows)


@contextmanager
def search_effort(rows: int) -> Iterator[SearchEffort]:
    """Give the effort for one search."""
    with progress("searching the smallest change", rows) as bar:
        yield SearchEffort(rows, bar)


@dataclass(frozen=True, eq=False)
class ReadingSearch:
    """The search for the cheapest change that makes the value at `place` the only winner.

    Attributes
    ----------
    decision : Decision
    place : the value's place in the domain of the output
    readings : what may become of each input
    effort : how many rows may be inferred before it is given up
    """

    decision: Decision
    place: int
    readings: tuple[Alternatives, ...]
    effort: SearchEffort

    def run(self) -> tuple[Choice | None, bool]:
        """Return the cheapest choice (or None), and whether nothing cheaper (or nothing) can be.

        The least size that the envelope does not exclude is tried first, and most often it is the
        answer. Else any change is sought, and then, by halves, a smaller one.
        """
        # The first whose envelope does not exclude the value: all after it do not either.
        low = bisect_left(self._sizes, True, key=self._is_open)
        if low == len(self._sizes):
            return None, True
        share = 1.0 if low == len(self._sizes) - 1 else 0.125
        choice, complete = self.within(self._sizes[low], share)
        if choice is not None or low == len(self._sizes) - 1:
            return choice, complete
        choice, no_other = self.within(self._sizes[-1], 0.5)  # it has the solutions of all sizes
        if choice is None:
            return None, no_other
        return self._narrowed(choice, low + 1, complete)

    def _narrowed(self, best: Choice, low: int, exact: bool) -> tuple[Choice, bool]:
        """Seek a cheaper choice, of the sizes from `low` on; `exact` if none below them has one.

        If it is interrupted, the best so far is an answer.
        """
        try:
            while low < (high := self._sizes.index(self._cost(best))):
                if self.effort.left <= 0:
                    return best, False
                middle = (low + high) // 2
                choice, complete = self.within(self._sizes[middle], 0.5)
                if choice is None:
                    low, exact = middle + 1, exact and complete
                else:
                    best = choice
        except KeyboardInterrupt:
            return best, False
        return best, exact

    @cached_property
    def _sizes(self) -> list[float]:
        """The sizes that a change may have, rising."""
        return list(map(float, np.unique(np.concatenate([r.costs for r in self.readings]))))

    def _cost(self, choice: Choice) -> float:
        return max(float(self.readings[i].costs[k]) for i, k in choice.items())

    def _is_open(self, size: float) -> bool:
        """Tell whether the envelope of the readings up to a size does not exclude the value."""
        return bool(self._open(self.decision.infer(self._envelope(size)[None, :]))[0])

    def within(self, size: float, share: float) -> tuple[Choice | None, bool]:
        """Return readings of at most a size that make the value win, and whether all were tried.

        A share of the effort that is left may be spent.
        """
        counts = [len(r.within(size)) for r in self.readings]
        least, half = self.effort.left * (1.0 - share), self.effort.left * (1.0 - share / 2)
        free = sorted((i for i, c in enumerate(counts) if c > 1), key=lambda i: counts[i])
        # The sample as it is lies in the envelope, and there the value does not win.
        start: _Branch = False, self._envelope(size), {}, {i: np.arange(counts[i]) for i in free}
        stack, clashes = [start], None
        while stack:
            wins, row, choice, ways = stack.pop()
            if wins:
                return {i: k for i, k in choice.items() if k > 0}, True
            if self.effort.left <= least:
                return None, False
            found = list(self._branches(row, choice, ways, clashes)) if ways else []
            stack += reversed(found)  # the cheapest last
            if not found and self.decision.coherent and clashes is None:
                stack, clashes = [start], self._clashes(start[1], free)
            elif clashes and self.effort.left <= half:  # they lead nowhere
                stack, clashes = [start], {}
        return None, True

    def _branches(
        self, row: FloatArray, choice: Choice, ways: _Open, clashes: Mapping[int, int] | None
    ) -> Iterator[_Branch]:
        """Yield what becomes of a branch if one more input is decided, the cheapest way first.

        With `clashes` it looks ahead. Inputs without a choice come first, then those that may stay,
        the least doubtful before the others, then those with the fewest ways.
        """
        i = next(iter(ways))
        if clashes is not None:
            ways = self._still_open(row, choice, ways)
            row = self._bounds(row, ways)[0]
            stays = {j: len(own) > 1 and own[0] == 0 and j in clashes for j, own in ways.items()}
            ranks = {j: (1, clashes[j]) if stays[j] else (2 * (len(own) > 1), len(own))
                     for j, own in ways.items()}  # fmt: skip
            i = min(ways, key=lambda j: ranks[j])
        degrees = self._inferred(row, {i: ways[i]})
        left = {j: own for j, own in ways.items() if j != i}
        wins = self._wins(degrees) & (self.decision.coherent or not left)
        for at in np.flatnonzero(self._open(degrees)).tolist():
            k, won = int(ways[i][at]), bool(wins[at])
            branch = row.copy()
            branch[self.readings[i].columns] = self.readings[i].degrees[k]
            # Whatever becomes of the others it wins: each gets the first way that is open.
            done = {j: int(own[0]) for j, own in left.items()} if won else {}
            yield won, branch, {**choice, i: k, **done}, left

    def _clashes(self, row: FloatArray, inputs: Sequence[int]) -> dict[int, int]:
        """Return for each input with how many others it cannot stay as it is at the same time."""
        pairs = list(combinations(inputs, 2))
        found = dict.fromkeys(inputs, 0)
        if len(pairs) > self.effort.left // 8:
            return found
        self.effort.spend(len(pairs))
        size = max(1, CELLS // len(row))
        for at in range(0, len(pairs), size):
            some = pairs[at : at + size]
            rows = self._rows(row, [(i, 0) for i, _ in some])
            for changed, (_, j) in zip(rows, some, strict=True):
                changed[self.readings[j].columns] = self.readings[j].degrees[0]
            for k in np.flatnonzero(~self._open(self.decision.infer(rows))).tolist():
                for i in some[k]:
                    found[i] += 1
        return found

    def _still_open(self, row: FloatArray, choice: Choice, ways: _Open) -> _Open:
        """Return the ways of each input with which the value of coherent rules may still win.

        That is where it reaches 1 at its highest, and the others do not at their lowest.
        """
        may = self._open(self._inferred(row, ways))
        low = self._bounds(row, ways | {i: np.array([k]) for i, k in choice.items()})[1]
        others = np.delete(self._inferred(low, ways, at_least=True), self.place, axis=1)
        may &= others.max(axis=1, initial=-1.0) < 1.0
        ends = np.cumsum([len(own) for own in ways.values()])[:-1]
        return {i: ways[i][own] for i, own in zip(ways, np.split(may, ends), strict=True)}

    def _inferred(self, row: FloatArray, ways: _Open, at_least: bool = False) -> FloatArray:
        """Return what is inferred (or a lower bound) for each way of each input, one at a time."""
        pairs = [(i, k) for i, own in ways.items() for k in own.tolist()]
        self.effort.spend(len(pairs))
        infer = self.decision.least if at_least else self.decision.infer
        size = max(1, CELLS // len(row))
        found = [infer(self._rows(row, pairs[at : at + size])) for at in range(0, len(pairs), size)]
        return np.concatenate(found) if found else np.empty((0, len(self.decision.output.domain)))

    def _rows(self, row: FloatArray, pairs: list[tuple[int, int]]) -> FloatArray:
        rows = np.repeat(row[None, :], len(pairs), axis=0)
        for changed, (i, k) in zip(rows, pairs, strict=True):
            changed[self.readings[i].columns] = self.readings[i].degrees[k]
        return rows

    def _bounds(self, row: FloatArray, ways: _Open) -> tuple[FloatArray, FloatArray]:
        """Return the highest and the lowest degrees of the ways that are open."""
        high, low = row.copy(), row.copy()
        for i, own in ways.items():
            degrees = self.readings[i].degrees[own]
            high[self.readings[i].columns] = degrees.max(axis=0, initial=0.0)
            low[self.readings[i].columns] = degrees.min(axis=0, initial=1.0)
        return high, low

    def _envelope(self, size: float) -> FloatArray:
        """Return the largest degree of each value among the readings that cost at most `size`."""
        return np.concatenate([r.within(size).max(axis=0) for r in self.readings])

    def _open(self, degrees: FloatArray) -> BoolArray:
        """Tell where the value may still win: a winner of coherent rules has possibility 1."""
        own = degrees[:, self.place]
        return np.asarray(own == 1.0 if self.decision.coherent else own > 0.0)

    def _wins(self, degrees: FloatArray) -> BoolArray:
        """Tell where it wins, for coherent rules whatever becomes of the inputs still open."""
        others = np.delete(degrees, self.place, axis=1).max(axis=1, initial=-1.0)
        return np.asarray(others < (1.0 if self.decision.coherent else degrees[:, self.place]))
