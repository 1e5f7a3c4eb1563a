"""The search for a change of the fewest inputs by which another value would win.

All combinations of one, two and three inputs are tried, in batches, and of more while they are not
too many. Where inputs are still open, inferred degrees lie between those of the highest and of the
lowest degrees of their alternatives, for they rise with the degrees of the inputs. Where the value
at its highest is not above another at its lowest, the combinations behind it are not looked at.

Beyond that, inputs are changed one after the other, each time the one that brings the value nearest
to winning; where no single one does, the search goes depth first. Then the number of inputs is not
known to be the least.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import comb, inf
from typing import Literal

import numpy as np

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.alternatives import Alternatives
from pinesy.explanations.decision import Decision
from pinesy.explanations.reading_search import CELLS, Choice, ReadingSearch, SearchEffort
from pinesy.explanations.sample import IntArray

#: Up to so many inputs all combinations are tried, whatever their number.
MOST = 3
#: Combinations of inputs that are looked at together.
SETS = 256
#: This part of the rows may be combinations of more inputs.
SHARE = 20


@dataclass(frozen=True, eq=False)
class Bounds:
    """For each input its distributions, one after the other, and the bounds of all of them.

    Attributes
    ----------
    highest, lowest : for each input an array (k + 1, |D|): all alternatives, then the highest or
        lowest degrees of those that change it
    base_high, base_low : the same, side by side, of all alternatives of all inputs
    """

    highest: list[FloatArray]
    lowest: list[FloatArray]
    base_high: FloatArray
    base_low: FloatArray

    @classmethod
    def of(cls, inputs: tuple[Alternatives, ...]) -> "Bounds":
        """Stack the distributions of each input and their bounds."""
        changed = [one.degrees[1:] if len(one) > 1 else one.degrees for one in inputs]
        pairs = list(zip(inputs, changed, strict=True))
        return cls(
            [np.vstack([one.degrees, c.max(axis=0)]) for one, c in pairs],
            [np.vstack([one.degrees, c.min(axis=0)]) for one, c in pairs],
            np.concatenate([one.degrees.max(axis=0) for one in inputs]),
            np.concatenate([one.degrees.min(axis=0) for one in inputs]),
        )


@dataclass(frozen=True, eq=False)
class Combinations:
    """Some inputs, one way for each: arrays (n, k) of their places; -1 for a way still open."""

    inputs: IntArray
    ways: IntArray

    def __len__(self) -> int:
        return len(self.inputs)

    def where(self, chosen: BoolArray | slice) -> "Combinations":
        """Return some of the combinations."""
        return Combinations(self.inputs[chosen], self.ways[chosen])

    def expanded(self, at: int, counts: IntArray) -> "Combinations":
        """Return each combination with all ways, from 1 on, of the input that is number `at`."""
        many = counts[self.inputs[:, at]] - 1
        ways = np.repeat(self.ways, many, axis=0)
        first = np.repeat(np.cumsum(many) - many, many)
        ways[:, at] = np.arange(len(ways)) - first + 1
        return Combinations(np.repeat(self.inputs, many, axis=0), ways)


#: Its cost, what decides between equal costs, and the choice.
_Found = tuple[float, float, Choice]


@dataclass(frozen=True, eq=False)
class FewestSearch:
    """The search for the change of the fewest inputs; of these, the cheapest.

    Attributes
    ----------
    decision : Decision
    place : the value's place in the domain of the output
    inputs : what may become of each input
    effort : how many rows may be inferred before it is given up
    total : whether the costs of several inputs are added up, or the largest counts
    """

    decision: Decision
    place: int
    inputs: tuple[Alternatives, ...]
    effort: SearchEffort
    total: Literal["sum", "max"]

    def run(self) -> tuple[Choice | None, bool]:
        """Return the choice (or None), and whether it is proved that there is no better one."""
        free = [i for i, one in enumerate(self.inputs) if len(one) > 1]
        found, complete = self._combined(free)
        if found is not None or complete:
            return found, complete
        one_by_one = self._one_by_one(free)
        if one_by_one is not None:
            return one_by_one, False
        choice, complete = ReadingSearch(
            self.decision, self.place, self.inputs, self.effort
        ).within(inf, 1.0)
        return choice, choice is None and complete

    def _combined(self, free: list[int]) -> tuple[Choice | None, bool]:
        """Try all combinations of one input, of two and so on; tell whether none was left out."""
        exact, number, reserve = True, 0, self.effort.left // 4
        for number in self._numbers(len(free)):
            found, complete = self._changing(number, free, reserve)
            exact = exact and complete
            if found is not None:
                return found[2], exact
            if not complete:
                break
        return None, exact and number == len(free)

    def _numbers(self, free: int) -> Iterator[int]:
        """Yield the numbers of inputs whose combinations are not too many."""
        needed, most = len(self._needed), self.effort.left // SHARE
        for number in range(1, free + 1):
            many = comb(free - needed, number - needed) if number >= needed else 0
            if number > MOST and many > most:
                return
            yield number

    def _changing(self, number: int, free: list[int], reserve: int) -> tuple[_Found | None, bool]:
        """Return the cheapest change of so many inputs, and whether all were looked at.

        Some of the effort is left for other ways to search. If it is interrupted, the best so far
        is an answer.
        """
        best: _Found | None = None
        try:
            for sets in self._sets(number, free):
                tried = Combinations(sets, np.full(sets.shape, -1))
                for at in range(number):
                    tried = tried.where(self._possible(tried)).expanded(at, self._counts)
                    if self.effort.left - len(tried) < reserve:
                        return best, False
                best = self._cheapest(tried.where(self._gaps(self.decision.row, tried) > 0.0), best)
        except KeyboardInterrupt:
            if best is None:
                raise
            return best, False
        return best, True

    def _sets(self, number: int, free: list[int]) -> Iterator[IntArray]:
        """Yield combinations of inputs: those that must change, and any of the others."""
        others = [i for i in free if i not in self._needed]
        left = number - len(self._needed)
        chosen = combinations(others, left) if left >= 0 else iter(())
        while some := [sorted((*self._needed, *c)) for c in islice(chosen, SETS)]:
            yield np.array(some, dtype=np.intp)

    @cached_property
    def _needed(self) -> list[int]:
        """The inputs without a change of which the value does not win, whatever the others are."""
        every = np.arange(len(self.inputs))[:, None]
        stays = Combinations(every, np.zeros_like(every))
        both = self._bounds.base_high, self._bounds.base_low
        return np.flatnonzero(~self._possible(stays, both)).tolist()

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds.of(self.inputs)

    @cached_property
    def _counts(self) -> IntArray:
        return np.array([len(one) for one in self.inputs], dtype=np.intp)

    def _possible(
        self, tried: Combinations, base: tuple[FloatArray, FloatArray] | None = None
    ) -> BoolArray:
        """Tell where the value may win: at its highest it is above the others at their lowest."""
        high, low = base or (self.decision.row, self.decision.row)
        self._spend(tried, 2)
        found = np.empty(len(tried), dtype=bool)
        for rows in self._batches(tried):
            some = tried.where(rows)
            own = self.decision.infer(self._filled(high, some, self._bounds.highest))[:, self.place]
            degrees = self.decision.least(self._filled(low, some, self._bounds.lowest))
            found[rows] = own > np.delete(degrees, self.place, axis=1).max(axis=1)
            if self.decision.coherent:
                found[rows] &= own == 1.0
        return found

    def _gaps(self, base: FloatArray, tried: Combinations) -> FloatArray:
        """Return by how much the value is above all others; nothing is open."""
        self._spend(tried, 1)
        gaps = np.empty(len(tried))
        for rows in self._batches(tried):
            degrees = self.decision.infer(
                self._filled(base, tried.where(rows), self._bounds.highest)
            )
            others = np.delete(degrees, self.place, axis=1).max(axis=1)
            gaps[rows] = degrees[:, self.place] - others
        return gaps

    def _spend(self, tried: Combinations, times: int) -> None:
        """Count the rows; many inputs take longer to put into one than to infer from it."""
        self.effort.spend(times * len(tried) * (1 + tried.inputs.shape[1] // 8))

    def _batches(self, tried: Combinations) -> Iterator[slice]:
        size = max(1, CELLS // len(self.decision.row))
        return (slice(at, at + size) for at in range(0, len(tried), size))

    def _filled(
        self, base: FloatArray, tried: Combinations, tables: list[FloatArray]
    ) -> FloatArray:
        """Return rows of inputs, each with the distributions of one combination put in."""
        rows = np.repeat(base[None, :], len(tried), axis=0)
        for inputs, ways in zip(tried.inputs.T, tried.ways.T, strict=True):
            for i in np.unique(inputs).tolist():
                at = np.flatnonzero(inputs == i)
                rows[at, self.inputs[i].columns] = tables[i][ways[at]]
        return rows

    def _cheapest(self, winning: Combinations, best: _Found | None) -> _Found | None:
        """Return the first of the cheapest combinations, or the one before if none is cheaper."""
        if not len(winning):
            return best
        costs, ties = (
            self._priced(table)[winning.inputs, winning.ways] for table in ("costs", "ties")
        )
        cost = costs.sum(axis=1) if self.total == "sum" else costs.max(axis=1)
        tie = ties.sum(axis=1)
        k = int(np.lexsort((tie, cost))[0])
        if best is not None and (cost[k], tie[k]) >= best[:2]:
            return best
        pairs = zip(winning.inputs[k].tolist(), winning.ways[k].tolist(), strict=True)
        return float(cost[k]), float(tie[k]), dict(pairs)

    def _priced(self, table: str) -> FloatArray:
        """Return the costs or ties of all inputs in one array (inputs, ways)."""
        prices = np.zeros((len(self.inputs), int(self._counts.max())))
        for row, one in zip(prices, self.inputs, strict=True):
            row[: len(one)] = getattr(one, table)
        return prices

    def _one_by_one(self, free: list[int]) -> Choice | None:
        """Change the input that brings the value nearest to winning, as long as one does."""
        choice: Choice = {}
        gap = float(self._gaps(self.decision.row, self._single([0], [0]))[0])
        while gap <= 0.0:
            left = np.array([i for i in free if i not in choice], dtype=np.intp)[:, None]
            tried = Combinations(left, np.full(left.shape, -1)).expanded(0, self._counts)
            gaps = self._gaps(self.row(choice), tried)
            if not len(gaps) or gaps.max() <= gap:
                return None
            k, gap = int(gaps.argmax()), float(gaps.max())
            choice[int(tried.inputs[k, 0])] = int(tried.ways[k, 0])
        return self._without_needless(choice)

    def _without_needless(self, choice: Choice) -> Choice:
        """Take back every change without which the value wins all the same."""
        for i in list(choice):
            fewer = {j: k for j, k in choice.items() if j != i}
            if self._gaps(self.row(fewer), self._single([i], [0]))[0] > 0.0:
                choice = fewer
        return choice

    def _single(self, inputs: list[int], ways: list[int]) -> Combinations:
        return Combinations(np.array([inputs], dtype=np.intp), np.array([ways], dtype=np.intp))

    def row(self, choice: Choice) -> FloatArray:
        """Return the inputs changed as chosen."""
        row = self.decision.row.copy()
        for i, k in choice.items():
            row[self.inputs[i].columns] = self.inputs[i].degrees[k]
        return row
