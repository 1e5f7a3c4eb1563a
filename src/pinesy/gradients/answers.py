"""Samples of images with answers: nobody says what is on an image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._validation import FloatArray
from pinesy.cascade import Cascade
from pinesy.exceptions import DataError
from pinesy.nn.predict import predict_proba
from pinesy.targets import Target
from pinesy.transforms import antipignistic

__all__ = ["UNKNOWN", "Answered"]

#: The label of an image that nobody labelled.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Answered:
    """Samples of images with the answers that rules should give for them.

    Attributes
    ----------
    cascade : the rules
    inputs : the attribute of each image of a sample, in their order
    images : uint8 array (n, m, 28, 28)
    answers : for attributes that rules conclude on, the right value of each sample
    labels : if some images are labelled, an integer array (n, m): the position of each image's
        value in its domain, or -1 where nobody knows
    """

    cascade: Cascade
    inputs: Sequence[str]
    images: npt.NDArray[np.uint8]
    answers: Mapping[str, Any]
    labels: npt.NDArray[np.integer[Any]] | None = None

    def __post_init__(self) -> None:
        self._check_images()
        if not self.answers:
            raise DataError("there are no answers to learn from; name at least one attribute")
        for name, target in self.targets.items():
            if len(target) != len(self.images):
                raise DataError(
                    f"there are {len(self.images)} samples but {len(target)} answers for {name!r}"
                )
        if self.labels is not None:
            self._check_labels(self.labels)

    def _check_images(self) -> None:
        names = sorted(a.name for a in self.cascade.inputs)
        if sorted(self.inputs) != names:
            raise DataError(
                f"inputs names {len(self.inputs)} attributes; give each of the {len(names)} inputs "
                f"of the rules once: {', '.join(names[:6])}{', ...' * (len(names) > 6)}"
            )
        if self.images.ndim != 4 or self.images.shape[1] != len(self.inputs):
            raise DataError(
                f"images has shape {self.images.shape}; it must be (n, {len(self.inputs)}, 28, 28)"
            )

    def _check_labels(self, labels: npt.NDArray[np.integer[Any]]) -> None:
        if labels.shape != self.images.shape[:2] or labels.dtype.kind not in "iu":
            raise DataError(
                f"labels is of {labels.dtype} and has shape {labels.shape}; it must be of whole "
                f"numbers and have shape {self.images.shape[:2]}"
            )
        sizes = {a.name: len(a.domain) for a in self.cascade.inputs}
        most = np.array([sizes[name] for name in self.inputs])
        wrong = np.argwhere((labels < -1) | (labels >= most))
        if len(wrong):
            row, column = wrong[0]
            name = self.inputs[column]
            raise DataError(
                f"the label of {name!r} in sample {row} is {labels[row, column]}; it must be a "
                f"position from 0 to {sizes[name] - 1}, or -1 where it is not known"
            )

    @cached_property
    def targets(self) -> dict[str, Target]:
        """The answers, checked."""
        return {
            name: Target.of(values, self.cascade[name].output)
            for name, values in self.answers.items()
        }

    @cached_property
    def positions(self) -> dict[str, Tensor]:
        """The position of each answer in its domain."""
        return {n: torch.from_numpy(t.labels.astype(np.int64)) for n, t in self.targets.items()}

    def evidence(self, probabilities: FloatArray) -> dict[str, FloatArray]:
        """Return the possibilities of the inputs of some samples.

        Parameters
        ----------
        probabilities : array (images, classes), those of a sample one after the other
        """
        pi = antipignistic(probabilities).reshape(-1, len(self.inputs), probabilities.shape[1])
        return {name: pi[:, i] for i, name in enumerate(self.inputs)}

    def score(self, network: nn.Module) -> float:
        """Return the share of samples of which every answer is right and unambiguous."""
        return float(self._right(network).all(axis=0).mean())

    def answer_accuracy(self, network: nn.Module) -> float:
        """Return the share of single answers that are right and unambiguous.

        It tells a good reading from a bad one also where a sample has so many answers that hardly
        any is right in all of them.
        """
        return float(self._right(network).mean())

    def _right(self, network: nn.Module) -> npt.NDArray[np.bool_]:
        """Tell which answers (answers, n) are right and unambiguous."""
        seen = predict_proba(network, self.images.reshape(-1, *self.images.shape[2:]))
        found = self.cascade.infer(self.evidence(seen), list(self.answers))
        return np.stack(
            [
                (found[name].degrees.argmax(axis=1) == target.labels) & ~found[name].ambiguous
                for name, target in self.targets.items()
            ]
        )
