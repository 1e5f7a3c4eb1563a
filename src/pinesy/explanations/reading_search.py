"""The search for the readings of least size by which another value would win.

The search is branch and bound on the inputs: inferred degrees rise with the degrees of the inputs.
So what is inferred from the envelope of all readings that are still open is above what any of them
gives, and where the value does not reach the top there, none of them makes it win.

It goes depth first, and an input stays as it is before it is read as anything. So no change that is
found is without need: with one taken back it would have been found before. On tree-shaped coherent
rules such as Addition it does not go back, and takes one inference for each input.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.alternatives import Alternatives
from pinesy.explanations.decision import Decision
from pinesy.explanations.sample import BoolArray

#: For each input, the place of the way chosen among its alternatives; those left out stay.
Choice = dict[int, int]
#: Whether the value wins, the envelope of what is open, and the choice of the inputs decided.
_Branch = tuple[bool, FloatArray, Choice]


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
    effort: int

    def run(self) -> tuple[Choice | None, bool]:
        """Try sizes from the least possible on; the first that has a solution is the smallest.

        Return the choice (or None), and whether nothing cheaper can be (or nothing at all).
        """
        sizes = np.unique(np.concatenate([r.costs for r in self.readings]))
        # The first whose envelope does not exclude the value: all after it do not either.
        at, step, exact = bisect_left(sizes, True, key=self._is_open), 1, True
        while at < len(sizes):
            choice, complete = self.within(float(sizes[at]))
            if choice is not None:
                return choice, exact
            if not complete:  # too hard: larger sizes have more solutions
                exact, step = False, 2 * step
            last = at == len(sizes) - 1
            at = len(sizes) if last else min(at + step, len(sizes) - 1)
        return None, exact

    def _is_open(self, size: float) -> bool:
        """Tell whether the envelope of the readings up to a size does not exclude the value."""
        return bool(self._open(self.decision.infer(self._envelope(size)[None, :]))[0])

    def within(self, size: float) -> tuple[Choice | None, bool]:
        """Return readings of at most a size that make the value win, and whether all were tried."""
        counts = [len(r.within(size)) for r in self.readings]
        order = sorted((i for i, c in enumerate(counts) if c > 1), key=lambda i: counts[i])
        # The sample as it is lies in the envelope, and there the value does not win.
        stack: list[_Branch] = [(False, self._envelope(size), {})]
        spent = 0
        while stack:
            wins, row, choice = stack.pop()
            if wins:
                return {i: k for i, k in choice.items() if k > 0}, True
            if len(choice) == len(order):
                continue
            i = order[len(choice)]
            spent += counts[i]
            if spent > self.effort:
                return None, False
            rows = np.repeat(row[None, :], counts[i], axis=0)
            rows[:, self.readings[i].columns] = self.readings[i].degrees[: counts[i]]
            degrees = self.decision.infer(rows)
            is_last = len(choice) == len(order) - 1
            winning = self._wins(degrees) & (self.decision.coherent or is_last)
            possible = np.flatnonzero(self._open(degrees))[::-1]  # the cheapest last
            stack += [(bool(winning[k]), rows[k], {**choice, i: k}) for k in possible.tolist()]
        return None, True

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
