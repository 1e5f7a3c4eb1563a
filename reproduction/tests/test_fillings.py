"""Fillings of visual Sudoku: boards of images, measures, and the command."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from pinesy._common.validation import FloatArray
from pinesy.problems.visual_sudoku import correct_grids
from reproduction import commands
from reproduction.fillings import board_images, do_fillings, fillings_text, measure
from reproduction.tests.tiny import TINY_QUICK, few_digits

RECORD = Path(__file__).parents[2] / "docs/results/records/fillings/03.json"


def readings(labels: npt.NDArray[np.int64], misread: int) -> FloatArray:
    """Return sure readings, of which every `misread`-th prefers the next digit a little."""
    p = np.full((len(labels), 10), 0.001)
    p[np.arange(len(labels)), labels] = 0.5
    wrong = np.arange(0, len(labels), misread)
    p[wrong, (labels[wrong] + 1) % 9] = 0.55
    p /= p.sum(axis=1, keepdims=True)
    return p


def test_boards_are_made_of_images_of_their_digits() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 12))
    rng = np.random.default_rng(1)
    grids = correct_grids(9, 5, rng)
    images = board_images(grids, labels, rng)
    assert np.array_equal(labels[images], grids)
    assert all(len(set(board)) == 81 for board in images.tolist())


def test_misread_boards_are_filled_correctly() -> None:
    labels = np.repeat(np.arange(10), 20)
    measures = measure(readings(labels, 40), labels, boards=4, seed=0)
    assert measures["read_right"] < 4
    assert measures["filled_right"] == 4
    assert measures["wrong"] == []


def test_wrong_boards_are_shown() -> None:
    record = json.loads(RECORD.read_text())
    assert record["filled_right"] >= 999
    assert record["boards"] == 1000
    digits = list(range(9)) * 9
    filled = [8, *digits[1:]]
    record["wrong"] = [{"board": 7, "digits": digits, "read": digits, "filled": filled}]
    assert "board 7 is wrong: cell 1,1 is 0, read 0, filled 8" in fillings_text(record)


def test_the_command_writes_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "QUICK", TINY_QUICK)
    monkeypatch.setattr("pinesy.problems.digits", few_digits)
    monkeypatch.setattr("reproduction.fillings.measure", lambda *arguments: measured(arguments[2]))
    places = ["--results", str(tmp_path), "--work", str(tmp_path / "work")]
    arguments = ["fillings", "--quick", "--boards", "3", *places]
    first = CliRunner().invoke(commands.app, arguments)
    assert first.exit_code == 0, first.output
    assert "boards filled correctly: 2 of 3" in first.output
    path = tmp_path / "quick" / "fillings" / "00.json"
    assert json.loads(path.read_text())["boards"] == 3
    path.write_text("{}")
    again = CliRunner().invoke(commands.app, arguments)
    assert again.exit_code != 0
    assert "not a record of pinesy.fillings" in " ".join(again.output.split())


def measured(boards: int) -> dict[str, object]:
    """Return measures as `measure` does."""
    record = json.loads(RECORD.read_text())
    kept = ("digits_right", "read_right", "loose_bounds", "wrong")
    seconds = {name: number for name, number in record.items() if "seconds" in name}
    return {name: record[name] for name in kept} | seconds | {"boards": boards, "filled_right": 2}


def test_records_are_kept(tmp_path: Path) -> None:
    place = tmp_path / "fillings"
    place.mkdir()
    (place / "03.json").write_text(RECORD.read_text())
    record = do_fillings(tmp_path, None, None, run=3, boards=1, seed=0)  # type: ignore[arg-type]
    assert record["boards"] == 1000
