"""Arrays of degrees, as floats, or as fractions where all entries are."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.equations.product import degree_array
from pinesy.exceptions import DegreeError

#: A vector or matrix of numbers, which may be fractions.
Degrees = npt.ArrayLike | Sequence[Fraction | int] | Sequence[Sequence[Fraction | int]]


def degrees_or_fractions(arrays: Sequence[Any], names: Sequence[str], ndims: Sequence[int]) -> Any:
    """Return arrays of degrees: of fractions if all entries are fractions or integers.

    At least one must be a fraction; integers alone become floats.

    Examples
    --------
    >>> degrees_or_fractions([[Fraction(1, 3), 1]], ["b"], [1])
    [array([Fraction(1, 3), Fraction(1, 1)], dtype=object)]
    """
    checked = [
        degree_array(array, name, ndim)
        for array, name, ndim in zip(arrays, names, ndims, strict=True)
    ]
    raw = [np.asarray(array) for array in arrays]
    entries = [entry for array in raw if array.dtype == object for entry in array.flat]
    are_fractions = all(isinstance(entry, Fraction | int) for entry in entries)
    if not any(isinstance(entry, Fraction) for entry in entries) or not are_fractions:
        return checked
    if any(array.dtype.kind == "f" for array in raw):
        return checked
    return [_fractions(array, name) for array, name in zip(raw, names, strict=True)]


def _fractions(array: Any, name: str) -> Any:
    fractions = as_fractions(array.astype(object))
    if (fractions < 0).any() or (fractions > 1).any():  # though its float is rounded to 0 or 1
        raise DegreeError(f"{name} has a fraction outside [0, 1]; rescale the data")
    return fractions


def as_fractions(array: Any) -> Any:
    """Return an array of objects with fractions in place of integers; others as they are."""
    return np.frompyfunc(Fraction, 1, 1)(array) if array.dtype == object else array


def as_number(value: Any) -> Any:
    """Return an entry of an array as a fraction or a float of Python."""
    return Fraction(value) if isinstance(value, Fraction | int) else float(value)
