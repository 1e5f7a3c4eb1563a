"""What min-max and max-min systems share."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_degree
from pinesy.exceptions import InconsistentSystemError
from pinesy.minmax._checks import degrees, frozen, same_length
from pinesy.minmax._solving import TOLERANCE, lowest_solution, row_distances
from pinesy.minmax.product import by_rows, max_min, min_max


@dataclass(frozen=True)
class Certificate:
    """What is so about a vector `x` offered as a solution; see `MinMaxSystem.verify`.

    Attributes
    ----------
    residual : float
        ``max_i |b_i - (A box x)_i|``.
    row : int
        The first row that attains it.
    distance : float
        The Chebyshev distance of the system: no vector has a residual below it.
    solves : bool
        Whether ``A box x == b``, to the last bit.
    attains : bool
        Whether ``residual <= distance + tolerance``: nothing comes closer than `x`.
    """

    residual: float
    row: int
    distance: float
    solves: bool
    attains: bool


@dataclass(frozen=True, init=False, repr=False, eq=False)
class System:
    """A matrix of shape ``(N, M)``, a second member ``(N,)``, and what both kinds share."""

    _upside_down: ClassVar[bool]
    a: FloatArray
    b: FloatArray

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike) -> None:
        matrix, second = degrees(a, "the matrix", 2), degrees(b, "the second member", 1)
        same_length(
            len(matrix), "the rows of the matrix", len(second), "those of the second member"
        )
        object.__setattr__(self, "a", frozen(matrix))
        object.__setattr__(self, "b", frozen(second))

    @cached_property
    def row_distances(self) -> FloatArray:
        """The distance ``nabla_i`` that each row asks for, of shape ``(N,)``; O(N log N + N M)."""
        a, b, _ = self._as_minmax()
        return frozen(row_distances(a, b))

    @cached_property
    def chebyshev_distance(self) -> float:
        """``nabla = max_i nabla_i``, the distance of `b` to the nearest consistent second member.

        Exactly 0.0 if the system is consistent.
        """
        return float(self.row_distances.max())

    @cached_property
    def is_consistent(self) -> bool:
        """Whether there is a solution: whether the extreme candidate solves it. O(N M), exact."""
        return bool((self._apply(self._extreme) == self.b).all())

    def verify(self, x: npt.ArrayLike, *, tolerance: float = 2 * TOLERANCE) -> Certificate:
        """Return what is so about the vector `x` of M degrees: a solution, or as near as can be.

        Parameters
        ----------
        x : array (M,)
        tolerance : float
            What rounding may add to the residual of a vector that attains the distance.
        """
        point = degrees(x, "x", 1)
        same_length(len(point), "the entries of x", self.a.shape[1], "the columns")
        gaps = np.abs(self.b - self._apply(point))
        row = int(gaps.argmax())
        residual, distance = float(gaps[row]), self.chebyshev_distance
        allowed = distance + check_degree(tolerance, "tolerance")
        return Certificate(residual, row, distance, residual == 0.0, residual <= allowed)

    def _apply(self, x: FloatArray) -> FloatArray:
        return by_rows(self.a, x, max_min if self._upside_down else min_max)

    def _as_minmax(self) -> tuple[FloatArray, FloatArray, float]:
        """Return the matrix and second member of a min-max system, and its least degree."""
        return (-self.a, -self.b, -1.0) if self._upside_down else (self.a, self.b, 0.0)

    def _solution(self, nabla: float) -> FloatArray:
        a, b, bottom = self._as_minmax()
        x = lowest_solution(a, b, nabla, bottom)
        return frozen(-x if self._upside_down else x)

    @cached_property
    def _extreme(self) -> FloatArray:
        return self._solution(0.0)

    @cached_property
    def _approximate(self) -> FloatArray:
        return self._solution(self.chebyshev_distance)

    @cached_property
    def _approximation(self) -> FloatArray:
        return frozen(self._apply(self._approximate))

    def _exact(self, cure: str) -> FloatArray:
        if self.is_consistent:
            return self._extreme
        nabla = self.chebyshev_distance
        raise InconsistentSystemError(
            f"the system has no solution: the nearest second member that has one is at distance "
            f"{nabla!r} (row {int(self.row_distances.argmax())} needs it); ask for {cure}, which "
            "comes as near as any vector can",
            nabla,
        )

    def __repr__(self) -> str:
        rows, columns = self.a.shape
        return f"{type(self).__name__}({rows} equations, {columns} unknowns)"
