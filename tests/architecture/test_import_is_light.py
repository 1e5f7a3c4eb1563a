"""Importing pinesy is quick: nothing heavy is loaded before it is needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
HEAVY = [
    "torch",
    "dask",
    "distributed",
    "numba",
    "llvmlite",
    "typer",
    "rich",
    "matplotlib",
    "narwhals",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
]
#: What the command line may load: the program of its options.
OPTIONS = {"typer", "rich"}
ROOT = SOURCE.parent
EVERYTHING = "from pinesy import *; import pinesy.problems, pinesy.samples"


def loaded(code: str, *path: Path) -> list[str]:
    """Run `code` in a new interpreter; return which heavy packages it has then loaded."""
    report = f"import sys; print(*sorted(set(sys.modules) & {set(HEAVY)!r}))"
    search = os.pathsep.join(map(str, [*path, SOURCE]))
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.parametrize("code", ["import pinesy", EVERYTHING])
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert loaded(code) == []


def test_building_and_printing_rules_loads_nothing_heavy() -> None:
    code = (
        "from pinesy.problems import addition\n"
        "from pinesy import parse\n"
        "assert parse(str(addition(2))) == addition(2)"
    )
    assert loaded(code) == []


#: Infers some samples, as many as 0 in the place of N.
INFER = """
import numpy as np
from pinesy.problems import addition
addition(3).infer(np.tile(np.eye(10)[1], (N, 6)))
"""


@pytest.mark.parametrize("options", ["", ", transform='antipignistic'", ", dtype='uint8'"])
def test_few_samples_load_nothing_heavy(options: str) -> None:
    assert loaded(INFER.replace("N", "3").replace(", 6))", f", 6)){options}")) == []


def test_many_samples_load_numba() -> None:
    assert "numba" in loaded(INFER.replace("N", "100_000"))


def test_a_verdict_loads_nothing_heavy() -> None:
    code = """
from pathlib import Path
from pinesy import parse, verdict
rules = parse(Path("examples/loan.rules").read_text())
assert verdict(rules, dict.fromkeys(a.name for a in rules.inputs)).answer
"""
    assert loaded(f"import os; os.chdir({str(ROOT)!r})\n{code}") == []


def test_help_imports_no_command() -> None:
    """It loads neither NumPy nor any part of the library but the table of commands."""
    report = "sorted(m for m in sys.modules if m.startswith(('numpy', 'pinesy')))"
    modules = {"pinesy", "pinesy._version", "pinesy.exceptions", "pinesy.cli", "pinesy.__main__"}
    modules |= {f"pinesy.cli.{name}" for name in ("app", "command_table", "loading")}
    assert set(command_loads(report, "--help")) <= modules
    assert set(command_loads(report, "infer", "--help")) > modules


@pytest.mark.parametrize("command", ["infer", "explain", "check"])
def test_commands_on_few_samples_load_nothing_heavy(command: str) -> None:
    report = f"set(sys.modules) & {set(HEAVY) - OPTIONS!r}"
    assert command_loads(report, command, "examples/loan.rules", "examples/loan.csv") == []


def test_infer_loads_nothing_of_learning() -> None:
    packages = "calibration guarantees induction inverse learning model nets relations verdicts"
    report = f"set(sys.modules) & { ({f'pinesy.{name}' for name in packages.split()})!r}"
    assert command_loads(report, "infer", "examples/loan.rules", "examples/loan.csv") == []


def command_loads(report: str, *arguments: str) -> list[str]:
    """Run a command in a new interpreter; return what `report` gives then."""
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(*{report}, file=sys.stderr))\n"
        f"sys.argv = {['pinesy', *arguments]!r}\n"
        "from pinesy.__main__ import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout, done.stderr
    return done.stderr.splitlines()[-1].split()


def test_the_check_sees_a_hidden_torch(tmp_path: Path) -> None:
    """A package that pinesy needs loads torch, if there is one: here `json` of the first path."""
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "difflib.py").write_text("import torch\ndef get_close_matches(*_, **__): ...\n")
    assert loaded("from pinesy import parse", tmp_path) == ["torch"]


def test_importing_does_not_write_or_warn() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "from pinesy import *"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("", "")
