"""`pinesy shortcuts` prints what the library finds."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from pinesy.concepts import remapping_search

Run = Callable[..., Any]


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    path = tmp_path / "seen.csv"
    path.write_text("left,right\n0,0\n0,1\n2,3\n2,3\n")
    return path


def test_it_prints_what_is_found(pinesy: Run, rules: Path, seen: Path) -> None:
    done = pinesy("shortcuts", rules, seen)
    found = library.shortcuts(library.load(rules), [(0, 0), (0, 1), (2, 3)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{found}\n"
    assert found.count == 2
    assert "2 as 3, 3 as 2" in done.stdout


def test_it_prints_json(pinesy: Run, rules: Path) -> None:
    done = pinesy("shortcuts", rules, "--where", "left + right < 2", "--format", "json")
    found = library.shortcuts(library.load(rules), "left + right < 2")
    assert json.loads(done.stdout) == found.to_dict()


def test_inputs_share_a_network_as_told(pinesy: Run, rules: Path, seen: Path) -> None:
    done = pinesy("shortcuts", rules, seen, "--share", "left", "--limit", 1, "--format", "json")
    found = json.loads(done.stdout)
    assert found["kinds"] == {"left": ["left"], "right": ["right"]}
    assert len(found["remappings"]) == 1 < found["count"]


def test_values_that_are_not_known_are_refused(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    path = tmp_path / "unsure.csv"
    path.write_text("left,right\n0,0\n0,\n")
    done = pinesy("shortcuts", rules, path)
    assert done.exit_code == 3
    assert "line 3: the value of 'right' is not known for sure" in done.stderr


def test_a_solver_that_is_missing_is_named(
    pinesy: Run, rules: Path, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remapping_search, "MAX_PARTIAL", 0)
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    done = pinesy("shortcuts", rules, seen)
    assert done.exit_code == 3
    assert "pip install 'pinesy[shortcuts]'" in done.stderr


def test_data_and_a_condition_exclude_each_other(pinesy: Run, rules: Path, seen: Path) -> None:
    done = pinesy("shortcuts", rules, seen, "--where", "left == 0")
    assert done.exit_code == 2
    assert "not both" in done.stderr
