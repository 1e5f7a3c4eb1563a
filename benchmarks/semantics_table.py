"""Sums of long numbers in all semantics: accuracy, log loss and time, in one table each."""

import numpy as np

from pinesy import compare_semantics
from pinesy.problems import addition
from pinesy.rulebase.semantics_comparison import SemanticsComparison


def table(k: int, n: int = 1000) -> SemanticsComparison:
    """Compare semantics on sums of two numbers of `k` digits, by a reader that is mostly sure."""
    rules, rng = addition(k), np.random.default_rng(0)
    names = [f"a_{i}" for i in range(1, 2 * k + 1)]
    p = {name: rng.dirichlet(np.full(10, 0.02 / max(k, 4)), size=n) for name in names}
    drawn = {
        name: (rows.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1) for name, rows in p.items()
    }
    answers, carry = {}, np.zeros(n, dtype=np.int64)
    for i in range(k, 0, -1):
        both = drawn[f"a_{i}"].clip(max=9) + drawn[f"a_{k + i}"].clip(max=9) + carry
        answers[f"y_{i}"], carry = both % 10, both // 10
    return compare_semantics(rules, p, answers | {"y_0": carry})


if __name__ == "__main__":
    for k in (1, 15, 100):
        print(f"Addition-{k}, 1000 samples\n{table(k)}\n")
