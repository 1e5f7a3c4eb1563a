"""Upper confidence bounds of a risk: of the share of wrong decisions, or of their mean cost."""

from math import ceil, log
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, check_number
from pinesy.exceptions import DomainError

#: Halvings of an interval that contains a bound: its last bit is then known.
HALVINGS = 60


def check_share(share: object, name: str) -> float:
    """Return a share strictly between 0 and 1, or raise `DomainError`."""
    number = check_number(share, name)
    if not 0.0 < number < 1.0:
        cure = f"; {number:g} % is {number / 100:g}" if 1.0 < number < 100.0 else ""
        raise DomainError(f"{name} is {share!r:.60}; it must lie between 0 and 1{cure}")
    return number


def error_bound(wrong: Any, decided: Any, confidence: float) -> FloatArray:
    """Return the upper Clopper-Pearson bound of the share of wrong decisions.

    The largest share for which at most `wrong` of `decided` has probability ``1 - confidence``;
    1 if nothing is decided. Arrays broadcast.

    Examples
    --------
    >>> error_bound([0, 1], [298, 298], 0.95).round(4).tolist()
    [0.01, 0.0158]
    """
    from scipy.special import betaincinv  # not at the top: most never need it

    k, n = np.broadcast_arrays(np.asarray(wrong, float), np.asarray(decided, float))
    bounds = np.ones(k.shape)
    is_free = k < n
    bounds[is_free] = betaincinv(k[is_free] + 1.0, n[is_free] - k[is_free], confidence)
    return bounds


def error_p_value(wrong: Any, decided: Any, limit: float) -> FloatArray:
    """Return the p-value against a share of wrong decisions above `limit`: a binomial tail.

    It is at most ``1 - confidence`` if and only if `error_bound` is at most `limit`.
    """
    from scipy.special import bdtr

    return np.asarray(bdtr(np.asarray(wrong, float), np.asarray(decided, np.int64), limit))


def cost_p_value(cost: Any, decided: Any, limit: float) -> FloatArray:
    """Return the p-value against a mean cost above `limit`, as `cost_bound` takes it."""
    total, n = np.broadcast_arrays(np.asarray(cost, float), np.asarray(decided, float))
    mean = np.divide(total, n, out=np.ones(total.shape), where=n > 0.0)
    p_value = _cost_p_value(mean, n, np.full(total.shape, limit))
    return np.asarray(np.where(n > 0.0, p_value, 1.0))


def cost_bound(cost: Any, decided: Any, confidence: float) -> FloatArray:
    """Return the upper Hoeffding-Bentkus bound of the mean of costs in [0, 1].

    The largest mean that is not rejected at ``1 - confidence`` by the p-value ``min(exp(-n h(c,
    mean)), e P(Bin(n, mean) <= ceil(n c)))`` of the observed mean `c` of `n` costs, where `h` is
    the Kullback-Leibler divergence of Bernoulli distributions.

    Parameters
    ----------
    cost : the sums of the costs of decisions
    decided : their numbers; the bound of none is 1

    Examples
    --------
    >>> cost_bound([0.0, 1.5], [298, 298], 0.95).round(4).tolist()
    [0.01, 0.0225]
    """
    total, n = np.broadcast_arrays(np.asarray(cost, float), np.asarray(decided, float))
    mean = np.divide(total, n, out=np.ones(total.shape), where=n > 0.0)
    low, high = mean.copy(), np.ones(total.shape)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        is_rejected = _cost_p_value(mean, n, middle) <= 1.0 - confidence
        low, high = np.where(is_rejected, low, middle), np.where(is_rejected, middle, high)
    return np.asarray(np.where(n > 0.0, high, 1.0))


def _cost_p_value(mean: FloatArray, n: FloatArray, limit: FloatArray) -> FloatArray:
    """Return the p-value of the hypothesis that the expected cost is above `limit`."""
    from scipy.special import bdtr, rel_entr

    divergence = rel_entr(mean, limit) + rel_entr(1.0 - mean, 1.0 - limit)
    hoeffding = np.exp(-n * np.where(mean < limit, divergence, 0.0))
    wrong = np.ceil(np.round(n * mean, 9))  # sums of floats may exceed a whole number
    return np.asarray(np.minimum(hoeffding, np.e * bdtr(wrong, n.astype(np.int64), limit)))


def decisions_needed(error: float, confidence: float = 0.95) -> int:
    """Return how many decisions, none of them wrong, promise an error at a confidence.

    ``log(1 - confidence) / log(1 - error)``: with fewer no threshold can pass.

    Examples
    --------
    >>> decisions_needed(0.01), decisions_needed(0.05, 0.9)
    (299, 45)
    """
    delta = 1.0 - check_share(confidence, "confidence")
    return ceil(round(log(delta) / log(1.0 - check_share(error, "error")), 9))
