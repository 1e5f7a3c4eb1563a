"""What a network that nobody told the values reads each of them as."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError


@dataclass(frozen=True)
class Reading:
    """How a network reads labelled images, when it has learned from answers.

    Attributes
    ----------
    accuracy : the share of the images that are read rightly
    read_as : for each class of which there are images, the class that most of them are read as
    """

    accuracy: float
    read_as: dict[int, int]

    @property
    def kind(self) -> str:
        """``"right"``; ``"permuted"`` if classes are taken for one another; else ``"merged"``.

        Permuted classes may give right answers all the same, where rules do not care what the
        values are called; merged ones lie behind some of the errors.
        """
        if all(label == read for label, read in self.read_as.items()):
            return "right"
        return "permuted" if len(set(self.read_as.values())) == len(self.read_as) else "merged"

    def __str__(self) -> str:
        """Say it in words, such as ``"permuted: 0 as 5, 5 as 0"``."""
        wrong = [f"{label} as {read}" for label, read in self.read_as.items() if label != read]
        return f"{self.kind}: {', '.join(wrong)}" if wrong else self.kind


def reading(probabilities: FloatArray, labels: npt.NDArray[Any]) -> Reading:
    """Return how labelled images are read, given what a network makes of them.

    Parameters
    ----------
    probabilities : array (n, classes)
    labels : integer array (n,) of classes, from 0

    Examples
    --------
    >>> found = reading(np.eye(3)[[1, 1, 0, 2]], np.array([0, 0, 1, 2]))
    >>> print(found)
    permuted: 0 as 1, 1 as 0
    """
    if len(probabilities) != len(labels) or not len(labels):
        raise DataError(f"there are {len(probabilities)} images and {len(labels)} labels")
    found = probabilities.argmax(axis=1)
    read_as = {
        int(label): int(np.bincount(found[labels == label]).argmax()) for label in np.unique(labels)
    }
    return Reading(float((found == labels).mean()), read_as)
