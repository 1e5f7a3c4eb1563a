"""Predictions of networks, stored so that a network reads the same images once."""

import os
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.format import read_array_header_1_0, read_magic
from torch import nn

from pinesy._common.files import writing_bytes
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.nets.checkpoints import data_fingerprint, network_fingerprint
from pinesy.nets.networks import check_images, count_classes, predict_proba


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
        shape = (len(images), count_classes(network))
        stored = _read(path, shape) if path.exists() else None
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


def _read(path: Path, shape: tuple[int, int]) -> tuple[FloatArray, float] | None:
    """Return what is in a file, or None (and say so) if it holds no predictions of this shape."""
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            stored = _array(archive, "probabilities", shape)
            seconds = float(_array(archive, "seconds", ()))
        if (stored >= 0).all() and np.allclose(stored.sum(axis=1), 1.0, rtol=0.0, atol=1e-9):
            return stored, seconds
        reason = "not the probabilities of these images"
    except (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
        reason = str(error)
    warnings.warn(f"{path}: cannot be used: {reason}; it is made anew", stacklevel=3)
    return None


def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Return an array, which must be of this shape: a header may claim any, so it is read first."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        start = read_magic(stream)
        if info.compress_type != zipfile.ZIP_STORED or start != (1, 0):
            raise ValueError(f"{name} is not stored as it was written")
        found, is_fortran, kind = read_array_header_1_0(stream)
        if found != shape or is_fortran or kind != np.float64:
            raise ValueError(f"{name} are {kind} {found}, not float64 {shape}")
        content = stream.read()
    return np.frombuffer(content, np.float64).reshape(shape).copy()  # which can be written to


def _write(path: Path, predictions: FloatArray, seconds: float) -> None:
    """Keep predictions; where that fails, they are used all the same."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing_bytes(path) as stream:
            np.savez(stream, probabilities=predictions, seconds=np.array(float(seconds)))
    except (DataError, OSError) as error:
        warnings.warn(f"predictions are not stored: {error}", stacklevel=3)
