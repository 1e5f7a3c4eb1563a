"""The loops of `pinesy.transforms`, over blocks of distributions of one size.

A block has a row for each value and a column for each distribution, so that every inner loop
becomes SIMD instructions. For a few numbers Python interprets these functions, which is faster than
loading Numba; else `transform_kernels` compiles them.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np

ANTIPIGNISTIC, MINIMUM_SPECIFICITY, EQUAL_TIES, INVERSE = 0, 1, 2, 3
#: Distributions of a block. Not a power of two, so that rows do not share cache lines.
BLOCK_SIZE = 144


def transform_rows(x, out, starts, size, kind, tolerance):
    """Transform the distributions that begin at the columns `starts` in each row of `x`.

    Parameters
    ----------
    x, out : arrays (n, columns), possibly the same; other columns of `out` are not changed
    starts : the first column of each distribution
    size : the number of values of each distribution
    kind : the transformation, such as `ANTIPIGNISTIC`
    tolerance : the largest difference between the sum of probabilities and 1

    Returns
    -------
    row : the first row with an invalid distribution, or -1
    """
    n = x.shape[0] * len(starts)
    width = max(1, min(n, BLOCK_SIZE))
    values, degrees = np.zeros((size + 1, width)), np.full((size + 1, width), -0.0)
    order, sums = np.empty((size, width), dtype=np.uint32), np.ones(width)
    for first in range(0, n, width):
        n_filled = min(width, n - first)  # other columns keep old values
        fill_block(x, starts, first, n_filled, values, order, sums, kind)
        sort(values, order)
        for i in range(n_filled):
            if not is_distribution(values[0, i], values[size - 1, i], sums[i], kind, tolerance):
                return (first + i) // len(starts)
        cumulate(values, degrees, size, kind)
        store(degrees, order, starts, first, n_filled, out)
    return -1


def fill_block(x, starts, first, n_filled, values, order, sums, kind):
    """Copy distributions into the columns of `values`, probabilities divided by their sum.

    Values are added one after the other.
    """
    row, j = first // len(starts), first % len(starts)
    for i in range(n_filled):
        start, total = starts[j], 0.0
        for k in range(order.shape[0]):
            total += x[row, start + k]
        divisor = 1.0 if kind == INVERSE else total
        sums[i] = total
        for k in range(order.shape[0]):
            values[k, i] = x[row, start + k] / divisor
            order[k, i] = k
        j += 1
        if j == len(starts):
            row, j = row + 1, 0
    for i in range(n_filled, order.shape[1]):
        for k in range(order.shape[0]):
            order[k, i] = k


def sort(values, order):
    """Sort each column in decreasing order, ties by index: merge exchange (Batcher).

    The comparisons do not depend on the values, so they are the same for all columns: Knuth, The
    Art of Computer Programming, volume 3, 5.2.2, algorithm M; O(m log(m)^2) exchanges.
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
    """Compare and exchange two rows in each column: the greater first, ties by index."""
    for i in range(order.shape[1]):
        a, b = values[first, i], values[second, i]
        j, k = order[first, i], order[second, i]
        swap = (b > a) | ((b == a) & (k < j))
        values[first, i] = b if swap else a
        values[second, i] = a if swap else b
        order[first, i] = k if swap else j
        order[second, i] = j if swap else k


def is_distribution(top, least, total, kind, tolerance):
    """Return whether a column is a distribution; NaN and infinities show in the total."""
    if kind == INVERSE:
        return (top == 1.0) & (least >= 0.0) & (total >= 1.0)
    return (abs(total - 1.0) <= tolerance) & (least >= 0.0)


def cumulate(values, degrees, size, kind):
    """Compute the degrees of sorted values from the least up; the row after it is 0.0 and -0.0.

    Degrees above 1 by rounding become 1, and so do all greater ones.
    """
    for k in range(size - 1, -1, -1):
        for i in range(values.shape[1]):
            value, below, before = values[k, i], values[k + 1, i], degrees[k + 1, i]
            if kind == ANTIPIGNISTIC:  # pi_k = pi_{k+1} + k (p_k - p_{k+1})
                total = before + (k + 1.0) * (value - below)
                is_one = (value == values[0, i]) | (total > 1.0)
            elif kind == INVERSE:  # p_k = p_{k+1} + (pi_k - pi_{k+1}) / k
                total, is_one = before + (value - below) / (k + 1.0), False
            else:  # pi_k = pi_{k+1} + p_k
                total = before + value
                is_one = (k == 0) | (total >= 1.0)
            degrees[k, i] = 1.0 if is_one else total
    for k in range(1, size if kind == EQUAL_TIES else 0):
        for i in range(values.shape[1]):
            if values[k, i] == values[k - 1, i]:
                degrees[k, i] = degrees[k - 1, i]


def store(degrees, order, starts, first, n_filled, out):
    """Copy the columns of `degrees` to the distributions of `out`, in the original order."""
    row, j = first // len(starts), first % len(starts)
    for i in range(n_filled):
        start = starts[j]
        for k in range(order.shape[0]):
            out[row, start + order[k, i]] = degrees[k, i]
        j += 1
        if j == len(starts):
            row, j = row + 1, 0
