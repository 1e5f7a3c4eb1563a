"""Summaries of columns by composition; margins for Lukasiewicz."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.equations.column_summary import ColumnSummary, RowDistances
from pinesy.equations.compositions import Composition, Definition
from pinesy.equations.front_summaries import GoedelFronts, MinMaxFronts, NegatedFronts
from pinesy.equations.hulls import GoguenHulls, ProductHulls
from pinesy.equations.product import row_blocks


@dataclass(frozen=True)
class LukasiewiczMargins(ColumnSummary):
    """The margin ``max_k (a_kj - b_k)`` of each column: all that bounds ``x_j``."""

    margins: FloatArray

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray) -> Self:
        """Return the margin of each column. O(N M)."""
        blocks = [(a[rows] - b[rows, None]).max(axis=0) for rows in row_blocks(a)]
        return cls(np.max(blocks, axis=0))

    def merge(self, *others: Self) -> Self:
        """Return the margins of all rows, bit for bit as of one batch."""
        return type(self)(np.maximum.reduce([self.margins, *(o.margins for o in others)]))

    def distances(self, a: FloatArray, b: FloatArray) -> RowDistances:
        """Return the distance of each row. O(N M)."""
        nabla = np.empty(len(b))
        for rows in row_blocks(a):
            gaps = b[rows, None] - a[rows]
            terms = np.maximum(np.maximum(gaps, 0.0), (gaps + self.margins) / 2.0)
            nabla[rows] = np.minimum(b[rows], terms.min(axis=1))
        return RowDistances(nabla, nabla)

    def solution(self, distance: float) -> FloatArray:
        """Return ``min(1 - max_k (a_kj - b_k) + d, 1)``."""
        return np.minimum(1.0 - self.margins + distance, 1.0)


_SUMMARIES: dict[Definition, type[ColumnSummary]] = {
    "min-max": MinMaxFronts,
    "max-product": ProductHulls,
    "max-lukasiewicz": LukasiewiczMargins,
    "min-goguen": GoguenHulls,
    "min-goedel": GoedelFronts,
}


def summarise(composition: Composition, a: FloatArray, b: FloatArray) -> ColumnSummary:
    """Return the summary of the columns of a system, turned as its composition says."""
    is_negated = composition.name == "max-min"
    return (NegatedFronts if is_negated else _SUMMARIES[composition.definition]).of(a, b)
