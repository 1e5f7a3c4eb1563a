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
    done = pinesy(
        "induce", table, "--target", "ill", "-o", model, *HOW, "--max-rules", 2, "--small"
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert "written to" in done.stdout
    rules = library.load(model)
    assert rules.infer({"glucose": 180.0, "smoker": None})["ill"].best == "yes"
    done = pinesy("evaluate", model, table, *HOW)
    assert done.exit_code == 0
    assert "of 80 samples are right" in done.stdout


def test_truth_values_are_texts(table: Path) -> None:
    read = read_table(table, None, ",")
    assert set(read["smoker"].tolist()) == {"True", "False", None}
    assert read["glucose"].dtype.kind == "f"


def test_bad_input(pinesy: Run, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.rules"
    for arguments, said in (
        ((table, "--target", "il", "-o", model, *HOW), "no column 'il'"),
        ((tmp_path / "none.csv", "--target", "ill", "-o", model), "No such file"),
        ((table, "--target", "ill", "-o", model, "--id", "name"), "no column 'name'"),
    ):
        done = pinesy("induce", *arguments)
        assert done.exit_code == 3
        assert said in done.stderr
    odd = tmp_path / "table.txt"
    odd.write_text("a\n")
    assert "read from .csv" in pinesy("induce", odd, "--target", "a", "-o", model).stderr
    done = pinesy("induce", table, "--target", "ill", "-o", model, "--monotone", "glucose=2")
    assert done.exit_code == 2


def people(path: Path, words: list[str], dates: str, n: int = 60) -> Path:
    """A table with identifiers, dates, measured whole numbers, and a word for what is blank."""
    rng = np.random.default_rng(1)
    lines = ["patient,row,visit,income,glucose,smoker,ill"]
    for i in range(n):
        glucose, smoker = int(rng.integers(80, 200)), rng.choice(["true", "false", *words])
        visit, income = f"{dates}-{i % 12 + 1:02d}-07", int(rng.integers(20_000, 90_000))
        blank = words[0] if i % 9 == 0 else glucose
        ill = "yes" if glucose > 130 else "no"
        lines.append(f"P-{i:04d},{i + 1},{visit},{income},{blank}, {smoker},{ill}")
    path.write_text("\n".join(lines) + "\n")
    return path


NAMES = ("--id", "patient", "--id", "row", "--id", "visit")


def test_commands_read_a_file_of_the_same_form(pinesy: Run, tmp_path: Path) -> None:
    """NA, truth values, blanks after the comma: what induce reads every command reads."""
    table = people(tmp_path / "a.csv", ["NA"], "2023")
    other = people(tmp_path / "b.csv", ["NA", "perhaps"], "2024")
    model = tmp_path / "m.rules"
    done = pinesy("induce", table, "--target", "ill", "-o", model, "--max-rules", 4)
    assert done.exit_code == 0, done.stderr
    assert done.stderr.startswith("notice: columns that are not used: ")
    assert "'visit' (dates), 'patient', 'row' (identifiers)" in done.stderr
    assert "--feature NAME" in done.stderr
    rules = library.load(model)
    assert set(rules.attributes) >= {"income", "glucose", "smoker"}
    assert not {"patient", "row", "visit"} & set(rules.attributes)
    assert rules.attributes["smoker"].domain == ("false", "true")
    for command in ("evaluate", "infer", "audit"):
        done = pinesy(command, model, other, *NAMES)
        assert done.exit_code == 0, done.stderr
        assert "error" not in done.stderr
    learned = pinesy("learn", model, other, *NAMES, "-o", tmp_path / "l.json", "--method", "counts")
    assert learned.exit_code == 0, learned.stderr
    unseen = other.read_text().count("perhaps")
    if "smoker" in [a.name for a in rules.inputs]:
        assert learned.stderr.count("notice: ") == 1
        assert f"'smoker': {unseen} values that the rules do not have" in learned.stderr


def test_named_columns_are_used(pinesy: Run, tmp_path: Path) -> None:
    table = people(tmp_path / "a.csv", ["NA"], "2023")
    model = tmp_path / "m.rules"
    named = ("--feature", "glucose", "--feature", "visit", "--feature", "row")
    done = pinesy("induce", table, "--target", "ill", "-o", model, "--max-rules", 4, *named)
    assert (done.exit_code, done.stderr) == (0, "")
    assert {"glucose", "visit", "row"} <= set(library.load(model).attributes)
    assert "income" not in library.load(model).attributes
    done = pinesy("induce", table, "--target", "ill", "-o", model, "--feature", "glucos")
    assert done.exit_code == 3
    assert "'glucos'" in done.stderr
