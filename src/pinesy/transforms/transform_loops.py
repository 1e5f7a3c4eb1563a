"""The loops behind `pinesy.transforms`: many distributions of one size at once, side by side.

A block has a row for each value and a column (a lane) for each distribution, so that every inner
loop becomes vector instructions. These are plain functions: for a few numbers Python runs them as
they are, which is quicker than loading Numba; `transform_kernels` compiles the same for the rest.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np

ANTIPIGNISTIC, MINIMUM_SPECIFICITY, EQUAL_TIES, INVERSE = 0, 1, 2, 3
#: Lanes of a block. Not a power of two: rows that lie one apart take the same lines of a cache.
LANES = 144


def transform_rows(x, out, starts, size, kind, tolerance):
    """Transform the distributions that begin at the columns `starts` in each row of `x`.

    Parameters
    ----------
    x, out : arrays (n, columns); other columns of `out` are left alone; both may be the same array
    size : of each distribution
    tolerance : how far the sum of probabilities may be from 1

    Returns
    -------
    bad : the first row found with a distribution that is none, or -1
    """
    n = x.shape[0] * len(starts)
    lanes = max(1, min(n, LANES))
    values, degrees = np.zeros((size + 1, lanes)), np.full((size + 1, lanes), -0.0)
    order, sums = np.empty((size, lanes), dtype=np.uint32), np.ones(lanes)
    for first in range(0, n, lanes):
        n_lanes = min(lanes, n - first)  # old values in the other lanes do no harm
        fill_lanes(x, starts, first, n_lanes, values, order, sums, kind)
        sort(values, order)
        for lane in range(n_lanes):
            if not is_distribution(
                values[0, lane], values[size - 1, lane], sums[lane], kind, tolerance
            ):
                return (first + lane) // len(starts)
        cumulate(values, degrees, size, kind)
        store(degrees, order, starts, first, n_lanes, out)
    return -1


def fill_lanes(x, starts, first, n_lanes, values, order, sums, kind):
    """Copy distributions into the lanes of `values`, probabilities divided by their sum.

    Sums are taken in the order of the values, one after the other.
    """
    row, j = first // len(starts), first % len(starts)
    for lane in range(n_lanes):
        start, total = starts[j], 0.0
        for k in range(order.shape[0]):
            total += x[row, start + k]
        divisor = 1.0 if kind == INVERSE else total
        sums[lane] = total
        for k in range(order.shape[0]):
            values[k, lane] = x[row, start + k] / divisor
            order[k, lane] = k
        j += 1
        if j == len(starts):
            row, j = row + 1, 0
    for lane in range(n_lanes, order.shape[1]):
        for k in range(order.shape[0]):
            order[k, lane] = k


def sort(values, order):
    """Sort the lanes in decreasing order, ties by index: merge exchange (Batcher).

    The comparisons do not depend on the values, so that all lanes do the same: Knuth, The Art of
    Computer Programming, volume 3, 5.2.2, algorithm M; O(m log(m)^2) exchanges.
    """
    size, top = order.shape[0], 1
    while 2 * top < size:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            for k in range(size - d):
                if k & p == r:
                    exchange(values, order, k, k + d)
            d, q, r = q - p, q // 2, p
        p //= 2


def exchange(values, order, first, second):
    """Bring two rows into order in each lane: the greater first, of equal ones the lower index."""
    for lane in range(order.shape[1]):
        a, b = values[first, lane], values[second, lane]
        j, k = order[first, lane], order[second, lane]
        swap = (b > a) | ((b == a) & (k < j))
        values[first, lane] = b if swap else a
        values[second, lane] = a if swap else b
        order[first, lane] = k if swap else j
        order[second, lane] = j if swap else k


def is_distribution(top, least, total, kind, tolerance):
    """Return whether a lane holds a distribution; NaN and infinities are found in the total."""
    if kind == INVERSE:
        return (top == 1.0) & (least >= 0.0) & (total >= 1.0)
    return (abs(total - 1.0) <= tolerance) & (least >= 0.0)


def cumulate(values, degrees, size, kind):
    """Compute the degrees of sorted values from the least up; below it are 0.0 and -0.0.

    What is above 1 by rounding is 1, and so is all that follows.
    """
    for k in range(size - 1, -1, -1):
        for lane in range(values.shape[1]):
            value, below, before = values[k, lane], values[k + 1, lane], degrees[k + 1, lane]
            if kind == ANTIPIGNISTIC:  # pi_k = pi_{k+1} + k (p_k - p_{k+1})
                total = before + (k + 1.0) * (value - below)
                is_one = (value == values[0, lane]) | (total > 1.0)
            elif kind == INVERSE:  # p_k = p_{k+1} + (pi_k - pi_{k+1}) / k
                total, is_one = before + (value - below) / (k + 1.0), False
            else:  # pi_k = pi_{k+1} + p_k
                total = before + value
                is_one = (k == 0) | (total >= 1.0)
            degrees[k, lane] = 1.0 if is_one else total
    for k in range(1, size if kind == EQUAL_TIES else 0):
        for lane in range(values.shape[1]):
            if values[k, lane] == values[k - 1, lane]:
                degrees[k, lane] = degrees[k - 1, lane]


def store(degrees, order, starts, first, n_lanes, out):
    """Copy the lanes of `degrees`, each value to its index, to the distributions of `out`."""
    row, j = first // len(starts), first % len(starts)
    for lane in range(n_lanes):
        start = starts[j]
        for k in range(order.shape[0]):
            out[row, start + order[k, lane]] = degrees[k, lane]
        j += 1
        if j == len(starts):
            row, j = row + 1, 0
