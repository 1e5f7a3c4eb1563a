"""The formats of data files: lines are made into the columns and degrees of samples."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from pinesy.samples.header import Column, Header
from pinesy.samples.layout import Layout, Lines, Record


class JsonRows:
    """Reads JSON Lines: one JSON object after the other.

    Attributes
    ----------
    targets : the targets that the file has: those of its first sample
    """

    def __init__(self, lines: Lines, layout: Layout) -> None:
        self.lines = lines
        self.layout = layout
        self.targets: list[str] = []
        self.started = False
        self.wanted = list(enumerate(layout.wanted))
        self.fail = lines.fail
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant
        )

    def __iter__(self) -> Iterator[Record]:
        return (self.record(text) for text in self.lines if not text.isspace())

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            self.fail(f"the key {twice!r:.80} stands twice in one object")
        return content

    def _constant(self, word: str) -> NoReturn:
        self.fail(f"{word} is no degree; degrees are numbers in [0, 1]")

    def record(self, text: str) -> Record:
        """Return the degrees of the sample in one line."""
        content = self._parsed(text)
        if not isinstance(content, dict):
            self.fail('expected one JSON object a line, such as {"left": {"3": 1.0, "8": 0.4}}')
        self.layout.check_names(content, self.lines)
        self._check_targets(content)
        record = Record([], [], [])
        for number, name in self.wanted:
            self._add(number, name, content[name], record)
        return record

    def _add(self, number: int, name: str, content: Any, record: Record) -> None:
        """Add what a sample gives for one attribute."""
        positions: Sequence[int]
        if isinstance(content, dict):
            positions, degrees = self._named(name, content)
        elif isinstance(content, list):
            positions, degrees = self._listed(name, content)
        else:
            positions, degrees = [self.layout.place(name, content, self.lines)], [1.0]
            record.certain.append(number)
        start = self.layout.spans[name].start
        record.columns.extend([start + p for p in positions])
        record.degrees.extend(degrees)

    def _check_targets(self, names: Iterable[str]) -> None:
        """Fail on a target that this sample has and those before do not, or the other way."""
        given = [name for name in self.layout.targets if name in names]
        if not self.started:
            self.started = True
            self.targets = given
            self.wanted = [(i, n) for i, n in self.wanted if n in self.layout.inputs or n in given]
        for name in self.layout.targets if given != self.targets else ():
            if (name in given) != (name in self.targets):
                this, others = ("a", "no") if name in given else ("no", "a")
                self.fail(
                    f"{this} target is given for {name!r}, where the samples before have {others} "
                    "target for it; give it in every sample of the file, or in none"
                )

    def _parsed(self, text: str) -> Any:
        try:
            return self.decoder.decode(text.rstrip())
        except json.JSONDecodeError as error:
            self.fail(f"column {error.colno}: not JSON ({error.msg}); is the line cut off?")
        except RecursionError:
            self.fail("JSON that nests too deep")
        except ValueError as error:  # a whole number of thousands of digits
            self.fail(f"not usable JSON ({error})")

    def _named(self, name: str, content: dict[str, Any]) -> tuple[list[int], list[float]]:
        positions = [self.layout.position(name, text, self.lines) for text in content]
        if len(set(positions)) < len(positions):
            self.fail(f"attribute {name!r}: one value is given twice, by two spellings")
        return positions, self._numbers(name, list(content.values()))

    def _listed(self, name: str, content: list[Any]) -> tuple[range, list[float]]:
        self.layout.check_length(name, len(content), self.lines)
        return range(len(content)), self._numbers(name, content)

    def _numbers(self, name: str, degrees: list[Any]) -> list[float]:
        for degree in degrees:
            if type(degree) is not float and type(degree) is not int:
                shown = json.dumps(degree)
                self.fail(f"attribute {name!r}: the degree {shown:.80} is not a number")
        try:
            return list(map(float, degrees))
        except OverflowError:
            self.fail(f"attribute {name!r}: a degree is far above 1")


class CsvRows:
    """Reads CSV with a header.

    Attributes
    ----------
    targets : the targets that the file has
    """

    def __init__(self, lines: Lines, layout: Layout) -> None:
        self.lines = lines
        self.layout = layout
        self.targets: list[str] = []

    def __iter__(self) -> Iterator[Record]:
        rows = filter(None, self._cells())
        titles = next(rows, None)
        if titles is None:
            return
        header = Header(titles, self.lines, self.layout)
        self.targets = header.targets
        columns = _CsvColumns(header, len(titles))
        for cells in rows:
            yield columns.record(cells)

    def _cells(self) -> Iterator[list[str]]:
        try:
            yield from csv.reader(self.lines, strict=True)
        except csv.Error as error:
            self.lines.fail(f"not CSV ({error})")


class _CsvColumns:
    """Makes samples of rows of cells."""

    def __init__(self, header: Header, length: int) -> None:
        self.layout = header.layout
        self.lines = header.origin
        self.length = length
        columns = [c for group in header.columns.values() for c in group]
        #: The cells that hold degrees, and the columns they go to; the cells that hold values.
        self.degrees = {c.cell: c.title for c in columns if c.position is not None}
        self.columns = [self._start(c) + c.position for c in columns if c.position is not None]
        self.values = [(c.cell, c.name, self._start(c)) for c in columns if c.position is None]
        self.certain = [self.layout.numbers[name] for _, name, _ in self.values]

    def _start(self, column: Column) -> int:
        start: int = self.layout.spans[column.name].start
        return start

    def record(self, cells: list[str]) -> Record:
        """Return the degrees of the sample in one row."""
        if len(cells) != self.length:
            self.lines.fail(f"a row of length {len(cells)} under a header of length {self.length}")
        degrees = self._numbers([cells[i] for i in self.degrees])
        if not self.values:
            return Record(self.columns, degrees, self.certain)
        places = [
            start + self.layout.position(name, cells[cell], self.lines)
            for cell, name, start in self.values
        ]
        return Record(self.columns + places, degrees + [1.0] * len(places), self.certain)

    def _numbers(self, texts: list[str]) -> list[float]:
        try:
            if "_" not in "".join(texts):  # Python would read 0_1 as 1
                return list(map(float, texts))
        except ValueError:
            pass
        wrong = next(i for i, text in enumerate(texts) if not _is_number(text))
        title = list(self.degrees.values())[wrong]
        self.lines.fail(f"column {title!r:.80}: {texts[wrong]!r:.80} is not a number")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
