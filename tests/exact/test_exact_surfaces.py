"""Exact degrees on the surfaces: `check` on samples, verdicts and the command line."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from pinesy import parse, verdict
from pinesy.cli.app import app
from pinesy.problems import addition

DOOR = """
    attribute door in {front, side, back}
    attribute alarm in {on, off}
    if door in {front, side} then alarm in {on}
    if door in {side, back} then alarm in {on}
"""
DOORS: list[dict[str, Any]] = [
    {"door": {"front": 1.0, "back": 1.0}},
    {"door": {"front": 1.0, "back": 0.4}},
    {"door": "side"},
]
DEGREES = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.4], [0.0, 1.0, 0.0]])


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rules, data = tmp_path / "door.rules", tmp_path / "door.jsonl"
    rules.write_text(DOOR)
    data.write_text("".join(json.dumps(door) + "\n" for door in DOORS))
    return str(rules), str(data)


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_check_counts_how_often_the_bound_is_not_tight() -> None:
    data = parse(DOOR).check({"door": DEGREES}).data
    assert data is not None
    [bounds] = data.bounds
    assert (bounds.samples, bounds.loose, bounds.unknown) == (3, 2, 0)
    assert "alarm: degrees exceed the exact ones on 2 of 3 samples" in str(data)


def test_check_counts_nothing_where_inference_is_exact() -> None:
    rules = addition(1)
    data = rules.check({a.name: [3, 4] for a in rules.inputs}).data
    assert data is not None
    assert data.bounds == ()


def test_check_without_a_solver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    data = parse(DOOR).check({"door": DEGREES}).data
    assert data is not None
    assert "pip install 'pinesy[exact]'" in str(data.bounds[0])


def test_a_verdict_begins_with_the_exact_answer() -> None:
    rules = parse(DOOR)
    open_door, closed, side = (verdict(rules, door, exact=True) for door in DOORS)
    assert open_door.answer == "on, certain 1 (exact; each rule alone: undecided: no rule decides)"
    together = "all rules together allow off at most 0, each alone 1."
    assert open_door.questions() == {"Because": together}
    assert closed.answer == "on, certain 1 (exact; each rule alone: on, certain 0.60)"
    assert closed.questions() == verdict(rules, DOORS[1]).questions()
    assert side.text() == verdict(rules, DOORS[2]).text()
    assert open_door.to_dict()["answer"] == open_door.answer


def test_infer_exact_on_the_command_line(files: tuple[str, str]) -> None:
    lines = [json.loads(line) for line in run("infer", *files, "--exact").splitlines()]
    assert [line["alarm"]["possibility"] for line in lines] == [{"on": 1.0}] * 3
    assert [line["alarm"]["best"] for line in lines] == ["on"] * 3
    assert "lower" not in lines[0]["alarm"]
    assert "on       1" in run("infer", *files, "--exact", "--format", "table")


def test_a_spent_budget_on_the_command_line(files: tuple[str, str]) -> None:
    spent = ("infer", *files, "--exact", "--max-conflicts", "0")
    alarm = json.loads(run(*spent).splitlines()[1])["alarm"]
    assert (alarm["best"], alarm["outcome"], alarm["best_values"]) == (None, "unknown", [])
    assert alarm["possibility"] == {"on": 1.0, "off": 0.4}
    assert alarm["lower"] == {"on": 0.0, "off": 0.0}
    rows = list(csv.DictReader(run(*spent, "--format", "csv").splitlines()))
    assert [row["alarm outcome"] for row in rows] == ["unknown"] * 3
    assert [row["alarm lower=off"] for row in rows] == ["0.0"] * 3
    assert [row["alarm=off"] for row in rows] == ["1.0", "0.4", "0.0"]
    assert "not known" in run(*spent, "--format", "table")


def test_check_on_the_command_line(files: tuple[str, str]) -> None:
    assert "degrees exceed the exact ones on 2 of 3 samples" in run("check", *files, code=1)


def test_options_that_exclude_each_other(files: tuple[str, str]) -> None:
    assert "--exact" in run("infer", *files, "--exact", "--semantics", "mpe", code=2)
    assert "--exact" in run("infer", *files, "--exact", "--level", "0.9", code=2)
