"""Plain values instead of distributions: a certain value, or a missing value.

One value is a scalar such as ``"yes"`` or ``47``. None, NaN and pandas' NA are missing values
(every value of the domain is fully possible), unless None is in the domain. Values of several
samples are a list, an array or a column of a data frame.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.evidence.frames import is_column
from pinesy.exceptions import DataError, PinesyError, placed
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import as_floats, is_number

#: The name of the column with sample identifiers, which is no evidence.
ID = "id"


def is_missing(value: object) -> bool:
    """Return whether a scalar is a missing value: None, NaN, NaT or NA.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # the comparison of NA is NA
        return True


def is_scalar(content: object, attribute: Attribute) -> bool:
    """Return whether a content is certainly one value: a scalar, or a tuple of a product."""
    if isinstance(content, tuple):
        return content in attribute or (
            bool(attribute.factors) and len(content) != len(attribute.domain)
        )
    is_single = isinstance(content, str | bytes) or not hasattr(content, "__len__")
    return is_single and isinstance(content, Hashable)


def degrees_of_value(value: Any, attribute: Attribute) -> FloatArray:
    """Return the distribution of one plain value.

    Examples
    --------
    >>> smoker = Attribute("smoker", ["yes", "no"])
    >>> degrees_of_value("no", smoker).tolist(), degrees_of_value(None, smoker).tolist()
    ([0.0, 1.0], [1.0, 1.0])
    """
    if value not in attribute and is_missing(value):
        return np.ones(len(attribute.domain))
    if attribute.scale is not None and value not in attribute:
        if not is_number(value):
            raise attribute.scale.invalid_value_error(attribute.name, value)
        return np.asarray(attribute.scale.degrees(as_floats([value]))[0])
    degrees = np.zeros(len(attribute.domain))
    degrees[attribute.position(value)] = 1.0
    return degrees


def degrees_of_values(values: npt.NDArray[Any] | Any, attribute: Attribute) -> FloatArray:
    """Return the distributions (n, |domain|) of plain values.

    Examples
    --------
    >>> smoker = Attribute("smoker", ["yes", "no"])
    >>> degrees_of_values(np.array(["no", None], dtype=object), smoker).tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    array = np.asarray(values)
    if attribute.scale is not None and array.dtype.kind in "fiu":
        return attribute.scale.degrees(array)
    codes, distinct, first_rows = _factorize(array, attribute)
    rows = np.empty((len(distinct), len(attribute.domain)))
    order = np.argsort(first_rows, kind="stable")
    if attribute.scale is not None:
        is_numeric = np.array([is_number(value) for value in distinct], dtype=bool)
        numbers = as_floats(value for value in distinct if is_number(value))
        rows[is_numeric] = attribute.scale.degrees(numbers)
        order = order[~is_numeric[order]]
    for code in order:
        try:
            rows[code] = degrees_of_value(distinct[code], attribute)
        except PinesyError as error:
            problem = str(error).removeprefix(f"attribute {attribute.name!r} ")
            where = f"attribute {attribute.name!r}, row {first_rows[code]}"
            raise type(error)(f"{where}: {problem}{_degrees_hint(values, attribute)}") from None
    return np.asarray(rows[codes])


def _degrees_hint(values: Any, attribute: Attribute) -> str:
    """Return the hint of an error message for numbers that may be meant as degrees."""
    size = len(attribute.domain)
    if getattr(values, "dtype", np.dtype(object)).kind not in "fiub" or is_column(values):
        return ""
    return (
        f" (these are values of {len(values)} samples; attribute {attribute.name!r} has {size} "
        f"values, so degrees have shape ({size},) or (n_samples, {size}); got shape "
        f"({len(values)},))"
    )


def _factorize(
    array: npt.NDArray[Any], attribute: Attribute
) -> tuple[npt.NDArray[np.intp], Sequence[Any], npt.NDArray[np.intp]]:
    """Return the code of each row (n,), the value of each code, and the first row of each code."""
    if array.dtype.kind in "fiubUS":
        distinct, first_rows, codes = np.unique(array, return_index=True, return_inverse=True)
        return codes, distinct.tolist(), first_rows
    values = array.tolist()
    with placed(f"attribute {attribute.name!r}"):
        try:
            code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
        except TypeError:
            row = next(i for i, value in enumerate(values) if not isinstance(value, Hashable))
            raise DataError(
                f"row {row} holds {values[row]!r:.60}, which is no value; a batch of distributions "
                "is an array of shape (n_samples, size of the domain)"
            ) from None
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.intp, count=len(values))
    first_rows = np.full(len(code_of), len(values), dtype=np.intp)
    np.minimum.at(first_rows, codes, np.arange(len(values)))
    return codes, list(code_of), first_rows
