"""Systems of fuzzy relational equations, min-max and max-min, consistent or not.

The computations hold on any interval ``[bottom, ...]`` of numbers, since they only compare,
subtract and halve. A max-min system is therefore solved as the min-max system of ``-a`` and ``-b``
on ``[-1, 0]``: changing a sign is exact where ``1 - .`` would round.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray, check_degree
from pinesy.equations.fronts import KERNELS, TOLERANCE, lower_bound
from pinesy.equations.product import (
    BLOCK,
    blocked_product,
    check_same_length,
    degree_array,
    make_readonly,
    reduce_max_min,
    reduce_min_max,
)
from pinesy.exceptions import InconsistentSystemError


@dataclass(frozen=True)
class Certificate:
    """The residual of a vector `x`, and the distance of the system; see `MinMaxSystem.verify`.

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
        Whether ``residual <= distance + tolerance``: no vector has a lower residual than `x`.
    """

    residual: float
    row: int
    distance: float
    solves: bool
    attains: bool


@dataclass(frozen=True, init=False, repr=False, eq=False)
class RelationalSystem:
    """A matrix of shape ``(N, M)`` and a second member ``(N,)``; the base of both systems."""

    _is_max_min: ClassVar[bool]
    a: FloatArray
    b: FloatArray

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike) -> None:
        matrix, second = degree_array(a, "the matrix", 2), degree_array(b, "the second member", 1)
        check_same_length(
            len(matrix), "the rows of the matrix", len(second), "those of the second member"
        )
        object.__setattr__(self, "a", make_readonly(matrix))
        object.__setattr__(self, "b", make_readonly(second))

    @cached_property
    def row_distances(self) -> FloatArray:
        """The distance ``nabla_i = min_l max((a_il - b_i)^+, h_l(b_i))`` of each row [eq:Nabla].

        ``h_l(y) = max_k min((b_k - y)^+ / 2, (b_k - a_kl)^+)`` is the front of column `l`. All
        columns share the order of `b`: one sort, then two passes for each column.
        O(N log N + N M); beyond the input O(N) memory.
        """
        a, b, _ = self._as_minmax()
        order = np.argsort(-b).astype(np.int64, copy=False)
        y, nabla = b[order], np.full(len(b), np.inf)
        e, w, distances = (np.empty(len(b)) for _ in range(3))
        for column in _columns(a):
            load_kernels(KERNELS).lower_distances(y, column, order, nabla, e, w)
        distances[order] = nabla
        return make_readonly(distances)

    @cached_property
    def chebyshev_distance(self) -> float:
        """``nabla = max_i nabla_i`` [eq:Nabla]: how far `b` is from a consistent second member.

        Exactly 0.0 if the system is consistent.
        """
        return float(self.row_distances.max())

    @cached_property
    def is_consistent(self) -> bool:
        """Whether there is a solution: whether the extreme candidate solves it. O(N M), exact."""
        return bool((self._apply(self._extreme_solution) == self.b).all())

    def verify(self, x: npt.ArrayLike, *, tolerance: float = 2 * TOLERANCE) -> Certificate:
        """Return the residual of a vector `x` of M degrees, and whether it attains the distance.

        Parameters
        ----------
        x : array (M,)
        tolerance : float
            The rounding error allowed in the residual of a vector that attains the distance.
        """
        point = degree_array(x, "x", 1)
        check_same_length(len(point), "the entries of x", self.a.shape[1], "the columns")
        gaps = np.abs(self.b - self._apply(point))
        row = int(gaps.argmax())
        residual, distance = float(gaps[row]), self.chebyshev_distance
        allowed = distance + check_degree(tolerance, "tolerance")
        return Certificate(residual, row, distance, residual == 0.0, residual <= allowed)

    def _apply(self, x: FloatArray) -> FloatArray:
        return blocked_product(self.a, x, reduce_max_min if self._is_max_min else reduce_min_max)

    def _as_minmax(self) -> tuple[FloatArray, FloatArray, float]:
        """Return the matrix and second member of a min-max system, and its least degree."""
        return (-self.a, -self.b, -1.0) if self._is_max_min else (self.a, self.b, 0.0)

    def _solution(self, nabla: float) -> FloatArray:
        """Return ``x_l = max_i {b_i - nabla : a_il < b_i - nabla}``, the least degree if none.

        [eq:lowestapprox], an epsilon product. For ``nabla = 0`` the entries are copies of `b`.
        """
        a, b, bottom = self._as_minmax()
        bound = lower_bound(nabla, TOLERANCE)
        tops = [np.max(b, where=b - column > bound, initial=-np.inf) for column in _columns(a)]
        x = np.maximum(np.array(tops) - nabla, bottom)
        return make_readonly(-x if self._is_max_min else x)

    @cached_property
    def _extreme_solution(self) -> FloatArray:
        return self._solution(0.0)

    @cached_property
    def _approximate_solution(self) -> FloatArray:
        return self._solution(self.chebyshev_distance)

    @cached_property
    def _approximation(self) -> FloatArray:
        return make_readonly(self._apply(self._approximate_solution))

    def _exact_solution(self, cure: str) -> FloatArray:
        """Return the extreme solution; if there is none, raise an error that names `cure`."""
        if self.is_consistent:
            return self._extreme_solution
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

    def _repr_html_(self) -> str:
        from pinesy.display.equations_html import relational_system_html

        return relational_system_html(self, self._approximate_solution, self._is_max_min)


class MinMaxSystem(RelationalSystem):
    """The system ``A box x = b``, that is ``min_j max(A[i, j], x[j]) = b[i]`` for all rows `i`.

    Parameters
    ----------
    a : array (N, M) of degrees
    b : array (N,) of degrees

    Examples
    --------
    >>> system = MinMaxSystem([[0.25, 1.0], [1.0, 0.35]], [0.4, 1.0])
    >>> system.lowest_solution
    array([0.4, 1. ])
    >>> system = MinMaxSystem([[0.0], [0.0]], [0.5, 0.75])  # x = 0.5 and x = 0.75
    >>> system.is_consistent, system.chebyshev_distance
    (False, 0.125)
    >>> system.verify(system.lowest_approximate_solution).attains
    True
    """

    _is_max_min = False

    @cached_property
    def lowest_solution(self) -> FloatArray:
        """The solution below all others, ``x_l = max_i {b_i : A_il < b_i}``; copies of `b` and 0.

        Raises `InconsistentSystemError` if there is none.
        """
        return self._exact_solution("lowest_approximate_solution")

    @property
    def lowest_approximate_solution(self) -> FloatArray:
        """The lowest `x` whose residual is the distance `nabla`: the lowest solution if that is 0.

        ``x_l = max_i {b_i - nabla : A_il < b_i - nabla}``, and 0 where there is none.
        """
        return self._approximate_solution

    @property
    def lowest_approximation(self) -> FloatArray:
        """The lowest consistent second member at distance `nabla` from `b` [eq:lowest]."""
        return self._approximation


class MaxMinSystem(RelationalSystem):
    """The system ``A o x = b``, that is ``max_j min(A[i, j], x[j]) = b[i]`` for all rows `i`.

    It is the dual of a min-max system: what is lowest there is greatest here.

    Parameters
    ----------
    a : array (N, M) of degrees
    b : array (N,) of degrees

    Examples
    --------
    >>> system = MaxMinSystem([[0.7, 0.0], [0.4, 0.5]], [0.6, 0.5])
    >>> system.greatest_solution
    array([0.6, 1. ])
    """

    _is_max_min = True

    @cached_property
    def greatest_solution(self) -> FloatArray:
        """The solution above all others, ``x_l = min_i {b_i : A_il > b_i}``; copies of `b` and 1.

        Raises `InconsistentSystemError` if there is none.
        """
        return self._exact_solution("greatest_approximate_solution")

    @property
    def greatest_approximate_solution(self) -> FloatArray:
        """The greatest `x` whose residual is the distance `nabla`.

        ``x_l = min_i {b_i + nabla : A_il > b_i + nabla}``, and 1 where there is none.
        """
        return self._approximate_solution

    @property
    def greatest_approximation(self) -> FloatArray:
        """The greatest consistent second member at distance `nabla` from `b`; `b` if that is 0."""
        return self._approximation


def _columns(a: FloatArray) -> Iterator[FloatArray]:
    """Yield the columns as contiguous arrays, copied by blocks."""
    step = max(1, BLOCK // len(a))
    for first in range(0, a.shape[1], step):
        yield from np.ascontiguousarray(a[:, first : first + step].T)
