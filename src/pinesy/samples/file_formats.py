"""The text formats of data files, JSON Lines and CSV, line by line, into columns."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle, islice, repeat
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

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.number = self.position = 0

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
                given = [Column(0, n, n, None) for n in layout.wanted if n in content]
                given += layout.id_columns(list(content))
                columns = [column._replace(number=i) for i, column in enumerate(given)]
                yield columns
            _check_targets(layout, content, {c.name for c in columns if not c.is_id})
            keys = frozenset(content)
        yield [content.get(column.name) for column in columns]


def _json_object(text: str) -> dict[str, Any]:
    try:
        content = DECODER.decode(text.rstrip())
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
    """Raise for a target that this sample has and those before do not, or the other way."""
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
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise DataError(f"the key {twice!r:.80} stands twice in one object")
    return content


def _constant(word: str) -> NoReturn:
    raise DataError(f"{word} is no degree; degrees are numbers in [0, 1]")


DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_constant)


def csv_rows(lines: Lines, layout: Layout) -> Iterator[Sequence[Any]]:
    """Read CSV with a header."""
    titles: list[str] = []
    texts = iter(lines)
    first = list(islice((text for text in texts if text.strip("\r\n")), 1))
    separator = layout.options.separator or layout.separator_of("".join(first))
    try:
        for cells in filter(
            None, csv.reader(chain(first, texts), delimiter=separator, strict=True)
        ):
            if not titles:
                titles = cells
                yield layout.columns(titles)
            elif len(cells) == len(titles):
                yield cells
            else:
                raise DataError(
                    f"a row of length {len(cells)} under a header of length {len(titles)}"
                )
    except csv.Error as error:
        raise DataError(f"not CSV ({error})") from None


def text_batches(
    rows_of: TextFormat, file: BinaryIO, name: str, layout: Layout, size: int
) -> Iterator[RawBatch]:
    """Read JSON Lines or CSV; every `size` samples a batch ends."""
    lines = Lines(file)
    rows = rows_of(lines, layout)
    columns: Sequence[Column] | None = None
    most = max(1, RAW_CELLS // max(1, layout.width))
    for n in cycle([*repeat(most, size // most), *repeat(size % most, size % most > 0)]):
        batch, numbers, problem = [], [], None
        try:
            if columns is None:
                columns = next(rows, ())
            for row in islice(rows, n):
                batch.append(row)
                numbers.append(lines.number)
        except DataError as error:
            problem = DataError(f"{name}, line {lines.number}: {error}")
        if batch:
            cells = list(zip(*batch, strict=True))
            entries = {column: cells[column.number] for column in columns or ()}
            yield RawBatch(entries, tuple(numbers), lines.position, name, "line", problem)
        if problem:
            raise problem
        if len(batch) < n:
            return
