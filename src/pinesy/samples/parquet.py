"""Parquet: columns are read at once, by pyarrow."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError, placed
from pinesy.samples.file_layout import Column, Layout, RawBatch, RowError

#: Bytes of each column that are read ahead, so that a large group of rows is not read at once.
READ_AHEAD = 1 << 20

#: Types of columns, by the names that pyarrow shows.
WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMBERS = WHOLE | {"halffloat", "float", "double"}
VALUES = WHOLE | {"float", "double", "string", "large_string", "string_view", "bool"}
LISTS = ("list<", "large_list<", "fixed_size_list<")


def parquet_batches(file: BinaryIO, name: str, layout: Layout, size: int) -> Iterator[RawBatch]:
    """Read a Parquet file in batches of up to `size` samples."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(
            f"{name}: Parquet files are read with pyarrow, which is not installed; "
            "pip install 'pinesy[parquet]', or write the samples as CSV or JSON Lines"
        ) from None
    try:
        n_bytes = file.seek(0, 2)
        table = parquet.ParquetFile(file, buffer_size=READ_AHEAD)
        yield from _batches(table, name, layout, size, n_bytes)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: cannot be read as a Parquet file: {error}") from None


def _batches(table: Any, name: str, layout: Layout, size: int, n_bytes: int) -> Iterator[RawBatch]:
    schema = table.schema_arrow
    with placed(name):
        columns = layout.columns(schema.names)
        for column in columns:
            _check_type(column, schema.field(column.number).type)
    total, first = max(1, table.metadata.num_rows), 1
    for rows in table.iter_batches(size, columns=[c.title for c in columns]):
        arrays = {c: rows.column(rows.schema.get_field_index(c.title)) for c in columns}
        lines = range(first, first + rows.num_rows)
        first = lines.stop
        position = n_bytes * (first - 1) // total
        yield RawBatch(arrays, lines, position, name, "row", read=_entries)


def _check_type(column: Column, kind: Any) -> None:
    if column.position is not None:
        good, needed = str(kind) in NUMBERS, "degrees are decimals or whole numbers"
    elif str(kind).startswith(LISTS):
        good, needed = str(kind.value_type) in NUMBERS, "lists hold degrees, in domain order"
    else:
        plain = kind.value_type if str(kind).startswith("dictionary<") else kind
        good, needed = str(plain) in VALUES, "values are texts, numbers, true and false"
    if not good:
        raise DataError(f"column {column.title!r:.80} is of type {kind}; {needed}")


def _entries(column: Column, array: Any) -> Any:
    """Return NumPy's arrays and Python's lists in place of pyarrow's arrays."""
    _check_nulls(column, array, np.arange(len(array)))
    if column.position is not None:
        return _numbers(array)
    return (_lists if str(array.type).startswith(LISTS) else _values)(column, array)


def _lists(column: Column, array: Any) -> Any:
    """Return lists of degrees as an array with a row for each, if they are equally long."""
    lengths = _numbers(import_module("pyarrow.compute").list_value_length(array))
    degrees = array.flatten()
    _check_nulls(column, degrees, np.repeat(np.arange(len(array)), lengths))
    if (lengths != lengths[0]).any():
        return array.to_pylist()
    return _numbers(degrees).reshape(len(array), lengths[0])


def _values(column: Column, array: Any) -> list[Any]:
    """Return values, each distinct one made only once."""
    plain = array.dictionary_decode() if hasattr(array, "dictionary_decode") else array
    encoded = plain.dictionary_encode()
    codes = _numbers(encoded.indices)
    values = np.empty(len(encoded.dictionary), dtype=object)
    for code, scalar in enumerate(encoded.dictionary):
        try:
            values[code] = scalar.as_py()
        except UnicodeDecodeError:
            problem = DataError(f"attribute {column.name!r}: not UTF-8 text")
            raise RowError(int(np.argmax(codes == code)), problem) from None
    entries: list[Any] = values[codes].tolist()
    return entries


def _check_nulls(column: Column, array: Any, rows: npt.NDArray[np.int64]) -> None:
    """Raise for a null; `rows` tells the row of each entry of the array."""
    if array.null_count:
        problem = DataError(
            f"attribute {column.name!r}: null in column {column.title!r:.80}; every row needs "
            "an entry there (degree 0 where a value is impossible)"
        )
        raise RowError(rows[np.argmax(_numbers(array.is_null()))], problem)


def _numbers(array: Any) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers
