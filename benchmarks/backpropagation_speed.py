"""The speed of backpropagation and of conditioning: against inference of the same batch."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from measure import Line, best_times

from pinesy import Cascade, antipignistic
from pinesy._common.validation import FloatArray
from pinesy.evidence.targets import Target
from pinesy.inverse import backpropagate, posterior
from pinesy.problems import addition, addition_labels, sudoku

SECTION = "backpropagation"
SEED = 0


def random_inputs(cascade: Cascade, n: int) -> FloatArray:
    """Return random normalised distributions of all inputs side by side."""
    rng = np.random.default_rng(SEED)
    parts = [rng.random((n, len(a.domain))) for a in cascade.inputs]
    return np.concatenate([x / x.max(axis=1, keepdims=True) for x in parts], axis=1)


def sums(k: int, n: int) -> dict[str, Any]:
    """Return the digits of random sums."""
    labels = addition_labels(np.random.default_rng(SEED).integers(0, 10, (n, 2 * k)))
    return {f"y_{i}": labels[f"y_{i}"] for i in range(k + 1)}


def verified(cascade: Cascade, target: Any) -> object:
    """Find the target inputs and compare what they give with the target."""
    return backpropagate(cascade, None, target).reproduced


def against_inference(name: str, cascade: Cascade, labels: Any, n: int) -> list[Line]:
    """Time target inputs, and with their verification, against inference.

    Targets are checked before, as the evidence of inference is brought into one array.
    """
    target = {key: Target.of(one, cascade[key].output) for key, one in labels.items()}
    start = perf_counter()
    verified(cascade, target)
    first = perf_counter() - start
    ways: dict[str, Callable[[], object]] = {
        "target inputs": partial(backpropagate, cascade, None, target),
        "verified": partial(verified, cascade, target),
        "verified, from labels": partial(verified, cascade, labels),
    }
    infer = partial(cascade.compile().infer, random_inputs(cascade, n))
    times = best_times({"infer": infer, **ways}, seconds=5.0)
    notes = {"verified": f"{first:.1f} s the first time"}
    return [
        Line(
            SECTION,
            f"{name}, {way}, batch {n:,}",
            times[way],
            n,
            {"inference": times["infer"]},
            note=notes.get(way, ""),
        )
        for way in ways
    ]


def conditioning(k: int, n: int) -> Line:
    """Time what a batch of sums says of the digits that a network sees, against inference."""
    rules, targets = addition(k), sums(k, n)
    sees = np.random.default_rng(SEED).dirichlet(np.full(10, 0.1), size=(2 * k, n))
    inputs = {f"a_{i}": antipignistic(p) for i, p in enumerate(sees, 1)}
    times = best_times(
        {
            "infer": partial(rules.infer, inputs),
            "posterior": partial(posterior, rules, inputs, targets),
        }
    )
    case = f"Addition-{k}, posterior, batch {n:,}"
    return Line(SECTION, case, times["posterior"], n, {"inference": times["infer"]})


def lines(tiny: bool = False) -> list[Line]:
    """Measure backpropagation."""
    k, size, n = (1, 4, 10) if tiny else (100, 9, 1000)
    valid = {"c": np.ones(n, dtype=int)}
    return [
        *against_inference(f"Addition-{k}", addition(k), sums(k, n), n),
        *against_inference(f"Sudoku {size}x{size}, valid", sudoku(size), valid, n),
        conditioning(k, n),
    ]
