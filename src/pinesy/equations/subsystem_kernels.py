"""The Numba kernel that selects rows of a system which have a common solution.

Importing this module loads Numba, so it is imported when first needed.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from numba.core import types

from pinesy._common.jit import compiled, inlined

_TABLE = types.Array(types.float64, 2, "C", readonly=True)
_ORDER = types.Array(types.int64, 1, "C", readonly=True)
_ROWS = types.Array(types.int64, 1, "C")


@inlined
def _is_reached(x, needs, row, tolerance):
    """Return whether some entry of `x` is large enough for a row."""
    is_reached = False
    for j in range(len(x)):
        is_reached |= x[j] >= needs[row, j] - tolerance
    return is_reached


@compiled(types.int64(_TABLE, _TABLE, _ORDER, types.float64, _ROWS))
def select_consistent(bounds, needs, order, tolerance, selected):
    """Write the rows, tried in an order, that do not contradict those before; return how many.

    A row bounds `x` from above by ``bounds[row]`` and needs ``x_j >= needs[row, j]`` for some `j`.
    """
    n = 0
    x = bounds[0] * 0.0 + 1e300
    for i in range(len(order)):
        lowered = x.copy()
        is_changed = False
        for j in range(len(x)):
            if bounds[order[i], j] < x[j]:
                lowered[j] = bounds[order[i], j]
                is_changed = True
        is_kept = _is_reached(lowered, needs, order[i], tolerance)
        k = 0
        while is_changed and is_kept and k < n:
            is_kept = _is_reached(lowered, needs, selected[k], tolerance)
            k += 1
        if is_kept:
            x = lowered
            selected[n] = order[i]
            n += 1
    return n
