"""Which rows were used in training, as hashes, so that they are not calibrated on by mistake."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError

#: Rows that are read at a time.
ROWS = 4096
#: Calibration data are refused if so many known rows would come by chance once in a million times.
SURE = -log(1e-6)


@dataclass(frozen=True, eq=False, repr=False)
class TrainingRows:
    """The rows of training data: a hash of 64 bits each, from which they cannot be had again.

    Attributes
    ----------
    hashes : rising
    """

    hashes: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, *tables: Mapping[str, npt.NDArray[Any]]) -> "TrainingRows":
        """Remember rows: of each input, by name, an array ``(n, ...)``. Cost: one reading."""
        return cls(np.sort(np.concatenate([_hashes(columns) for columns in tables])))

    def refuse(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Raise `DataError` if calibration rows are training rows, as far as that is certain.

        Tables have equal rows. The share of training rows that have an equal one tells how many
        rows of new data have one; more by chance (a bound of Chernoff) is nearly impossible.
        """
        new = _hashes(columns)
        known = int(np.isin(new, self.hashes).sum())
        n, expected = len(new), self._expected
        share = known / n
        if share > expected and n * _divergence(share, expected) > SURE:
            raise DataError(
                f"{known} of {n} calibration samples are training samples too (there, "
                f"{expected:.2g} of all have an equal one), which breaks the guarantee; set "
                "samples aside before fit, and calibrate on them alone"
            )

    @property
    def _expected(self) -> float:
        """The share of rows that are expected to have an equal one in training."""
        _, counts = np.unique(self.hashes, return_counts=True)
        return float((counts[counts > 1].sum() + 1) / (len(self.hashes) + 1))


def _divergence(share: float, chance: float) -> float:
    """Return the divergence of two coins, ``KL(share, chance)``; no less than that of Chernoff."""
    failed = (1.0 - share) * log((1.0 - share) / (1.0 - chance)) if share < 1.0 else 0.0
    return share * log(share / chance) + failed


def _hashes(columns: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint64]:
    texts = [blake2b(row, digest_size=8).digest() for row in _rows(columns)]
    return np.frombuffer(b"".join(texts), dtype=np.uint64)


def _rows(columns: Mapping[str, npt.NDArray[Any]]) -> Iterator[bytes]:
    """Yield the content of each row; numbers of all types that are equal are the same."""
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
