"""Numba kernels of Pareto fronts.

Importing this module loads Numba, so it is imported when first needed. Other kernels call
`front_value` and `insert_point`.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from numba.core import types

from pinesy._common.jit import compiled, inlined, inner

_NUMBERS = types.Array(types.float64, 1, "C", readonly=True)
_STARTS = types.Array(types.int64, 1, "C", readonly=True)
_ANY_TABLE = types.Array(types.float64, 2, "A", readonly=True)
_TABLE = types.Array(types.float64, 2, "C")
_RESULT = types.Array(types.float64, 1, "C")


@inlined
def _crossing_value(e, w, begin, end, k, y):
    """Return the larger of ``w[k - 1]`` and ``(e[k] - y)^+ / 2``, each if it is in the front."""
    value = w[k - 1] if k > begin else 0.0
    return max(value, (e[k] - y) * 0.5) if k < end else value


@inner
def front_value(e, w, begin, end, y):
    """Return ``max_k min((e[k] - y)^+ / 2, w[k])`` over the front ``begin <= k < end``.

    Along the front the first term decreases and the second increases, also when rounded. The
    maximum of their min is where they cross: at the first `k` where `w` is not less, or before it.
    """
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if w[middle] >= (e[middle] - y) * 0.5:
            high = middle
        else:
            low = middle + 1
    return _crossing_value(e, w, begin, end, low, y)


@inner
def insert_point(e, w, size, point_e, point_w):
    """Insert a pair into a front of `size` pairs, in place; return the new size."""
    low, high = 0, size
    while low < high:  # the first k with e[k] <= point_e
        middle = (low + high) >> 1
        if e[middle] > point_e:
            low = middle + 1
        else:
            high = middle
    if low > 0 and w[low - 1] >= point_w:
        return size
    if low < size and e[low] == point_e and w[low] >= point_w:
        return size
    after = low
    while after < size and w[after] <= point_w:
        after += 1
    n_after = size - after
    if after == low:  # shift the others, from the end
        for k in range(size, low, -1):
            e[k], w[k] = e[k - 1], w[k - 1]
    else:
        for k in range(n_after):
            e[low + 1 + k], w[low + 1 + k] = e[after + k], w[after + k]
    e[low], w[low] = point_e, point_w
    return low + 1 + n_after


@compiled(types.void(_NUMBERS, _NUMBERS, _STARTS, _ANY_TABLE, _TABLE))
def evaluate_fronts(e, w, starts, y, out):
    """Set ``out[i, l]`` to the value at ``y[i, l]`` of front ``starts[l] .. starts[l + 1]``."""
    for i in range(y.shape[0]):
        for column in range(y.shape[1]):
            out[i, column] = front_value(e, w, starts[column], starts[column + 1], y[i, column])


@inlined
def _write_front(y, column, order, e, w):
    """Write the front of the pairs ``(y[i], y[i] - column[order[i]])``; return its size.

    `y` must not increase. Several pairs of equal `y` may stay, with increasing `w`.
    """
    size = 0
    best = 0.0
    for i in range(len(y)):
        gap = y[i] - column[order[i]]
        if gap > best:
            best = gap
            e[size] = y[i]
            w[size] = gap
            size += 1
    return size


@compiled(types.int64(_NUMBERS, _NUMBERS, _STARTS, _RESULT, _RESULT))
def select_front(y, column, order, e, w):
    """Write the front of the pairs ``(y[i], column[order[i]])``; return its size.

    `y` must not increase. Of equal `y` the largest `w` stays.
    """
    size = 0
    best = 0.0
    for i in range(len(y)):
        if column[order[i]] > best:
            best = column[order[i]]
            if size == 0 or e[size - 1] != y[i]:
                size += 1
            e[size - 1] = y[i]
            w[size - 1] = best
    return size


@compiled(types.void(_NUMBERS, _NUMBERS, _STARTS, _RESULT, _RESULT, _RESULT))
def lower_distances(y, column, order, nabla, e, w):
    """Lower each ``nabla[i]`` to ``max((column[order[i]] - y[i])^+, h(y[i]))``, `h` of the column.

    As `y` decreases the crossing only moves forward: one pass instead of binary searches. `e` and
    `w` are scratch.
    """
    size = _write_front(y, column, order, e, w)
    k = 0
    for i in range(len(y)):
        while k < size and w[k] < (e[k] - y[i]) * 0.5:
            k += 1
        h = _crossing_value(e, w, 0, size, k, y[i])
        nabla[i] = min(nabla[i], max(column[order[i]] - y[i], h))
