"""The samples of one experiment, of Addition-k or visual Sudoku, and the rules for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.problems import (
    SudokuSamples,
    addition,
    addition_labels,
    addition_samples,
    sudoku,
    sudoku_labels,
    sudoku_samples,
)
from pinesy.rulebase.cascade import Cascade
from reproduction.experiments import Experiment
from reproduction.scales import Images, Scale
from reproduction.splits import addition_split, sudoku_pools

#: What samples are for.
PARTS: Final = ("train", "valid", "test")
#: Groups of rule sets that share a tolerance: in Addition tuples of digits and carries, carries,
#: digits of the sum; in Sudoku pairs of cells, and whether the grid is valid.
ADDITION_GROUPS: Final = ("c_*", "w_*", "y_*")
SUDOKU_GROUPS: Final = ("b_*", "c")
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """The samples for training, validation or test.

    Attributes
    ----------
    images : array (n, m): for each sample the images that it is made of
    targets : for each attribute that rules conclude on, its right values
    """

    images: Indices
    targets: Mapping[str, npt.NDArray[Any]]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.images)


@dataclass(frozen=True, eq=False)
class Task:
    """A problem with the samples of one run.

    Attributes
    ----------
    rules : makes the rule base
    columns : for each input of the rules, by name, its column in `Part.images`
    groups : the rule sets that share a tolerance
    train, valid, test : the samples
    trained_on : the images that the network learns from
    seen : all images that the network is to read, in their order, each once
    judged_on : the images for test that tell how well it reads
    """

    rules: Callable[[], Cascade]
    columns: Mapping[str, int]
    groups: tuple[str, ...]
    train: Part
    valid: Part
    test: Part
    trained_on: Indices
    seen: Indices
    judged_on: Indices

    def evidence(self, cascade: Cascade, part: Part, possibilities: FloatArray) -> FloatArray:
        """Return the inputs of all samples of a part, side by side.

        Parameters
        ----------
        possibilities : array (images, classes)
        """
        order = [self.columns[a.name] for a in cascade.inputs]
        return possibilities[part.images[:, order]].reshape(len(part), -1)


def task_of(experiment: Experiment, images: Images, scale: Scale) -> Task:
    """Return the samples of an experiment, and its rules."""
    make = addition_task if experiment.problem == "addition" else sudoku_task
    return make(experiment, images, scale)


def addition_task(experiment: Experiment, images: Images, scale: Scale) -> Task:
    """Return the samples of a run and `k`, whatever setting or transformation.

    Parameters
    ----------
    experiment : one of the problem ``"addition"``
    images : those of `scale`
    """
    k = experiment.size
    pools = (*_split(experiment, images, scale), images.test)
    parts = {
        name: _addition_part(pool, experiment, images, number)
        for number, (name, pool) in enumerate(zip(PARTS, pools, strict=True))
    }
    return Task(
        partial(addition, k),
        {f"a_{i + 1}": i for i in range(2 * k)},
        ADDITION_GROUPS,
        **parts,
        trained_on=pools[0],
        # From answers no rule is learned, so that only test samples are inferred.
        seen=images.test if experiment.is_from_answers else np.sort(np.concatenate(pools)),
        judged_on=images.test,
    )


def _split(experiment: Experiment, images: Images, scale: Scale) -> tuple[Indices, Indices]:
    """Return the images for training and those for validation.

    DeepSoftLog's network learns from all images for training; validation is on perturbed ones.
    """
    if experiment.setting == "deepsoftlog-cnn":
        return np.arange(images.n_train), images.perturbed
    n_train, rng = scale.addition_images(experiment.setting), np.random.default_rng(experiment.run)
    return addition_split(n_train, rng, size=images.n_train, n_valid=scale.n_valid)


def _addition_part(pool: Indices, experiment: Experiment, images: Images, number: int) -> Part:
    rng = np.random.default_rng([experiment.run, experiment.size, number])
    indices = pool[addition_samples(images.labels[pool], experiment.size, rng)]
    return Part(indices, addition_labels(images.labels[indices]))


def sudoku_task(experiment: Experiment, images: Images, scale: Scale) -> Task:
    """Return the samples of a run, whatever transformation.

    With low data the puzzles for validation and test are those of the normal setting, and the
    puzzles for training are made of the first images of its pool, as many as they need. With
    distinct images, incorrect puzzles for training are no copies of the correct ones.

    Parameters
    ----------
    experiment : one of the problem ``"sudoku"``
    images : those of `scale`
    """
    dim = experiment.size
    counts = dict(zip(PARTS, scale.puzzles[dim], strict=True))
    is_distinct = experiment.setting == "distinct-images"
    pool_counts = {**counts, "train": counts["train"] * (1 + is_distinct)}
    rng = np.random.default_rng([experiment.run, dim])
    pools = sudoku_pools(images.labels[: images.n_real], dim, rng, **pool_counts)
    counts["train"] = scale.sudoku_puzzles(dim, experiment.setting)
    samples = {
        name: _puzzles(
            getattr(pools, name),
            n,
            np.random.default_rng([experiment.run, dim, number]),
            is_distinct and name == "train",
        )
        for number, (name, n) in enumerate(counts.items())
    }
    return Task(
        partial(sudoku, dim),
        {f"a_{i // dim + 1}_{i % dim + 1}": i for i in range(dim * dim)},
        SUDOKU_GROUPS,
        **{name: _sudoku_part(puzzles, dim) for name, puzzles in samples.items()},
        trained_on=samples["train"].images.ravel(),
        seen=np.unique(np.concatenate([puzzles.images.ravel() for puzzles in samples.values()])),
        judged_on=samples["test"].images.ravel(),
    )


def _puzzles(
    pool: Indices, n: int, rng: np.random.Generator, is_distinct: bool = False
) -> SudokuSamples:
    """Return `n` correct puzzles and as many incorrect ones, copies of them or of `n` others."""
    if not is_distinct:
        return sudoku_samples(pool[:, : len(pool) * n], n, rng)
    puzzles = sudoku_samples(pool[:, : 2 * len(pool) * n], 2 * n, rng)
    rows = np.r_[:n, 3 * n : 4 * n]  # correct ones, then the copies of the other half
    return SudokuSamples(puzzles.images[rows], puzzles.digits[rows], puzzles.valid[rows])


def _sudoku_part(puzzles: SudokuSamples, dim: int) -> Part:
    return Part(puzzles.images, sudoku_labels(puzzles.digits.reshape(-1, dim, dim)))
