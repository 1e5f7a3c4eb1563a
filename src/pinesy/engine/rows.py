"""Samples as rows of input columns, in the types of numbers that programs run in.

Degrees are rounded on the way in, and never again: minimum and maximum only copy numbers, and
rounding keeps their order, so it makes no difference whether inputs and parameters are rounded
before a program runs or its results are afterwards. What comes out in a small type is the rounding
of the exact result.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, check_distribution
from pinesy.engine.code import Code
from pinesy.exceptions import DegreeError, DomainError, placed
from pinesy.rules.attributes import Attribute
from pinesy.transforms import RowTransform, check_probabilities

KERNELS = "pinesy.engine.kernels"

#: A type of numbers: its name, or NumPy's type.
NumberType = str | type[Any] | np.dtype[Any]
FLOAT64: np.dtype[Any] = np.dtype(np.float64)
NUMBER_TYPES = ("float64", "float32", "uint16", "uint8")


def number_type(dtype: NumberType) -> np.dtype[Any]:
    """Return a type as NumPy's, or raise `DomainError`.

    Examples
    --------
    >>> number_type("uint8")
    dtype('uint8')
    """
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        kind = np.dtype(object)
    if kind.name not in NUMBER_TYPES or not kind.isnative:
        raise DomainError(f"dtype is {dtype!r:.60}; it must be one of {', '.join(NUMBER_TYPES)}")
    return kind


def largest(dtype: np.dtype[Any]) -> int:
    """Return the number that stands for the degree 1: 255 in uint8, 65535 in uint16."""
    return int(np.iinfo(dtype).max) if dtype.kind == "u" else 1


def rounded(degrees: FloatArray, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return degrees as the nearest numbers of a type, of two at the same distance the even one.

    Examples
    --------
    >>> rounded(np.array([0.0, 0.25, 1.0]), np.dtype("uint8")).tolist()
    [0, 64, 255]
    """
    return (np.rint(degrees * largest(dtype)) if dtype.kind == "u" else degrees).astype(dtype)


def as_degrees(numbers: npt.NDArray[Any]) -> FloatArray:
    """Return numbers of a type as degrees: of uint8, divided by 255.

    Examples
    --------
    >>> as_degrees(np.array([0, 51, 255], dtype=np.uint8)).tolist()
    [0.0, 0.2, 1.0]
    """
    if numbers.dtype.kind == "u":
        return np.asarray(numbers / largest(numbers.dtype))
    return numbers.astype(np.float64, copy=False)


def code_in(code: Code, dtype: np.dtype[Any]) -> Code:
    """Return a program with its parameters in a type of numbers."""
    return replace(code, constants=rounded(code.constants, dtype), least=rounded(code.least, dtype))


@dataclass(frozen=True)
class Rows:
    """The input distributions of all samples: one array an attribute, or one for all of them.

    Errors count the rows from `first` on. `probabilities` has the indices of the attributes whose
    distributions are probabilities. With a `transform` they become possibilities block by block.
    """

    attributes: tuple[Attribute, ...]
    arrays: list[npt.NDArray[Any]]
    n: int
    is_batch: bool
    first: int = 0
    transform: RowTransform | None = None
    probabilities: Collection[int] = ()

    def block(self, first: int, last: int, dtype: np.dtype[Any] = FLOAT64) -> npt.NDArray[Any]:
        """Return samples ``first .. last-1`` as contiguous rows of all columns.

        In a type of numbers, those of that type as they are. In a small type a row with a number
        that is no degree becomes 0, so that it is no distribution.
        """
        if dtype == FLOAT64:
            return self._possibilities(first, last)
        if self.transform is not None or all(array.dtype != dtype for array in self.arrays):
            return _rounded_rows(self._possibilities(first, last), dtype)
        parts = [array[first:last] for array in self.arrays]
        parts = [part if part.dtype == dtype else _rounded_rows(part, dtype) for part in parts]
        return _side_by_side(parts, dtype)

    def _possibilities(self, first: int, last: int) -> FloatArray:
        degrees = self.given(first, last)
        if self.transform is None:
            return degrees
        possibilities = degrees if degrees.flags.owndata else np.empty(degrees.shape)
        bad = self.transform.fill_block(degrees, possibilities)
        if bad >= 0:  # the loops refuse this row, and none before it
            possibilities[:bad], possibilities[bad:] = 1.0, np.nan
        return possibilities

    def given(self, first: int, last: int) -> FloatArray:
        """Return the same as they were given, before a transformation."""
        return _side_by_side([array[first:last] for array in self.arrays], FLOAT64)

    @property
    def columns(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint32]] | None:
        """An array that holds the inputs column by column, and which of its rows they are.

        None if they do not lie so in memory. Results of other programs do.
        """
        if not self.arrays or self.n < 2 or self.transform is not None:
            return None
        if len(self.arrays) == 1 and self.arrays[0].flags.f_contiguous:
            base: Any = self.arrays[0].T
            indices = [np.arange(len(base), dtype=np.uint32)]
        else:
            base = self.arrays[0].base
            indices = [_places(array, base, self.n) for array in self.arrays]
        if base is None or any(index is None for index in indices):
            return None
        return base, np.concatenate(indices)

    def refuse(self, row: int, dtype: np.dtype[Any] = FLOAT64) -> None:
        """Raise the error that says what is wrong with sample `row`, in a type of numbers."""
        may_be = dtype.kind == "u" and self.transform is None
        is_raw = [may_be and array.dtype == dtype for array in self.arrays]
        parts = [array[row : row + 1] for array in self.arrays]
        arrays = [
            as_degrees(part) if raw else part for part, raw in zip(parts, is_raw, strict=True)
        ]
        try:
            replace(self, arrays=arrays, n=1, first=self.first + row)._refuse_first()
        except DegreeError as error:
            hint = f" (in arrays of {dtype}, {largest(dtype)} stands for 1)" if any(is_raw) else ""
            raise DegreeError(f"{error}{hint}") from None

    def _refuse_first(self) -> None:
        degrees = self.given(0, 1)[0]
        columns = column_slices(self.attributes)
        for index, attribute in enumerate(self.attributes):
            where = f"attribute {attribute.name!r}" + f", row {self.first}" * self.is_batch
            attribute_degrees = degrees[columns[attribute.name]]
            if index in self.probabilities:
                with placed(where):
                    check_probabilities(attribute_degrees, attribute.domain)
            else:
                check_distribution(attribute_degrees, attribute.domain, where)


def _side_by_side(parts: list[npt.NDArray[Any]], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return tables of as many rows as one, in C order."""
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype=dtype)
    rows = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)), dtype)
    return np.concatenate(parts, axis=1, out=rows)


def _rounded_rows(rows: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    out = np.empty(rows.shape, dtype)
    degrees = np.ascontiguousarray(rows, dtype=np.float64)
    load_kernels(KERNELS).kernels_of(dtype).round_rows(degrees, out)
    return out


def _places(array: npt.NDArray[Any], base: Any, n: int) -> Any:
    """Return which rows of a whole the columns of an array are, or None if they are not."""
    if not isinstance(base, np.ndarray) or array.base is not base:
        return None
    if base.ndim != 2 or base.shape[1] != n:
        return None
    if not base.flags.c_contiguous or array.strides != base.strides[::-1]:
        return None
    first = (array.ctypes.data - base.ctypes.data) // base.strides[0]
    return np.arange(first, first + array.shape[1], dtype=np.uint32)
