"""Predictions: probability distributions on the classes, stored, and judged as readings."""

import os
import time
import warnings
import zipfile
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pinesy._common.files import writing_bytes
from pinesy._common.validation import FloatArray, check_integer
from pinesy.exceptions import DataError
from pinesy.nets.checkpoints import data_fingerprint, network_fingerprint
from pinesy.nets.networks import check_images, predicting, preprocess, scores_of
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute


def predict_proba(network: nn.Module, images: npt.NDArray[Any], batch: int = 1000) -> FloatArray:
    """Return the probability of each class for each image: softmax of the scores, in float64.

    Parameters
    ----------
    network : as it is; it is used without dropout, and its mode is not changed
    images : uint8 array (n, 28, 28)
    batch : how many images are read at once

    Returns
    -------
    probabilities : array (n, classes); each row has the sum 1

    Examples
    --------
    >>> from pinesy.nets import PaperCNN
    >>> predict_proba(PaperCNN(4), np.zeros((3, 28, 28), np.uint8)).shape
    (3, 4)
    """
    if not isinstance(network, nn.Module):
        raise DataError(
            f"network is a {type(network).__name__}; give a torch.nn.Module (that of a "
            "NetworkPerception is its .network)"
        )
    batch = check_integer(batch, "batch", least=1)
    check_images(images)
    if not len(images):
        raise DataError("there are no images to predict")
    with predicting(network):
        parts = [
            scores_of(network, preprocess(images[start : start + batch])).double().softmax(1)
            for start in range(0, len(images), batch)
        ]
    return torch.cat(parts).cpu().numpy()


class PredictionCache:
    """Predictions stored in a directory, so that a network reads the same images once.

    Parameters
    ----------
    directory : is made if it is not there

    Examples
    --------
    >>> import tempfile
    >>> from pinesy.nets import PaperCNN
    >>> images = np.zeros((3, 28, 28), np.uint8)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     network, cache = PaperCNN(4, seed=0), PredictionCache(place)
    ...     first, second = (cache.predict_proba(network, images) for _ in range(2))
    >>> bool((first == second).all())
    True
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def predict_proba(
        self, network: nn.Module, images: npt.NDArray[Any], batch: int = 1000
    ) -> FloatArray:
        """Return what `predict_proba` returns, from the directory if it is there.

        The file's name is made of the layers, the weights, the images and `batch`. A file that
        cannot be used is reported and made anew.
        """
        return self.timed(network, images, batch)[0]

    def timed(
        self, network: nn.Module, images: npt.NDArray[Any], batch: int = 1000
    ) -> tuple[FloatArray, float]:
        """Return what `predict_proba` returns, and the seconds that it took when it was made."""
        check_images(images)
        path = self.path(network, images, batch)
        stored = _read(path, len(images)) if path.exists() else None
        if stored is not None:
            return stored
        start = time.perf_counter()
        predictions = predict_proba(network, images, batch)
        seconds = time.perf_counter() - start
        _write(path, predictions, seconds)
        return predictions, seconds

    def path(self, network: nn.Module, images: npt.NDArray[Any], batch: int = 1000) -> Path:
        """Return the file where predictions are stored."""
        key = f"{network_fingerprint(network)} {data_fingerprint(images)} {batch}"
        name = data_fingerprint(np.frombuffer(key.encode(), np.uint8))
        return self.directory / f"{name}.npz"


def _read(path: Path, n: int) -> tuple[FloatArray, float] | None:
    """Return what is in a file, or None (and say so) if it holds no predictions for `n` images."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            stored, seconds = file["probabilities"], float(file["seconds"])
        fits = stored.dtype == np.float64 and stored.ndim == 2 and len(stored) == n
        if fits and np.allclose(stored.sum(axis=1), 1.0, rtol=0.0, atol=1e-9):
            return np.asarray(stored), seconds
        reason = "not the probabilities of these images"
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        reason = str(error)
    warnings.warn(f"{path}: cannot be used: {reason}; it is made anew", stacklevel=3)
    return None


def _write(path: Path, predictions: FloatArray, seconds: float) -> None:
    """Keep predictions; where that fails, they are used all the same."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing_bytes(path) as stream:
            np.savez(stream, probabilities=predictions, seconds=np.array(seconds))
    except (DataError, OSError) as error:
        warnings.warn(f"predictions are not stored: {error}", stacklevel=3)


@dataclass(frozen=True)
class Reading:
    """How a network reads labelled images, when it has learned from answers.

    Attributes
    ----------
    accuracy : the share of the images that are read rightly
    read_as : for each value of which there are images, the value that most of them are read as
    """

    accuracy: float
    read_as: dict[Hashable, Hashable]

    @property
    def kind(self) -> str:
        """``"right"``; ``"permuted"`` if values are taken for one another; else ``"merged"``.

        Permuted values may give right answers all the same, where rules do not care what the
        values are called; merged ones lie behind some of the errors.
        """
        if all(label == read for label, read in self.read_as.items()):
            return "right"
        return "permuted" if len(set(self.read_as.values())) == len(self.read_as) else "merged"

    def __str__(self) -> str:
        """Say it in words, such as ``"permuted: 0 as 5, 5 as 0"``."""
        wrong = [f"{label} as {read}" for label, read in self.read_as.items() if label != read]
        return f"{self.kind}: {', '.join(wrong)}" if wrong else self.kind


def reading(
    probabilities: FloatArray,
    labels: npt.ArrayLike,
    attribute: Attribute | None = None,
) -> Reading:
    """Return how labelled images are read, given what a network makes of them.

    Parameters
    ----------
    probabilities : array (n, classes)
    labels : (n,), the right values
    attribute : what is read; by default its values are 0, 1 and so on

    Examples
    --------
    >>> print(reading(np.eye(3)[[1, 1, 0, 2]], [0, 0, 1, 2]))
    permuted: 0 as 1, 1 as 0
    """
    attribute = attribute or Attribute("image", range(probabilities.shape[1]))
    target = Target.of(np.asarray(labels), attribute)
    if len(probabilities) != len(target) or not len(target):
        raise DataError(f"there are {len(probabilities)} images and {len(target)} labels")
    read, right = probabilities.argmax(axis=1), target.labels
    read_as = {
        attribute.domain[k]: attribute.domain[np.bincount(read[right == k]).argmax()]
        for k in np.unique(right)
    }
    return Reading(float((read == right).mean()), read_as)
