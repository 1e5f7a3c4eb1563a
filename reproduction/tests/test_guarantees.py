"""Answers with a guarantee on random splits: done once, taken up again, and reported."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pinesy import problems
from pinesy.exceptions import DataError
from reproduction.experiments import Experiment
from reproduction.guarantee_tables import guarantee_tables, network_note
from reproduction.guarantees import (
    LEVELS,
    Samples,
    guarantees,
    read_guarantees,
    read_splits,
    split_record,
)
from reproduction.scales import Images
from reproduction.split_conformal import sum_probabilities
from reproduction.tasks import Task
from reproduction.tests.tiny import TINY_QUICK, few_digits


def record(k: int = 1, split: int = 0) -> dict[str, Any]:
    """Return the record of samples of Addition-k that a perfect network reads."""
    rng = np.random.default_rng(split)
    digits = rng.integers(10, size=(80, 2 * k))
    rules = problems.addition(k)
    order = [int(a.name[2:]) - 1 for a in rules.inputs]
    p = 0.9 * np.eye(10)[digits] + 0.01
    targets = problems.addition_labels(digits)
    samples = Samples(
        digits,
        {f"a_{i + 1}": digits[:, i] for i in range(2 * k)},
        {a.name: targets[a.name] for a in rules.outputs},
    )
    return split_record(rules, p[:, order].reshape(80, -1), samples, split, k)


@pytest.mark.parametrize("k", [1, 2])
def test_all_ways_agree_on_what_is_sure(k: int) -> None:
    found = record(k)
    assert (found["calibration"], found["test"]) == (40, 40)
    other = found["ways"].pop("split conformal on the sum (MAPIE)")
    for way, figures in found["ways"].items():
        assert figures[0] == {"covered": 1.0, "single": 1.0, "mean": 1.0, "median": 1.0}, way
    assert other[0]["median"] == 1.0  # it may leave sets empty
    assert found["ways"]["answers"][-1] is other[-1] is None  # 40 are too few for 99.5 %


def test_probabilities_of_sums_are_those_of_all_pairs() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(10), size=(1, 2, 2))
    found, (one, two) = sum_probabilities(p)[0], p[0]
    for total in (0, 57, 198):
        pairs = [(a, total - a) for a in range(100) if 0 <= total - a < 100]
        of = [one[0][a // 10] * one[1][a % 10] * two[0][b // 10] * two[1][b % 10] for a, b in pairs]
        assert found[total] == pytest.approx(sum(of))


class Reader:
    """A network that reads all images rightly."""

    def __init__(self, images: Images) -> None:
        self.images = images

    def see(self, _experiment: Experiment, task: Task) -> Any:
        p = np.eye(10)[self.images.labels[task.seen]]
        return SimpleNamespace(
            probabilities=p, network={"architecture": "PaperCNN", "epochs": 2}, training=0.0
        )


@pytest.mark.parametrize(("problem", "size"), [("addition", 1), ("sudoku", 4)])
def test_splits_are_taken_up_and_reported(
    problem: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "digits", few_digits)
    images = TINY_QUICK.images()
    said: list[str] = []
    experiment = Experiment(problem, size, "normal", "antipignistic", 0)
    reader: Any = Reader(images)
    if problem == "sudoku":
        monkeypatch.setattr(reader, "see", _of_four(reader))
    for splits in (1, 2, 2):
        guarantees(
            *(experiment, reader, images, TINY_QUICK),
            directory=tmp_path / "guarantees",
            splits=splits,
            say=said.append,
        )
    assert said == [f"{problem}-{size}: 1 splits (digits 100.00 %)"] * 2
    records = read_guarantees(tmp_path)
    assert [r["split"] for r in records] == [0, 1]
    (table,) = guarantee_tables(records)
    assert len(table.cells) == len(LEVELS) * len(records[0]["ways"])
    assert "100.00 % of unseen digits right" in network_note(records)
    covered = records[0]["ways"]["possibilities as they are"][0]["covered"]
    assert covered == 1.0


def _of_four(reader: Reader) -> Any:
    def see(experiment: Experiment, task: Task) -> Any:
        found = Reader.see(reader, experiment, task)
        found.probabilities = found.probabilities[:, :4]
        return found

    return see


def test_a_file_that_is_none_of_splits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "addition-1.jsonl"
    for text in ("{", '{"format": "other"}\n'):
        path.write_text(text)
        with pytest.raises(DataError, match="not a file of splits"):
            read_splits(path)
