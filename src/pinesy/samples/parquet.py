"""Parquet files of samples, read in batches without a loop over the samples."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.samples.batches import Batch, Draft, IntArray
from pinesy.samples.header import Column, Header
from pinesy.samples.layout import Layout, Origin

#: Bytes of each column that are read ahead, so that a large group of rows is not read at once.
READ_AHEAD = 1 << 20

#: Types of columns, by the names that pyarrow shows.
WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMBERS = WHOLE | {"halffloat", "float", "double"}
VALUES = WHOLE | {"float", "double", "string", "large_string", "string_view", "bool"}
LISTS = ("list<", "large_list<", "fixed_size_list<")


def parquet_drafts(file: BinaryIO, name: str, layout: Layout, size: int) -> Iterator[Draft]:
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
        table = _Table(parquet.ParquetFile(file, buffer_size=READ_AHEAD), name, layout)
        yield from table.drafts(size, n_bytes)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: cannot be read as a Parquet file: {error}") from None


class _Table:
    """Makes samples of the columns of a Parquet file."""

    def __init__(self, file: Any, name: str, layout: Layout) -> None:
        self.file = file
        self.layout = layout
        self.rows = Origin(name, "row")
        #: The row that a batch starts with, counted from 1.
        self.first = 1
        schema = file.schema_arrow
        self.header = Header(schema.names, self.rows, layout)
        for columns in self.header.columns.values():
            for column in columns:
                self._check_type(column, schema.field(column.cell).type)

    def _check_type(self, column: Column, kind: Any) -> None:
        if column.position is not None:
            good, needed = str(kind) in NUMBERS, "degrees are decimals or whole numbers"
        elif str(kind).startswith(LISTS):
            good, needed = str(kind.value_type) in NUMBERS, "lists hold degrees, in domain order"
        else:
            plain = kind.value_type if str(kind).startswith("dictionary<") else kind
            good, needed = str(plain) in VALUES, "values are texts, numbers, true and false"
        if not good:
            self.rows.fail(f"column {column.title!r:.80} is of type {kind}; {needed}")

    def drafts(self, size: int, n_bytes: int) -> Iterator[Draft]:
        """Read the rows; `n_bytes` is the size of the file."""
        titles = [c.title for columns in self.header.columns.values() for c in columns]
        total = max(1, self.file.metadata.num_rows)
        for table in self.file.iter_batches(size, columns=titles):
            lines = range(self.first, self.first + table.num_rows)
            yield self._draft(table, lines, n_bytes * (lines.stop - 1) // total)
            self.first = lines.stop

    def _draft(self, table: Any, lines: range, position: int) -> Draft:
        given = {name: self._given(c, table) for name, c in self.header.columns.items()}
        evidence = np.zeros((len(lines), self.layout.n_columns))
        for name in self.layout.inputs:
            part = evidence[:, self.layout.spans[name]]
            if given[name].ndim == 1:
                part[np.arange(len(lines)), given[name]] = 1.0
            else:
                part[:] = given[name]
        alone = np.array([given[name].ndim == 1 for name in self.layout.inputs], dtype=np.bool_)
        batch = Batch(evidence, lines, position, {n: given[n] for n in self.header.targets})
        certain = np.broadcast_to(alone, (len(lines), len(alone)))
        return Draft(batch, certain, self.layout, self.rows)

    def _given(self, columns: list[Column], table: Any) -> FloatArray | IntArray:
        """Return what the columns of one attribute hold: degrees (n, |domain|), or positions."""
        arrays = [table.column(table.schema.get_field_index(c.title)) for c in columns]
        for column, array in zip(columns, arrays, strict=True):
            self._check_nulls(column, array)
        if columns[0].position is None:
            is_list = str(arrays[0].type).startswith(LISTS)
            return (self._listed if is_list else self._values)(columns[0], arrays[0])
        degrees = np.zeros((table.num_rows, len(self.layout.wanted[columns[0].name].domain)))
        for column, array in zip(columns, arrays, strict=True):
            degrees[:, column.position] = _numbers(array)
        return degrees

    def _listed(self, column: Column, lists: Any) -> FloatArray:
        size = len(self.layout.wanted[column.name].domain)
        lengths = _numbers(import_module("pyarrow.compute").list_value_length(lists))
        wrong = lengths != size
        if wrong.any():
            length = int(lengths[np.argmax(wrong)])
            self.layout.check_length(column.name, length, self._at(wrong))
        degrees = lists.flatten()
        self._check_nulls(column, degrees, size)
        return _numbers(degrees).astype(np.float64).reshape(len(lists), size)

    def _values(self, column: Column, array: Any) -> IntArray:
        """Return the positions of values, each distinct one looked up once."""
        plain = array.dictionary_decode() if hasattr(array, "dictionary_decode") else array
        encoded = plain.dictionary_encode()
        codes = _numbers(encoded.indices)
        places = np.empty(len(encoded.dictionary), dtype=np.int32)
        for code, scalar in enumerate(encoded.dictionary):
            try:
                value = scalar.as_py()
            except UnicodeDecodeError:
                self._at(codes == code).fail(f"attribute {column.name!r}: not UTF-8 text")
            if not self.layout.has(column.name, value):
                self._at(codes == code)
            places[code] = self.layout.place(column.name, value, self.rows)
        return np.take(places, codes)

    def _check_nulls(self, column: Column, array: Any, each: int = 1) -> None:
        """Fail on a null; `array` has `each` entries for a row."""
        if array.null_count:
            self._at(_numbers(array.is_null()), each).fail(
                f"attribute {column.name!r}: null in column {column.title!r:.80}; every row needs "
                "an entry there (degree 0 where a value is impossible)"
            )

    def _at(self, hits: npt.NDArray[np.bool_], each: int = 1) -> Origin:
        """Go to the row of the first hit, for a message."""
        self.rows.number = self.first + int(np.argmax(hits)) // each
        return self.rows


def _numbers(array: Any) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers
