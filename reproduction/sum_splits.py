"""The tasks MNIST-Half and MNIST-EvenOdd of rsbench (Bortolotti et al. 2024), and their samples.

Pairs of digits are added, and only some pairs are in the data for training, validation and test;
all others are out of distribution. Their sums leave reasoning shortcuts (docs/shortcuts.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pinesy import Attribute, Cascade, function, joint
from pinesy.exceptions import DataError
from reproduction.scales import Images

Indices = npt.NDArray[np.int64]
#: Samples of each ordered pair, by part, as rsbench has them: of 42,000, 12,000 and 6,000 samples
#: of all 100 pairs.
SAMPLES: Final[Mapping[str, int]] = {"train": 420, "valid": 120, "test": 60, "ood": 60}
#: Quick ones.
FEW: Final[Mapping[str, int]] = {"train": 60, "valid": 20, "test": 20, "ood": 10}


@dataclass(frozen=True)
class SumTask:
    """Sums of two digits; some pairs are observed.

    Attributes
    ----------
    name : what it is called
    n_digits : the digits are 0 to this, less one
    pairs : those observed; they are in both orders
    published : in %, by measure, figures of a method with independent concepts and of the best one
    """

    name: str
    n_digits: int
    pairs: tuple[tuple[int, int], ...]
    published: Mapping[str, tuple[float | None, float]]

    @property
    def observed(self) -> list[tuple[int, int]]:
        """The observed pairs in both orders, sorted."""
        return sorted({*self.pairs, *((b, a) for a, b in self.pairs)})

    @property
    def others(self) -> list[tuple[int, int]]:
        """All other pairs."""
        pairs = ((a, b) for a in range(self.n_digits) for b in range(self.n_digits))
        return [pair for pair in pairs if pair not in self.observed]

    def rules(self, *, pairs_known: bool = False) -> Cascade:
        """Return the rules of the sum; with `pairs_known`, that of other pairs is -1.

        No sample has that sum, so that no network learns to read such a pair.
        """
        left, right = (Attribute(name, range(self.n_digits)) for name in ("left", "right"))
        pair, known = joint("pair", left, right), set(self.observed)
        if not pairs_known:
            return function("total", pair, "left + right")
        return function("total", pair, lambda a, b: a + b if (a, b) in known else -1)


TASKS: Final = {
    task.name: task
    for task in (
        SumTask(
            "half",
            5,
            ((0, 0), (0, 1), (2, 3), (2, 4)),
            {"concept_accuracy": (42.8, 79.4), "concept_ece": (None, 4.2)},
        ),
        SumTask(
            "evenodd",
            10,
            ((0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9)),
            {"concept_accuracy": (0.4, 20.3), "concept_ece": (None, 2.7)},
        ),
    )
}


@dataclass(frozen=True, eq=False)
class PairsPart:
    """Samples: the images (n, 2) that they are made of, and their digits (n, 2)."""

    images: Indices
    digits: Indices

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.images)


def sum_parts(
    task: SumTask, images: Images, samples: Mapping[str, int] = SAMPLES
) -> dict[str, PairsPart]:
    """Return the samples for training, validation, test, and out of distribution.

    As in rsbench each pair has as many samples, whose images are drawn from those of its digits
    with replacement: for training and validation from MNIST's images for training. They are the
    same in all runs.

    Examples
    --------
    >>> from reproduction.scales import QUICK
    >>> parts = sum_parts(TASKS["evenodd"], QUICK.images())
    >>> {name: len(part) for name, part in parts.items()}
    {'train': 6720, 'valid': 1920, 'test': 960, 'ood': 5040}
    """
    parts = {}
    for number, (name, count) in enumerate(samples.items()):
        pairs = task.others if name == "ood" else task.observed
        digits = np.repeat(np.array(pairs), count, axis=0)
        pool = np.arange(images.n_train) if name in ("train", "valid") else images.test
        rng = np.random.default_rng([task.n_digits, number])
        parts[name] = PairsPart(drawn_images(images.labels, pool, digits, rng), digits)
    return parts


def drawn_images(
    labels: npt.NDArray[np.uint8], pool: Indices, digits: Indices, rng: np.random.Generator
) -> Indices:
    """Return an image of the pool for each digit."""
    indices = np.empty(digits.shape, dtype=np.int64)
    for digit in np.unique(digits):
        is_digit, those = digits == digit, pool[labels[pool] == digit]
        if not len(those):
            raise DataError(f"there is no image of the digit {digit} to draw from")
        indices[is_digit] = rng.choice(those, int(is_digit.sum()))
    return indices
