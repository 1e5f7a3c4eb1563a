"""The first answer of new processes: imports, the first results, building and compiling.

Times of answers are processor time, so that what else runs on the machine counts little.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from measure import Line, process_time

SECTION = "first answer"
#: Prints the processor time up to each answer.
ANSWERS = """
import time
import numpy as np
from pinesy import learn
from pinesy.problems import addition
rules = addition(1)
rules.infer({"a_1": np.eye(10)[[3] * SAMPLES], "a_2": np.eye(10)[[4] * SAMPLES]})
print(time.process_time())
digits = {"a_1": np.eye(10)[[3, 4, 5]], "a_2": np.eye(10)[[1, 2, 3]]}
learn(rules, digits, {a.name: [a.domain[0]] * 3 for a in rules.outputs})
print(time.process_time())
"""


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


def answering(repeat: int = 3) -> list[Line]:
    """Time the first results."""
    found = []
    for name, samples, warm in (
        ("1 sample, nothing compiled yet", 1, False),
        ("1000 samples, nothing compiled yet", 1000, False),
        ("1 sample, kernels on disk", 1, True),
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
        return [Line(SECTION, "an empty process", process_time("pass"))]
    return [*importing(), *answering(), *building()]
