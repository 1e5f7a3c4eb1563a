"""Numba kernels of lower convex hulls and of what is evaluated on fronts and hulls.

Importing this module loads Numba, so it is imported when first needed.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from numba.core import types

from pinesy._common.jit import compiled, inlined

_NUMBERS = types.Array(types.float64, 1, "C", readonly=True)
_VIEW = types.Array(types.float64, 1, "A", readonly=True)
_STARTS = types.Array(types.int64, 1, "C", readonly=True)
_TABLE = types.Array(types.float64, 2, "A", readonly=True)
_RESULT = types.Array(types.float64, 1, "C")


@compiled(types.int64(_VIEW, _VIEW, _NUMBERS, _NUMBERS, types.float64, _RESULT, _RESULT))
def points_below(y, q, hull_y, hull_q, low, out_y, out_q):
    """Write the points below a hull for slopes from `low` to ``low + 1``; return their number."""
    size, n = len(hull_y), 0
    for i in range(len(y)):
        left, right = 0, size
        while left < right:  # the first vertex to the right of the point
            middle = (left + right) >> 1
            if hull_y[middle] > y[i]:
                right = middle
            else:
                left = middle + 1
        if size == 0:
            is_below = True
        elif left == 0:
            is_below = q[i] < hull_q[0] + low * (y[i] - hull_y[0])
        elif left == size:
            is_below = q[i] < hull_q[size - 1] + (low + 1.0) * (y[i] - hull_y[size - 1])
        else:
            width, rise = hull_y[left] - hull_y[left - 1], hull_q[left] - hull_q[left - 1]
            is_below = (q[i] - hull_q[left - 1]) * width < rise * (y[i] - hull_y[left - 1])
        if is_below:
            out_y[n] = y[i]
            out_q[n] = q[i]
            n += 1
    return n


@compiled(types.int64(_RESULT, _RESULT))
def select_hull(y, q):
    """Move the lower hull of points, sorted by `y` and then `q`, to their front; return its size.

    Of two points of equal `y` the first has the lower `q`.
    """
    size = 0
    for i in range(len(y)):
        if size > 0 and y[size - 1] == y[i]:
            continue
        while size > 1:
            width, rise = y[size - 1] - y[size - 2], q[size - 1] - q[size - 2]
            if rise * (y[i] - y[size - 2]) < (q[i] - q[size - 2]) * width:
                break
            size -= 1
        y[size] = y[i]
        q[size] = q[i]
        size += 1
    return size


@inlined
def _vertex(slopes, heights, begin, end, u, x):
    """Return the vertex where ``max_k (t y_k - q_k) = x - u t``.

    `slopes` are those of the edges from each vertex to the next, `heights` the maximum there.
    """
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) >> 1
        if heights[middle] + u * slopes[middle] >= x:
            high = middle
        else:
            low = middle + 1
    return low


@compiled(types.void(_NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, _STARTS, _TABLE, _NUMBERS, _RESULT))
def product_distances(y, q, slopes, heights, starts, a, b, out):
    """Write ``min_j max(b_i - a_ij, max_k (b_i y - a_ij q) / (a_ij + y))^+`` for each row."""
    for i in range(a.shape[0]):
        x = b[i]
        least = x
        for j in range(a.shape[1]):
            u = a[i, j]
            distance = max(x - u, 0.0)
            if distance < least and u > 0.0:
                if starts[j] < starts[j + 1]:
                    k = _vertex(slopes, heights, starts[j], starts[j + 1], u, x)
                    distance = max(distance, (x * y[k] - u * q[k]) / (u + y[k]))
                least = min(least, distance)
        out[i] = least


@compiled(types.void(_NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, _STARTS, _TABLE, _NUMBERS, _RESULT))
def goguen_distances(y, q, slopes, heights, starts, a, b, out):
    """Write ``min_j max_k ((y z - a_ij b_i) / (a_ij + y))^+`` for each row; ``q = -y z``."""
    for i in range(a.shape[0]):
        x = b[i]
        least = 1.0 - x
        for j in range(a.shape[1]):
            u = a[i, j]
            if u > 0.0 and least > 0.0:
                distance = 0.0
                if starts[j] < starts[j + 1]:
                    k = _vertex(slopes, heights, starts[j], starts[j + 1], u, u * x)
                    distance = max((-q[k] - u * x) / (u + y[k]), 0.0)
                least = min(least, distance)
        out[i] = least


@inlined
def _first_above(w, begin, end, u):
    """Return the first pair of a front with ``w >= u``; it has the largest `e` of them."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if w[middle] >= u:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _rise(e, w, begin, end, x):
    """Return ``max_k min(w[k] - x, (e[k] - x) / 2)^+`` of a front, where the terms cross."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if w[middle] - x >= (e[middle] - x) * 0.5:
            high = middle
        else:
            low = middle + 1
    before = w[low - 1] - x if low > begin else 0.0
    after = (e[low] - x) * 0.5 if low < end else 0.0
    return max(before, after, 0.0)


@compiled(
    types.void(_NUMBERS, _NUMBERS, _STARTS, _TABLE, _NUMBERS, types.float64, _RESULT, _RESULT)
)
def goedel_distances(e, w, starts, a, b, tolerance, out, attained):
    """Write the infimum of each row and the least of its terms that are attained.

    The pairs ``(e, w) = (b_k, a_kj)`` are fronts: `e` does not increase, `w` increases.
    """
    for i in range(a.shape[0]):
        least = least_attained = 1.0 - b[i]
        for j in range(a.shape[1]):
            u = a[i, j]
            if u > 0.0:
                k = _first_above(w, starts[j], starts[j + 1], u)
                is_open = k < starts[j + 1] and e[k] >= u
                below = e[k] - u if is_open else 0.0
                if below < least_attained:
                    rise = _rise(e, w, starts[j], starts[j + 1], b[i])
                    least = min(least, max(below, rise))
                    if not is_open or rise > below + tolerance:
                        least_attained = min(least_attained, max(below, rise))
        out[i] = least
        attained[i] = least_attained
