"""The cheapest readings that make a value win: branch and bound on the inputs.

Inferred degrees rise with the degrees of the inputs. So what is inferred from the envelope of all
readings that are still open is above what any of them gives, and where the value does not reach
the top there, none of them makes it win.

The search goes depth first, and an input stays as it is before it is read as anything. So no change
that is found is without need: with one taken back it would have been found before.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.counterfactuals.decision import Decision, is_coherent, unique_winner
from pinesy.explanations.sample import BoolArray
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic_inverse

#: What the size of a change counts.
Measure = Literal["possibility", "probability"]
#: For each input, the place of the way chosen among its readings; those left out stay.
Choice = dict[int, int]
#: How many inputs are decided, whether the value wins, the envelope of what is open, the choice.
_Branch = tuple[int, bool, FloatArray, Choice]


def read_as(degrees: FloatArray, place: int, clearance: float) -> FloatArray:
    """Return the distribution with one value at 1 and all others at ``1 - clearance`` at most.

    Examples
    --------
    >>> read_as(np.array([1.0, 0.3, 0.95]), 1, 0.25).tolist()
    [0.75, 1.0, 0.75]
    """
    changed = np.minimum(degrees, 1.0 - clearance)
    changed[place] = 1.0
    return changed


@dataclass(frozen=True, eq=False)
class Readings:
    """What may become of one input: it stays as it is (the first), or is read as a value.

    Attributes
    ----------
    attribute : Attribute
    costs : array (k,), rising: the largest change of a degree or probability; 0 for the first
    degrees : array (k, |D|), the distributions
    values : the value that each is read as; None for the first
    """

    attribute: Attribute
    costs: FloatArray
    degrees: FloatArray
    values: tuple[Hashable | None, ...]

    @classmethod
    def of(
        cls, attribute: Attribute, degrees: FloatArray, clearance: float, measure: Measure
    ) -> "Readings":
        """List the readings of an input from the cheapest on, none that changes nothing."""
        ways: list[tuple[float, FloatArray, Hashable | None]] = [(0.0, degrees, None)]
        for place, value in enumerate(attribute.domain):
            changed = read_as(degrees, place, clearance)
            if not np.array_equal(changed, degrees):
                ways.append((_cost(degrees, changed, measure), changed, value))
        ways.sort(key=lambda way: way[0])
        costs, rows, values = zip(*ways, strict=True)
        return cls(attribute, np.array(costs), np.array(rows), values)

    def within(self, size: float) -> int:
        """Return how many of the ways cost at most `size`."""
        return int(np.searchsorted(self.costs, size, side="right"))

    def envelope(self, size: float) -> FloatArray:
        """Return the largest degree of each value among the ways that cost at most `size`."""
        largest: FloatArray = self.degrees[: self.within(size)].max(axis=0)
        return largest


def _cost(old: FloatArray, new: FloatArray, measure: Measure) -> float:
    """Return the largest change, of a degree or of a probability."""
    if measure == "probability":
        old, new = antipignistic_inverse(old), antipignistic_inverse(new)
    return float(np.abs(new - old).max())


@dataclass(frozen=True)
class CheapestReadings:
    """A choice of readings (or None), and whether nothing cheaper can be (or nothing at all)."""

    choice: Choice | None
    exact: bool


@dataclass(frozen=True, eq=False)
class ReadingSearch:
    """The search for the cheapest change that makes the value at `place` the only winner.

    Attributes
    ----------
    decision : Decision
    place : the value's place in the domain of the output
    readings : the ways to change each input
    effort : how many rows may be inferred before it is given up
    """

    decision: Decision
    place: int
    readings: tuple[Readings, ...]
    effort: int

    @cached_property
    def coherent(self) -> bool:
        """Whether some value always reaches 1, so that a value wins if all others stay below."""
        return is_coherent(self.decision.cascade, self.decision.output)

    def run(self) -> CheapestReadings:
        """Try sizes from the least possible on; the first that has a solution is the smallest."""
        sizes = np.unique(np.concatenate([r.costs for r in self.readings]))
        at, step, exact = self._first(sizes), 1, True
        while at < len(sizes):
            choice, complete = self._within(float(sizes[at]))
            if choice is not None:
                return CheapestReadings({i: k for i, k in choice.items() if k > 0}, exact)
            if not complete:  # too hard: larger sizes have more solutions
                exact, step = False, 2 * step
            last = at == len(sizes) - 1
            at = len(sizes) if last else min(at + step, len(sizes) - 1)
        return CheapestReadings(None, exact)

    def _first(self, sizes: FloatArray) -> int:
        """Return the place of the least size whose envelope does not exclude the value."""
        low, high = 0, len(sizes)
        while low < high:
            middle = (low + high) // 2
            if self._open(self.decision.infer(self._envelope(sizes[middle])[None, :]))[0]:
                high = middle
            else:
                low = middle + 1
        return low

    def _within(self, size: float) -> tuple[Choice | None, bool]:
        """Return readings of at most a size that make the value win, and whether all were tried."""
        counts = [r.within(size) for r in self.readings]
        order = sorted((i for i, c in enumerate(counts) if c > 1), key=lambda i: counts[i])
        # The sample as it is lies in the envelope, and there the value does not win.
        stack: list[_Branch] = [(0, False, self._envelope(size), {})]
        spent = 0
        while stack:
            depth, wins, row, choice = stack.pop()
            if wins:
                return choice, True
            if depth == len(order):
                continue
            spent += counts[order[depth]]
            if spent > self.effort:
                return None, False
            stack += self._children(
                order[depth], counts, depth == len(order) - 1, depth, row, choice
            )
        return None, True

    def _children(
        self, i: int, counts: list[int], last: bool, depth: int, row: FloatArray, choice: Choice
    ) -> list[_Branch]:
        """Return the nodes in which input `i` is decided, the cheapest last."""
        rows = np.repeat(row[None, :], counts[i], axis=0)
        readings = self.readings[i]
        rows[:, self.decision.slices[readings.attribute.name]] = readings.degrees[: counts[i]]
        degrees = self.decision.infer(rows)
        open_, wins = self._open(degrees), self._wins(degrees)
        if not (self.coherent or last):
            wins[:] = False
        return [
            (depth + 1, bool(wins[k]), rows[k], {**choice, i: k})
            for k in reversed(range(counts[i]))
            if open_[k]
        ]

    def row(self, choice: Choice) -> FloatArray:
        """Return the inputs changed as chosen."""
        row = self.decision.row.copy()
        for i, k in choice.items():
            readings = self.readings[i]
            row[self.decision.slices[readings.attribute.name]] = readings.degrees[k]
        return row

    def _envelope(self, size: float) -> FloatArray:
        return np.concatenate([r.envelope(size) for r in self.readings])

    def _open(self, degrees: FloatArray) -> BoolArray:
        """Tell where the value may still win: a winner of coherent rules has possibility 1."""
        own = degrees[:, self.place]
        return np.asarray(own == 1.0 if self.coherent else own > 0.0)

    def _wins(self, degrees: FloatArray) -> BoolArray:
        """Tell where it wins, for coherent rules whatever becomes of the inputs still open."""
        if not self.coherent:
            return unique_winner(degrees, self.place)
        return np.asarray((np.delete(degrees, self.place, axis=1) < 1.0).all(axis=1))
