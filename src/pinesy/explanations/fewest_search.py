"""The search for a change of the fewest inputs by which another value would win.

All combinations of one, two and three inputs are tried, in batches, and of more while they are not
too many; those with which the value cannot win, whatever ways are open, are not looked at.

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

from pinesy._common.validation import FloatArray
from pinesy.explanations.change_search import (
    NOTHING,
    ChangeSearch,
    Choice,
    Combinations,
    ReadingSearch,
)
from pinesy.explanations.sample import IntArray

#: Up to so many inputs all combinations are tried, whatever their number.
MOST = 3
#: Combinations of inputs that are looked at together.
SETS = 256
#: This part of the rows may be combinations of more inputs.
SHARE = 20

#: Its cost, what decides between equal costs, and the choice.
_Candidate = tuple[float, float, Choice]


@dataclass(frozen=True, eq=False)
class FewestSearch(ChangeSearch):
    """The search for the change of the fewest inputs; of these, the cheapest.

    Attributes
    ----------
    total : whether the costs of several inputs are added up, or the largest counts
    """

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
            self.decision, self.place, self.inputs, self.effort, decides=self.decides
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

    def _changing(
        self, number: int, free: list[int], reserve: int
    ) -> tuple[_Candidate | None, bool]:
        """Return the cheapest change of so many inputs, and whether all were looked at.

        Some of the effort is left for other ways to search. If it is interrupted, the best so far
        is an answer.
        """
        best: _Candidate | None = None
        try:
            for sets in self._sets(number, free):
                tried = Combinations(sets, np.full(sets.shape, -1))
                for at in range(number):
                    row = self.decision.row
                    tried = self._expanded(tried.where(self.may_win(tried, row, row)), at)
                    if self.effort.left - len(tried) < reserve:
                        return best, False
                won = self.wins(*self.degrees(self.decision.row, tried))
                best = self._cheapest(tried.where(won), best)
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
        all_ways = {i: np.arange(len(one)) for i, one in enumerate(self.inputs)}
        high, low = (self.bound(self.decision.row, all_ways, below) for below in (False, True))
        may_stay = self.may_win(Combinations(every, np.zeros_like(every)), high, low)
        return np.flatnonzero(~may_stay).tolist()

    def table(self, i: int, at_least: bool) -> FloatArray:
        """Return the distributions of an input, then the highest (or lowest) of its changes."""
        return self._tables[at_least][i]

    @cached_property
    def _tables(self) -> tuple[list[FloatArray], list[FloatArray]]:
        changed = [one.degrees[1:] if len(one) > 1 else one.degrees for one in self.inputs]
        pairs = list(zip(self.inputs, changed, strict=True))
        return (
            [np.vstack([one.degrees, c.max(axis=0)]) for one, c in pairs],
            [np.vstack([one.degrees, c.min(axis=0)]) for one, c in pairs],
        )

    @cached_property
    def _counts(self) -> IntArray:
        return np.array([len(one) for one in self.inputs], dtype=np.intp)

    def _expanded(self, tried: Combinations, at: int) -> Combinations:
        """Return each combination with all changes of the input that is number `at` in it."""
        many = self._counts[tried.inputs[:, at]] - 1
        ways = np.repeat(tried.ways, many, axis=0)
        first = np.repeat(np.cumsum(many) - many, many)
        ways[:, at] = np.arange(len(ways)) - first + 1
        return Combinations(np.repeat(tried.inputs, many, axis=0), ways)

    def _cheapest(self, winning: Combinations, best: _Candidate | None) -> _Candidate | None:
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
        own, others = self.degrees(self.decision.row, NOTHING)
        gap, won = float((own - others)[0]), False
        while not won:
            left = {i: np.arange(1, len(self.inputs[i])) for i in free if i not in choice}
            tried = Combinations.single(left)
            own, others = self.degrees(self.row(choice), tried)
            gaps = own - others
            if not len(gaps) or gaps.max() <= gap:
                return None
            k, gap = int(gaps.argmax()), float(gaps.max())
            won = bool(self.wins(own, others)[k])
            choice[int(tried.inputs[k, 0])] = int(tried.ways[k, 0])
        for i in list(choice):  # what it wins without is taken back
            fewer = {j: k for j, k in choice.items() if j != i}
            if self.wins(*self.degrees(self.row(fewer), NOTHING))[0]:
                choice = fewer
        return choice
