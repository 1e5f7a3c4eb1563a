"""Samples as rows of input columns, the form of evidence that programs take."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, check_distribution
from pinesy.exceptions import placed
from pinesy.rules.attributes import Attribute
from pinesy.transforms import RowTransform, check_probabilities


@dataclass(frozen=True)
class Rows:
    """The input distributions of all samples.

    Attributes
    ----------
    attributes : the inputs
    arrays : one array an attribute, or one with the concatenated columns of all attributes
    n : the number of samples
    is_batch : whether they are a batch; else there is one sample
    first : the row of the first sample in error messages
    transform : transforms probabilities into possibilities, block by block
    probabilities : the indices of the attributes whose distributions are probabilities
    """

    attributes: tuple[Attribute, ...]
    arrays: list[npt.NDArray[Any]]
    n: int
    is_batch: bool
    first: int = 0
    transform: RowTransform | None = None
    probabilities: Collection[int] = ()

    def block(self, first: int, last: int) -> FloatArray:
        """Return the possibilities of samples ``first .. last-1`` as contiguous rows."""
        degrees = self.raw_block(first, last)
        if self.transform is None:
            return degrees
        possibilities = degrees if degrees.flags.owndata else np.empty(degrees.shape)
        bad_row = self.transform.fill_block(degrees, possibilities)
        if bad_row >= 0:  # programs raise an error for this row, and for none before it
            possibilities[:bad_row], possibilities[bad_row:] = 1.0, np.nan
        return possibilities

    def raw_block(self, first: int, last: int) -> FloatArray:
        """Return the distributions of samples ``first .. last-1`` before the transformation."""
        return hstack_rows([array[first:last] for array in self.arrays], np.dtype(np.float64))

    @property
    def columns(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint32]] | None:
        """An array with samples as columns, and the row of each input column in it.

        None if the inputs are not laid out like this in memory. Results of other programs are.
        """
        if not self.arrays or self.n < 2 or self.transform is not None:
            return None
        if len(self.arrays) == 1 and self.arrays[0].flags.f_contiguous:
            base: Any = self.arrays[0].T
            indices = [np.arange(len(base), dtype=np.uint32)]
        else:
            base = self.arrays[0].base
            indices = [_row_indices(array, base, self.n) for array in self.arrays]
        if base is None or any(rows is None for rows in indices):
            return None
        return base, np.concatenate(indices)

    def refuse(self, row: int) -> None:
        """Raise the error of sample `row`, which has an invalid distribution."""
        degrees = self.raw_block(row, row + 1)[0]
        columns = column_slices(self.attributes)
        for index, attribute in enumerate(self.attributes):
            where = f"attribute {attribute.name!r}" + f", row {self.first + row}" * self.is_batch
            distribution = degrees[columns[attribute.name]]
            if index in self.probabilities:
                with placed(where):
                    check_probabilities(distribution, attribute.domain)
            else:
                check_distribution(distribution, attribute.domain, where)


def hstack_rows(parts: list[npt.NDArray[Any]], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return arrays with the same number of rows as one array, in C order."""
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype=dtype)
    rows = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)), dtype)
    return np.concatenate(parts, axis=1, out=rows)


def _row_indices(array: npt.NDArray[Any], base: Any, n: int) -> Any:
    """Return the rows of `base` that are the columns of an array, or None if it is no such view."""
    if not isinstance(base, np.ndarray) or array.base is not base:
        return None
    if base.ndim != 2 or base.shape[1] != n:
        return None
    if not base.flags.c_contiguous or array.strides != base.strides[::-1]:
        return None
    start = (array.ctypes.data - base.ctypes.data) // base.strides[0]
    return np.arange(start, start + array.shape[1], dtype=np.uint32)
