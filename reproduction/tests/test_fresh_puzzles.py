"""Sudokus of images that a run never used."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pinesy import problems
from pinesy.exceptions import DataError
from reproduction.experiments import Experiment
from reproduction.fresh_puzzles import (
    do_fresh_puzzles,
    fresh_pool,
    fresh_puzzles_table,
    read_fresh_puzzles,
)
from reproduction.scales import QUICK, Images
from reproduction.tasks import Task, task_of

EXPERIMENT = Experiment("sudoku", 4, "normal", "antipignistic", 0)
SCALE = QUICK.with_epochs(1)


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Images:
    labels = np.tile(np.arange(10, dtype=np.uint8), 400)
    pixels = np.zeros((len(labels), 28, 28), np.uint8)
    monkeypatch.setattr(problems, "digits", lambda: (pixels, labels))
    return SCALE.images()


class Reader:
    """A network that reads all images as what they are, except some, as the next digit."""

    def __init__(self, images: Images, wrong: np.ndarray[Any, Any]) -> None:
        self.labels = images.labels.astype(np.int64)
        self.labels[wrong] = (self.labels[wrong] + 1) % 4

    def see(self, _experiment: Experiment, task: Task) -> Any:
        probabilities = np.eye(4)[self.labels[task.seen] % 4]
        return SimpleNamespace(probabilities=probabilities, network={"file": "a.safetensors"})


def test_the_pool_has_no_image_that_was_used(images: Images) -> None:
    used = np.flatnonzero(images.labels < 4)[::2]
    pool = fresh_pool(used, images, 4, np.random.default_rng(0))
    assert not np.isin(pool, used).any()
    assert len(np.unique(pool)) == pool.size
    assert (images.labels[pool] == np.arange(4)[:, None]).all()


def test_runs_are_judged_once_on_images_outside_their_puzzles(
    images: Images, tmp_path: Path
) -> None:
    used = task_of(EXPERIMENT, images, SCALE).seen
    fresh = np.setdiff1d(np.flatnonzero(images.labels < 4), used)
    said: list[str] = []
    for wrong, expected in ((used, 1.0), (fresh[::5], 0.8)):
        reader: Any = Reader(images, wrong)
        (record,) = do_fresh_puzzles(
            [EXPERIMENT],
            reader,
            images,
            SCALE,
            directory=tmp_path / str(expected),
            n=10,
            say=said.append,
        )
        assert record["samples"] == 20
        assert record["images_right"] / record["images"] == pytest.approx(expected, abs=0.05)
        assert (record["right"] == 20) == (expected == 1.0)
    assert len(said) == 2
    again = do_fresh_puzzles(
        [EXPERIMENT], reader, images, SCALE, directory=tmp_path / "0.8", say=said.append
    )
    assert again == [record]
    assert len(said) == 2
    assert "| 4 | normal | antipignistic | 1 | 20 |" in fresh_puzzles_table(again)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sudoku-4.jsonl"
    path.write_text('{"format": "other"}\n')
    with pytest.raises(DataError, match="not a file of new puzzles"):
        read_fresh_puzzles(path)
