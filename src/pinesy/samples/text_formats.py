"""JSON Lines and CSV: lines of text are made into columns."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, repeat
from typing import Any, BinaryIO, NoReturn

from pinesy.exceptions import DataError
from pinesy.samples.file_layout import Column, Layout, RawBatch

#: A line of more bytes is refused: it would fill the memory before anything is known of it.
MAX_LINE = 10_000_000
#: Degrees of the rows that are made into columns at once: as many as a processor's cache holds.
RAW_CELLS = 1 << 16


class Lines:
    """The lines of a binary file as text.

    Attributes
    ----------
    number : of the line read last, counted from 1
    position : the number of bytes read
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file = file
        self.name = name
        self.number = self.position = 0

    @property
    def place(self) -> str:
        """How a message names the line read last."""
        return f"{self.name}, line {self.number}" if self.number else self.name

    def __iter__(self) -> Iterator[str]:
        while raw := self._read():
            self.number += 1
            self.position += len(raw)
            if len(raw) > MAX_LINE:
                raise DataError(f"longer than {MAX_LINE:,} bytes; a sample takes one line")
            yield self._text(raw)

    def _read(self) -> bytes:
        try:
            return self.file.readline(MAX_LINE + 1)
        except OSError as error:
            self.number = 0
            raise DataError(f"cannot be read: {error.strerror or error}") from None

    def _text(self, raw: bytes) -> str:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 text (byte {error.start + 1} of the line)") from None
        return text.removeprefix("\ufeff") if self.number == 1 else text


@dataclass
class TextRows:
    """Reads the entries of one sample after the other.

    Attributes
    ----------
    columns : those that are wanted, once the first sample or the header is read
    """

    lines: Lines
    layout: Layout
    columns: list[Column] = field(default_factory=list)

    def __iter__(self) -> Iterator[Sequence[Any]]:
        raise NotImplementedError


@dataclass
class JsonRows(TextRows):
    """Reads JSON Lines: one JSON object after the other; `keys` are those of the last one."""

    keys: frozenset[str] | None = None

    def __iter__(self) -> Iterator[list[Any]]:
        for text in self.lines:
            if not text.isspace():
                yield self._entries(self._parsed(text))

    def _parsed(self, text: str) -> Any:
        try:
            return DECODER.decode(text.rstrip())
        except json.JSONDecodeError as error:
            raise DataError(
                f"column {error.colno}: not JSON ({error.msg}); is the line cut off?"
            ) from None
        except RecursionError:
            raise DataError("JSON that nests too deep") from None
        except ValueError as error:  # a whole number of thousands of digits
            raise DataError(f"not usable JSON ({error})") from None

    def _entries(self, content: Any) -> list[Any]:
        if not isinstance(content, dict):
            raise DataError(
                'expected one JSON object a line, such as {"left": {"3": 1.0, "8": 0.4}}'
            )
        if content.keys() != self.keys:
            self.layout.check_names(content)
            self._check_targets(content)
            self.keys = frozenset(content)
        return [content[column.name] for column in self.columns]

    def _check_targets(self, content: dict[str, Any]) -> None:
        """Raise for a target that this sample has and those before do not, or the other way."""
        if self.keys is None:
            given = [name for name in self.layout.wanted if name in content]
            self.columns = [Column(i, name, name, None) for i, name in enumerate(given)]
        before = {column.name for column in self.columns}
        for name in self.layout.targets:
            if (name in content) != (name in before):
                this, others = ("a", "no") if name in content else ("no", "a")
                raise DataError(
                    f"{this} target is given for {name!r}, where the samples before have {others} "
                    "target for it; give it in every sample of the file, or in none"
                )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise DataError(f"the key {twice!r:.80} stands twice in one object")
    return content


def _constant(word: str) -> NoReturn:
    raise DataError(f"{word} is no degree; degrees are numbers in [0, 1]")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


class CsvRows(TextRows):
    """Reads CSV with a header."""

    def __iter__(self) -> Iterator[list[str]]:
        rows = filter(None, self._rows())
        titles = next(rows, [])
        if titles:
            self.columns = self.layout.columns(titles)
        for cells in rows:
            if len(cells) != len(titles):
                raise DataError(
                    f"a row of length {len(cells)} under a header of length {len(titles)}"
                )
            yield cells

    def _rows(self) -> Iterator[list[str]]:
        try:
            yield from csv.reader(self.lines, strict=True)
        except csv.Error as error:
            raise DataError(f"not CSV ({error})") from None


def text_batches(
    rows_of: type[TextRows], file: BinaryIO, name: str, layout: Layout, size: int
) -> Iterator[RawBatch]:
    """Read JSON Lines or CSV; every `size` samples a batch ends."""
    reader = rows_of(Lines(file, name), layout)
    lines, rows = reader.lines, iter(reader)
    most = max(1, RAW_CELLS // max(1, layout.width))
    for n in cycle([*repeat(most, size // most), *repeat(size % most, size % most > 0)]):
        batch, numbers, problem = [], [], None
        try:
            for row in islice(rows, n):
                batch.append(row)
                numbers.append(lines.number)
        except DataError as error:
            problem = DataError(f"{lines.place}: {error}")
        if batch:
            cells = list(zip(*batch, strict=True))
            columns = {column: cells[column.number] for column in reader.columns}
            yield RawBatch(columns, tuple(numbers), lines.position, lines.name, "line", problem)
        if problem:
            raise problem
        if len(batch) < n:
            return
