"""What this machine can do at most, measured in the same run: operations and bytes a second."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numba
import numpy as np
from measure import Line, best_times

from pinesy._common.jit import machine_max, machine_min
from pinesy._common.threads import n_threads
from pinesy._common.validation import FloatArray

#: Bytes that the caches of a core hold: what is less than that need not come from memory.
CACHE = 256 * 1024


@numba.njit(nogil=True, cache=True)
def _steps(x, bounds, turns):
    """Take eight times a min or max of each number, which stays in a register meanwhile."""
    a, b, c, d = bounds
    for _ in range(turns):
        for i in range(len(x)):
            t = machine_max(machine_min(x[i], a), b)
            t = machine_max(machine_min(t, c), d)
            t = machine_max(machine_min(t, b), a)
            x[i] = machine_max(machine_min(t, d), c)


@dataclass(frozen=True)
class Peaks:
    """Operations of min or max, and bytes from or to memory and caches, a second."""

    operations: float
    memory: float
    cache: float

    def seconds(self, line: Line) -> float | None:
        """Return the time that no way of doing the work of a line can go below on this machine."""
        bandwidth = self.memory if (line.bytes or 0.0) > CACHE else self.cache
        least = (line.operations or 0.0) / self.operations, (line.bytes or 0.0) / bandwidth
        return max(least) or None

    def __str__(self) -> str:
        return (
            f"{self.operations / 1e9:.1f} G min or max a second, {self.memory / 1e9:.1f} GB/s from "
            f"and to memory, {self.cache / 1e9:.0f} GB/s within caches"
        )


def on_all_cores(calls: list[Callable[[], object]], pool: ThreadPoolExecutor) -> None:
    """Make the calls at the same time."""
    for one in [pool.submit(call) for call in calls]:
        one.result()


def copies(size: int, turns: int, threads: int) -> list[Callable[[], object]]:
    """Return, for each core, a copy of some bytes that is made several times."""

    def copy(one: FloatArray, other: FloatArray) -> None:
        for _ in range(turns):
            np.copyto(other, one)

    return [partial(copy, np.zeros(size // 8), np.ones(size // 8)) for _ in range(threads)]


def measured(seconds: float = 2.0, large: int = 1 << 26) -> Peaks:
    """Return the peaks of this machine: the best of some turns on all cores."""
    threads = n_threads()
    bounds, turns = (0.75, 0.25, 0.5, 0.375), 20_000
    numbers = [np.random.default_rng(i).random(512) for i in range(threads)]
    calls: list[Callable[[], object]] = [partial(_steps, x, bounds, turns) for x in numbers]
    _steps(numbers[0], bounds, 1)  # compiles
    with ThreadPoolExecutor(threads) as pool:
        times = best_times(
            {
                "operations": partial(on_all_cores, calls, pool),
                "memory": partial(on_all_cores, copies(large, 1, threads), pool),
                "cache": partial(on_all_cores, copies(CACHE // 8, 1000, threads), pool),
            },
            seconds,
        )
    return Peaks(
        operations=8 * 512 * turns * threads / times["operations"],
        memory=2 * large * threads / times["memory"],
        cache=2 * CACHE // 8 * 1000 * threads / times["cache"],
    )


if __name__ == "__main__":
    print(measured())
