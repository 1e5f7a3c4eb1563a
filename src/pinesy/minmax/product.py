"""Matrix products in which min, max and epsilon take the place of sum and product.

They are the definitions, dense. Rows are taken in blocks, so that memory stays bounded.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.minmax import arrays

#: Numbers held at a time while rows of `a` meet columns of `b`.
BLOCK = 2**20

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
    product: FloatArray = np.maximum(rows, columns).min(axis=1)
    return product


def max_min(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Combine rows ``(n, m, 1)`` with columns ``(1, m, k)``."""
    product: FloatArray = np.minimum(rows, columns).max(axis=1)
    return product


def _max_epsilon(rows: FloatArray, columns: FloatArray) -> FloatArray:
    product: FloatArray = np.where(rows < columns, columns, 0.0).max(axis=1)
    return product


def _product(a: npt.ArrayLike, b: npt.ArrayLike, combine: Combine) -> FloatArray:
    left = arrays.degrees(a, "a", 2)
    right = arrays.degrees(b, "b", 1, 2)
    arrays.same_length(left.shape[1], "the columns of a", len(right), "the rows of b")
    return by_rows(left, right, combine)


def by_rows(a: FloatArray, b: FloatArray, combine: Combine) -> FloatArray:
    """Return the product of checked arrays: `combine` on blocks of rows."""
    columns = (b if b.ndim == 2 else b[:, None])[None]
    step = max(1, BLOCK // columns.size)
    blocks = [combine(a[i : i + step, :, None], columns) for i in range(0, len(a), step)]
    product = np.concatenate(blocks)
    return product if b.ndim == 2 else product[:, 0]
