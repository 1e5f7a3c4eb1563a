"""One model, used from many threads and processes at once: the same bits, and no growth."""

import gc
import multiprocessing
import os
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from cli.conftest import RULES
from pinesy import Cascade, parse

#: `PINESY_SOAK` sets another number.
SOAK = int(os.environ.get("PINESY_SOAK", "3000"))
#: Samples inferred at once: so many that threads are in the loops at the same time.
ROWS = 5000


def answers(rules: Cascade, seed: int) -> bytes:
    """Return the degrees that rules infer from random evidence, as bytes."""
    rng = np.random.default_rng(seed)
    evidence = {a.name: rng.random((ROWS, len(a.domain))) for a in rules.inputs}
    for degrees in evidence.values():
        degrees[np.arange(ROWS), rng.integers(0, degrees.shape[1], ROWS)] = 1.0
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
    processes = 2 if how == "fork" else 1  # which loads all libraries again
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        assert list(pool.map(answers, [rules] * 4, range(4))) == expected


def growth(work: Callable[[int], object], times: int) -> int:
    """Return by how many bytes memory grows in the last third of some work."""
    work(3 * times)  # libraries are loaded before each of their objects is followed
    tracemalloc.start()
    sizes = []
    for third in range(3):  # what is made once is made in the first third, or the second
        for i in range(times // 3):
            work(third * times + i)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return sizes[2] - sizes[1]


def test_single_inferences_leave_nothing_behind() -> None:
    rules = parse(RULES)
    assert growth(lambda i: rules.infer({"left": i % 4, "right": 2}), SOAK) < 20_000


def test_rules_that_are_read_leave_nothing_behind() -> None:
    """Each time other rules, so that nothing that is kept of them serves again."""

    def read(i: int) -> None:
        domains = f"attribute a{i} in {{0..39}}\nattribute b in {{0..9}}\nproduct c = a{i} * b\n"
        output = f"attribute d in {{0, 1}}\niff c where a{i} + b > {i % 30} then d in {{0}}\n"
        parse(domains + output).infer({"c": {(i % 30, 0): 1.0}})

    assert growth(read, max(60, SOAK // 600)) < 100_000  # rules that stay: 200,000
