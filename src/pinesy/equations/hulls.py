"""Lower convex hulls of points ``(y, q)``: the functions ``g(t) = max_k (t y_k - q_k)``.

In a max-product system the rows that bound ``x_j`` at some distance `d` are on the hull of the
points ``(a_kj, b_k)``, because ``x_j = min_k (b_k + d) / a_kj`` is the greatest `t` with
``g(t) <= d``. With the Goguen implication it is ``x_j = max_k a_kj (b_k - d) = g(-d)`` for the
points ``(a_kj, -a_kj b_k)``. A point is compared with the hull of earlier ones by binary search, so
that only those below it are sorted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.equations.column_summary import ColumnSummary, RowDistances

HULL_KERNELS = "pinesy.equations.hull_kernels"
#: Rows whose points are compared with a hull before it grows: at the start, and at most.
FIRST_ROWS, ROWS = 2**8, 2**16

Points = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Hulls(ColumnSummary):
    """Hulls of many columns, packed: that of column `j` begins at ``starts[j]``.

    Attributes
    ----------
    y, q : arrays, the vertices, `y` increasing within each hull
    slopes, heights : arrays, the slope `t` of the edge after each vertex, and ``g(t)``
    starts : array (columns + 1,)
    """

    #: The least slope `t` that is evaluated; the greatest is one more.
    LOW: ClassVar[float]

    y: FloatArray
    q: FloatArray
    slopes: FloatArray
    heights: FloatArray
    starts: npt.NDArray[np.int64]

    @staticmethod
    def points(a: FloatArray, b: FloatArray) -> Points:
        """Return the points of a column that may be vertices."""
        raise NotImplementedError

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray) -> Self:
        """Return the hull of each column. O(N M log N), and O(N M log F) if hulls are short."""
        nothing = np.empty(0)
        columns: list[Points] = [(nothing, nothing)] * a.shape[1]
        first = 0
        while first < len(b):  # twice as many rows each time: the hull of few excludes most others
            size = max(2 * max(len(y) for y, _ in columns), min(first, ROWS), FIRST_ROWS)
            rows = slice(first, first + size)
            columns = [
                _extend(columns[j], cls.points(a[rows, j], b[rows]), cls.LOW)
                for j in range(a.shape[1])
            ]
            first = rows.stop
        return cls.pack(columns)

    @classmethod
    def pack(cls, columns: Iterable[Points]) -> Self:
        """Return hulls packed into one object."""
        hulls = list(columns)
        starts = np.cumsum([0, *(len(y) for y, _ in hulls)], dtype=np.int64)
        y, q = (np.concatenate([points[side] for points in hulls]) for side in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):  # between two hulls: not used
            slopes = np.append(np.diff(q) / np.diff(y), 0.0)[: len(y)]
        return cls(y, q, slopes, slopes * y - q, starts)

    def merge(self, *others: Self) -> Self:
        """Return the hulls of the points of all."""
        columns = list(self._columns())
        for other in others:
            pairs = zip(columns, other._columns(), strict=True)
            columns = [_extend(hull, points, self.LOW) for hull, points in pairs]
        return type(self).pack(columns)

    def _columns(self) -> Iterable[Points]:
        edges = zip(self.starts[:-1], self.starts[1:], strict=True)
        return [(self.y[begin:end], self.q[begin:end]) for begin, end in edges]

    def _kernel(self, name: str, a: FloatArray, b: FloatArray) -> RowDistances:
        nabla = np.empty(len(b))
        kernel = getattr(load_kernels(HULL_KERNELS), name)
        kernel(self.y, self.q, self.slopes, self.heights, self.starts, a, b, nabla)
        return RowDistances(nabla, nabla)


class ProductHulls(Hulls):
    """The hulls of the points ``(a_kj, b_k)`` of a max-product system."""

    LOW = 0.0

    @staticmethod
    def points(a: FloatArray, b: FloatArray) -> Points:
        """Return the points with ``a_kj > b_k``; the others bound no unknown."""
        is_bound = a > b
        return a[is_bound], b[is_bound]

    def distances(self, a: FloatArray, b: FloatArray) -> RowDistances:
        """Return the distance of each row. O(N M log F)."""
        return self._kernel("product_distances", a, b)

    def solution(self, distance: float) -> FloatArray:
        """Return ``min_k (b_k + d) / a_kj``, and 1 if that is less."""
        quotients = (self.q + distance) / self.y
        return -column_maximum(-quotients, self.starts, -1.0)


class GoguenHulls(Hulls):
    """The hulls of the points ``(a_kj, -a_kj b_k)`` of a min-implication system."""

    LOW = -1.0

    @staticmethod
    def points(a: FloatArray, b: FloatArray) -> Points:
        """Return the points with ``a_kj b_k > 0``; the others bound no unknown."""
        products = a * b
        is_bound = products > 0.0
        return a[is_bound], -products[is_bound]

    def distances(self, a: FloatArray, b: FloatArray) -> RowDistances:
        """Return the distance of each row. O(N M log F)."""
        return self._kernel("goguen_distances", a, b)

    def solution(self, distance: float) -> FloatArray:
        """Return ``max_k a_kj (b_k - d)``, and 0 if that is less."""
        return column_maximum(-self.q - distance * self.y, self.starts)


def _extend(hull: Points, points: Points, low: float) -> Points:
    """Return the hull of a hull and further points, for slopes from `low` to ``low + 1``."""
    kernels = load_kernels(HULL_KERNELS)
    below = np.empty(len(points[0])), np.empty(len(points[0]))
    n = kernels.points_below(*points, *hull, low, *below)
    if n == 0:
        return hull
    y, q = (np.concatenate([old, new[:n]]) for old, new in zip(hull, below, strict=True))
    order = np.lexsort((q, y))
    y, q = y[order], q[order]
    size = kernels.select_hull(y, q)
    slopes = np.diff(q[:size]) / np.diff(y[:size])
    first = int(np.searchsorted(slopes, low, side="right"))
    last = max(first, int(np.searchsorted(slopes, low + 1.0, side="left")))
    return y[first : last + 1].copy(), q[first : last + 1].copy()


def column_maximum(
    values: FloatArray, starts: npt.NDArray[np.int64], initial: float = 0.0
) -> FloatArray:
    """Return the maximum of packed columns, and of `initial`."""
    maximum = np.full(len(starts) - 1, initial)
    np.maximum.at(maximum, np.repeat(np.arange(len(maximum)), np.diff(starts)), values)
    return maximum
