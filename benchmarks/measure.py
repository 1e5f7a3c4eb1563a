"""Timing that compares: contenders take turns in one run, and the best of each counts."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping


def best_times(
    contenders: Mapping[str, Callable[[], object]], seconds: float = 3.0, turn: float = 0.1
) -> dict[str, float]:
    """Return the shortest time of a call of each contender.

    They take turns for some seconds; a turn is as many calls as fit into it, so that each runs
    with its own data in cache, as it would in a user's loop.
    """
    best = dict.fromkeys(contenders, float("inf"))
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
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
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        times.append(time.perf_counter() - start)
    return min(times)
