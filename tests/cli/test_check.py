"""`pinesy check`: findings, cost and exit codes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_notes_are_printed_and_are_fine(pinesy: Run, rules: Path) -> None:
    result = pinesy("check", rules)
    assert result.exit_code == 0
    assert result.stdout.startswith("16 rules take 2 inputs to ")
    assert "- The degrees of total, and those inferred from them" in result.stdout  # as s is 0.1
    assert "instructions" not in result.stdout
    assert "Costs: 3 rule sets, 16 rules, " in pinesy("check", rules, "--costs").stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.endswith("0 warnings, 1 note\n")


def test_warnings_are_an_exit_code(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.rules"
    path.write_text(
        "attribute a in {0, 1} attribute b in {0, 1} attribute spare in {0}"
        " iff a in {0} then b in {0} iff a in {0} then b in {0}"
    )
    result = pinesy("check", path)
    assert result.exit_code == 1
    assert "! No rule uses spare." in result.stdout
    assert "! Rules 1 and 2 are the same." in result.stdout


LOAN = """
number income number debt [blur=0.05] attribute history in {good, mixed, bad}
attribute job in {employed, unemployed} attribute risk in {low, medium, high}
attribute decision in {approve, review, reject}
if income >= 60000 and debt < 0.3 and history == good then risk == low [certainty=0.9]
if debt >= 0.45 or history == bad then risk == high [certainty=0.8]
if job == unemployed then risk in {medium, high} [certainty=0.95]
if risk == low then decision == approve
if risk == medium then decision == review
if risk in {medium, high} then decision in {review, reject}
"""


def test_what_to_look_at_first_comes_first_each_with_a_case(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "loan.rules"
    path.write_text(LOAN)
    result = pinesy("check", path)
    first, contradiction, gap, *others = result.stdout.split("\n\n")
    assert first == "6 rules take 4 inputs to risk, and risk to decision."
    assert contradiction.startswith("! Rules 1 and 3 can contradict each other: when debt is below")
    assert "rule 3  if job in {unemployed} then risk in {medium, high}" in contradiction
    assert "For example: debt 0.1, history good, income 90000, job unemployed." in contradiction
    assert gap.startswith("? No rule decides when ")
    assert "For example: " in gap
    never = "! Rule 5 never decides: it is never certain that risk is medium."
    assert any(part.startswith(never) for part in others)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.exit_code == 1


UNUSABLE = {
    "broken.rules": ("attribute a in {0, 1", "broken.rules: line 1, column "),
    "cut.json": ('{"format": "pinesy cascade", "ver', "cut.json: not whole JSON"),
    "newer.json": ('{"format": "pinesy cascade", "version": 9}', "update pinesy to read it"),
    "long.rules": ("attribute a in {" + "1" * 10**6, "characters; the limit is 500,000"),
    "rules.txt": ("", "rules are saved as .rules or .json files"),
    "empty.rules": ("attribute a in {0, 1}", "there are no rules in this text"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_files_that_cannot_be_used(pinesy: Run, name: str, tmp_path: Path) -> None:
    content, told = UNUSABLE[name]
    (tmp_path / name).write_text(content)
    result = pinesy("check", tmp_path / name)
    assert result.exit_code == 3
    assert result.stderr.startswith("error: ")
    assert told in result.stderr
    assert result.stdout == ""


def test_a_file_that_is_not_there(pinesy: Run, tmp_path: Path) -> None:
    result = pinesy("check", tmp_path / "none.rules")
    assert (result.exit_code, result.stdout) == (3, "")
    assert (
        result.stderr
        == f"error: {tmp_path}/none.rules: cannot be read: No such file or directory\n"
    )


CLASH = """
attribute fever in {yes, no} attribute rash in {yes, no} attribute measles in {yes, no}
if fever in {yes} then measles in {yes} [s=0, r=0.5]
if rash in {yes} then measles in {yes} [s=0, r=0.25]
"""


def test_rules_are_tried_on_data(pinesy: Run, tmp_path: Path) -> None:
    path, data = tmp_path / "measles.rules", tmp_path / "people.csv"
    path.write_text(CLASH)
    data.write_text("fever,rash,measles\nno,no,no\nyes,no,yes\nyes,yes,yes\n")
    result = pinesy("check", path, data)
    assert result.exit_code == 1
    assert "Rules 1 and 2 contradict each other on 1 of 3 samples, such as line 3." in result.stdout
    assert "measles: decided 2, contradiction 1, right 2\n" in result.stdout
    lines = '{"fever": "yes", "rash": "yes"}\n{"fever": [1, 1], "rash": [1, 1]}'
    result = pinesy("check", path, "-", input=lines)
    assert "! Rules 1 and 2 can contradict each other: when fever is yes and rash" in result.stdout
    counts = "measles: decided 1, no rule decides 1"
    assert f"data: 2 samples\n  {counts}\n" in result.stdout
