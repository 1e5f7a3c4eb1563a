"""`pinesy show`: every part, and that what is left out is said."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from pinesy.problems import addition, sudoku

Run = Callable[..., Any]


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    library.save(addition(2), tmp_path / "addition.json")
    return tmp_path / "addition.json"


def test_the_survey(pinesy: Run, rules: Path) -> None:
    result = pinesy("show", rules)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "16 rules take 2 inputs to pair, and pair to total and size.\n"
        "inputs   left, right\nanswers  total, size\n"
    )
    assert re.search(r"left +input +4 +\{0\.\.3\}", result.stdout)
    assert re.search(r"pair +intermediate +16 +\{\(0, 0\), \(0, 1\), ", result.stdout)
    assert "(1, 3), ... 8 more (--all)}" in " ".join(result.stdout.split())
    assert re.search(r'size +output +2 +\{small, "rather large"\}', result.stdout)
    assert "11  if pair where left + right == 2 then total in {2} [s=0.1, r=0]\n" in result.stdout
    assert "partition" not in result.stdout
    assert "matrix" not in result.stdout


def test_unused_attributes_and_lone_factors(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.rules"
    path.write_text(
        "attribute x in {0, 1} attribute y in {0, 1} product xy = x * y attribute spare in {0}"
        " attribute c in {0, 1} iff xy where x == y then c in {1}"
    )
    told = pinesy("show", path, "--attributes").stdout
    roles = dict(re.findall(r"^(\w+) +(input|intermediate|output|unused|factor)\b", told, re.M))
    assert roles == {"xy": "input", "c": "output", "x": "factor", "y": "factor", "spare": "unused"}
    assert "if " not in told


def test_the_partition_of_one_set(pinesy: Run, rules: Path) -> None:
    told = pinesy("show", rules, "--partition", "--set", "size").stdout
    assert "partition of size: 2 cells" in told
    assert re.search(r"1 +\(1\) +\{small\}", told)
    assert re.search(r'2 +\(-1\) +\{"rather large"\}', told)
    assert "total" not in told


def test_the_paper_s_example_of_a_partition_and_matrix(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "bits.rules"
    path.write_text(
        "attribute u in {0, 1} attribute v in {0, 1} product b = u * v"
        " iff u in {0} then b where u == 0 iff u in {1} then b where u == 1 [s=0.2, r=0.3]"
        " iff v in {0} then b where v == 0 iff v in {1} then b where v == 1"
    )
    told = pinesy("show", path, "--partition", "--matrix").stdout
    cells = re.findall(r"\d +(\([-1-4, ]+\)) +\{(\(\d, \d\))\}", told)
    assert cells[0] == ("(-1, 2, -3, 4)", "(1, 1)")
    assert len(cells) == 4
    assert "[  1 r_1 s_2   1   1 r_3 s_4   1]\n" in told
    numbers = pinesy("show", path, "--numbers").stdout
    assert "[  1   0 0.2   1   1   0   0   1]\n" in numbers
    assert "s_2" not in numbers


def test_one_set_is_shown_whole(pinesy: Run, rules: Path) -> None:
    told = pinesy("show", rules, "--set", "size").stdout
    assert "16  iff pair where left + right <= 3 then size in {small}\n" in told
    assert "partition of size" in told
    assert "[s_1   1]\n[  1 r_1]\n" in told


def test_an_unknown_set(pinesy: Run, rules: Path) -> None:
    result = pinesy("show", rules, "--set", "totl")
    assert result.exit_code == 3
    assert result.stderr == "error: no rule set concludes on 'totl'; did you mean 'total'?\n"


def test_what_is_left_out_is_said(pinesy: Run, sums: Path) -> None:
    told = pinesy("show", sums, "--rules", "--partition", "--matrix", "--set", "c_1").stdout
    assert "... and 9 more rules; --all shows them" in told
    assert "... and 180 more cells; --all shows them" in told
    assert "... and 180 more rows; --all shows them" in told
    assert "18 more (--all)]" in told
    assert told.count("\n[") == 20


def test_all_leaves_nothing_out(pinesy: Run, sums: Path) -> None:
    told = pinesy("show", sums, "--rules", "--matrix", "--set", "c_1", "--all").stdout
    assert "more" not in told
    rule_set = library.load(sums)["c_1"]
    assert [line.split("  ")[-1] for line in told.splitlines() if " iff " in line] == list(
        map(str, rule_set.rules)
    )
    matrix = [line.strip("[]").split() for line in told.splitlines() if line.startswith("[")]
    assert matrix == rule_set.relation.symbolic


def test_many_sets_attributes_and_long_rules(pinesy: Run, tmp_path: Path) -> None:
    library.save(sudoku(4), tmp_path / "sudoku.json")
    told = pinesy("show", tmp_path / "sudoku.json").stdout
    assert "... and 53 more attributes; --all shows them" in told
    assert "... and 49 more rule sets; --set NAME or --all shows them" in told
    told = pinesy("show", tmp_path / "sudoku.json", "--rules", "--set", "c").stdout
    assert re.search(r" \.\.\. [\d,]+ more characters \(--all\)$", " ".join(told.split()))


def test_names_are_not_taken_for_markup(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "markup.rules"
    path.write_text(
        'attribute `[red]a[/red]` in {"[/]", ":smile:"} attribute b in {0, 1}'
        ' iff `[red]a[/red]` in {"[/]"} then b in {0}'
    )
    told = pinesy("show", path).stdout
    assert re.search(r'\[red\]a\[/red\] +input +2 +\{"\[/\]", ":smile:"\}', told)
    assert '1  iff `[red]a[/red]` in {"[/]"} then b in {0}\n' in told
