"""Addition-100 in small types of numbers: throughput and memory against float64."""

import time
import tracemalloc
from functools import partial
from resource import RUSAGE_SELF, getrusage
from typing import Any

import numpy as np
import numpy.typing as npt
from inference_speed import evidence_of, needed
from measure import Line

from pinesy.engine.number_types import NUMBER_TYPES, number_type, round_degrees
from pinesy.engine.program import Program
from pinesy.problems import addition

SECTION = "number types"
#: Different samples; a large batch repeats them.
PATTERN = 2_000


def times(calls: dict[str, Any], turns: int) -> dict[str, tuple[float, float]]:
    """Return the least time by the clock, and of the processor, of calls that take turns.

    The latter is without what the system takes for giving fresh memory, which varies most.
    """
    best = dict.fromkeys(calls, (float("inf"), float("inf")))
    for _ in range(turns):
        for name, call in calls.items():
            wall, spent = time.perf_counter(), getrusage(RUSAGE_SELF).ru_utime
            call()
            now = time.perf_counter() - wall, getrusage(RUSAGE_SELF).ru_utime - spent
            best[name] = min(best[name][0], now[0]), min(best[name][1], now[1])
    return best


def peak(program: Program, x: npt.NDArray[Any]) -> int:
    """Return the most bytes that inference takes beside its inputs."""
    tracemalloc.start()
    program(x)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def lines(tiny: bool = False) -> list[Line]:
    """Time each type on evidence of that type, and on evidence of float64 that it rounds."""
    k, n, turns = (2, 100, 1) if tiny else (100, 100_000, 6)
    cascade = addition(k)
    exact = cascade.compile()
    pattern = evidence_of(cascade, min(n, PATTERN))
    programs = {name: exact.astype(name) for name in NUMBER_TYPES}
    given = {
        name: np.resize(round_degrees(pattern, number_type(name)), (n, pattern.shape[1]))
        for name in NUMBER_TYPES
    }
    for name, program in programs.items():  # compiled here
        program(pattern[:100])
        program(given[name][:100])
    calls = {name: partial(programs[name], given[name]) for name in NUMBER_TYPES}
    for name in NUMBER_TYPES[1:]:
        calls[f"{name}, of float64"] = partial(programs[name], given["float64"])
    found = times(calls, turns)
    wall, spent = found["float64"]
    notes = {
        name: f"inputs {x.nbytes >> 20} MB, beside them {peak(programs[name], x) >> 20} MB"
        for name, x in given.items()
    }
    return [
        Line(
            SECTION,
            f"Addition-{k}, batch {n:,}, {name}",
            seconds,
            n,
            {"float64": wall} if name != "float64" else {},
            **needed(programs[name.split(",")[0]], n),
            note="; ".join([_ratio(spent, own), *([notes[name]] if name in notes else [])]),
        )
        for name, (seconds, own) in found.items()
    ]


def _ratio(spent: float, own: float) -> str:
    """Say how much processor time float64 needs more; the clock does not see the shortest calls."""
    if own <= 0.0:
        return "too short for the clock of processor time"
    return f"{spent / own:.1f} x float64 by processor time"


if __name__ == "__main__":
    for line in lines():
        print(f"{line.case}: {line.seconds:.3f} s; {line.note}")
