"""Pareto fronts of pairs (e, w): the functions ``h(y) = max_i min((e_i - y)^+ / 2, w_i)``.

Only the pairs that no other pair dominates count. Sorted by decreasing `e` their `w` increases, so
`h` is evaluated by binary search. The front of a union is the front of the union of the fronts, so
pairs may come in any order and in any number of chunks (docs/equations.md).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.equations.product import check_same_length, finite_array, make_readonly
from pinesy.exceptions import DegreeError, DomainError

KERNELS = "pinesy.equations.front_kernels"
#: Eight units in the last place of 1.0. The distance `nabla` and the margins `w` are differences
#: of degrees, each off by an ulp or two; on a decimal grid ``w > nabla`` must not hold by rounding.
TOLERANCE = 8 * 2.0**-52


@dataclass(frozen=True, repr=False, eq=False)
class Front:
    """A Pareto front: pairs with `e` strictly decreasing and `w > 0` strictly increasing.

    Build it with `pareto_front`. A front without pairs is the function ``h = 0``.

    Attributes
    ----------
    e, w : read-only arrays (F,)

    Examples
    --------
    >>> front = pareto_front([0.8, 0.6, 0.5], [0.1, 0.4, 0.3])
    >>> front.e, front.w
    (array([0.8, 0.6]), array([0.1, 0.4]))
    >>> front.evaluate([0.0, 0.5, 0.9])
    array([0.3, 0.1, 0. ])
    """

    e: FloatArray
    w: FloatArray

    def __post_init__(self) -> None:
        e, w = _check_pairs(self.e, self.w, 1)
        if (np.diff(e) >= 0.0).any() or (np.diff(w, prepend=0.0) <= 0.0).any():
            raise DomainError(
                "these pairs are not a front: e must decrease and w > 0 increase, strictly; build "
                "a front from any pairs with pareto_front(e, w)"
            )
        object.__setattr__(self, "e", make_readonly(e))
        object.__setattr__(self, "w", make_readonly(w))

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.e)

    def merge(self, other: "Front") -> "Front":
        """Return the front of the pairs of both.

        Associative, commutative and idempotent, to the last bit: it only selects pairs.
        """
        return _merge([self, other])

    def evaluate(self, y: npt.ArrayLike) -> FloatArray:
        """Return ``h(y) = max_i min((e_i - y)^+ / 2, w_i)`` for each entry of the vector `y`.

        Cost O(log F) an entry. In float64 it is equal, bit for bit, to the maximum over all the
        pairs that the front was built from: subtraction and halving round monotonically.
        """
        return Fronts.pack([self]).evaluate(finite_array(y, "y", 1)[:, None])[:, 0]

    def solution(self, nabla: float, *, bottom: float = 0.0, tolerance: float = TOLERANCE) -> float:
        """Return ``(e - nabla)^+`` for the largest `e` with ``w > nabla``, or `bottom` if none.

        Where ``nabla > 0``, which is rounded, ``w > nabla + tolerance`` is required instead.

        Examples
        --------
        >>> front = pareto_front([0.8, 0.6], [0.1, 0.4])
        >>> front.solution(0.0), front.solution(0.25), front.solution(0.4)
        (0.8, 0.35, 0.0)
        """
        k = int(np.searchsorted(self.w, lower_bound(nabla, tolerance), side="right"))
        return max(float(self.e[k]) - nabla, bottom) if k < len(self) else bottom

    def __repr__(self) -> str:
        return f"Front({len(self)} pairs)"


@dataclass(frozen=True, repr=False, eq=False)
class Fronts:
    """Many fronts, one a column, packed: front `l` is ``e[starts[l]:starts[l + 1]]``, same of `w`.

    Build it with `pareto_fronts`, or with `Fronts.pack` from fronts.

    Examples
    --------
    >>> fronts = pareto_fronts([[0.8, 0.5], [0.6, 0.7]], [[0.1, 0.2], [0.4, 0.0]])
    >>> fronts.evaluate([[0.0, 0.0], [0.5, 0.5]])
    array([[0.3, 0.2],
           [0.1, 0. ]])
    >>> fronts.solution(0.0)
    array([0.8, 0.5])
    """

    e: FloatArray
    w: FloatArray
    starts: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        check_same_length(len(self.e), "the entries of e", len(self.w), "those of w")
        sizes = np.diff(self.starts, prepend=0, append=len(self.e))
        if len(sizes) < 2 or sizes[0] != 0 or sizes[-1] != 0 or (sizes < 0).any():
            raise DomainError(
                "the starts of packed fronts must begin with 0, rise and end with the number of "
                "pairs; pack fronts with Fronts.pack"
            )

    @classmethod
    def pack(cls, fronts: Iterable[Front]) -> "Fronts":
        """Return fronts packed into one object."""
        members = list(fronts)
        starts = np.cumsum([0, *map(len, members)], dtype=np.int64)
        starts.setflags(write=False)
        sides = ([np.empty(0), *(getattr(f, side) for f in members)] for side in ("e", "w"))
        e, w = (make_readonly(np.concatenate(side)) for side in sides)
        return cls(e, w, starts)

    def __len__(self) -> int:
        """Return the number of fronts (columns)."""
        return len(self.starts) - 1

    def __getitem__(self, column: int) -> Front:
        """Return the front of a column."""
        if not 0 <= column < len(self):
            raise DomainError(f"there is no front {column}; they are numbered 0 .. {len(self) - 1}")
        inside = slice(self.starts[column], self.starts[column + 1])
        return Front(self.e[inside], self.w[inside])

    def __iter__(self) -> Iterator[Front]:
        """Yield the front of each column."""
        return map(self.__getitem__, range(len(self)))

    def merge(self, *others: "Fronts") -> "Fronts":
        """Return the fronts of the pairs of all, column by column; see `Front.merge`."""
        for other in others:
            check_same_length(len(self), "the fronts", len(other), "those to merge")
        parts = [fronts for fronts in (self, *others) if len(fronts.e)]
        if len(parts) < 2:
            return parts[0] if parts else self
        return Fronts.pack(map(_merge, zip(*parts, strict=True)))

    def same(self, other: "Fronts") -> bool:
        """Return whether the fronts are the same, bit for bit."""
        return (
            np.array_equal(self.starts, other.starts)
            and np.array_equal(self.e, other.e)
            and np.array_equal(self.w, other.w)
        )

    def evaluate(self, y: npt.ArrayLike) -> FloatArray:
        """Return ``h_l(y[i, l])`` for all entries of `y`, of shape ``(n, columns)``.

        With ``y[:, None]``, of shape ``(n, 1)``, all fronts are evaluated at the same points.
        """
        points = finite_array(y, "y", 2)
        if points.shape[1] != 1:
            check_same_length(points.shape[1], "the columns of y", len(self), "the fronts")
        out = np.empty((len(points), len(self)))
        table = np.broadcast_to(points, out.shape)
        load_kernels(KERNELS).evaluate_fronts(self.e, self.w, self.starts, table, out)
        return out

    def solution(
        self, nabla: float, *, bottom: float = 0.0, tolerance: float = TOLERANCE
    ) -> FloatArray:
        """Return the solution of every front; see `Front.solution`."""
        # Along a front e falls: of the pairs with w large enough, the first has the largest e.
        enough = np.flatnonzero(self.w > lower_bound(nabla, tolerance))[::-1]
        solutions = np.full(len(self), bottom)
        columns = np.searchsorted(self.starts, enough, side="right") - 1
        # Reversed: of several pairs of a column, the first is assigned last.
        solutions[columns] = np.maximum(self.e[enough] - nabla, bottom)
        return solutions

    def __repr__(self) -> str:
        return f"Fronts({len(self)} columns, {len(self.e)} pairs)"


def pareto_front(e: npt.ArrayLike, w: npt.ArrayLike) -> Front:
    """Return the front of the pairs ``(e_i, w_i)``, larger being better in both.

    Pairs with ``w <= 0`` change nothing and are dropped. Cost O(N log N).

    Examples
    --------
    >>> len(pareto_front([0.9, 0.9, 0.4], [0.2, 0.3, 0.3]))
    1
    """
    return _front(*_check_pairs(e, w, 1))


def pareto_fronts(e: npt.ArrayLike, w: npt.ArrayLike) -> Fronts:
    """Return the front of each column of `e` and `w`, of shape ``(n, columns)``."""
    pairs = zip(*(table.T for table in _check_pairs(e, w, 2)), strict=True)
    return Fronts.pack(_front(*columns) for columns in pairs)


def _check_pairs(e: npt.ArrayLike, w: npt.ArrayLike, ndim: int) -> tuple[FloatArray, FloatArray]:
    """Return `e` and `w` as arrays of finite numbers of the same shape."""
    e_array, w_array = finite_array(e, "e", ndim), finite_array(w, "w", ndim)
    for axis, axis_name in zip(range(ndim), ("rows", "columns"), strict=False):
        check_same_length(
            e_array.shape[axis], f"the {axis_name} of e", w_array.shape[axis], "those of w"
        )
    return e_array, w_array


def _merge(fronts: Iterable[Front]) -> Front:
    """Return the front of the pairs of all fronts."""
    sides = zip(*((front.e, front.w) for front in fronts), strict=True)
    return _front(*map(np.concatenate, sides))


def _front(e: FloatArray, w: FloatArray) -> Front:
    """Return the front of finite pairs."""
    order = np.argsort(-e)
    e, w = e[order], w[order]
    best = np.maximum.accumulate(np.maximum(w, 0.0))
    # Among equal e the largest w counts: it is in `best` at the last of them.
    last = np.append(e[1:] != e[:-1], True)[: len(e)]
    e, best = e[last], best[last]
    better = np.diff(best, prepend=0.0) > 0.0
    return Front(e[better], best[better])


def sorted_fronts(e: FloatArray, columns: Iterable[FloatArray]) -> Fronts:
    """Return the fronts of the pairs of `e` and each column, with one sort for all of them."""
    order = np.argsort(-e).astype(np.int64, copy=False)
    decreasing, front_e, front_w = e[order], np.empty(len(e)), np.empty(len(e))
    select = load_kernels(KERNELS).select_front
    fronts = []
    for column in columns:
        size = select(decreasing, column, order, front_e, front_w)
        fronts.append(Front(front_e[:size], front_w[:size]))
    return Fronts.pack(fronts)


def reliable_below(tolerance: Any) -> Any:
    """Return the upper bound of the distance of a reliable sample: ``nabla < tau`` as decimals.

    [def:reliabletau]; 0.8 - 0.7 and 0.9 - 0.8 lie on different sides of 0.1 in floating point. A
    tiny `tau` stays above 0, so that a distance of 0 is below.

    Examples
    --------
    >>> 0.9 - 0.8 < 0.1, 0.8 - 0.7 < 0.1
    (True, False)
    >>> [bool(distance < reliable_below(0.1)) for distance in (0.9 - 0.8, 0.8 - 0.7)]
    [False, False]
    """
    return np.maximum(tolerance - TOLERANCE, np.minimum(tolerance, TOLERANCE))


def lower_bound(nabla: float, tolerance: float) -> float:
    """Return the lower bound of `w`: ``nabla + tolerance``, or 0 for the exact distance 0."""
    if not nabla >= 0.0:
        raise DegreeError(f"nabla is {nabla!r}; a distance is a number >= 0")
    return nabla + tolerance if nabla > 0.0 else 0.0
