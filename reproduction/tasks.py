"""What one piece is to be solved with: its samples, and the rules for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.rulebase.cascade import Cascade

__all__ = ["PARTS", "Part", "Task"]

#: What samples are for.
PARTS: Final = ("train", "valid", "test")
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
    groups : the rule sets that share a threshold
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
