"""The command line on data files: rows a second by format, beside Python's `infer` of a table.

Processor time of whole processes, so that what else runs on the machine counts little; the time of
a process that infers one sample is subtracted. Memory is that at its peak.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import Line, best_times, exponent

from pinesy import load

SECTION = "command line"
RULES = Path(__file__).parents[1] / "examples" / "loan.rules"
TITLES = ("income", "debt_ratio", "history", "job", "age")
#: Data and results.
FORMATS = [("csv", "csv"), ("csv", "jsonl"), ("parquet", "parquet"), ("jsonl", "jsonl")]


class Spent(NamedTuple):
    """What a process took."""

    seconds: float
    megabytes: float


def loans(n: int) -> dict[str, Any]:
    """Return random applications for a loan, by column."""
    rng = np.random.default_rng(0)
    columns = (
        rng.integers(5_000, 120_000, n),
        np.round(rng.random(n), 3),
        rng.choice(["good", "mixed", "bad"], n),
        rng.choice(["permanent", "temporary", "unemployed"], n),
        rng.integers(18, 90, n),
    )
    return dict(zip(TITLES, columns, strict=True))


def write_loans(directory: Path, n: int) -> None:
    """Write the same applications in all formats."""
    import pyarrow
    import pyarrow.parquet

    columns = loans(n)
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    with (directory / f"{n}.csv").open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([TITLES, *rows])
    lines = (json.dumps(dict(zip(TITLES, row, strict=True))) + "\n" for row in rows)
    (directory / f"{n}.jsonl").write_text("".join(lines))
    pyarrow.parquet.write_table(pyarrow.table(columns), directory / f"{n}.parquet")


#: Runs a command and prints its seconds and kilobytes. In a small process of its own: the peak of a
#: process counts what its parent had.
LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(status != 0)
"""


def infer_file(data: Path, output: Path, *options: str) -> Spent:
    """Run ``pinesy infer`` in a process of its own."""
    command = [sys.executable, "-m", "pinesy", "infer", RULES, data, "-o", output, *options]
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, *map(str, command)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, kilobytes = map(float, done.stdout.split())
    return Spent(seconds, kilobytes / 1024)


def lines(tiny: bool = False) -> list[Line]:
    """Measure formats at one size, then growth and memory at two, and two processes."""
    sizes = [20, 40] if tiny else [500_000, 1_000_000]
    largest, repeat = sizes[-1], 1 if tiny else 3
    rules, table = load(RULES), loans(sizes[-1])
    python = best_times({"infer": lambda: rules.infer(table)}, seconds=2.0)["infer"]
    measured = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for n in (1, *sizes):
            write_loans(directory, n)
        for data, results in FORMATS[: 1 if tiny else None]:

            def spent(n: int, *options: str, data: str = data, results: str = results) -> Spent:
                files = directory / f"{n}.{data}", directory / f"out.{results}"
                runs = [infer_file(*files, *options) for _ in range(repeat)]
                return Spent(min(r.seconds for r in runs), max(r.megabytes for r in runs))

            start = spent(1).seconds
            runs = [spent(n) for n in sizes]
            times = [max(run.seconds - start, 1e-9) for run in runs]
            memory = " and ".join(
                f"{run.megabytes:.0f} MB at {n:,}" for run, n in zip(runs, sizes, strict=True)
            )
            shared = max(spent(largest, "--jobs", "2").seconds - start, 1e-9)
            measured.append(
                Line(
                    SECTION,
                    f"{data} to {results}, six rules, {largest:,} rows",
                    times[-1],
                    largest,
                    {"Python's infer of the table": python, "--jobs 2, all processes": shared},
                    note=f"n^{exponent(sizes, times):.2f}; {memory}; start {start:.2f} s",
                )
            )
    return measured
