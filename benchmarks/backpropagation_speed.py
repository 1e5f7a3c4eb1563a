"""The speed figures of backpropagation: against inference of the same batch."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from measure import best_times

from pinesy import Cascade
from pinesy._common.validation import FloatArray
from pinesy.inverse import backpropagate
from pinesy.problems import addition, addition_labels, sudoku
from pinesy.rulebase.targets import Target

SEED = 0


def random_inputs(cascade: Cascade, n: int) -> FloatArray:
    """Return random normalised distributions of all inputs side by side."""
    rng = np.random.default_rng(SEED)
    parts = [rng.random((n, len(a.domain))) for a in cascade.inputs]
    return np.concatenate([x / x.max(axis=1, keepdims=True) for x in parts], axis=1)


def verified(cascade: Cascade, target: Any) -> object:
    """Find the target inputs and compare what they give with the target."""
    return backpropagate(cascade, None, target).reproduced


def against_inference() -> None:
    """Time target inputs, and with their verification, against inference; batches of 1000.

    Targets are checked before, as the evidence of inference is brought into one array.
    """
    n, k = 1000, 100
    digits = np.random.default_rng(SEED).integers(0, 10, (n, 2 * k))
    sums = addition_labels(digits)
    digits_of_sum = {f"y_{i}": sums[f"y_{i}"] for i in range(k + 1)}
    cases: list[tuple[str, Cascade, Any]] = [
        ("Addition-100, digits of the sum", addition(k), digits_of_sum),
        ("Sudoku 9x9, valid", sudoku(9), {"c": np.ones(n, dtype=int)}),
    ]
    for name, cascade, labels in cases:
        target = {key: Target.of(one, cascade[key].output) for key, one in labels.items()}
        start = perf_counter()
        verified(cascade, target)
        first = perf_counter() - start
        program, evidence = cascade.compile(), random_inputs(cascade, n)
        times = best_times(
            {
                "infer": partial(program.infer, evidence),
                "find": partial(backpropagate, cascade, None, target),
                "verify": partial(verified, cascade, target),
                "labels": partial(verified, cascade, labels),
            },
            seconds=8.0,
        )
        once = times["infer"]
        print(
            f"  {name}, batch {n}: {times['find'] * 1e3:.1f} ms, {times['find'] / once:.2f} x "
            f"inference ({once * 1e3:.1f} ms); with verification {times['verify'] / once:.2f} x, "
            f"from labels {times['labels'] / once:.2f} x; the first time {first:.1f} s"
        )


SECTIONS: dict[str, Callable[[], None]] = {
    "backpropagation against inference": against_inference,
}
