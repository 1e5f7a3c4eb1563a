"""The Chebyshev distance by its definition: one term for two rows and a column.

A right-hand side at distance `d` may lower row `i` and raise row `k` by `d`. The term is the least
`d` with which column `j` reaches row `i` though row `k` bounds ``x_j``; the distance of row `i` is
the minimum over the columns of the maximum over the rows `k`. With ``u = a_ij``, ``x = b_i``,
``y = a_kj`` and ``z = b_k``; for other compositions see `Composition.turn`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pinesy.equations.compositions import Composition, Definition


def _minmax_term(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the term of [eq:Nablamini]."""
    rise = np.minimum(np.maximum(z - x, 0) / 2, np.maximum(z - y, 0))
    return np.maximum(np.maximum(u - x, 0), rise)


def _product_term(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Solve ``x - d <= u min(1, (z + d) / y)``."""
    total = np.where(u + y > 0, u + y, 1)
    cross = np.where(u > 0, (x * y - u * z) / total, x)
    return np.maximum(np.maximum(x - u, 0), cross)


def _lukasiewicz_term(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Solve ``x - d <= max(u + min(1 - y + z + d, 1) - 1, 0)``."""
    return np.minimum(x, np.maximum(np.maximum(x - u, 0), (x - u + y - z) / 2))


def _goguen_term(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Solve ``y (z - d) <= u (x + d)``, or ``x + d >= 1``."""
    total = np.where(u > 0, u + y, 1)
    return np.where(u > 0, np.minimum(np.maximum((y * z - u * x) / total, 0), 1 - x), 1 - x)


def _goedel_term(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the infimum of ``min(y, z - d) < u`` and ``<= x + d``, or ``x + d >= 1``."""
    below = np.where(y >= u, np.maximum(z - u, 0), 0)
    rise = np.minimum(np.maximum(y - x, 0), np.maximum(z - x, 0) / 2)
    return np.where(u > 0, np.minimum(np.maximum(below, rise), 1 - x), 1 - x)


TERMS: dict[Definition, Callable[[Any, Any, Any, Any], Any]] = {
    "min-max": _minmax_term,
    "max-product": _product_term,
    "max-lukasiewicz": _lukasiewicz_term,
    "min-goguen": _goguen_term,
    "min-goedel": _goedel_term,
}


def blocking_terms(composition: Composition, a: Any, b: Any, row: int) -> Any:
    """Return the terms of a row, an array ``(rows k, columns j)``. O(N M)."""
    a, b = composition.turn(a, b)
    return TERMS[composition.definition](a[row][None], b[row], a, b[:, None])
