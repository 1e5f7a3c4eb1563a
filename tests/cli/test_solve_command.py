"""`pinesy solve` prints what the library finds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy.equations import COMPOSITIONS, System

Run = Callable[..., Any]
MATRIX = [[0.5, 0.75], [0.25, 1.0], [0.5, 0.5]]


@pytest.fixture
def files(tmp_path: Path) -> Callable[[str, str], tuple[Path, Path]]:
    def write(matrix: str, right: str) -> tuple[Path, Path]:
        paths = tmp_path / "A.csv", tmp_path / "b.csv"
        for path, text in zip(paths, (matrix, right), strict=True):
            path.write_text(text)
        return paths

    return write


def table(rows: Any) -> str:
    return "\n".join(",".join(map(str, row)) for row in rows)


@pytest.mark.parametrize("name", list(COMPOSITIONS))
@pytest.mark.parametrize("right", [[0.5, 0.5, 0.5], [0.75, 0.0, 0.25]])
def test_it_prints_json(pinesy: Run, files: Any, name: str, right: list[float]) -> None:
    paths = files(table(MATRIX), table([[y] for y in right]))
    done = pinesy("solve", *paths, "--composition", name, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    report, system = json.loads(done.stdout), System(MATRIX, right, name)
    extreme, many = system.composition.extreme, system.composition.many
    assert report["consistent"] == system.is_consistent
    assert report["distance"] == system.chebyshev_distance
    assert report["attained"] == system.is_attained
    if system.is_consistent:
        assert report[f"{extreme}_solution"] == system.extreme_solution.tolist()
        expected = [x.tolist() for x in system.opposite_solutions()]
        assert report[f"{many}_solutions"] == expected
    else:
        conflict = system.disagreement()
        assert report["rows_that_disagree"] == (conflict.rows + 1).tolist()
        rows = np.array(report["consistent_rows"]) - 1
        assert System(np.array(MATRIX)[rows], np.array(right)[rows], name).is_consistent


@pytest.mark.parametrize("name", list(COMPOSITIONS))
def test_the_verdict_comes_first_in_80_columns(pinesy: Run, files: Any, name: str) -> None:
    for right in ("0.5\n0.5\n0.5\n", "0.75;0;0.25"):
        done = pinesy("solve", *files(table(MATRIX), right), "--composition", name)
        lines = done.stdout.splitlines()
        assert lines[0].startswith(("Consistent", "No solution"))
        assert max(map(len, lines)) <= 80


def test_a_limit_of_solutions(pinesy: Run, files: Any) -> None:
    paths = files("1 1 1 1", "1")
    done = pinesy("solve", *paths, "--limit", 2)
    assert done.stdout.count("minimal solution:") == 2
    assert "more minimal solutions; --limit" in done.stdout


def test_fractions(pinesy: Run, files: Any) -> None:
    paths = files("1/3 1", "1/7")
    done = pinesy("solve", *paths, "--composition", "max-product", "--exact", "--json")
    assert json.loads(done.stdout)["greatest_solution"] == ["3/7", "1/7"]


def test_a_number_that_would_fill_the_memory(pinesy: Run, files: Any) -> None:
    done = pinesy("solve", *files("1e-999999999", "1"), "--exact")
    assert done.exit_code == 3
    assert "'1e-999999999' is not a number" in done.stderr


@pytest.mark.parametrize(
    ("matrix", "right", "message"),
    [
        ("a,b\n0.1,0.2\n", "0.1", "line 1, column 1: 'a' is not a number"),
        ("0.1,0.2\n0.3\n", "0.1", "line 2: has 1 numbers, and the lines before have 2"),
        ("", "0.1", "holds no number"),
        ("0.1 0.2\n0.1 0.2", "0.1 0.2\n0.1 0.2", "the right-hand side is one column"),
        ("0.1 1.5", "0.1", "the matrix, row 0, column 1, is 1.5"),
        ("0.1 nan", "0.1", "the matrix, row 0, column 1, is nan"),
        ("0.1 1/0", "0.1", "line 1, column 2: '1/0' is not a number"),
        ("0.1\n0.2", "0.1", "the rows of the matrix are 2"),
    ],
)
def test_bad_files(pinesy: Run, files: Any, matrix: str, right: str, message: str) -> None:
    done = pinesy("solve", *files(matrix, right))
    assert done.exit_code == 3
    assert message in done.stderr


def test_an_unknown_composition_is_wrong_usage(pinesy: Run, files: Any) -> None:
    done = pinesy("solve", *files("1", "1"), "--composition", "max-prod")
    assert done.exit_code == 2
    assert "max-product" in done.stderr
