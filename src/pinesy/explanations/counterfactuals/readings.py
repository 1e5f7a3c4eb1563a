"""Readings: the ways in which the distribution of one input may be changed."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic_inverse

#: What the size of a change counts.
Measure = Literal["possibility", "probability"]


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
