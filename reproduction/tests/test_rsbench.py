"""rsbench's sums: the numbers of samples, the measures, records that are there stay."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("mlxtend")

from typer.testing import CliRunner

from messages import raises_saying
from pinesy import shortcuts
from pinesy.exceptions import DataError
from reproduction import commands
from reproduction.rsbench import MEASURES, WAYS, do_runs, measured, place_of, read_runs
from reproduction.scales import Images
from reproduction.sum_splits import TASKS, PairsPart, sum_parts
from reproduction.tests.tiny import TINY_QUICK, few_digits

FEWEST = {"train": 4, "valid": 2, "test": 2, "ood": 1}


def images() -> Images:
    pixels, labels = few_digits()
    return Images(pixels, labels, 250)


@pytest.mark.parametrize(
    ("name", "sizes"), [("half", (2940, 840, 420, 1080)), ("evenodd", (6720, 1920, 960, 5040))]
)
def test_samples_are_as_many_as_in_rsbench(name: str, sizes: tuple[int, ...]) -> None:
    task, those = TASKS[name], images()
    parts = sum_parts(task, those)
    assert tuple(map(len, parts.values())) == sizes
    for part_name, part in parts.items():
        assert (those.labels[part.images] == part.digits).all()
        is_test = part_name in ("test", "ood")
        assert ((part.images >= those.n_train) == is_test).all()
        pairs, counts = np.unique(part.digits, axis=0, return_counts=True)
        assert len(set(counts.tolist())) == 1
        expected = task.others if part_name == "ood" else task.observed
        assert [tuple(pair) for pair in pairs.tolist()] == expected
    again = sum_parts(task, those)
    assert all((parts[n].images == again[n].images).all() for n in parts)


def test_digits_that_are_not_there_are_missed() -> None:
    few = Images(np.zeros((4, 28, 28), np.uint8), np.array([0, 1, 0, 1], np.uint8), 2)
    with raises_saying(DataError, "no image of the digit 2"):
        sum_parts(TASKS["half"], few)


def test_a_shortcut_is_measured_and_doubt_covers_the_truth() -> None:
    task = TASKS["half"]
    rules, found = task.rules(), shortcuts(task.rules(), task.observed)
    digits = np.array(task.observed)
    part = PairsPart(digits, digits)  # images are digits
    read = np.eye(5)[[0, 1, 3, 2, 3]]
    one = measured(rules, [read], part)
    assert (one["label_accuracy"], one["concept_decided"]) == (1.0, 1.0)
    assert one["concept_accuracy"] == one["concept_possible"] == pytest.approx(6 / 14)
    assert one["concept_ece"] == pytest.approx(8 / 14)
    assert one["collapse"] == pytest.approx(0.2)
    cautious = measured(rules, [read], part, found)
    assert (cautious["label_accuracy"], cautious["concept_possible"]) == (1.0, 1.0)
    assert cautious["concept_ece"] < one["concept_ece"]
    both = measured(rules, [read, np.eye(5)], part)
    assert (both["label_accuracy"], both["concept_possible"]) == (1.0, 1.0)
    assert both["concept_decided"] == pytest.approx(6 / 14)


@pytest.mark.parametrize(("pairs_known", "count"), [(False, 3), (True, 1)])
def test_runs_are_done_once(tmp_path: Path, pairs_known: bool, count: int) -> None:
    task, said = TASKS["half"], list[str]()

    def do() -> list[dict[str, Any]]:
        how: dict[str, Any] = {"epochs": 1, "starts": 2, "say": said.append}
        how["pairs_known"] = pairs_known
        return do_runs(task, [0], tmp_path, tmp_path / "work", images(), FEWEST, **how)

    (record,) = do()
    lines = len(said)
    assert do() == [record]
    assert len(said) == lines  # nothing was done
    place = place_of(tmp_path, task, pairs_known)
    (place / "00.json").unlink()
    assert do() == [record]  # from the checkpoints, to the same record
    sizes = {"train": 28, "valid": 14, "test": 14, "ood": 18}
    assert (record["samples"], record["remappings"]) == (sizes, count)
    assert all(set(MEASURES) < set(record[way][part]) for way in WAYS for part in ("test", "ood"))
    (place / "00.json").write_text(json.dumps({"format": "another"}))
    with raises_saying(DataError, "00.json", "not a record of pinesy.rsbench"):
        read_runs(place)


def test_pairs_that_are_known_leave_fewer_shortcuts() -> None:
    counts = {
        name: shortcuts(task.rules(pairs_known=True), task.observed).count
        for name, task in TASKS.items()
    }
    assert counts == {"half": 1, "evenodd": 4}


def test_the_command_prints_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "QUICK", TINY_QUICK)
    monkeypatch.setattr("pinesy.problems.digits", few_digits)
    monkeypatch.setattr("reproduction.sum_splits.FEW", FEWEST)
    options = ["--quick", "--run", "0", "--epochs", "1", "--starts", "1"]
    places = ["--results", str(tmp_path), "--work", str(tmp_path / "work")]
    done = CliRunner().invoke(commands.app, ["rsbench", *options, *places])
    assert done.exit_code == 0, done.output
    assert "| concepts right |" in done.output
    assert "| 42.8 | 79.4 |" in done.output
    assert (tmp_path / "quick" / "rsbench" / "half" / "00.json").exists()
