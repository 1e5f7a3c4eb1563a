"""Loops over the scores of a stream: ranked among earlier ones, and bet on."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,assignment"
from math import exp, inf, log, log1p

import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, inner

_RANKS = types.Array(types.int64, 1, "C")
_NUMBERS = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
#: p-values are kept so far from 0 and from 1, where a bet would be infinite.
NEAREST = 2.0**-53


@compiled(types.void(_RANKS, _NUMBERS, _NUMBERS))
def earlier_ranks(ranks, above, equal):
    """Set how many earlier ranks are larger than each rank, and how many are the same.

    By a tree of sums (Fenwick): log n steps for each.
    """
    size = ranks.max() + 1 if len(ranks) else 0
    tree, counts = np.zeros(size + 1, np.int64), np.zeros(size, np.int64)
    for i in range(len(ranks)):
        rank, up_to = ranks[i], 0
        k = rank + 1
        while k > 0:
            up_to += tree[k]
            k -= k & -k
        above[i], equal[i] = i - up_to, counts[rank]
        counts[rank] += 1
        k = rank + 1
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
        unstaked = 1.0 / (1.0 + log(2.0 + t))
        stake = log((1.0 / (1.0 + log(1.0 + t)) - unstaked) / len(bets))
        clipped = min(max(p[i], NEAREST), 1.0 - NEAREST)
        low, high = log(clipped), log1p(-clipped)
        total = log(unstaked)
        for j in range(len(bets)):
            density = bets[j, 0] * low + bets[j, 1] * high + bets[j, 2]
            capital[j] = log_sum(capital[j], stake) + density
            total = log_sum(total, capital[j])
        out[i] = total
