"""Standard errors of means over runs, in the tables of experiments."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Final

#: Images of MNIST for test, which all runs share.
TEST_IMAGES: Final = 10_000


def error_over_runs(figures: Sequence[float]) -> float:
    """Return the standard error of the mean, ``deviation / sqrt(n)`` (``ddof=1``); 0 of one run.

    Examples
    --------
    >>> error_over_runs([98.0, 96.0]), error_over_runs([50.0])
    (1.0, 0.0)
    """
    return stdev(figures) / sqrt(len(figures)) if len(figures) > 1 else 0.0


def mean_and_error(figures: Sequence[float], digits: int = 1) -> str:
    """Return the mean and, of several runs, its standard error.

    Examples
    --------
    >>> mean_and_error([98.0, 96.0]), mean_and_error([50.0], digits=2)
    ('97.0 ± 1.0', '50.00')
    """
    mean = f"{fmean(figures):.{digits}f}"
    if len(figures) == 1:
        return mean
    return f"{mean} ± {error_over_runs(figures):.{digits}f}"


def share_and_error(shares: Sequence[float], n_samples: int, digits: int = 1) -> str:
    """Return the mean of shares in % and the larger of two standard errors.

    One is over runs; the other is that of so many test samples, each right or wrong: few runs may
    agree by chance, and runs may share their samples, which then count once.

    Examples
    --------
    >>> share_and_error([0.5, 0.5], n_samples=100), share_and_error([0.4, 0.6], n_samples=10_000)
    ('50.0 ± 5.0', '50.0 ± 10.0')
    """
    mean = fmean(shares)
    of_samples = sqrt(mean * (1.0 - mean) / n_samples)
    return f"{100 * mean:.{digits}f} ± {100 * max(error_over_runs(shares), of_samples):.{digits}f}"
