"""Plain values in the place of distributions: a value that is certain, or nothing known.

One value is a scalar such as ``"yes"`` or ``47``; None, NaN and pandas' NA say that nothing is
known (every value is fully possible), unless None is a value of the domain. Values of several
samples come in a list, an array or a column of a table.
"""

import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_titles
from pinesy._common.validation import FloatArray, suggestion, unused_columns
from pinesy.exceptions import DataError, PinesyError, UnusedColumnsWarning, placed
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import as_floats, is_number

#: The name of a column that tells samples apart, and says nothing of them.
ID = "id"


def is_missing(value: object) -> bool:
    """Tell whether a scalar says that nothing is known: None, NaN, NaT or NA.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA is neither equal to itself nor not
        return True


def is_scalar(content: object, attribute: Attribute) -> bool:
    """Tell whether a content can only be meant as one value: a scalar, or a tuple of a product."""
    if isinstance(content, tuple):
        return content in attribute or (
            bool(attribute.factors) and len(content) != len(attribute.domain)
        )
    lone = isinstance(content, str | bytes) or not hasattr(content, "__len__")
    return lone and isinstance(content, Hashable)


def is_column(content: object) -> bool:
    """Tell whether a content is a column of a table (pandas, polars, Arrow), so holds values."""
    return hasattr(content, "to_numpy") and getattr(content, "ndim", 1) == 1


def degrees_of_value(value: Any, attribute: Attribute) -> FloatArray:
    """Return the distribution that one plain value stands for.

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
            raise attribute.scale.refuse(attribute.name, value)
        return np.asarray(attribute.scale.degrees(as_floats([value]))[0])
    degrees = np.zeros(len(attribute.domain))
    degrees[attribute.position(value)] = 1.0
    return degrees


def degrees_of_values(values: npt.NDArray[Any] | Any, attribute: Attribute) -> FloatArray:
    """Return the distributions (n, |domain|) of plain values, each different one looked up once.

    Examples
    --------
    >>> smoker = Attribute("smoker", ["yes", "no"])
    >>> degrees_of_values(np.array(["no", None], dtype=object), smoker).tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    array = np.asarray(values)
    if attribute.scale is not None and array.dtype.kind in "fiu":
        return attribute.scale.degrees(array)
    codes, different, first = _factorised(array, attribute)
    rows = np.empty((len(different), len(attribute.domain)))
    order = np.argsort(first, kind="stable")
    if attribute.scale is not None:
        measured = np.array([is_number(value) for value in different], dtype=bool)
        numbers = as_floats(value for value in different if is_number(value))
        rows[measured] = attribute.scale.degrees(numbers)
        order = order[~measured[order]]
    for code in order:
        try:
            rows[code] = degrees_of_value(different[code], attribute)
        except PinesyError as error:
            problem = str(error).removeprefix(f"attribute {attribute.name!r} ")
            place = f"attribute {attribute.name!r}, row {first[code]}"
            raise type(error)(f"{place}: {problem}{_cure(values, attribute)}") from None
    return np.asarray(rows[codes])


def _cure(values: Any, attribute: Attribute) -> str:
    """Return what to add where numbers may have been meant as degrees."""
    size = len(attribute.domain)
    if getattr(values, "dtype", np.dtype(object)).kind not in "fiub" or is_column(values):
        return ""
    return (
        f" (these are values of {len(values)} samples; attribute {attribute.name!r} has {size} "
        f"values, so degrees have shape ({size},) or (n_samples, {size}); got shape "
        f"({len(values)},))"
    )


def _factorised(
    array: npt.NDArray[Any], attribute: Attribute
) -> tuple[npt.NDArray[np.intp], Sequence[Any], npt.NDArray[np.intp]]:
    """Return codes (n,), the value of each code, and the first row of each."""
    if array.dtype.kind in "fiubUS":
        unique, first, codes = np.unique(array, return_index=True, return_inverse=True)
        return codes, unique.tolist(), first
    listed = array.tolist()
    with placed(f"attribute {attribute.name!r}"):
        try:
            different = list(dict.fromkeys(listed))
        except TypeError:
            row = next(i for i, value in enumerate(listed) if not isinstance(value, Hashable))
            raise DataError(
                f"row {row} holds {listed[row]!r:.60}, which is no value; a batch of distributions "
                "is an array of shape (n_samples, size of the domain)"
            ) from None
    place = dict(zip(different, range(len(different)), strict=True))
    codes = np.fromiter(map(place.__getitem__, listed), dtype=np.intp, count=len(listed))
    first = np.full(len(different), len(listed), dtype=np.intp)
    np.minimum.at(first, codes, np.arange(len(listed)))
    return codes, different, first


def by_input(
    evidence: Any, attributes: Sequence[Attribute], *known: Iterable[str]
) -> Mapping[Any, Any] | None:
    """Return evidence by input where it names the inputs; None for inputs side by side.

    Parameters
    ----------
    attributes : the inputs that are needed
    known : the names of all attributes that a table may hold
    """
    if isinstance(evidence, Mapping):
        return evidence
    # A row of a table has the names of the columns as its index.
    columns = getattr(evidence, "columns", getattr(evidence, "index", None))
    if isinstance(evidence, np.ndarray) or not isinstance(columns, Iterable):
        return None
    titles = list(columns)
    if {a.name for a in attributes}.isdisjoint(map(str, titles)):
        return None
    return _by_attribute(evidence, column_titles(titles), attributes, set(chain(*known)))


def _by_attribute(
    table: Any, names: dict[str, Any], attributes: Sequence[Attribute], known: Collection[str]
) -> dict[str, Any]:
    """Return the columns of a table by input: one of values, or those of its degrees together."""
    given: dict[str, Any] = {}
    for attribute in attributes:
        labels = [f"{attribute.name}={value}" for value in attribute.domain]
        if attribute.name in names:
            given[attribute.name] = table[names.pop(attribute.name)]
        elif all(label in names for label in labels):
            parts = [np.asarray(table[names.pop(label)]) for label in labels]
            given[attribute.name] = np.stack(parts, axis=-1)
    unused = [name for name in names if name not in known and name.lower() != ID]
    if unused and len(given) < len(attributes):  # one of them may be misspelt
        raise DataError(
            f"no rule uses the column {unused[0]!r} of the table{suggestion(unused[0], known)}; "
            f"leave it out, declare it in the rules, or call it {ID!r} if it tells samples apart"
        )
    if unused:
        warnings.warn(UnusedColumnsWarning(unused_columns(unused)), stacklevel=5)
    return given
