"""The distance of fuzzy relational equations by its definition, compiled: O(N^2 M).

The term of two rows and a column is one expression for each composition; dual compositions are
turned into these. The loops over rows `k` are innermost, on matrices kept by columns, and end when
the column can no longer be the best.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.equations import COMPOSITIONS

serial = numba.njit(cache=True, error_model="numpy")


@serial
def _minmax(u, x, y, z):
    return max(u - x, min((z - x) * 0.5, z - y), 0.0)


@serial
def _product(u, x, y, z):
    return max(x - u, (x * y - u * z) / (u + y), 0.0) if u > 0.0 else x


@serial
def _lukasiewicz(u, x, y, z):
    return min(x, max(x - u, (x - u + y - z) * 0.5, 0.0))


@serial
def _goguen(u, x, y, z):
    return min(max((y * z - u * x) / (u + y), 0.0), 1.0 - x) if u > 0.0 else 1.0 - x


@serial
def _goedel(u, x, y, z):
    if u <= 0.0:
        return 1.0 - x
    below = max(z - u, 0.0) if y >= u else 0.0
    return min(max(below, min(y - x, (z - x) * 0.5)), 1.0 - x)


def _loops(term: Callable[..., Any]) -> Any:
    @numba.njit(error_model="numpy")
    def distance(columns, b):
        largest = 0.0
        for i in range(len(b)):
            least = np.inf
            for j in range(len(columns)):
                u, x, value = columns[j, i], b[i], 0.0
                for k in range(len(b)):
                    value = max(value, term(u, x, columns[j, k], b[k]))
                    if value >= least:
                        break
                least = min(least, value)
            largest = max(largest, least)
        return largest

    return distance


_DISTANCES = {
    "min-max": _loops(_minmax),
    "max-product": _loops(_product),
    "max-lukasiewicz": _loops(_lukasiewicz),
    "min-goguen": _loops(_goguen),
    "min-goedel": _loops(_goedel),
}


def literal_distance(a: FloatArray, b: FloatArray, name: str) -> float:
    """Return the Chebyshev distance of a system by its definition."""
    composition = COMPOSITIONS[name]
    turned, right = composition.turn(a, b)
    return float(_DISTANCES[composition.definition](np.ascontiguousarray(turned.T), right))
