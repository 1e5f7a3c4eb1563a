"""Arrays of degrees, and their products with min, max and epsilon in place of sum and product.

The products are dense, by definition. Rows are processed in blocks, so that memory is bounded.
Arguments are validated before the computation.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.exceptions import DegreeError, ShapeError

#: Numbers of the largest temporary array of a product.
BLOCK = 2**20

#: Numbers of a block of rows whose temporary arrays stay in cache.
CACHED_BLOCK = 2**15

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
    return _product(a, b, reduce_min_max)


def maxmin_product(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the max-min product ``(a o b)[i, k] = max_j min(a[i, j], b[j, k])``.

    `b` may be a vector. It is the composition of fuzzy relations.

    Examples
    --------
    >>> maxmin_product([[0.7, 0.0], [0.4, 0.5]], [0.6, 1.0])
    array([0.6, 0.5])
    """
    return _product(a, b, reduce_max_min)


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
    return _product(a, b, _reduce_epsilon)


def reduce_min_max(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the min-max product of rows ``(n, m, 1)`` and columns ``(1, m, k)``."""
    return np.asarray(np.maximum(rows, columns).min(axis=1))


def reduce_max_min(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the max-min product of rows ``(n, m, 1)`` and columns ``(1, m, k)``."""
    return np.asarray(np.minimum(rows, columns).max(axis=1))


def _reduce_epsilon(rows: FloatArray, columns: FloatArray) -> FloatArray:
    return np.asarray(np.where(rows < columns, columns, 0.0).max(axis=1))


def _product(a: npt.ArrayLike, b: npt.ArrayLike, combine: Combine) -> FloatArray:
    left = degree_array(a, "a", 2)
    right = degree_array(b, "b", 1, 2)
    check_same_length(left.shape[1], "the columns of a", len(right), "the rows of b")
    return blocked_product(left, right, combine)


def blocked_product(a: FloatArray, b: FloatArray, combine: Combine) -> FloatArray:
    """Return the product of validated arrays, with `combine` on blocks of rows."""
    columns = (b if b.ndim == 2 else b[:, None])[None]
    step = max(1, BLOCK // columns.size)
    blocks = [combine(a[i : i + step, :, None], columns) for i in range(0, len(a), step)]
    product = np.concatenate(blocks)
    return product if b.ndim == 2 else product[:, 0]


def float_array(values: npt.ArrayLike, name: str, *ndims: int) -> FloatArray:
    """Return `values` as a new float64 array (-0.0 becomes 0.0) with one of some `ndims`."""
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":  # text and complex numbers would be converted
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


def degree_array(values: npt.ArrayLike, name: str, *ndims: int) -> FloatArray:
    """Return `values` as an array of degrees: not empty, all in [0, 1]."""
    array = float_array(values, name, *ndims)
    if array.size == 0:
        raise ShapeError(f"{name} is empty (shape {array.shape}); give at least one row and column")
    check_entries(array, ~((array >= 0.0) & (array <= 1.0)), name, "a number in [0, 1]")
    return array


def finite_array(values: npt.ArrayLike, name: str, *ndims: int) -> FloatArray:
    """Return `values` as an array of finite numbers."""
    array = float_array(values, name, *ndims)
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


def check_same_length(n: int, name: str, m: int, other: str) -> None:
    """Raise `ShapeError` unless two sizes agree; a size of 1 is not broadcast."""
    if n != m:
        raise ShapeError(f"{name} are {n} and {other} are {m}; they must be equal (no broadcast)")


def make_readonly(array: FloatArray) -> FloatArray:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array


def row_blocks(a: FloatArray) -> Iterator[slice]:
    """Yield slices of rows whose temporary arrays stay in cache."""
    step = max(1, CACHED_BLOCK // a.shape[1])
    return (slice(first, first + step) for first in range(0, len(a), step))


def contiguous_columns(a: FloatArray) -> Iterator[FloatArray]:
    """Yield the columns as contiguous arrays, copied by blocks."""
    step = max(1, BLOCK // len(a))
    for first in range(0, a.shape[1], step):
        yield from np.ascontiguousarray(a[:, first : first + step].T)
