"""Loops over scores: looked up among those of calibration, ranked, and bet on."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,assignment"
from math import exp, inf, log, log1p

import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, inlined, inner

#: Bits of the mantissa in a bucket's number: so 1024 buckets between powers of two.
FRACTION_BITS = 10
#: Scores up to this are in the first bucket, and what is no further below 1 in the last.
LEAST = 2.0**-54
_SHIFT = 52 - FRACTION_BITS
_BASE = int(np.float64(LEAST).view(np.int64)) >> _SHIFT
_HALF = (int(np.float64(0.5).view(np.int64)) >> _SHIFT) - _BASE + 2
BUCKETS = 2 * _HALF

_FLAT = types.Array(types.float64, 1, "C", readonly=True)
_ROWS = types.Array(types.float64, 2, "C", readonly=True)
_STARTS = types.Array(types.int32, 1, "C", readonly=True)
_PLACES = types.Array(types.int64, 1, "C")
_NUMBERS = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
#: p-values are kept so far from 0 and from 1, where a bet would be infinite.
NEAREST = 2.0**-53


@inlined
def _bucket(t):
    """Return the number of the bucket of a score; it never falls as the score rises.

    Buckets are narrow where scores crowd, at 0 and at 1 (where ``1 - t`` is exact).
    """
    below = t <= 0.5
    distance = t if below else 1.0 - t
    number = 0
    if distance > LEAST:
        number = (np.float64(distance).view(np.int64) >> _SHIFT) - _BASE + 1
    return number if below else BUCKETS - 1 - number


@inlined
def _place(t, scores, starts):
    """Return how many scores are less than `t`: those of lower buckets, and some of its own."""
    b = _bucket(t)
    low, high = starts[b], starts[b + 1]
    while low < high:
        middle = (low + high) // 2
        if scores[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low


@compiled(types.void(_FLAT, types.int32[::1]))
def count_buckets(scores, starts):
    """Fill in the place of the first score of each bucket; after the last, their number."""
    starts[:] = 0
    for i in range(len(scores)):
        starts[_bucket(scores[i]) + 1] += 1
    for b in range(1, len(starts)):
        starts[b] += starts[b - 1]


@compiled(types.void(_FLAT, _FLAT, _STARTS, _FLAT, types.float64[::1]))
def look_up(t, scores, starts, table, out):
    """Fill in ``table[i]``, where `i` is how many scores are less than each of `t`."""
    for i in range(len(t)):
        out[i] = table[_place(t[i], scores, starts)]


@compiled(
    types.boolean(
        *(_ROWS, _FLAT, _STARTS, _FLAT, types.boolean, types.float64[:, ::1], types.float64[::1])
    )
)
def conform(fits, scores, starts, table, raised, out, tops):
    """Look up ``1 - fit`` for the values in each row; tell whether all fits lie in [0, 1].

    Parameters
    ----------
    raised : whether the best values of a row get 1
    tops : what the best value of each row has by the table
    """
    good = True
    for row in range(len(fits)):
        own, found = fits[row], out[row]
        best = own[0]
        for c in range(len(own)):
            fit = own[c]
            good &= (fit >= 0.0) & (fit <= 1.0)
            best = max(best, fit)
        least = 1.0 - best
        tops[row] = table[_place(least, scores, starts)]
        for c in range(len(own)):
            t = 1.0 - own[c]
            if t == least:
                found[c] = 1.0 if raised else tops[row]
            else:
                found[c] = table[_place(t, scores, starts)]
    return good


@compiled(types.void(_ROWS, types.float64[::1]))
def lead_rows(scores, out):
    """Fill in 1 minus how far the best value of each row is ahead of the second."""
    for row in range(len(scores)):
        first, second = np.inf, np.inf
        for t in scores[row]:
            if t < first:
                first, second = t, first
            elif t < second:
                second = t
        out[row] = 1.0 - (second - first)


@compiled(types.void(_PLACES, _NUMBERS, _NUMBERS))
def earlier_ranks(places, above, equal):
    """Set how many earlier ones are larger than each of some places, and how many the same.

    By a tree of sums (Fenwick): log n steps for each.
    """
    size = places.max() + 1 if len(places) else 0
    tree, counts = np.zeros(size + 1, np.int64), np.zeros(size, np.int64)
    for i in range(len(places)):
        place, up_to = places[i], 0
        k = place + 1
        while k > 0:
            up_to += tree[k]
            k -= k & -k
        above[i], equal[i] = i - up_to, counts[place]
        counts[place] += 1
        k = place + 1
        while k <= size:
            tree[k] += 1
            k += k & -k


@inner
def log_sum(a, b):
    """Return ``log(e^a + e^b)``."""
    high, low = max(a, b), min(a, b)
    return high if low == -inf else high + log1p(exp(low - high))


@compiled(types.void(_NUMBERS, _TABLE, types.int64, _NUMBERS, _NUMBERS))
def bet(p, bets, begin, capital, out):
    """Set ``out[i]`` to the logarithm of the martingale after p-value `i`.

    A row of `bets` is ``a - 1, b - 1, -log B(a, b)``, of a density of the Beta distribution;
    `capital`, which is changed, is the logarithm of what each has, and `begin` the number of
    p-values before. Of 1, ``1 / (1 + log(1 + t))`` is not yet at stake after `t` p-values; what is
    put at stake goes to the bets in equal parts.
    """
    for i in range(len(p)):
        t = begin + i
        rest = 1.0 / (1.0 + log(2.0 + t))
        stake = log((1.0 / (1.0 + log(1.0 + t)) - rest) / len(bets))
        at = min(max(p[i], NEAREST), 1.0 - NEAREST)
        low, high = log(at), log1p(-at)
        total = log(rest)
        for j in range(len(bets)):
            density = bets[j, 0] * low + bets[j, 1] * high + bets[j, 2]
            capital[j] = log_sum(capital[j], stake) + density
            total = log_sum(total, capital[j])
        out[i] = total
