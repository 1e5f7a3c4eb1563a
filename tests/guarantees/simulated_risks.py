"""Simulated certainties whose risk is known, and how many failures chance allows."""

from collections.abc import Callable
from math import exp, lgamma, log

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Risk = Callable[[Floats], Floats]

#: Whether an answer of a certainty is wrong has this probability; certainties are uniform.
RISKS: dict[str, Risk] = {
    "falling": lambda c: 0.2 * (1.0 - c),
    "flat": lambda c: np.full(c.shape, 0.055),
    "wavy": lambda c: 0.06 + 0.05 * np.sin(12.0 * c),
}
GRID = (np.arange(200_000) + 0.5) / 200_000


def most_failures(probability: float, trials: int, chance: float = 1e-6) -> int:
    """Return the number of failures that more than which happens with at most the chance."""
    total = 0.0
    for k in range(trials, -1, -1):
        ways = lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1)
        total += exp(ways + k * log(probability) + (trials - k) * log(1.0 - probability))
        if total > chance:
            return k
    raise AssertionError("the probability is below 1")


def mean_risk(risk: Risk, threshold: float) -> float:
    """Return the share of wrong answers among cases of at least a certainty."""
    return float(risk(GRID[threshold <= GRID]).mean())


def best_share(risk: Risk, error: float) -> float:
    """Return the largest share that can be decided from a threshold with at most an error."""
    means = np.cumsum(risk(GRID)[::-1]) / np.arange(1, len(GRID) + 1)
    passing = np.flatnonzero(means <= error)
    return (int(passing[-1]) + 1) / len(GRID) if len(passing) else 0.0


def draw(risk: Risk, n: int, seed: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return certainties, and whether answers are wrong."""
    rng = np.random.default_rng(seed)
    certainty = rng.random(n)
    return certainty, rng.random(n) < risk(certainty)
