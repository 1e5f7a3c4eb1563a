"""What arrays must be before the algebra starts: the value, its place and the cure are named."""

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError, ShapeError

_SHAPES = {1: "(n,)", 2: "(rows, columns)"}


def numbers(values: npt.ArrayLike, what: str, *ndims: int) -> FloatArray:
    """Return `values` as a new array of float64 (-0.0 becomes 0.0) with one of the dimensions."""
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":  # text and complex numbers would be turned into numbers
            raise TypeError
        array = raw.astype(np.float64, copy=False) + 0.0
    except (OverflowError, TypeError, ValueError):
        raise DegreeError(
            f"{what} is {values!r:.60}; it must be an array of numbers, all rows of one length"
        ) from None
    if array.ndim not in ndims:
        wanted = " or ".join(_SHAPES[n] for n in ndims)
        raise ShapeError(f"{what} has shape {array.shape}; it must have shape {wanted}: reshape it")
    return array


def degrees(values: npt.ArrayLike, what: str, *ndims: int) -> FloatArray:
    """Return `values` as an array of degrees: `numbers`, at least one, all in [0, 1]."""
    array = numbers(values, what, *ndims)
    if array.size == 0:
        raise ShapeError(f"{what} is empty (shape {array.shape}); give at least one row and column")
    refuse(array, ~((array >= 0.0) & (array <= 1.0)), what, "a number in [0, 1]")
    return array


def finite(values: npt.ArrayLike, what: str, *ndims: int) -> FloatArray:
    """Return `values` as an array of finite numbers."""
    array = numbers(values, what, *ndims)
    refuse(array, ~np.isfinite(array), what, "a finite number")
    return array


def refuse(array: FloatArray, bad: npt.NDArray[np.bool_], what: str, wanted: str) -> None:
    """Raise `DegreeError` for the first entry of `array` that is `bad`."""
    if bad.any():
        at = np.unravel_index(int(bad.argmax()), bad.shape)
        value = float(array[at])
        axes = zip(("row", "column"), map(int, at), strict=False)
        place = ", ".join(f"{axis} {i}" for axis, i in axes)
        cure = "fill in or leave out what is missing" if np.isnan(value) else "rescale the data"
        raise DegreeError(f"{what}, {place}, is {value!r}; it must be {wanted}: {cure}")


def same_length(n: int, what: str, m: int, other: str) -> None:
    """Raise `ShapeError` unless two sizes agree; a size of 1 is not broadcast."""
    if n != m:
        raise ShapeError(f"{what} are {n} and {other} are {m}; they must be as many (no broadcast)")


def frozen(array: FloatArray) -> FloatArray:
    """Return `array` made read-only, to be kept by an object that does not change."""
    array.setflags(write=False)
    return array
