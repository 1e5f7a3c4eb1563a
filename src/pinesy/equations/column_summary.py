"""What a system needs to know of its columns: the base of fronts, margins and hulls.

A summary holds, for each column, the rows that bound an unknown at some distance. Summaries merge,
so rows may come in any order and in any number of batches.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self


class RowDistances(NamedTuple):
    """The distance of each row, and the least distance of each row that is attained.

    They differ where a distance is an infimum, which only the Goedel implication has.
    """

    infimum: Any
    attained: Any


class ColumnSummary(ABC):
    """The rows that bound each unknown, of a system turned by `Composition.turn`."""

    @classmethod
    @abstractmethod
    def of(cls, a: Any, b: Any) -> Self:
        """Return the summary of rows."""

    @abstractmethod
    def merge(self, *others: Self) -> Self:
        """Return the summary of the rows of all."""

    @abstractmethod
    def distances(self, a: Any, b: Any) -> RowDistances:
        """Return the distances of some rows to the system that is summarised."""

    @abstractmethod
    def solution(self, distance: Any) -> Any:
        """Return the extreme approximate solution at a distance."""
