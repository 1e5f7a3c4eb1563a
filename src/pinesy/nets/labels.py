"""The labels of images, checked against a network."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy.exceptions import DataError
from pinesy.nets.networks import count_classes

#: How far the probabilities of a label may sum from 1.
SUM_TOLERANCE = 1e-4


def check_labels(labels: object, network: nn.Module, pixels: Tensor) -> Tensor:
    """Return the labels as a tensor, or raise `DataError`."""
    is_soft = isinstance(labels, np.ndarray) and labels.dtype.kind == "f" and labels.ndim == 2
    if not isinstance(labels, np.ndarray) or (labels.dtype.kind not in "iu" and not is_soft):
        raise DataError(
            f"labels is {labels!r:.60}; give an array of integers, or of probabilities (n, classes)"
        )
    if labels.ndim != 1 + is_soft or len(labels) != len(pixels):
        raise DataError(f"labels has shape {labels.shape}, and there are {len(pixels)} images")
    if len(labels) < 2:
        raise DataError(f"training needs at least 2 images; there are {len(labels)}")
    classes = count_classes(network)
    if is_soft:
        return _check_probabilities(labels, classes)
    if labels.min() < 0 or labels.max() >= classes:
        wrong = int(np.flatnonzero((labels < 0) | (labels >= classes))[0])
        raise DataError(
            f"label {labels[wrong]} of image {wrong}: the network has the classes 0 to "
            f"{classes - 1}; give one with more classes, or other labels"
        )
    return torch.from_numpy(labels.astype(np.int64))


def _check_probabilities(labels: npt.NDArray[Any], classes: int) -> Tensor:
    """Return the probabilities of labels as a tensor, or raise `DataError`."""
    if labels.shape[1] != classes:
        raise DataError(f"labels has {labels.shape[1]} columns; the network has {classes} classes")
    good = (labels >= 0).all(axis=1) & (np.abs(labels.sum(axis=1) - 1) < SUM_TOLERANCE)
    if not good.all():
        row = int(np.argmin(good))
        raise DataError(
            f"the labels of image {row} are {labels[row]!r:.80}; they must be probabilities, which "
            "sum to 1"
        )
    return torch.from_numpy(labels.astype(np.float32))
