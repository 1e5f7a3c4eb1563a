"""A uniform sample of the rows of batches, in one pass and in the memory of a few samples.

Every row gets a random number; those with the smallest ones stay. The numbers come in the order of
the rows, so that the sample does not depend on where batches end.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, listed
from pinesy.exceptions import DataError

Columns = dict[str, "np.typing.NDArray[Any]"]


def batches_of(table: Any) -> Iterator[Any] | None:
    """Return the batches that a table comes in, an iterator's or Dask's; None if it is a whole."""
    if hasattr(table, "dask") and hasattr(table, "partitions"):
        return (part.compute() for part in table.partitions)
    return table if isinstance(table, Iterator) else None


class RowSample:
    """The rows so far with the smallest random numbers.

    Parameters
    ----------
    size : the most rows; None for all
    seed : of the random numbers
    """

    def __init__(self, size: int | None, seed: int) -> None:
        self._size = size
        self._random = np.random.default_rng(seed)
        self._parts: list[tuple[FloatArray, Columns]] = []
        self._kept = 0
        #: Rows that were seen.
        self.seen = 0

    def add(self, batch: Mapping[str, Any]) -> None:
        """Look at the rows of a batch of columns by name."""
        columns = {n: _array(c) for n, c in batch.items()}
        lengths = {len(c) for c in columns.values()}
        if len(lengths) != 1:
            raise DataError(f"a batch has columns of {listed(sorted(map(str, lengths)))} rows")
        if self._parts and set(columns) != set(self._parts[0][1]):
            raise DataError(
                f"a batch has the columns {listed(list(columns))}; the first has "
                f"{listed(list(self._parts[0][1]))}"
            )
        [n] = lengths
        self.seen += n
        self._parts.append((self._random.random(n), columns))
        self._kept += n
        if self._size is not None and self._kept > 2 * self._size:
            self._parts = [self._merged()]
            self._kept = len(self._parts[0][0])

    def _merged(self) -> tuple[FloatArray, Columns]:
        """Return the rows that stay, in their order, as one part."""
        keys = np.concatenate([part[0] for part in self._parts])
        kept = np.arange(len(keys))
        if self._size is not None and len(keys) > self._size:
            kept = np.sort(np.argpartition(keys, self._size)[: self._size])
        names = list(self._parts[0][1])
        return keys[kept], {n: _joined([part[1][n] for part in self._parts])[kept] for n in names}

    def table(self) -> Columns:
        """Return the rows by column."""
        if not self._parts:
            raise DataError("there are no batches to induce rules from")
        return self._merged()[1]


def _array(column: Any) -> Any:
    """Return a column as an array; of single rows, an array of one cell."""
    return np.atleast_1d(np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column))


def _joined(parts: Iterable[Any]) -> Any:
    """Return arrays one after the other; of numbers and of others together, as objects."""
    arrays = list(parts)
    if len({a.dtype.kind in "iuf" for a in arrays}) > 1:
        arrays = [a.astype(object) for a in arrays]
    return np.concatenate(arrays)
