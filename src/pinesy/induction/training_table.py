"""The table that rules are induced from: columns of numbers or categories, and the labels."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_titles
from pinesy._common.validation import (
    FloatArray,
    as_list,
    check_known,
    check_limit,
    is_iterable,
    listed,
    suggestion,
)
from pinesy.evidence.frames import frame_columns, is_category, levels_in_order, native_array
from pinesy.evidence.plain_values import ID, is_missing
from pinesy.exceptions import DataError, DataWarning
from pinesy.rules.numbers import as_floats, is_number

Columns = dict[str, "np.typing.NDArray[Any]"]
IntArray = npt.NDArray[np.int64]
#: Identifiers are a column of at least so many entries, so large a share of them different; whole
#: numbers span at most so many times the number of rows.
LEAST_ROWS, UNIQUE, SPREAD = 20, 0.95, 4
#: A date as text, perhaps with a time.
DATE = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2}|\d{4}[./]\d{1,2}[./]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2}))"
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?)?"
)


def batches_of(table: Any) -> Iterator[Any] | None:
    """Return the batches of an iterator or of a table of Dask; None of other tables."""
    if hasattr(table, "dask") and hasattr(table, "partitions"):
        return (part.compute() for part in table.partitions)
    return table if isinstance(table, Iterator) else None


def row_sample(batches: Iterable[Mapping[str, Any]], size: int | None, seed: int) -> Columns:
    """Return a uniform sample of the rows of batches, by column: of all if `size` is None.

    It has the rows with the smallest random numbers. These come in the order of the rows, so that
    the sample does not depend on where batches end. Cost: one pass, in the memory of a few samples.
    """
    random, count = np.random.default_rng(seed), 0
    parts: list[tuple[FloatArray, Columns]] = []
    for batch in batches:
        columns = {name: np.atleast_1d(_array(column)) for name, column in batch.items()}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1:
            raise DataError(f"a batch has columns of {listed(sorted(map(str, lengths)))} rows")
        first = list(parts[0][1] if parts else columns)
        if set(columns) != set(first):
            raise DataError(
                f"a batch has the columns {listed(list(columns))}; the first has {listed(first)}"
            )
        n = lengths.pop()
        parts.append((random.random(n), columns))
        count += n
        if size is not None and count > 2 * size:
            parts, count = [_smallest(parts, size)], size
    if not parts:
        raise DataError("there are no batches to induce rules from")
    return _smallest(parts, size)[1]


def _smallest(
    parts: list[tuple[FloatArray, Columns]], size: int | None
) -> tuple[FloatArray, Columns]:
    """Return the rows with the smallest numbers, in their order, as one part."""
    keys = np.concatenate([keys_of_part for keys_of_part, _ in parts])
    rows = np.arange(len(keys))
    if size is not None and len(keys) > size:
        rows = np.sort(np.argpartition(keys, size)[:size])
    columns = {}
    for name in parts[0][1]:
        arrays = [columns_of_part[name] for _, columns_of_part in parts]
        if len({array.dtype.kind in "iuf" for array in arrays}) > 1:  # numbers and others: objects
            arrays = [array.astype(object) for array in arrays]
        columns[name] = np.concatenate(arrays)[rows]
    return keys[rows], columns


def _array(column: Any) -> npt.NDArray[Any]:
    """Return a column as an array; a single cell as an array of one."""
    return np.atleast_1d(np.asarray(native_array(column)))


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Attributes
    ----------
    name : str
    values : numbers, or indices in the `domain`; NaN where nothing is known
    domain : the categories; empty for numbers
    ordered : whether the order of the categories means something
    """

    name: str
    values: FloatArray
    domain: tuple[Hashable, ...] = ()
    ordered: bool = False


@dataclass(frozen=True)
class TrainingTable:
    """Columns, and for each row the index of its label among the classes.

    Attributes
    ----------
    columns : all but the labels
    labels : array of int
    classes : the labels that there are
    target : the name of the labels
    rows : the rows of the table that were read
    """

    columns: tuple[TableColumn, ...]
    labels: IntArray
    classes: tuple[Hashable, ...]
    target: str
    rows: IntArray


