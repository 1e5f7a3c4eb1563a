"""Certificates: the residual of a vector, and the rows that make a system inconsistent."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.equations.compositions import Composition
from pinesy.equations.distance_formulas import blocking_terms


@dataclass(frozen=True)
class Certificate:
    """The residual of a vector `x`, and the distance of the system; see `System.verify`.

    Attributes
    ----------
    residual : float
        ``max_i |b_i - (A x)_i|``.
    row : int
        The first row that attains it.
    distance : float
        The Chebyshev distance of the system: no vector has a residual below it.
    solves : bool
        Whether ``A x = b``, up to the tolerance of the system: to the last bit where that is 0.
    attains : bool
        Whether ``residual <= distance + tolerance``: no vector has a lower residual than `x`.
    """

    residual: float
    row: int
    distance: float
    solves: bool
    attains: bool


@dataclass(frozen=True)
class Disagreement:
    """Rows that disagree: at most one more than there are columns prove the distance.

    Whatever column `j` is to reach row `row`, either its coefficient does not allow it, or another
    row bounds ``x_j``. The system of `rows` alone has the same distance.

    Attributes
    ----------
    row : int
        The row `i` that no column reaches.
    blocking_rows : array (M,)
        For each column `j` the row `k` that bounds ``x_j``; `row` itself if its own coefficient
        does not allow it.
    distances : array (M,)
        The distance at which column `j` would reach the row.
    rows : array
        `row` and the blocking rows, sorted, each once.
    """

    row: int
    blocking_rows: npt.NDArray[np.int64]
    distances: Any
    rows: npt.NDArray[np.int64]

    def __str__(self) -> str:
        others = ", ".join(str(k) for k in self.rows.tolist() if k != self.row)
        return f"row {self.row} disagrees with rows {others}" if others else f"row {self.row} alone"


def disagreement(composition: Composition, a: Any, b: Any, row: int) -> Disagreement:
    """Return why no column reaches a row, by the terms of its distance. O(N M)."""
    terms = blocking_terms(composition, a, b, row)
    distances = terms.max(axis=0)
    # The row itself, where its own term is as large as any.
    is_own = terms[row] >= distances
    blocking = np.where(is_own, row, terms.argmax(axis=0))
    return Disagreement(row, blocking, distances, np.unique(np.append(blocking, row)))
