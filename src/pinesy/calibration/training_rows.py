"""Hashes of the training rows, so that nobody calibrates on them by mistake."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError

#: The number of rows that are hashed at a time.
ROWS = 4096
#: Calibration data are refused if chance gives so many training rows once in a million times.
SURE = -log(1e-6)


@dataclass(frozen=True, eq=False, repr=False)
class TrainingRows:
    """The rows of training data as 64-bit hashes, from which the data cannot be restored.

    Attributes
    ----------
    hashes : in increasing order
    """

    hashes: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, *tables: Mapping[str, npt.NDArray[Any]]) -> "TrainingRows":
        """Hash the rows of tables: by the name of each input, an array ``(n, ...)``."""
        return cls(np.sort(np.concatenate([_hashes(columns) for columns in tables])))

    def refuse(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Raise `DataError` if more calibration rows are training rows than chance explains.

        New data may equal training rows by chance; the share of training rows with a duplicate
        estimates how many do. Chernoff's bound gives the probability of more.
        """
        new = _hashes(columns)
        known = int(np.isin(new, self.hashes).sum())
        _, counts = np.unique(self.hashes, return_counts=True)
        expected = float((counts[counts > 1].sum() + 1) / (len(self.hashes) + 1))
        n, share = len(new), known / len(new)
        if share > expected and n * _divergence(share, expected) > SURE:
            raise DataError(
                f"{known} of {n} calibration samples are training samples too (there, "
                f"{expected:.2g} of all have an equal one), which breaks the guarantee; set "
                "samples aside before fit, and calibrate on them alone"
            )


def _divergence(share: float, chance: float) -> float:
    """Return the Kullback-Leibler divergence of two Bernoulli distributions, for ``share > 0``."""
    failed = (1.0 - share) * log((1.0 - share) / (1.0 - chance)) if share < 1.0 else 0.0
    return share * log(share / chance) + failed


def _hashes(columns: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint64]:
    texts = [blake2b(row, digest_size=8).digest() for row in _row_bytes(columns)]
    return np.frombuffer(b"".join(texts), dtype=np.uint64)


def _row_bytes(columns: Mapping[str, npt.NDArray[Any]]) -> Iterator[bytes]:
    """Yield the bytes of each row; equal numbers of different types have the same bytes."""
    arrays = [columns[name] for name in sorted(columns)]
    numbers = [a for a in arrays if a.dtype.kind in "fiub"]
    others = [a for a in arrays if a.dtype.kind not in "fiub"]
    for first in range(0, len(arrays[0]), ROWS):
        n = len(arrays[0][first : first + ROWS])
        parts = [np.asarray(a[first : first + ROWS], np.float64).reshape(n, -1) for a in numbers]
        block = np.hstack([np.empty((n, 0)), *parts]) + 0.0  # -0.0 becomes 0.0
        values = [a[first : first + ROWS].reshape(n, -1).tolist() for a in others]
        for row in range(n):
            yield block[row].tobytes() + repr([v[row] for v in values]).encode()
