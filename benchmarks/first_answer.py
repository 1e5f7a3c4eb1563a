"""The time to the first answer of a new process, with an empty and with a warm cache."""

import os
import tempfile

from measure import Line, process_time

SECTION = "first answer"
FIRST = """
from pinesy.problems import addition
addition(1).infer({'a_1': {3: 1.0}, 'a_2': {4: 1.0}})
"""


def importing() -> list[Line]:
    """Time importing the library against importing NumPy."""
    empty, numpy_time = process_time("pass"), process_time("import numpy")
    spent = process_time("import pinesy") - empty
    return [Line(SECTION, "import pinesy", spent, against={"import numpy": numpy_time - empty})]


def answering() -> list[Line]:
    """Time the first result."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        cold = process_time(FIRST, 1, environment)
        warm = process_time(FIRST, 5, environment)
    return [
        Line(SECTION, "first result, kernels not compiled yet", cold),
        Line(SECTION, "first result, kernels on disk", warm, against={"the same, not yet": cold}),
    ]


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
