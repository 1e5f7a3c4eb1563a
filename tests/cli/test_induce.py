"""`pinesy induce`: from a table in a file to rules that every command takes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pinesy as library
from pinesy.samples import read_table

Run = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "patients.csv"
    lines = ["patient;glucose;smoker;ill"]
    for i in range(80):
        glucose, smoker = rng.integers(80, 200), rng.choice(["True", "False", ""])
        lines.append(f"p{i};{glucose},5;{smoker};{'yes' if glucose > 130 else 'no'}")
    path.write_text("\n".join(lines) + "\n")
    return path


HOW = ("--decimal", ",", "--id", "patient")


def test_rules_are_written_and_evaluated(pinesy: Run, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.rules"
    done = pinesy("induce", table, "--target", "ill", "-o", model, *HOW, "--max-rules", 3)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "written to" in done.stdout
    rules = library.load(model)
    assert rules.infer({"glucose": 180.0})["ill"].best == "yes"
    done = pinesy("evaluate", model, table, *HOW, "--id", "smoker")
    assert done.exit_code == 0
    assert "of 80 samples right" in done.stdout


def test_truth_values_are_texts(table: Path) -> None:
    read = read_table(table, None, ",")
    assert set(read["smoker"].dropna().astype(str)) == {"True", "False"}
    assert read["glucose"].dtype.kind == "f"


def test_bad_input(pinesy: Run, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.rules"
    for arguments, said in (
        ((table, "--target", "il", "-o", model, *HOW), "no column 'il'"),
        ((tmp_path / "none.csv", "--target", "ill", "-o", model), "no such file"),
        ((table, "--target", "ill", "-o", model, "--id", "name"), "no column 'name'"),
    ):
        done = pinesy("induce", *arguments)
        assert done.exit_code == 3
        assert said in done.stderr
    odd = tmp_path / "table.txt"
    odd.write_text("a\n")
    assert "ends in .csv" in pinesy("induce", odd, "--target", "a", "-o", model).stderr
    done = pinesy("induce", table, "--target", "ill", "-o", model, "--monotone", "glucose=2")
    assert done.exit_code == 2
