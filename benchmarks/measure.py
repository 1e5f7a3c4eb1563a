"""Timing that compares: contenders take turns in one run, and the best of each counts.

Each benchmark module has ``lines(tiny: bool = False) -> list[Line]``; ``run.py`` makes one table of
them all. Tiny cases show that a benchmark runs, and nothing about speed.
"""

import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

#: Call every contender once, whatever the seconds: for tiny cases.
ONCE = False


@dataclass(frozen=True)
class Line:
    """A line of the table: what was timed, what else was timed beside it, and what it must do.

    Parameters
    ----------
    section : what part of the library, one of `run.SECTIONS`
    case : problem and size, as "Addition-100, batch 1000"
    seconds : of one call, or None where time is not what was measured (see `note`)
    samples : how many a call takes, for the time per sample
    against : the seconds of other ways of the same work in the same run, by name
    operations : of min and max that any way has to do
    bytes : that any way has to read and write, each once
    note : what the figures do not say: how time grows, memory, size
    """

    section: str
    case: str
    seconds: float | None = None
    samples: int = 1
    against: Mapping[str, float] = field(default_factory=dict)
    operations: float | None = None
    bytes: float | None = None
    note: str = ""


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Return ``b`` of the ``a n^b`` that fits the times best: the slope of the logarithms."""
    xs, ys = [math.log(n) for n in sizes], [math.log(t) for t in times]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - x) ** 2 for a in xs
    )


def best_times(
    contenders: Mapping[str, Callable[[], object]], seconds: float = 3.0, turn: float = 0.1
) -> dict[str, float]:
    """Return the shortest time of a call of each contender.

    They take turns for some seconds; a turn is as many calls as fit into it, so that each runs
    with its own data in cache, as it would in a user's loop.
    """
    best = dict.fromkeys(contenders, float("inf"))
    if ONCE:
        seconds = turn = 0.0
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < (1 if ONCE else 3) or time.perf_counter() < end:
        rounds += 1
        for name, call in contenders.items():
            stop = time.perf_counter() + turn
            while True:
                start = time.perf_counter()
                call()
                now = time.perf_counter()
                best[name] = min(best[name], now - start)
                if now > stop:
                    break
    return best


def process_time(code: str, repeat: int = 5, environment: Mapping[str, str] | None = None) -> float:
    """Return the shortest wall time of a fresh Python process that runs `code`."""
    times = []
    for _ in range(1 if ONCE else repeat):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        times.append(time.perf_counter() - start)
    return min(times)
