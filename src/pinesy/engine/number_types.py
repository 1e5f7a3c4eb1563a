"""Types of numbers that programs run in: degrees are rounded on the way in, and never again.

Minimum and maximum only copy numbers, and rounding keeps their order, so it makes no difference
whether inputs and parameters are rounded before a program runs or its results are afterwards: what
comes out in a small type is the rounding of the exact result.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.exceptions import DomainError

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
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        found = np.dtype(object)
    if found.name not in NUMBER_TYPES or not found.isnative:
        raise DomainError(f"dtype is {dtype!r:.60}; it must be one of {', '.join(NUMBER_TYPES)}")
    return found


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
