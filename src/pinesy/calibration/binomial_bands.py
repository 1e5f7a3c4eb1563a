"""Exact bands of shares, and the chance of counts, by sums of binomial terms."""

from math import ceil, lgamma, log, log1p, sqrt

import numpy as np

#: Halvings of an interval inside [0, 1]: its ends are then neighbouring numbers, or nearly so.
HALVINGS = 60


def share_band(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the band of Clopper and Pearson for a share of which `successes` were seen.

    The lowest and the highest share for which so many, or so few, have a chance of
    ``(1 - confidence) / 2``: whatever the true share, the band contains it at least as often as the
    confidence says. Cost: ``sqrt(trials)`` terms, some dozens of times.

    Examples
    --------
    >>> [round(end, 4) for end in share_band(19, 20)]
    [0.7513, 0.9987]
    """
    risk = (1.0 - confidence) / 2.0
    high = 1.0 - _lower_end(trials - successes, trials, risk)
    return _lower_end(successes, trials, risk), high


def _lower_end(k: int, n: int, risk: float) -> float:
    """Return the share ``p <= k / n`` with ``P(X >= k) = risk``, by halving."""
    if k == 0:
        return 0.0
    # P(X >= k + w) <= exp(-2 w^2 / n) for all p <= k / n (Hoeffding): below the last bit.
    more = np.arange(1.0, min(n - k, ceil(5.0 * sqrt(n))) + 1.0)
    ways = np.cumsum(np.log((n - k - more + 1.0) / (k + more)))
    first = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    low, high = 0.0, k / n
    for _ in range(HALVINGS):
        p = (low + high) / 2.0
        odds = log(p) - log1p(-p)
        at_k = first + k * log(p) + (n - k) * log1p(-p)
        tail = np.exp(at_k) + np.exp(at_k + ways + more * odds).sum()
        low, high = (p, high) if tail < risk else (low, p)
    return high


def chance_of_so_few(covered: int, new: int, calibrated: int, alpha: float) -> float:
    """Return the chance that at most so many of `new` samples are covered, if nothing is wrong.

    If `calibrated` and new samples are exchangeable and no scores are equal, the share of new
    samples that a calibration covers is distributed as ``Beta(a, b)`` with ``a = n + 1 - b`` and
    ``b = floor((n + 1) alpha)``, so that their number is beta-binomial; equal scores, and rules
    that enlarge sets, only raise it. So this is a p-value against the guarantee, and it allows for
    the luck of both the calibration and the new samples. Cost: linear in `covered`.

    Examples
    --------
    >>> round(chance_of_so_few(850, 1000, 200, 0.1), 4)
    0.0234
    """
    b = int((calibrated + 1) * alpha + 1e-9)
    if covered == new or b == 0:  # 0: no value is ever excluded
        return float(covered == new)
    a = calibrated + 1 - b
    last = _log_ways(a, covered) + _log_ways(b, new - covered) - _log_ways(a + b, new)
    k = np.arange(covered, 0.0, -1.0)
    ratios = k * (b + new - k) / ((a + k - 1.0) * (new - k + 1.0))
    terms = np.exp(last + np.concatenate([[0.0], np.cumsum(np.log(ratios))]))
    return min(1.0, float(terms.sum()))


def _log_ways(places: int, k: int) -> float:
    """Return the logarithm of the number of ways to put `k` alike things into some places."""
    return lgamma(places + k) - lgamma(k + 1) - lgamma(places)
