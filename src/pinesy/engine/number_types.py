"""Degrees in the dtypes of programs: float64, float32, uint16 and uint8.

Inputs and parameters are rounded once, before a program runs. Minimum and maximum only copy
numbers, and rounding keeps their order, so results are the rounding of the exact results.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import kernels_pay, load_kernels
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.code import Code
from pinesy.evidence.rows import Rows, hstack_rows
from pinesy.exceptions import DegreeError, DomainError

KERNELS = "pinesy.engine.kernels"
#: Nanoseconds that NumPy takes to round a degree.
ROUNDING_TIME = 10

#: A dtype of programs, or its name.
NumberType = str | type[Any] | np.dtype[Any]
FLOAT64: np.dtype[Any] = np.dtype(np.float64)
NUMBER_TYPES = ("float64", "float32", "uint16", "uint8")


def number_type(dtype: NumberType) -> np.dtype[Any]:
    """Return the dtype of a program, or raise `DomainError`.

    Examples
    --------
    >>> number_type("uint8")
    dtype('uint8')
    """
    try:
        checked = np.dtype(dtype)
    except (TypeError, ValueError):
        checked = np.dtype(object)
    if checked.name not in NUMBER_TYPES or not checked.isnative:
        raise DomainError(f"dtype is {dtype!r:.60}; it must be one of {', '.join(NUMBER_TYPES)}")
    return checked


def number_of_one(dtype: np.dtype[Any]) -> int:
    """Return the number that represents the degree 1: 255 in uint8, 65535 in uint16."""
    return int(np.iinfo(dtype).max) if dtype.kind == "u" else 1


def round_degrees(degrees: FloatArray, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return degrees in a dtype, rounded to nearest, ties to even.

    Examples
    --------
    >>> round_degrees(np.array([0.0, 0.25, 1.0]), np.dtype("uint8")).tolist()
    [0, 64, 255]
    """
    return (np.rint(degrees * number_of_one(dtype)) if dtype.kind == "u" else degrees).astype(dtype)


def as_degrees(numbers: npt.NDArray[Any]) -> FloatArray:
    """Return numbers of any dtype as float64 degrees; uint8 is divided by 255.

    Examples
    --------
    >>> as_degrees(np.array([0, 51, 255], dtype=np.uint8)).tolist()
    [0.0, 0.2, 1.0]
    """
    if numbers.dtype.kind == "u":
        return np.asarray(numbers / number_of_one(numbers.dtype))
    return numbers.astype(np.float64, copy=False)


def code_in_dtype(code: Code, dtype: np.dtype[Any]) -> Code:
    """Return a program with its parameters in another dtype."""
    return replace(
        code,
        constants=round_degrees(code.constants, dtype),
        min_heights=round_degrees(code.min_heights, dtype),
    )


def rows_in_dtype(rows: Rows, first: int, last: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return samples ``first .. last-1`` as contiguous rows of all columns, in a dtype.

    Arrays of that dtype are not rounded. Rows with invalid degrees become 0, which is no
    distribution.
    """
    if dtype == FLOAT64:
        return rows.block(first, last)
    if rows.transform is not None or all(array.dtype != dtype for array in rows.arrays):
        return _round_rows(rows.block(first, last), dtype)
    parts = [array[first:last] for array in rows.arrays]
    parts = [part if part.dtype == dtype else _round_rows(part, dtype) for part in parts]
    return hstack_rows(parts, dtype)


def raise_invalid_row(rows: Rows, row: int, dtype: np.dtype[Any]) -> None:
    """Raise the error of sample `row`, which has an invalid distribution."""
    is_typed = dtype.kind == "u" and rows.transform is None
    if not is_typed or all(array.dtype != dtype for array in rows.arrays):
        rows.refuse(row)
        return
    parts = [array[row : row + 1] for array in rows.arrays]
    arrays = [as_degrees(part) if part.dtype == dtype else part for part in parts]
    try:
        replace(rows, arrays=arrays, n=1, first=rows.first + row).refuse(0)
    except DegreeError as error:
        hint = f" (in arrays of {dtype}, {number_of_one(dtype)} stands for 1)"
        raise DegreeError(f"{error}{hint}") from None


def _round_rows(rows: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return rows in a dtype; those with invalid degrees become 0."""
    degrees = np.ascontiguousarray(rows, dtype=np.float64)
    if not kernels_pay(KERNELS, degrees.size * ROUNDING_TIME):
        is_degree: BoolArray = (degrees >= 0.0) & (degrees <= 1.0)
        is_valid = np.logical_and.reduce(is_degree, axis=1, keepdims=True)
        return round_degrees(np.where(is_valid, degrees, 0.0), dtype)
    rounded = np.empty(rows.shape, dtype)
    load_kernels(KERNELS).kernels_of(dtype).round_rows(degrees, rounded)
    return rounded
