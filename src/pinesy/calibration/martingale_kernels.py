"""Loops over a stream: the ranks of scores among earlier ones, and the betting martingale."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,assignment"
from math import exp, inf, log, log1p

import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, inner

_RANKS = types.Array(types.int64, 1, "C")
_NUMBERS = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
#: The least distance of p-values from 0 and 1, where a bet would be infinite.
NEAREST = 2.0**-53


@compiled(types.void(_RANKS, _NUMBERS, _NUMBERS))
def earlier_ranks(ranks, above, equal):
    """Set the number of earlier ranks `above` each rank, and of `equal` ones.

    By a Fenwick tree, in log n steps for each.
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
    `capital`, which is updated, is the logarithm of the capital of each bet, and `begin` the number
    of earlier p-values. Of a capital of 1, ``1 / (1 + log(1 + t))`` is not yet bet after `t`
    p-values; what is bet is split evenly among the bets.
    """
    for i in range(len(p)):
        t = begin + i
        reserve = 1.0 / (1.0 + log(2.0 + t))
        stake = log((1.0 / (1.0 + log(1.0 + t)) - reserve) / len(bets))
        clipped = min(max(p[i], NEAREST), 1.0 - NEAREST)
        low, high = log(clipped), log1p(-clipped)
        total = log(reserve)
        for j in range(len(bets)):
            density = bets[j, 0] * low + bets[j, 1] * high + bets[j, 2]
            capital[j] = log_sum(capital[j], stake) + density
            total = log_sum(total, capital[j])
        out[i] = total
