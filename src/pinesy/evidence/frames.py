"""Data frames of any library (pandas, polars, pyarrow and others, through narwhals), by column.

A *column* is a series of its library: it has ``to_numpy``, like pandas' Index and pyarrow's Array.
A *row* of a frame is a pandas Series whose index has the names of the columns; rows of other
libraries are dicts.
"""

from collections.abc import Collection, Iterable
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pinesy._common.names import column_titles
from pinesy._common.validation import listed
from pinesy.exceptions import DataError, PinesyError

#: Packages without data frames; narwhals is imported only for types of other packages.
_NOT_FRAMES = frozenset(["builtins", "numpy", "pinesy"])
#: Whether types of other packages are data frames.
_FRAME_TYPES: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_frame(content: object) -> bool:
    """Return whether an object is a data frame.

    Examples
    --------
    >>> import pandas
    >>> is_frame(pandas.DataFrame({"age": [70, 41]})), is_frame({"age": [70, 41]})
    (True, False)
    """
    content_type = type(content)
    if content_type.__module__.partition(".")[0] in _NOT_FRAMES or not hasattr(content, "__len__"):
        return False
    if content_type not in _FRAME_TYPES:
        dependencies = import_module("narwhals").dependencies
        _FRAME_TYPES[content_type] = dependencies.is_into_dataframe(content)
    return _FRAME_TYPES[content_type]


def frame_columns(content: Any, error: type[PinesyError] = DataError) -> dict[str, Any] | None:
    """Return the columns of a data frame by name; None for other objects.

    Raises `error` if two columns have the same name.

    Examples
    --------
    >>> import pandas
    >>> frame_columns(pandas.DataFrame({"age": [70, 41]}))["age"].tolist()
    [70, 41]
    """
    if not is_frame(content):
        return None
    narwhals = import_module("narwhals")
    try:
        frame = narwhals.from_native(content, eager_only=True)
    except narwhals.exceptions.DuplicateError:  # pandas and pyarrow allow this
        column_titles(_titles(content), error)
        raise
    # A title may be a number, for which narwhals would select a row.
    columns = [column.to_native() for column in frame.iter_columns()]
    return dict(zip(column_titles(frame.columns, error), columns, strict=True))


def _titles(frame: Any) -> list[Any]:
    """Return the titles of the columns, possibly with duplicates."""
    is_arrow = import_module("narwhals").dependencies.is_pyarrow_table(frame)
    return list(frame.column_names if is_arrow else frame.columns)


def row_values(content: Any, known: Collection[str] | None = None) -> dict[str, Any] | None:
    """Return the values of a row of a data frame by the names of the columns.

    None for other objects, and for a pandas Series whose index has none of the `known` names.

    Examples
    --------
    >>> import pandas
    >>> row_values(pandas.DataFrame({"age": [70, 41], "smoker": ["no", "yes"]}).iloc[1])
    {'age': 41, 'smoker': 'yes'}
    """
    if type(content).__module__.partition(".")[0] in _NOT_FRAMES or not hasattr(content, "index"):
        return None
    if not import_module("narwhals").dependencies.is_pandas_like_series(content):
        return None
    if known is not None and set(map(str, content.index)).isdisjoint(known):
        return None
    names = column_titles(content.index)
    return dict(zip(names, content.to_dict().values(), strict=True))


def is_column(content: object) -> bool:
    """Return whether an object is a column of a data frame.

    Examples
    --------
    >>> import pandas
    >>> is_column(pandas.Series(["no", "yes"])), is_column(["no", "yes"])
    (True, False)
    """
    return hasattr(content, "to_numpy") and getattr(content, "ndim", 1) == 1


def native_array(content: Any) -> Any:
    """Return a column or a data frame as an array, and other objects unchanged.

    Examples
    --------
    >>> import pandas
    >>> native_array(pandas.Series([70, 41])), native_array([70, "no"])
    (array([70, 41]), [70, 'no'])
    """
    return content.to_numpy() if hasattr(content, "to_numpy") else content


def is_category(content: Any) -> bool:
    """Return whether a column has a type of categories, whatever these are.

    Examples
    --------
    >>> import pandas
    >>> is_category(pandas.Series([3, 1], dtype="category")), is_category(pandas.Series([3, 1]))
    (True, False)
    """
    narwhals = import_module("narwhals")
    return isinstance(_column_type(content), narwhals.Categorical | narwhals.Enum)


def levels_in_order(content: Any) -> tuple[Any, ...] | None:
    """Return the categories of an ordered column, from the lowest on; None for anything else.

    Ordered are the ordered categories of pandas, and Enum of polars.

    Examples
    --------
    >>> import pandas
    >>> sizes = pandas.Categorical(["S", "L", "S"], ["S", "M", "L"], ordered=True)
    >>> levels_in_order(pandas.Series(sizes))
    ('S', 'M', 'L')
    """
    if not isinstance(_column_type(content), import_module("narwhals").Enum):
        return None
    return tuple(content.dtype.categories.to_list())


def _column_type(content: Any) -> Any:
    """Return the type of a column as narwhals has it; None where it knows no such column."""
    if type(content).__module__.partition(".")[0] in _NOT_FRAMES or not is_column(content):
        return None
    column = import_module("narwhals").from_native(content, series_only=True, pass_through=True)
    return getattr(column, "dtype", None)


def ordered_columns(content: Any, labels: Iterable[str], description: str) -> Any:
    """Return a data frame as an array with its columns in the order of `labels`.

    Other objects are returned unchanged; columns with default names ``0, 1, ...`` keep their order.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"dark": [1.0], "clear": [0.25]})
    >>> ordered_columns(frame, ["clear", "dark"], "attribute 'sky'")
    array([[0.25, 1.  ]])
    """
    if not is_frame(content):
        return content
    names, expected = [str(title) for title in _titles(content)], list(labels)
    if sorted(names) == sorted(expected):
        return np.asarray(content)[:, [names.index(label) for label in expected]]
    if names == [str(index) for index in range(len(names))]:
        return np.asarray(content)
    raise DataError(
        f"{description} is a table with the columns {listed(names)}; they must be "
        f"{listed(expected)}, in any order; or give an array, with its columns in this order"
    )
