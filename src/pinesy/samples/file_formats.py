"""The formats of data files, JSON Lines, CSV and Parquet, into columns: each part is bounded."""

import csv
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import chain, islice
from typing import Any, BinaryIO, NoReturn

from pinesy._common.names import first_duplicate
from pinesy.exceptions import DataError, needing, placed
from pinesy.samples.arrow_entries import LISTS, WHOLE, parquet_entries
from pinesy.samples.file_layout import MAX_LINE, Column, Layout, RawBatch, TableLayout

#: Degrees of the rows that are made into columns at once: as many as a processor's cache holds.
RAW_CELLS = 1 << 16
#: Bytes of each column that are read ahead, so that a large group of rows is not read at once.
READ_AHEAD = 1 << 20
#: Types of columns, by the names that pyarrow shows.
NUMBERS = WHOLE | {"halffloat", "float", "double"}
VALUES = WHOLE | {"float", "double", "string", "large_string", "string_view", "bool", "null"}
#: Bytes that the rows read at once may expand to, and the most that a byte of a larger group does.
MAX_EXPANDED, MAX_RATIO = 1 << 27, 1000


class Lines:
    """The lines of a binary file as text.

    Attributes
    ----------
    number : of the line read last, counted from 1
    position : the number of bytes read
    separator, n_cells : of the rows of CSV, once the header is read
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.number = self.position = self.n_cells = 0
        self.separator = ","

    def __iter__(self) -> Iterator[str]:
        while raw := self.file.readline(MAX_LINE + 1):
            self.number += 1
            self.position += len(raw)
            if len(raw) > MAX_LINE:
                raise DataError(f"longer than {MAX_LINE:,} bytes; a sample takes one line")
            yield self._text(raw)

    def _text(self, raw: bytes) -> str:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 text (byte {error.start + 1} of the line)") from None
        return text.removeprefix("\ufeff") if self.number == 1 else text


#: Reads lines: yields the columns that are wanted, then the cells of one sample after the other.
TextFormat = Callable[[Lines, Layout], Iterator[Sequence[Any]]]


def json_rows(lines: Lines, layout: Layout) -> Iterator[list[Any]]:
    """Read JSON Lines: one JSON object after the other."""
    columns: list[Column] = []
    keys: frozenset[str] | None = None
    for text in lines:
        if text.isspace():
            continue
        content = _json_object(text)
        if content.keys() != keys:
            layout.check_names(content)
            if keys is None:
                columns = [Column(0, n, n, None) for n in layout.wanted if n in content]
                columns += layout.id_columns(list(content))
                columns = [column._replace(column_index=i) for i, column in enumerate(columns)]
                yield columns
            _check_targets(layout, content, {c.name for c in columns if not c.is_id})
            keys = frozenset(content)
        yield [content.get(column.name) for column in columns]


def _json_object(text: str) -> dict[str, Any]:
    try:
        content = decode_json(text.rstrip())
    except json.JSONDecodeError as error:
        raise DataError(
            f"column {error.colno}: not JSON ({error.msg}); is the line cut off?"
        ) from None
    except RecursionError:
        raise DataError("JSON that nests too deep") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise DataError(f"not usable JSON ({error})") from None
    if not isinstance(content, dict):
        raise DataError('expected one JSON object a line, such as {"left": {"3": 1.0, "8": 0.4}}')
    return content


def _check_targets(layout: Layout, content: dict[str, Any], before: set[str]) -> None:
    """Raise for a target that this sample has and earlier samples do not, or the reverse."""
    for name in layout.targets:
        if (name in content) != (name in before):
            this, others = ("a", "no") if name in content else ("no", "a")
            raise DataError(
                f"{this} target is given for {name!r}, where the samples before have {others} "
                "target for it; give it in every sample of the file, or in none"
            )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = first_duplicate(key for key, _ in pairs)
        raise DataError(f"the key {twice!r:.80} stands twice in one object")
    return content


def _refuse_constant(constant: str) -> NoReturn:
    raise DataError(f"{constant} is no number of JSON; write null for what is not known")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise DataError(f"{text:.40} is beyond all numbers; write null for what is not known")
    return number


_HOOKS: dict[str, Any] = {"object_pairs_hook": _distinct, "parse_constant": _refuse_constant}
_DECODER = json.JSONDecoder(**_HOOKS)
#: What a number beyond the floats looks like, and the slower decoder that refuses them.
_HUGE = re.compile(r"[eE]\+?\d{3}|\d{300}")
_FINITE_DECODER = json.JSONDecoder(**_HOOKS, parse_float=_finite)


def decode_json(text: str) -> Any:
    """Return what a text of JSON has; keys that stand twice and numbers beyond floats are refused.

    Examples
    --------
    >>> decode_json('{"a": 1e100}')
    {'a': 1e+100}
    """
    return (_FINITE_DECODER if _HUGE.search(text) else _DECODER).decode(text)


def csv_rows(lines: Lines, layout: Layout | TableLayout) -> Iterator[Sequence[Any]]:
    """Read CSV with a header."""
    titles: list[str] = []
    texts = iter(lines)
    first = list(islice((text for text in texts if text.strip("\r\n")), 1))
    separator = lines.separator = layout.options.separator or layout.separator_of("".join(first))
    try:
        for cells in filter(
            None, csv.reader(chain(first, texts), delimiter=separator, strict=True)
        ):
            if not titles:
                titles = [layout.title(cell) for cell in cells]
                lines.n_cells = len(titles)
                yield layout.columns(titles)
            elif len(cells) == len(titles):
                yield cells
            else:
                raise DataError(
                    f"a row of length {len(cells)} under a header of length {len(titles)}"
                )
    except csv.Error as error:
        raise DataError(f"not CSV ({error})") from None


#: Reads the next rows of columns at once, at most as many as is said, where it can; else None.
BlockFormat = Callable[[Lines, Sequence[Column], int], RawBatch | None]


def text_batches(
    rows_of: TextFormat,
    file: BinaryIO,
    name: str,
    layout: Layout,
    size: int,
    block_of: BlockFormat | None = None,
) -> Iterator[RawBatch]:
    """Read JSON Lines or CSV; every `size` samples a batch ends."""
    lines = Lines(file)
    rows = rows_of(lines, layout)
    try:
        columns = next(rows, ())
    except DataError as error:
        raise DataError(f"{name}, line {lines.number}: {error}") from None
    most = max(1, RAW_CELLS // max(1, layout.width))
    n_read = 0
    while True:
        n_left = size - n_read % size  # of this batch
        if block_of and (block := block_of(lines, columns, n_left)):
            n_read += len(block.lines)
            yield block
            continue
        n = min(most, n_left)
        batch, numbers, problem = [], [], None
        try:
            for row in islice(rows, n):
                batch.append(row)
                numbers.append(lines.number)
        except DataError as error:
            problem = DataError(f"{name}, line {lines.number}: {error}")
        if batch:
            cells = list(zip(*batch, strict=True))
            entries = {column: cells[column.column_index] for column in columns}
            yield RawBatch(entries, tuple(numbers), lines.position, name, "line", problem)
            n_read += len(batch)
        if problem:
            raise problem
        if len(batch) < n:
            return


def csv_table(lines: Lines, layout: TableLayout) -> dict[str, Sequence[Any]]:
    """Read all columns of CSV with a header."""
    rows = csv_rows(lines, layout)
    columns = next(rows, ())
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    return {column.title: cells[column.column_index] for column in columns}


def json_table(lines: Lines, layout: TableLayout) -> dict[str, Sequence[Any]]:
    """Read JSON Lines as a table: a key that an object does not have is blank there."""
    rows = [_json_object(text) for text in lines if not text.isspace()]
    titles = layout.columns(list(dict.fromkeys(key for row in rows for key in row)))
    return {column.title: [row.get(column.title) for row in rows] for column in titles}


def parquet_table(file: BinaryIO, name: str) -> dict[str, Sequence[Any]]:
    """Read all columns of a Parquet file."""
    cure = ", or write the samples as CSV or JSON Lines"
    with needing("parquet", f"{name}: Parquet files are read with", cure):
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(file).read()
        return {title: table.column(title).to_pylist() for title in table.schema.names}
    except (pyarrow.ArrowException, KeyError, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: cannot be read as a Parquet file: {error}") from None


def parquet_batches(file: BinaryIO, name: str, layout: Layout, size: int) -> Iterator[RawBatch]:
    """Read a Parquet file in batches of up to `size` samples."""
    cure = ", or write the samples as CSV or JSON Lines"
    with needing("parquet", f"{name}: Parquet files are read with", cure):
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
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
            if not column.is_id:
                _check_type(column, schema.field(column.column_index).type)
        size = min(size, _rows_at_once(table.metadata, layout, columns))
    total, first = max(1, table.metadata.num_rows), 1
    for rows in table.iter_batches(size, columns=list(dict.fromkeys(c.title for c in columns))):
        arrays = {c: rows.column(rows.schema.get_field_index(c.title)) for c in columns}
        lines = range(first, first + rows.num_rows)
        first = lines.stop
        position = n_bytes * (first - 1) // total
        yield RawBatch(arrays, lines, position, name, "row", read=partial(parquet_entries, layout))


def _rows_at_once(metadata: Any, layout: Layout, columns: list[Column]) -> int:
    """Return how many rows may be read at once; raise for a column that expands too much.

    The metadata of a file have the expanded size of a group of rows before it is read.
    """
    widest = 1.0
    for group_index in range(metadata.num_row_groups):
        group = metadata.row_group(group_index)
        for chunk in map(group.column, range(group.num_columns)):
            path = chunk.path_in_schema  # of the column, or of the entries of its lists
            titles = {path, *(path[:i] for i, character in enumerate(path) if character == ".")}
            column = next((c for c in columns if c.title in titles), None)
            if column is not None and group.num_rows:
                widest = max(widest, chunk.total_uncompressed_size / group.num_rows)
                with placed(f"group {group_index + 1} of rows, column {column.title!r:.80}"):
                    _check_chunk(chunk, column, layout, group.num_rows)
    return max(1, int(MAX_EXPANDED / widest))


def _check_chunk(chunk: Any, column: Column, layout: Layout, rows: int) -> None:
    """Raise `DataError` for lists that are too long, and for columns that expand too much."""
    size = 1 if column.is_id else len(layout.wanted[column.name].domain)
    if chunk.num_values > rows * size and not column.is_id:
        raise DataError(
            f"{chunk.num_values:,} entries in {rows:,} rows; attribute {column.name!r} has {size} "
            "values, so that some lists are too long"
        )
    expanded = chunk.total_uncompressed_size
    if expanded > MAX_EXPANDED and expanded > MAX_RATIO * chunk.total_compressed_size:
        raise DataError(
            f"{chunk.total_compressed_size:,} bytes that expand to {expanded:,}; write it anew "
            f"with groups of rows that expand to {MAX_EXPANDED:,} bytes at most"
        )


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
