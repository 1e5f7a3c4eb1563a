"""The first answer of new processes: imports, commands, the first results, building and compiling.

Times of answers are processor time, so that what else runs on the machine counts little.
``python benchmarks/first_answer.py CLONE`` compares with another clone of the repository, such as
one of an earlier commit: both take turns.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from measure import Line, process_time

SECTION = "first answer"
ROOT = Path(__file__).parents[1]
#: The first `infer` of a process, of some samples.
INFER = """
import numpy as np
from pinesy.problems import addition
rules = addition(1)
rules.infer({"a_1": np.eye(10)[[3] * SAMPLES], "a_2": np.eye(10)[[4] * SAMPLES]})
"""
#: Prints the processor time up to each answer.
ANSWERS = f"""
import time
from pinesy import learn
{INFER}
print(time.process_time())
digits = {{"a_1": np.eye(10)[[3, 4, 5]], "a_2": np.eye(10)[[1, 2, 3]]}}
learn(rules, digits, {{a.name: [a.domain[0]] * 3 for a in rules.outputs}})
print(time.process_time())
"""
#: What people type, or their programs begin with: arguments of Python.
CALLS: dict[str, Sequence[str]] = {
    'python -c "import numpy"': ["-c", "import numpy"],
    'python -c "import pinesy"': ["-c", "import pinesy"],
    "pinesy --help": ["-m", "pinesy", "--help"],
    "pinesy infer, 20 rows": ["-m", "pinesy", "infer", "examples/loan.rules", "examples/loan.csv"],
    "pinesy explain, a row": [
        "-m",
        "pinesy",
        "explain",
        "examples/loan.rules",
        "examples/loan.csv",
    ],
    "first infer, 3 samples": ["-c", INFER.replace("SAMPLES", "3")],
    "first infer, 1,000,000 samples, kernels on disk": [
        "-c",
        INFER.replace("SAMPLES", "1_000_000"),
    ],
}


def call_time(arguments: Sequence[str], clone: Path = ROOT) -> float:
    """Return the processor time of a new process of Python, with the library of a clone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        cwd=clone,
        env=os.environ | {"PYTHONPATH": str(clone / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def calls(clones: Sequence[Path] = (ROOT,), repeat: int = 7) -> dict[str, list[float]]:
    """Return the median times of each call in each clone, which take turns.

    The first turn does not count: it writes bytecode, and kernels.
    """
    medians = {}
    for name, arguments in CALLS.items():
        turns = [[call_time(arguments, clone) for clone in clones] for _ in range(1 + repeat)]
        medians[name] = [median(times) for times in zip(*turns[1:], strict=True)]
    return medians


def processor_time(code: str, repeat: int = 10) -> float:
    """Return the least processor time of a new process that runs `code`."""
    report = f"{code}\nimport time; print(time.process_time())"
    return min(_printed(report)[0] for _ in range(repeat))


def first_answers(samples: int, repeat: int, warm: bool) -> tuple[float, float]:
    """Return the least time to the first `infer`, of some samples, and from there to `learn`."""
    code, times = ANSWERS.replace("SAMPLES", str(samples)), []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as cache:
            for _ in range(1 + warm):
                infer, learn = _printed(code, {"NUMBA_CACHE_DIR": cache})
            times.append((infer, learn - infer))
    return min(infer for infer, _ in times), min(learn for _, learn in times)


def _printed(code: str, environment: Mapping[str, str] | None = None) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return [float(word) for word in done.stdout.split()]


def importing() -> list[Line]:
    """Time importing the library, and all its names, against importing NumPy."""
    empty = processor_time("pass")
    against = {"import numpy": processor_time("import numpy") - empty}
    return [
        Line(SECTION, code, processor_time(code) - empty, against=against)
        for code in ("import pinesy", "from pinesy import *")
    ]


def calling() -> list[Line]:
    """Time what people type, against a process that imports NumPy."""
    medians = {name: times[0] for name, times in calls().items()}
    base = {"importing NumPy": medians.pop('python -c "import numpy"')}
    return [Line(SECTION, name, seconds, against=base) for name, seconds in medians.items()]


def answering(repeat: int = 3) -> list[Line]:
    """Time the first results."""
    found = []
    for name, samples, warm in (
        ("1 sample, nothing compiled yet", 1, False),
        ("1,000,000 samples, nothing compiled yet", 1_000_000, False),
        ("1,000,000 samples, kernels on disk", 1_000_000, True),
    ):
        infer, learn = first_answers(samples, repeat, warm)
        found.append(Line(SECTION, f"first infer, {name}", infer))
        found.append(Line(SECTION, "  first learn after that", learn))
    return found


def building() -> list[Line]:
    """Time building and compiling against importing torch, in new processes."""
    empty, ready = process_time("pass"), process_time("import pinesy.problems")
    against = {"import torch": process_time("import torch") - empty}
    found = []
    for name, make in (("Sudoku 9x9", "sudoku(9)"), ("Addition-100", "addition(100)")):
        spent = process_time(f"import pinesy.problems as p; p.{make}.compile()") - ready
        found.append(Line(SECTION, f"{name}, built and compiled", spent, against=against))
    return found


def lines(tiny: bool = False) -> list[Line]:
    """Measure what happens before the first answer."""
    if tiny:
        return [
            Line(SECTION, "an empty process", process_time("pass")),
            Line(SECTION, "pinesy --help", call_time(CALLS["pinesy --help"])),
        ]
    return [*importing(), *calling(), *answering(), *building()]


def main(other: Path) -> None:
    """Print a table of the times in another clone and in this one."""
    print("| processor time, median of 7 | before | now | |\n|---|---|---|---|")
    for name, (before, now) in calls([other.resolve(), ROOT]).items():
        print(f"| `{name}` | {before:.2f} s | {now:.2f} s | {before / now:.1f} times |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