def read_training_table(
    table: Any,
    target: Any,
    ordinal: Mapping[str, Sequence[Hashable]] | None = None,
    sample: int | None = None,
    seed: int = 0,
    features: Iterable[str] | None = None,
    required: Collection[str] = (),
) -> TrainingTable:
    """Return a table by columns, or raise `DataError`; costs one pass over it.

    Dates and identifiers are skipped, and a `DataWarning` names them.

    Parameters
    ----------
    table : a DataFrame of pandas or polars, a dict of columns, a list of dicts; or an iterator of
        such batches, or a DataFrame of Dask's, of whose rows a sample is drawn in one pass
    target : the name of the column of labels, or the labels (then they are called "target", or
        as their Series is)
    ordinal : the categories of ordinal columns, from the lowest on
    sample : the most rows that are read, drawn by `seed` in the proportions of the labels
    features : the columns to read, whatever they hold; by default all
    required : columns that are read whatever they hold, if all are
    """
    batches = batches_of(table)
    if batches is not None:
        if not isinstance(target, str):
            raise DataError("of a table that comes in batches the target is the name of a column")
        table = row_sample(map(_by_name, batches), sample, seed)
    columns = _by_name(table)
    name, labels = _labels(columns, target)
    codes, classes = _classes(labels, name)
    order = _ordinal({} if ordinal is None else ordinal, columns)
    rows = _drawn(codes, len(classes), sample, seed)
    others = {n: c for n, c in columns.items() if n != name}
    if features is None:
        inputs = _without_names(others, {*required, *order})
    else:
        names = [features] if isinstance(features, str) else as_list(features, "features")
        for n in names:
            check_known(n, others, f"features names {n!r}, which is no column", DataError)
        inputs = {n: others[n] for n in dict.fromkeys(names)}
    table_columns = tuple(_column(n, c, len(codes), rows, order.get(n)) for n, c in inputs.items())
    if all(np.isnan(c.values).all() for c in table_columns):
        raise DataError("there is nothing to induce rules from: every column is missing throughout")
    return TrainingTable(table_columns, codes[rows], classes, name, rows)


