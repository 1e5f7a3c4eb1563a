"""CSV in blocks of lines, read at once by pyarrow where every line is plain.

A block is plain if Python's reader gives the same cells row by row: quotes enclose whole cells on
one line, and no line is blank or very long. Other blocks are left to that reader, with all errors.
"""

import csv
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from pinesy.samples.arrow_entries import text_entries
from pinesy.samples.file_formats import Lines, csv_rows, text_batches
from pinesy.samples.file_layout import MAX_LINE, Column, Layout, RawBatch

#: Bytes of a block.
BLOCK_BYTES = 1 << 20
#: Batches of fewer samples, and files of fewer bytes, are read row by row: pyarrow takes time to
#: import, and a block to prepare.
MIN_SAMPLES, MIN_BYTES = 100, 1 << 18
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'


def csv_batches(file: BinaryIO, name: str, layout: Layout, size: int) -> Any:
    """Read CSV; every `size` samples a batch ends."""
    if size < MIN_SAMPLES:
        return text_batches(csv_rows, file, name, layout, size)
    blocks = CsvBlocks(file, name, layout)
    return text_batches(csv_rows, cast(BinaryIO, blocks), name, layout, size, blocks.next_rows)


class CsvBlocks:
    """Gives the bytes of a file line by line, or the rows of plain blocks at once.

    Attributes
    ----------
    file, name, layout : as for `text_batches`
    """

    def __init__(self, file: BinaryIO, name: str, layout: Layout) -> None:
        self.file, self.name, self.layout = file, name, layout
        self._block, self._start = b"", 0
        self._is_first = True
        self._arrays: dict[Column, Any] = {}
        self._ends: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._row = 0

    def readline(self, limit: int) -> bytes:
        """Return the next line, as a binary file does."""
        if self._start >= len(self._block):
            return self.file.readline(limit)
        end = self._block.find(b"\n", self._start, self._start + limit) + 1
        line = self._block[self._start : end or self._start + limit]
        self._start += len(line)
        return line

    def next_rows(self, lines: Lines, columns: Sequence[Column], n: int) -> RawBatch | None:
        """Return at most `n` rows at once; None if the next line is not in a plain block."""
        if self._row >= len(self._ends) and not self._read(lines, columns):
            return None
        first, last = self._row, min(self._row + n, len(self._ends))
        size = int(self._ends[last - 1]) - (int(self._ends[first - 1]) if first else 0)
        numbers = tuple(range(lines.number + 1, lines.number + 1 + last - first))
        lines.number, lines.position = numbers[-1], lines.position + size
        arrays = {column: array[first:last] for column, array in self._arrays.items()}
        self._row = last
        return RawBatch(
            arrays,
            numbers,
            lines.position,
            self.name,
            "line",
            read=partial(text_entries, self.layout),
        )

    def _read(self, lines: Lines, columns: Sequence[Column]) -> bool:
        """Read the next block, and return whether it is plain."""
        if self._start < len(self._block):  # the rest of a block that is not
            return False
        self._block, self._start = self.file.read(BLOCK_BYTES), 0
        if self._block and not self._block.endswith(b"\n"):
            self._block += self.file.readline(MAX_LINE + 1)
        is_small = self._is_first and len(self._block) < MIN_BYTES
        self._is_first = False
        can_read = not is_small and _has_pyarrow()
        ends = plain_ends(self._block, lines.separator) if can_read else None
        arrays = None
        if ends is not None:
            arrays = _cells(self._block, lines.separator, lines.n_cells, columns, len(ends))
        if ends is None or arrays is None:
            return False
        self._arrays, self._ends, self._row = arrays, ends, 0
        self._start = len(self._block)
        return True


def plain_ends(block: bytes, separator: str) -> npt.NDArray[np.int64] | None:
    r"""Return where the lines of a block end, each with its line end; None if it is not plain.

    Examples
    --------
    >>> plain_ends(b'1,"a"\n2,b\n', ",").tolist()
    [6, 10]
    >>> [plain_ends(block, ",") for block in (b"1\n\n2\n", b'"a""b"\n', b'"a\nb"\n', b"")]
    [None, None, None, None]
    """
    if not block or len(separator.encode()) != 1 or separator in "\r\n\0" or b"\0" in block:
        return None
    n_returns = block.count(b"\r")
    if n_returns and block.count(b"\r\n") != n_returns:
        return None
    codes = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(codes == _NEWLINE) + 1
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    lengths = np.diff(ends, prepend=0)
    if lengths.max() > min(MAX_LINE, csv.field_size_limit()):
        return None
    is_blank = lengths == 1 if not n_returns else (lengths <= 2) & (codes[ends - lengths] < 32)
    if is_blank.any():
        return None
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if b'"' in block and not _quotes_are_plain(codes, ends, ord(separator)):
        return None
    return ends


def _quotes_are_plain(
    codes: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64], separator: int
) -> bool:
    """Return whether quotes enclose whole cells, on one line and without quotes in them."""
    quotes = np.flatnonzero(codes == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = codes[opening - 1]  # of the first character the last one, which no reader sees
    after = codes[np.minimum(closing + 1, len(codes) - 1)]
    begins = (opening == 0) | (before == separator) | (before == _NEWLINE)
    finishes = (closing == len(codes) - 1) | np.isin(after, (separator, _NEWLINE, _RETURN))
    one_line = np.searchsorted(ends, opening, "right") == np.searchsorted(ends, closing, "right")
    return bool((begins & finishes & one_line).all())


def _cells(
    block: bytes, separator: str, n_cells: int, columns: Sequence[Column], n_rows: int
) -> dict[Column, Any] | None:
    """Return the cells of columns as arrays of texts; None if pyarrow finds something wrong."""
    pyarrow, reader = import_module("pyarrow"), import_module("pyarrow.csv")
    names = list(map(str, range(n_cells)))
    included = [names[column.column_index] for column in columns]
    try:
        table = reader.read_csv(
            pyarrow.BufferReader(block),
            reader.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
            reader.ParseOptions(delimiter=separator),
            reader.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pyarrow.string()),
                strings_can_be_null=False,
                include_columns=list(dict.fromkeys(included)),
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    if table.num_rows != n_rows:
        return None
    arrays = {name: table.column(name).combine_chunks() for name in dict.fromkeys(included)}
    return {c: arrays[name] for c, name in zip(columns, included, strict=True)}


def _has_pyarrow() -> bool:
    try:
        import_module("pyarrow")
    except ImportError:
        return False
    return True
