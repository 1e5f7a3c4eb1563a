"""`pinesy check`: findings, cost and exit codes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library

Run = Callable[..., Any]


def test_notes_are_printed_and_are_fine(pinesy: Run, rules: Path) -> None:
    result = pinesy("check", rules)
    assert result.exit_code == 0
    assert "note: rules on 'size': the values {\"rather large\"} are in no" in result.stdout
    assert "cost: 3 rule sets, 16 rules, " in result.stdout
    assert (
        "note: attribute 'total': its degrees, and those inferred from them, are upper"
        in result.stdout
    )  # as s is 0.1
    assert result.stdout.endswith("0 warnings, 2 notes\n")


def test_the_whole_report_is_printed(pinesy: Run, rules: Path) -> None:
    report = library.load(rules).check()
    assert pinesy("check", rules).stdout.startswith(f"{report}\n")


def test_warnings_are_an_exit_code(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.rules"
    path.write_text(
        "attribute a in {0, 1} attribute b in {0, 1} attribute spare in {0}"
        " iff a in {0} then b in {0} iff a in {0} then b in {0}"
    )
    result = pinesy("check", path)
    assert result.exit_code == 1
    assert "warning: attribute 'spare': declared, but no rule uses it" in result.stdout
    assert "rules 1 and 2 are the same" in result.stdout


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
    assert "rules 1 and 2 clash on 1 of 3 samples, such as line 3: " in result.stdout
    assert (
        "measles: decided 2, several values 0, no rule decides 0, contradiction 1, right 2\n"
        in result.stdout
    )
    lines = '{"fever": "yes", "rash": "yes"}\n{"fever": [1, 1], "rash": [1, 1]}'
    result = pinesy("check", path, "-", input=lines)
    assert result.exit_code == 0
    counts = "measles: decided 1, several values 0, no rule decides 1, contradiction 0"
    assert f"data: 2 samples\n  {counts}\n" in result.stdout
