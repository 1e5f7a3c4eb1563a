"""One model, used from many threads and processes at once: the same bits, and no growth."""

import multiprocessing
import os
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from cli.conftest import RULES
from pinesy import Cascade, parse

#: `PINESY_SOAK` sets another number.
SOAK = int(os.environ.get("PINESY_SOAK", "3000"))


def answers(rules: Cascade, seed: int) -> bytes:
    """Return the degrees that rules infer from random evidence, as bytes."""
    rng = np.random.default_rng(seed)
    evidence = {a.name: rng.random((40, len(a.domain))) for a in rules.inputs}
    for degrees in evidence.values():
        degrees[np.arange(40), rng.integers(0, degrees.shape[1], 40)] = 1.0
    found = rules.infer(evidence)
    return b"".join(found[name].degrees.tobytes() for name in ("total", "size"))


def test_threads_get_the_same_bits() -> None:
    expected = [answers(parse(RULES), seed) for seed in range(24)]
    rules = parse(RULES)  # not compiled yet: all threads ask for that at once
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda seed: answers(rules, seed), range(24))) == expected


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes_get_the_same_bits(how: str) -> None:
    rules = parse(RULES)
    expected = [answers(rules, seed) for seed in range(4)]
    context = multiprocessing.get_context(how)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(answers, [rules] * 4, range(4))) == expected


def test_single_inferences_leave_nothing_behind() -> None:
    rules = parse(RULES)
    tracemalloc.start()
    sizes = []
    for _ in range(3):  # what is made once is made in the first third, or the second
        for i in range(SOAK // 3):
            rules.infer({"left": i % 4, "right": 2})
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[2] - sizes[1] < 20_000
