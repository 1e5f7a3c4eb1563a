"""The loops behind `pinesy.transforms`: many distributions of one size at once, side by side.

A block has a row for each value and a column (a lane) for each distribution, so that every inner
loop becomes vector instructions. These are plain functions: for a few numbers Python runs them as
they are, which is quicker than loading Numba; `transform_kernels` compiles the same for the rest.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numpy as np

ANTIPIGNISTIC, MINIMUM_SPECIFICITY, EQUAL_TIES, INVERSE = 0, 1, 2, 3
#: Numbers in a block: it should stay in a core's first-level cache. Lanes of a block: 144, because
#: rows that lie a power of two apart take the same lines of a cache.
BLOCK_NUMBERS, MIN_LANES, MAX_LANES = 1440, 16, 144
#: A sum over more numbers is cut in two, down to this many.
LEAF, UNROLLED = 128, 8


def transform_rows(x, out, starts, size, leaves, kind, tolerance):
    """Transform the distributions that begin at the columns `starts` in each row of `x`.

    Parameters
    ----------
    x, out : arrays (n, columns); other columns of `out` are left alone; both may be the same array
    size : of each distribution
    leaves : as `summation` gives them for `size`
    tolerance : how far the sum of probabilities may be from 1

    Returns
    -------
    bad : the first row found with a distribution that is none, or -1
    """
    n = x.shape[0] * len(starts)
    fitting = BLOCK_NUMBERS // size // MIN_LANES * MIN_LANES
    width = max(1, min(n, MAX_LANES, max(MIN_LANES, fitting)))
    values, degrees = np.zeros((size + 1, width)), np.full((max(size, UNROLLED) + 1, width), -0.0)
    places, sums = np.empty((size, width), dtype=np.uint32), np.empty((len(leaves), width))
    for first in range(0, n, width):
        lanes = min(width, n - first)  # what is left in the others does no harm
        _load(x, starts, first, lanes, values, places)
        _add(values, leaves, degrees, sums)
        if kind != INVERSE:
            _divide(values, sums[0], size, degrees[0])
        _sort(values, places)
        bad = _bad_lane(values[0], values[size - 1], sums[0], lanes, kind, tolerance)
        if bad < lanes:
            return (first + bad) // len(starts)
        _sweep(values, degrees, size, kind)
        _store(degrees, places, starts, first, lanes, out)
    return -1


def summation(size: int) -> list[tuple[int, int, int]]:
    """Return the order in which NumPy adds numbers in a row, which decides about the last bits.

    For each leaf: its begin and end, and how many sums are then added to the one before them.
    """
    if size <= LEAF:
        return [(0, size, 0)]
    half = size // 2 // UNROLLED * UNROLLED
    left, right = summation(half), summation(size - half)
    last = right.pop()
    return [*left, *((a + half, b + half, k) for a, b, k in (*right, (*last[:2], last[2] + 1)))]


def _load(x, starts, first, lanes, values, places):
    """Copy distributions from `first` on into columns of `values`; number the rows of `places`."""
    row, j = first // len(starts), first % len(starts)
    for i in range(lanes):
        start = starts[j]
        for c in range(places.shape[0]):
            values[c, i] = x[row, start + c]
        j += 1
        if j == len(starts):
            row, j = row + 1, 0
    for c in range(places.shape[0]):
        for i in range(places.shape[1]):
            places[c, i] = c


def _add(values, leaves, parts, sums):
    """Add up the columns of `values`, leaf by leaf, into ``sums[0]``."""
    depth = 0
    for leaf in range(len(leaves)):
        _add_leaf(values, leaves[leaf, 0], leaves[leaf, 1], parts, sums[depth])
        depth += 1
        for _ in range(leaves[leaf, 2]):
            depth -= 1
            for i in range(values.shape[1]):
                sums[depth - 1, i] += sums[depth, i]


def _add_leaf(values, begin, end, parts, total):
    """Add rows from `begin` to `end`: eight sums side by side, then these, then what is left."""
    rest, width = begin + (end - begin) // UNROLLED * UNROLLED, len(total)
    for c in range(begin, min(begin + UNROLLED, rest)):
        part, row = parts[c - begin], values[c]
        for i in range(width):
            part[i] = row[i]
    for c in range(begin + UNROLLED, rest):
        part, row = parts[(c - begin) % UNROLLED], values[c]
        for i in range(width):
            part[i] += row[i]
    for i in range(width):
        total[i] = 0.0
    for i in range(width if rest > begin else 0):
        total[i] = ((parts[0, i] + parts[1, i]) + (parts[2, i] + parts[3, i])) + (
            (parts[4, i] + parts[5, i]) + (parts[6, i] + parts[7, i])
        )
    for c in range(rest, end):
        row = values[c]
        for i in range(width):
            total[i] += row[i]


def _divide(values, total, size, reciprocal):
    for i in range(len(total)):
        reciprocal[i] = 1.0 / total[i]
    for c in range(size):
        divide(values[c], total, reciprocal)


def divide(row, total, _reciprocal):
    """Divide a row by totals; vectors do so by multiplication with the reciprocals."""
    for i in range(len(row)):
        row[i] /= total[i]


def _sort(values, places):
    """Sort the columns in decreasing order, ties by place: merge exchange (Batcher).

    Which rows are compared does not depend on what is in them. Knuth, The Art of Computer
    Programming, volume 3, 5.2.2, algorithm M; O(m log(m)^2) exchanges.
    """
    (size, width), top = places.shape, 1
    flat, flat_places = values.ravel(), places.ravel()
    while 2 * top < size:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            for row in range(r, size - d, 2 * p):
                count = min(p, size - d - row) * width
                exchange(flat, flat_places, row * width, (row + d) * width, count)
            d, q, r = q - p, q // 2, p
        p //= 2


def exchange(values, places, one, two, count):
    """Bring `count` numbers from `one` on into order with those from `two` on."""
    for i in range(count):
        exchange_one(values, places, one + i, two + i)


def exchange_one(values, places, one, two):
    """Bring two numbers into order: the greater first, or of equal ones that of the first place."""
    a, b, j, k = values[one], values[two], places[one], places[two]
    if b > a or (b == a and k < j):
        values[one], values[two], places[one], places[two] = b, a, k, j


def _bad_lane(top, least, total, lanes, kind, tolerance):
    """Return the first lane without a distribution, or `lanes`; NaN is found in the total."""
    good = 0
    for i in range(lanes):
        good += _is_good(top[i], least[i], total[i], kind, tolerance)
    first = 0 if good < lanes else lanes
    while first < lanes and _is_good(top[first], least[first], total[first], kind, tolerance):
        first += 1
    return first


def _is_good(top, least, total, kind, tolerance):
    if kind == INVERSE:
        return (top == 1.0) & (least >= 0.0) & (total >= 1.0)
    return (abs(total - 1.0) <= tolerance) & (least >= 0.0)


def _sweep(values, degrees, size, kind):
    """Compute the degrees of sorted values from the least up; below it are 0.0 and -0.0.

    What is above 1 by rounding is 1, and so is all that follows.
    """
    for k in range(size - 1, -1, -1):
        if kind == ANTIPIGNISTIC:
            antipignistic(values[k], values[k + 1], values[0], k + 1.0, degrees[k + 1], degrees[k])
        elif kind == INVERSE:
            _inverse(values[k], values[k + 1], k + 1.0, degrees[k + 1], degrees[k])
        else:
            _minimum_specificity(values[k], k, degrees[k + 1], degrees[k])
    for k in range(1, size if kind == EQUAL_TIES else 0):
        for i in range(values.shape[1]):
            if values[k, i] == values[k - 1, i]:
                degrees[k, i] = degrees[k - 1, i]


def antipignistic(here, below, top, rank, before, result):
    """``pi_k = pi_{k+1} + k (p_k - p_{k+1})``, and 1.0 for all that is tied for the first place."""
    for i in range(len(result)):
        result[i] = antipignistic_one(here[i], below[i], top[i], rank, before[i])


def antipignistic_one(here, below, top, rank, before):
    """Return the degree of one value; see `antipignistic`."""
    total = before + rank * (here - below)
    return 1.0 if here == top or total > 1.0 else total


def _inverse(here, below, rank, before, result):
    """``p_k = p_{k+1} + (pi_k - pi_{k+1}) / k``."""
    for i in range(len(result)):
        result[i] = before[i] + (here[i] - below[i]) / rank


def _minimum_specificity(here, k, before, result):
    """``pi_k = pi_{k+1} + p_k``, and 1.0 for the first."""
    for i in range(len(result)):
        total = before[i] + here[i]
        result[i] = total if (total < 1.0) & (k > 0) else 1.0


def _store(degrees, places, starts, first, lanes, out):
    """Copy the columns of `degrees`, each value to its place, to the distributions of `out`."""
    row, j = first // len(starts), first % len(starts)
    for i in range(lanes):
        start = starts[j]
        for c in range(places.shape[0]):
            out[row, start + places[c, i]] = degrees[c, i]
        j += 1
        if j == len(starts):
            row, j = row + 1, 0
