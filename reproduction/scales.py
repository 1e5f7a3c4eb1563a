"""How large experiments are: as the paper's, or small enough for any machine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy import problems
from pinesy._common.validation import check_integer
from pinesy.exceptions import DomainError
from reproduction.experiments import Experiment
from reproduction.mnist import mnist
from reproduction.splits import perturb


@dataclass(frozen=True, eq=False)
class Images:
    """The images that an experiment is made of.

    Attributes
    ----------
    pixels : uint8 array (n, 28, 28)
    labels : uint8 array (n,), the digit on each image
    n_train : how many of them, from the first on, are for training; the others are for test
    n_perturbed : how many at the end are perturbed copies of images for training
    """

    pixels: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8]
    n_train: int
    n_perturbed: int = 0

    @property
    def n_real(self) -> int:
        """The number of images that are not perturbed."""
        return len(self.labels) - self.n_perturbed

    @property
    def test(self) -> npt.NDArray[np.int64]:
        """Which images are for test."""
        return np.arange(self.n_train, self.n_real)

    @property
    def perturbed(self) -> npt.NDArray[np.int64]:
        """Which images are perturbed."""
        return np.arange(self.n_real, len(self.labels))

    def with_perturbed(self, n: int) -> "Images":
        """Return these images and, after them, perturbed copies of some for training."""
        rng = np.random.default_rng(0)
        indices = rng.permutation(self.n_train)[:n]
        pixels = np.concatenate([self.pixels, perturb(self.pixels[indices], rng)])
        labels = np.concatenate([self.labels, self.labels[indices]])
        return replace(self, pixels=pixels, labels=labels, n_perturbed=len(indices))


@dataclass(frozen=True)
class Scale:
    """How large experiments are.

    Attributes
    ----------
    name : of a trial, the directory where its networks and records are apart; else empty
    embedded : whether the images are those that come with a package, or all of MNIST
    n_train : images that Addition's network is trained on, by setting
    n_valid : images for its validation
    puzzles : by size, the correct puzzles of Sudoku for training, validation and test
    low_puzzles : those for training with low data
    trainings : of DeepSoftLog's network; the best serves all runs
    n_perturbed : perturbed images, for its validation
    starts : of a network that learns from answers, at most
    epochs : of all trainings, if not those of the recipes
    precision : in which networks are trained from labels in the end; see `pinesy.nets.Recipe`
    """

    name: str
    embedded: bool
    n_train: Mapping[str, int]
    n_valid: int
    puzzles: Mapping[int, tuple[int, int, int]]
    low_puzzles: int
    trainings: int
    n_perturbed: int
    starts: int
    epochs: int | None = None
    precision: str = "float32"

    def with_epochs(self, epochs: int) -> "Scale":
        """Return the scale of a trial with other numbers of epochs.

        Examples
        --------
        >>> PAPER.with_epochs(3).name, QUICK.with_epochs(3).name
        ('epochs-3', 'quick-epochs-3')
        """
        check_integer(epochs, "epochs", 1)
        name = "-".join(filter(None, [self.name, f"epochs-{epochs}"]))
        return replace(self, name=name, epochs=epochs)

    def with_trainings(self, trainings: int) -> "Scale":
        """Return the scale with another number of trainings of DeepSoftLog's network."""
        return replace(self, trainings=check_integer(trainings, "trainings", 1))

    def place(self, root: Path) -> Path:
        """Return the directory for results or networks of this scale."""
        return root / self.name

    @property
    def marks(self) -> dict[str, Any]:
        """What sets the records of a trial apart."""
        return {
            "quick": self.embedded,
            "trial": bool(self.name) and not self.embedded,
            "scale": self.name,
        }

    def images(self) -> Images:
        """Return the images."""
        if self.embedded:
            return _embedded()
        data = mnist()
        return Images(*data.merged(), len(data.train_labels))

    def addition_images(self, setting: str) -> int:
        """Return how many images are for training in a setting of Addition."""
        return self.n_train["low-data" if setting == "low-data" else "normal"]

    def sudoku_puzzles(self, dim: int, setting: str) -> int:
        """Return how many correct puzzles are for training in a setting of Sudoku."""
        return self.low_puzzles if setting == "low-data" else self.puzzles[dim][0]

    def check(self, experiment: Experiment, images: Images) -> None:
        """Raise `DomainError` if there are not images enough for an experiment."""
        if experiment.problem == "addition":
            is_deepsoftlog = experiment.setting == "deepsoftlog-cnn"
            n_valid = images.n_perturbed if is_deepsoftlog else self.n_valid
            least = min(self.addition_images(experiment.setting), n_valid, len(images.test))
            if 2 * experiment.size > least:
                raise DomainError(
                    f"{experiment}: one sample needs {2 * experiment.size} images, and of those "
                    f"for training, validation or test there are {least} only; k is at most "
                    f"{least // 2}"
                )


def _embedded() -> Images:
    """Return the embedded digits, which come sorted by class, in random order."""
    pixels, labels = problems.digits()
    order = np.random.default_rng(0).permutation(len(labels))
    return Images(pixels[order], labels[order], len(labels) * 4 // 5)


#: That of the paper.
PAPER: Final = Scale(
    name="",
    embedded=False,
    n_train={"normal": 50_000, "low-data": 2_500},
    n_valid=10_000,
    puzzles={4: (100, 50, 50), 9: (100, 50, 50)},
    low_puzzles=5,
    trainings=10,
    n_perturbed=10_000,
    starts=8,
)
#: For a machine without hours: the 5,000 digits that need no download.
QUICK: Final = Scale(
    name="quick",
    embedded=True,
    n_train={"normal": 3_000, "low-data": 500},
    n_valid=1_000,
    puzzles={4: (40, 20, 20), 9: (20, 10, 10)},
    low_puzzles=5,
    trainings=2,
    n_perturbed=500,
    starts=2,
    epochs=3,
)