def _without_names(columns: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the columns that may tell a class: no dates, and no identifiers."""
    skipped: dict[str, list[str]] = {"dates": [], "identifiers": []}
    inputs = {}
    for name, column in columns.items():
        kind = None if name in names else _kind(column)
        if kind is not None:
            skipped[kind].append(name)
        elif name in names or name.lower() != ID:
            inputs[name] = column
    texts = [f"{listed([*map(repr, n)])} ({kind})" for kind, n in skipped.items() if n]
    cure = "name the columns to use with features=[...] (--feature NAME)"
    if texts and not inputs:
        raise DataError(f"there is nothing to induce rules from but {', '.join(texts)}; {cure}")
    if texts:
        warn(f"columns that are not used: {', '.join(texts)}; {cure}", DataWarning, stacklevel=6)
    return inputs


def _kind(column: Any) -> str | None:
    """Return whether a column has dates or identifiers; None for anything else.

    Identifiers are nearly unique: texts, or whole numbers that lie close to each other, as running
    numbers do. Measured whole numbers repeat if they lie close.
    """
    array = _array(column)
    if array.ndim != 1 or array.dtype.kind == "b":
        return None
    if array.dtype.kind == "M":
        return "dates"
    if array.dtype.kind in "iuf":
        return "identifiers" if _are_running(array[array == array]) else None
    values = [v for v in _objects(array) if not is_missing(v)]
    is_date = [isinstance(v, date) or (isinstance(v, str) and DATE.fullmatch(v)) for v in values]
    if values and all(is_date):
        return "dates"
    if all(map(is_number, values)):
        return "identifiers" if _are_running(as_floats(values)) else None
    is_named = all(isinstance(v, str) for v in values) and len(values) >= LEAST_ROWS
    return "identifiers" if is_named and len(set(values)) >= UNIQUE * len(values) else None


def _are_running(numbers: npt.NDArray[Any]) -> bool:
    """Return whether numbers are whole, nearly all different, and close to each other."""
    n = len(numbers)
    if n < LEAST_ROWS or np.ptp(numbers) >= SPREAD * n or (numbers % 1 != 0).any():
        return False
    return len(np.unique(numbers)) >= UNIQUE * n


def _by_name(table: Any) -> dict[str, Any]:
    """Return the columns of a table by their names; a list of dicts is a table, too."""
    if (columns := frame_columns(table)) is not None:
        return columns
    columns = table
    if not isinstance(table, Mapping):
        rows = list(table) if is_iterable(table) and not isinstance(table, str) else []
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise DataError(
                f"the table is {table!r:.60}; give a DataFrame, a dict of columns, or a list of "
                "dicts"
            )
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
    return {name: columns[title] for name, title in column_titles(columns).items()}


def _labels(columns: dict[str, Any], target: Any) -> tuple[str, Any]:
    if isinstance(target, str):
        if target not in columns:
            hint = suggestion(target, columns)
            raise DataError(
                f"the table has no column {target!r}{hint}; it has {listed([*columns])}"
            )
        return target, columns[target]
    name = str(getattr(target, "name", None) or "target")
    if name in columns:
        raise DataError(f"the labels are called {name!r}, as is a column; give them another name")
    return name, target


def _classes(labels: Any, name: str) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Return the indices of labels, and the classes in order; two classes or more."""
    values = _objects(labels)
    for row, value in enumerate(values):
        if is_missing(value):
            raise DataError(
                f"the label {name!r} of row {row} is missing; leave out rows without label"
            )
    if len(values) < 2:
        raise DataError(f"rules are induced from two rows or more; there are {len(values)}")
    classes = _categories(labels, values)
    if len(classes) < 2:
        raise DataError(f"every row has the label {classes[0]!r}; two classes or more are needed")
    index_of = {value: index for index, value in enumerate(classes)}
    return np.array([index_of[value] for value in values], dtype=np.int64), classes


def _objects(column: Any) -> list[Any]:
    """Return a column as a list of Python's own values."""
    array = native_array(column)
    values = array.tolist() if isinstance(array, np.ndarray) else as_list(array, "a column")
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def _categories(column: Any, values: Iterable[Any]) -> tuple[Hashable, ...]:
    """Return the distinct values: in their own order if they have one, else sorted."""
    try:
        distinct = dict.fromkeys(values)
    except TypeError:
        raise DataError("a column holds lists or other things that are no plain values") from None
    levels = levels_in_order(column)
    if levels is None and is_category(column):
        levels = getattr(getattr(column, "cat", None), "categories", None)  # pandas has an order
    if levels is not None:
        return tuple(v for v in _objects(levels) if v in distinct)
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(sorted(distinct, key=lambda v: (type(v).__name__, str(v))))


def _ordinal(
    ordinal: Mapping[str, Sequence[Hashable]], columns: Mapping[str, Any]
) -> dict[str, tuple[Hashable, ...]]:
    """Return the categories of ordinal columns, or raise `DataError`."""
    if not isinstance(ordinal, Mapping):
        raise DataError(f"ordinal is {ordinal!r:.60}; give a mapping from columns to categories")
    for name in ordinal:
        check_known(name, columns, f"ordinal names {name!r}, which is no column", DataError)
    return {n: tuple(as_list(v, f"the categories of {n!r}")) for n, v in ordinal.items()}


def _drawn(labels: IntArray, n_classes: int, sample: int | None, seed: int) -> IntArray:
    """Return the rows to read: all, or a stratified sample in the order of the table."""
    sample = check_limit(sample, "sample")
    if sample is None or sample >= len(labels):
        return np.arange(len(labels))
    rng = np.random.default_rng(seed)
    share = sample / len(labels)
    parts = []
    for label in range(n_classes):
        rows = np.flatnonzero(labels == label)
        parts.append(rng.choice(rows, size=max(1, round(share * len(rows))), replace=False))
    return np.sort(np.concatenate(parts))


def _column(
    name: str, column: Any, n: int, rows: IntArray, order: tuple[Hashable, ...] | None
) -> TableColumn:
    """Return some rows of a column: numbers, or the indices of categories."""
    array = _array(column)
    if array.ndim != 1 or len(array) != n:
        raise DataError(f"column {name!r} has shape {array.shape}; there are {n} labels")
    values, known, n_numbers = [], [], 0
    has_categories = order is not None or is_category(column)
    is_numeric = array.dtype.kind in "iuf" and not has_categories
    if not is_numeric:
        values = _objects(column)
        known = [v for v in values if not is_missing(v)]
        n_numbers = sum(map(is_number, known))
    if n_numbers == len(known) and not has_categories:
        if is_numeric:
            floats = array[rows].astype(np.float64)
        else:
            floats = np.array([np.nan if is_missing(values[i]) else float(values[i]) for i in rows])
        if np.isinf(floats).any():
            row = int(rows[np.isinf(floats).argmax()])
            raise DataError(
                f"column {name!r}, row {row}: the number is infinite; write None for what is "
                "unknown, or a finite number"
            )
        return TableColumn(name, floats)
    if n_numbers and not has_categories:
        mostly = n_numbers >= len(known) / 2
        row, odd = next(
            (i, v) for i, v in enumerate(values) if not is_missing(v) and is_number(v) != mostly
        )
        kinds = ("numbers", "text") if mostly else ("text", "a number")
        raise DataError(
            f"column {name!r} has {kinds[0]}, but in row {row} {kinds[1]}: {odd!r:.40}; write None "
            "for what is unknown, or make all of them text if they are categories"
        )
    domain = order or _categories(column, known)
    index_of = {value: float(index) for index, value in enumerate(domain)}
    for row in rows:
        if values[row] not in index_of and not is_missing(values[row]):
            categories = listed([*map(repr, domain)])
            raise DataError(f"column {name!r}, row {row}: {values[row]!r} is none of {categories}")
    indices = np.array([index_of.get(values[row], np.nan) for row in rows])
    is_ordered = order is not None or levels_in_order(column) is not None
    return TableColumn(name, indices, domain, is_ordered)
