"""Summaries by Pareto fronts: min and max, and the Goedel implication."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.equations.column_summary import ColumnSummary, RowDistances
from pinesy.equations.fronts import TOLERANCE, Fronts, sorted_fronts
from pinesy.equations.hulls import HULL_KERNELS, column_maximum
from pinesy.equations.product import contiguous_columns, row_blocks


@dataclass(frozen=True)
class MinMaxFronts(ColumnSummary):
    """The fronts of the pairs ``(b_k, b_k - a_kj)``."""

    #: The least degree.
    BOTTOM: ClassVar[float] = 0.0

    fronts: Fronts

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray) -> Self:
        """Return the fronts of each column. O(N log N + N M)."""
        return cls(sorted_fronts(b, (b - column for column in contiguous_columns(a))))

    def merge(self, *others: Self) -> Self:
        """Return the fronts of all rows, bit for bit as of one batch."""
        return type(self)(self.fronts.merge(*(other.fronts for other in others)))

    def distances(self, a: FloatArray, b: FloatArray) -> RowDistances:
        """Return [eq:Nabla] for each row. O(N M log F)."""
        nabla = [
            np.maximum(a[rows] - b[rows, None], self.fronts.evaluate(b[rows, None])).min(axis=1)
            for rows in row_blocks(a)
        ]
        row_distances = np.concatenate(nabla)
        return RowDistances(row_distances, row_distances)

    def solution(self, distance: float) -> FloatArray:
        """Return ``max_k {b_k - d : a_kj < b_k - d}``, the least degree if there is none."""
        return self.fronts.solution(distance, bottom=self.BOTTOM)


class NegatedFronts(MinMaxFronts):
    """The fronts of a max-min system, whose degrees are negated to make it a min-max system."""

    BOTTOM = -1.0


@dataclass(frozen=True)
class GoedelFronts(ColumnSummary):
    """The fronts of the pairs ``(b_k, a_kj)``."""

    fronts: Fronts

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray) -> Self:
        """Return the fronts of each column. O(N log N + N M)."""
        return cls(sorted_fronts(b, contiguous_columns(a)))

    def merge(self, *others: Self) -> Self:
        """Return the fronts of all rows, bit for bit as of one batch."""
        return type(self)(self.fronts.merge(*(other.fronts for other in others)))

    def distances(self, a: FloatArray, b: FloatArray) -> RowDistances:
        """Return the infimum of each row, and its least attained distance. O(N M log F)."""
        infimum, attained = np.empty(len(b)), np.empty(len(b))
        fronts = self.fronts
        load_kernels(HULL_KERNELS).goedel_distances(
            fronts.e, fronts.w, fronts.starts, a, b, TOLERANCE, infimum, attained
        )
        return RowDistances(infimum, attained)

    def solution(self, distance: float) -> FloatArray:
        """Return ``max_k min(a_kj, b_k - d)``, and 0 if that is less."""
        heights = np.minimum(self.fronts.w, self.fronts.e - distance)
        return column_maximum(heights, self.fronts.starts)
