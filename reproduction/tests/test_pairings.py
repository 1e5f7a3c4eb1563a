"""Long sums on many pairings of the test images."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pinesy import problems
from pinesy.exceptions import DataError
from reproduction.experiments import Experiment
from reproduction.pairings import (
    bootstrap_shares,
    do_pairings,
    paired_part,
    pairings_table,
    read_pairings,
)
from reproduction.scales import Images
from reproduction.tasks import Part, Task
from reproduction.tests.tiny import TINY_QUICK, few_digits

EXPERIMENT = Experiment("addition", 2, "normal", "antipignistic", 0)


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Images:
    monkeypatch.setattr(problems, "digits", few_digits)
    return TINY_QUICK.images()


class Reader:
    """A network that reads all images, except that it takes some for another digit."""

    def __init__(self, images: Images, wrong: int) -> None:
        self.labels = images.labels.astype(np.int64)
        self.labels[images.test[:wrong]] = (self.labels[images.test[:wrong]] + 1) % 10

    def see(self, _experiment: Experiment, task: Task) -> Any:
        p = np.eye(10)[self.labels[task.seen]]
        return SimpleNamespace(probabilities=p, network={"file": "a.safetensors"})


def test_every_image_is_in_each_pairing_once(images: Images) -> None:
    n_sums = len(images.test) // 4
    part = paired_part(images.test, images, 2, np.random.default_rng(0), 2 * n_sums + 1)
    assert len(part) == 3 * n_sums
    for pairing in np.split(part.images, 3):
        assert len(np.unique(pairing)) == 4 * n_sums
        assert np.isin(pairing, images.test).all()


def test_more_digits_than_images_are_refused(images: Images) -> None:
    with pytest.raises(ValueError, match="do not make a sum"):
        paired_part(images.test[:3], images, 2, np.random.default_rng(0), 1)


def test_runs_are_judged_once_and_errors_count_sums(images: Images, tmp_path: Path) -> None:
    wrong = len(images.test) // 10
    reader: Any = Reader(images, wrong)
    said: list[str] = []
    for _ in range(2):
        records = do_pairings(
            [EXPERIMENT],
            reader,
            images,
            TINY_QUICK,
            directory=tmp_path,
            n=400,
            resamples=20,
            say=said.append,
        )
    (record,) = records
    assert len(said) == 1
    assert record["digit_accuracy"] == pytest.approx(1 - wrong / len(images.test))
    share = record["right"] / record["samples"]
    assert abs(share - record["digit_accuracy"] ** 4) < 0.1  # all four digits must be read
    assert read_pairings(tmp_path / "addition-2.jsonl") == records
    assert f"| 2 | normal | antipignistic | 1 | {record['samples']} |" in pairings_table(records)


def test_bootstrap_deviates_as_drawing_images_does(images: Images) -> None:
    """The share of sums whose first image is wrong, of which the deviation is known."""
    is_wrong = np.zeros(len(images.labels), np.bool_)
    is_wrong[images.test[::4]] = True

    def share(part: Part) -> float:
        return float(is_wrong[part.images].mean())

    rng = np.random.default_rng(0)
    shares = bootstrap_shares(share, images, 1, rng, n=len(images.test), resamples=1000)
    p = float(is_wrong[images.test].mean())
    expected = np.sqrt(p * (1 - p) / len(images.test))
    assert np.std(shares) == pytest.approx(expected, rel=0.15)
    assert np.mean(shares) == pytest.approx(p, abs=4 * expected / np.sqrt(1000))


def test_a_file_that_is_none_of_pairings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "addition-2.jsonl"
    for text in ("{", '{"format": "other"}\n'):
        path.write_text(text)
        with pytest.raises(DataError, match="not a file of pairings"):
            read_pairings(path)


def test_trainings_are_judged_each_and_the_chosen_one_apart(images: Images, tmp_path: Path) -> None:
    class Trainings(Reader):
        """Two trainings: the second one reads all images, and better perturbed ones, too."""

        def see_training(self, experiment: Experiment, task: Task) -> tuple[Any, float]:
            reader = Reader(with_perturbed, 0) if experiment.run else self
            return reader.see(experiment, task), 0.9 + 0.05 * experiment.run

    with_perturbed = images.with_perturbed(TINY_QUICK.n_perturbed)
    trainings: Any = Trainings(with_perturbed, len(images.test) // 10)
    experiments = [
        Experiment("addition", 2, "deepsoftlog-cnn", "antipignistic", run) for run in (0, 1)
    ]
    records = do_pairings(
        *(experiments, trainings, with_perturbed, TINY_QUICK),
        directory=tmp_path,
        n=100,
        resamples=2,
    )
    first, second = (record["right"] / record["samples"] for record in records)
    assert first < second == 1.0
    *_, mean, chosen = pairings_table(records).splitlines()
    assert f"| {50 * (first + 1):.1f} |" in mean
    assert "run 1 chosen" in chosen
    assert "| 100.0 |" in chosen
