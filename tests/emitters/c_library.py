"""Rules as C, compiled by gcc and called by ctypes."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import Cascade, RuleSet, to_c

COMPILER = shutil.which("gcc") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc, cc) in PATH")
OUTCOMES = ("decided", "several", "no_rule", "contradiction")


class Answer(ctypes.Structure):
    _fields_ = (
        ("outcome", ctypes.c_int),
        ("best", ctypes.c_int),
        ("certainty", ctypes.c_double),
        ("contradiction", ctypes.c_double),
    )


class CLibrary:
    """The functions of rules, compiled with all warnings as errors."""

    def __init__(self, rules: Cascade | RuleSet, name: str = "rules", level: str = "-O2") -> None:
        self.name = name
        self.program = (rules if isinstance(rules, Cascade) else Cascade(rules)).compile()
        files = to_c(rules, name)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "rules.h").write_text(files.header)
            (path / "rules.c").write_text('#include "rules.h"\n')  # the header compiles alone
            (path / "source.c").write_text(files.source)
            options = ["-std=c99", level, "-Wall", "-Wextra", "-Werror", "-pedantic"]
            made = ["-shared", "-fPIC", "-o", "rules.so", "rules.c", "source.c"]
            assert COMPILER is not None
            subprocess.run([COMPILER, *options, *made], cwd=folder, check=True)
            self.library = ctypes.CDLL(str(path / "rules.so"))
        self.answer = getattr(self.library, f"{name}_answer")
        self.answer.restype = Answer

    def infer(self, kind: str, inputs: np.ndarray[Any, Any]) -> tuple[int, np.ndarray[Any, Any]]:
        """Return what a function returns, and the results (samples, results)."""
        rows = np.ascontiguousarray(inputs, dtype=np.float64)
        out = np.full((len(rows), sum(len(a.domain) + 1 for a in self.program.outputs)), -7.0)
        function = getattr(self.library, f"{self.name}_infer_{kind}")
        function.restype = ctypes.c_size_t
        pointers = (a.ctypes.data_as(ctypes.c_void_p) for a in (rows, out))
        x, y = pointers
        return int(function(x, ctypes.c_size_t(len(rows)), y)), out

    def answers(self, out: np.ndarray[Any, Any], output: int) -> list[Answer]:
        pointer = ctypes.c_void_p
        size = out.strides[0]
        base = out.ctypes.data
        return [self.answer(pointer(base + i * size), output) for i in range(len(out))]

    def check(self, out: np.ndarray[Any, Any], inference: Any) -> None:
        """Assert that results are those of `infer`, bit for bit."""
        column = 0
        for index, attribute in enumerate(self.program.outputs):
            pi, end = inference[attribute.name], column + len(attribute.domain)
            assert out[:, column:end].tobytes() == np.ascontiguousarray(pi.degrees).tobytes()
            column = end + 1
            found = self.answers(out, index)
            assert [OUTCOMES[a.outcome] for a in found] == pi.outcome.tolist()
            best = [None if a.best < 0 else attribute.domain[a.best] for a in found]
            assert best == np.asarray(pi.best).tolist()
            certainty = np.array([a.certainty for a in found])
            assert np.array_equal(certainty, pi.certainty, equal_nan=True)
            assert [a.contradiction for a in found] == pi.contradiction.tolist()
