"""Rules from tables: against a random forest on the same rows, and from a stream of a million."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from measure import Line, best_times

from pinesy import induce

SECTION = "induction"
#: Code of a process of its own that induces from a stream, and prints seconds and peak memory.
STREAM = """
import resource, time
from induction_speed import stream
from pinesy import induce
induce(stream(2_000, 1_000), "y", max_rules=5)
start = time.perf_counter()
induce(stream({rows}, 50_000), "y")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.perf_counter() - start, peak / 1024)
"""


def columns(n: int, width: int, seed: int) -> dict[str, Any]:
    """Return random columns of numbers, and labels that depend on four of them, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width))
    score = x[:, 0] + x[:, 1] * (x[:, 2] > 0) - x[:, 3] + rng.normal(0, 0.7, n)
    named = {f"x{i}": x[:, i] for i in range(width)}
    return {**named, "y": np.where(score > 0, "yes", "no")}


def stream(n: int, batch: int, width: int = 10) -> Iterator[dict[str, Any]]:
    """Yield batches of rows."""
    for number, start in enumerate(range(0, n, batch)):
        yield columns(min(batch, n - start), width, number)


def fit(n: int, width: int) -> Line:
    """Time the rules of a table, and a forest of 100 trees on it."""
    forest = import_module("sklearn.ensemble").RandomForestClassifier
    table = columns(n, width, 0)
    x = np.column_stack([table[f"x{i}"] for i in range(width)])
    times = best_times(
        {
            "induce": partial(induce, table, "y"),
            "forest": lambda: forest(100, random_state=0).fit(x, table["y"]),
        },
        seconds=6.0,
    )
    against = {"random forest, 100 trees": times["forest"]}
    return Line(SECTION, f"{n:,} rows, {width} columns", times["induce"], n, against)


def streamed(rows: int) -> Line:
    """Time the rules of a stream; the table that it would be takes 88 bytes a row and more."""
    code = STREAM.format(rows=rows)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,  # where the code finds this module
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, peak = map(float, done.stdout.split())
    note = f"peak {peak:.0f} MB of the whole process"
    return Line(SECTION, f"stream of {rows:,} rows, 10 columns", seconds, rows, note=note)


def lines(tiny: bool = False) -> list[Line]:
    """Return the lines of all cases."""
    if tiny:
        return [fit(60, 4), streamed(60)]
    return [fit(1_000, 20), streamed(100_000), streamed(1_000_000)]
