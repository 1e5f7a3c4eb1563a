"""Sums of two digits with uncertain evidence, and how often sets must hold the answer."""

from math import exp, lgamma, log
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy import Attribute, Cascade, function, joint

TRIALS, N, LEVELS = 400, 39, (0.8, 0.9, 0.95)
Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.int64]


def least_successes(level: float, trials: int = TRIALS, chance: float = 1e-6) -> int:
    """Return the number of successes that fewer than which happens with at most the chance."""
    total = 0.0
    for k in range(trials + 1):
        ways = lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1)
        total += exp(ways + k * log(level) + (trials - k) * log(1.0 - level))
        if total > chance:
            return k
    raise AssertionError("the level is a probability")


def samples(rng: np.random.Generator, n: int, m: int, size: int) -> tuple[Floats, Values]:
    """Return probabilities that are overconfident, and true values: (n, m, size) and (n, m)."""
    truth = rng.integers(size, size=(n, m))
    hardness = rng.gamma(0.5, size=(n, 1, 1))  # shared by the inputs of a sample
    logits = 4.0 * np.eye(size)[truth] + 3.0 * hardness * rng.normal(size=(n, m, size))
    p = np.exp(logits - logits.max(axis=2, keepdims=True))
    return p / p.sum(axis=2, keepdims=True), truth


def adder() -> Cascade:
    left, right = Attribute("left", range(4)), Attribute("right", range(4))
    pair = joint("pair", left, right)
    total = function("total", pair, "left + right")
    same = function("same", pair, "left == right")
    return Cascade(total, same)


def answers(truth: Values) -> dict[str, npt.NDArray[Any]]:
    return {"total": truth.sum(axis=1), "same": truth[:, 0] == truth[:, 1]}


def evidence(p: Floats) -> dict[str, Floats]:
    return {"left": p[:, 0], "right": p[:, 1]}
