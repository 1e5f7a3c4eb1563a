"""Arrays of degrees, and their products with min, max and epsilon in place of sum and product.

The products are the definitions, dense. Rows are taken in blocks, so that memory stays bounded.
What an array must be is checked before the algebra starts.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.exceptions import DegreeError, ShapeError

#: Numbers held at a time while rows of `a` meet columns of `b`.
BLOCK = 2**20

_SHAPES = {1: "(n,)", 2: "(rows, columns)"}

Combine = Callable[[FloatArray, FloatArray], FloatArray]


def minmax_product(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the min-max product ``(a box b)[i, k] = min_j max(a[i, j], b[j, k])``.

    `b` may be a vector. This is the definition [eq:redFP]; inference never needs it.

    Examples
    --------
    >>> minmax_product([[0.3, 1.0], [1.0, 0.5]], [0.0, 1.0])
    array([0.3, 1. ])
    """
    return _product(a, b, min_max)


def maxmin_product(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the max-min product ``(a o b)[i, k] = max_j min(a[i, j], b[j, k])``.

    `b` may be a vector. It is the composition of fuzzy relations.

    Examples
    --------
    >>> maxmin_product([[0.7, 0.0], [0.4, 0.5]], [0.6, 1.0])
    array([0.6, 0.5])
    """
    return _product(a, b, max_min)


def epsilon_product(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the epsilon product ``max_j (a[i, j] eps b[j, k])`` [eq:epsilonproduct].

    ``g eps y = y`` if ``g < y`` else 0: the least ``x`` of [0, 1] with ``max(g, x) >= y``. So
    ``epsilon_product(A.T, b)`` is the lowest `x` with ``A box x >= b``, and the lowest solution of
    ``A box x = b`` wherever there is one. `b` may be a vector.

    Examples
    --------
    >>> A = np.array([[0.25, 1.0], [1.0, 0.35]])
    >>> epsilon_product(A.T, [1.0, 0.4])
    array([1. , 0.4])
    """
    return _product(a, b, _max_epsilon)


def min_max(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Combine rows ``(n, m, 1)`` with columns ``(1, m, k)``."""
    return np.asarray(np.maximum(rows, columns).min(axis=1))


def max_min(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Combine rows ``(n, m, 1)`` with columns ``(1, m, k)``."""
    return np.asarray(np.minimum(rows, columns).max(axis=1))


def _max_epsilon(rows: FloatArray, columns: FloatArray) -> FloatArray:
    return np.asarray(np.where(rows < columns, columns, 0.0).max(axis=1))


def _product(a: npt.ArrayLike, b: npt.ArrayLike, combine: Combine) -> FloatArray:
    left = degrees(a, "a", 2)
    right = degrees(b, "b", 1, 2)
    same_length(left.shape[1], "the columns of a", len(right), "the rows of b")
    return by_rows(left, right, combine)


def by_rows(a: FloatArray, b: FloatArray, combine: Combine) -> FloatArray:
    """Return the product of checked arrays: `combine` on blocks of rows."""
    columns = (b if b.ndim == 2 else b[:, None])[None]
    step = max(1, BLOCK // columns.size)
    blocks = [combine(a[i : i + step, :, None], columns) for i in range(0, len(a), step)]
    product = np.concatenate(blocks)
    return product if b.ndim == 2 else product[:, 0]


def numbers(values: npt.ArrayLike, name: str, *ndims: int) -> FloatArray:
    """Return `values` as a new array of float64 (-0.0 becomes 0.0) with one of the dimensions."""
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":  # text and complex numbers would be turned into numbers
            raise TypeError
        array = raw.astype(np.float64, copy=False) + 0.0
    except (OverflowError, TypeError, ValueError):
        raise DegreeError(
            f"{name} is {values!r:.60}; it must be an array of numbers, all rows of one length"
        ) from None
    if array.ndim not in ndims:
        expected = " or ".join(_SHAPES[n] for n in ndims)
        raise ShapeError(
            f"{name} has shape {array.shape}; it must have shape {expected}: reshape it"
        )
    return array


def degrees(values: npt.ArrayLike, name: str, *ndims: int) -> FloatArray:
    """Return `values` as an array of degrees: `numbers`, at least one, all in [0, 1]."""
    array = numbers(values, name, *ndims)
    if array.size == 0:
        raise ShapeError(f"{name} is empty (shape {array.shape}); give at least one row and column")
    check_entries(array, ~((array >= 0.0) & (array <= 1.0)), name, "a number in [0, 1]")
    return array


def finite(values: npt.ArrayLike, name: str, *ndims: int) -> FloatArray:
    """Return `values` as an array of finite numbers."""
    array = numbers(values, name, *ndims)
    check_entries(array, ~np.isfinite(array), name, "a finite number")
    return array


def check_entries(array: FloatArray, bad: BoolArray, name: str, expected: str) -> None:
    """Raise `DegreeError` for the first entry of `array` that is `bad`."""
    if bad.any():
        indices = np.unravel_index(int(bad.argmax()), bad.shape)
        value = float(array[indices])
        axes = zip(("row", "column"), map(int, indices), strict=False)
        index = ", ".join(f"{axis} {i}" for axis, i in axes)
        cure = "fill in or leave out what is missing" if np.isnan(value) else "rescale the data"
        raise DegreeError(f"{name}, {index}, is {value!r}; it must be {expected}: {cure}")


def same_length(n: int, name: str, m: int, other: str) -> None:
    """Raise `ShapeError` unless two sizes agree; a size of 1 is not broadcast."""
    if n != m:
        raise ShapeError(f"{name} are {n} and {other} are {m}; they must be as many (no broadcast)")


def frozen(array: FloatArray) -> FloatArray:
    """Return `array` made read-only, to be kept by an object that does not change."""
    array.setflags(write=False)
    return array
