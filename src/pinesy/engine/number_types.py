"""Rows of samples in the types of numbers that programs run in.

Degrees are rounded on the way in, and never again: minimum and maximum only copy numbers, and
rounding keeps their order, so it makes no difference whether inputs and parameters are rounded
before a program runs or its results are afterwards. What comes out in a small type is the rounding
of the exact result.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.evidence.rows import Rows, side_by_side
from pinesy.exceptions import DegreeError, DomainError

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


def block_in(rows: Rows, first: int, last: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return samples ``first .. last-1`` as contiguous rows of all columns, in a type of numbers.

    Numbers of that type stay as they are. In a small type a row with a number that is no degree
    becomes 0, so that it is no distribution.
    """
    if dtype == FLOAT64:
        return rows.block(first, last)
    if rows.transform is not None or all(array.dtype != dtype for array in rows.arrays):
        return _rounded_rows(rows.block(first, last), dtype)
    parts = [array[first:last] for array in rows.arrays]
    parts = [part if part.dtype == dtype else _rounded_rows(part, dtype) for part in parts]
    return side_by_side(parts, dtype)


def refuse_in(rows: Rows, row: int, dtype: np.dtype[Any]) -> None:
    """Raise the error of sample `row`, in which something is no distribution."""
    is_typed = dtype.kind == "u" and rows.transform is None
    if not is_typed or all(array.dtype != dtype for array in rows.arrays):
        rows.refuse(row)
        return
    parts = [array[row : row + 1] for array in rows.arrays]
    arrays = [as_degrees(part) if part.dtype == dtype else part for part in parts]
    try:
        replace(rows, arrays=arrays, n=1, first=rows.first + row).refuse(0)
    except DegreeError as error:
        hint = f" (in arrays of {dtype}, {largest(dtype)} stands for 1)"
        raise DegreeError(f"{error}{hint}") from None


def _rounded_rows(rows: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    rounded_rows = np.empty(rows.shape, dtype)
    degrees = np.ascontiguousarray(rows, dtype=np.float64)
    load_kernels(KERNELS).kernels_of(dtype).round_rows(degrees, rounded_rows)
    return rounded_rows
