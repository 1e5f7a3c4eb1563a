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
    "pandas",
    "pyarrow",
    "scipy",
]
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


def test_the_check_sees_numba() -> None:
    assert "numba" in loaded(
        "from pinesy.problems import addition\naddition(1).infer({'a_1': {1: 1}, 'a_2': {2: 1}})"
    )


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
