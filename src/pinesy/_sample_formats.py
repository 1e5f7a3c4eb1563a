"""The formats of data files: lines are made into the columns and degrees of samples."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from pinesy._sample_layout import Layout, Lines, value_texts
from pinesy._validation import suggestion

#: The columns of a sample that are not 0, and their degrees.
Record = tuple[list[int], list[float]]


def json_records(lines: Lines, layout: Layout) -> Iterator[Record]:
    """Read JSON Lines."""
    rows = _JsonRows(lines, layout)
    return (rows.record(text) for text in lines if not text.isspace())


class _JsonRows:
    """Reads one JSON object after the other."""

    def __init__(self, lines: Lines, layout: Layout) -> None:
        self.lines = lines
        self.layout = layout
        self.fail = lines.fail
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant
        )

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
        columns: list[int] = []
        degrees: list[float] = []
        for name in self.layout.inputs:
            positions, given = self._distribution(name, content[name])
            start = self.layout.starts[name]
            columns.extend([start + p for p in positions])
            degrees.extend(given)
        return columns, degrees

    def _parsed(self, text: str) -> Any:
        try:
            return self.decoder.decode(text)
        except json.JSONDecodeError as error:
            self.fail(f"column {error.colno}: not JSON ({error.msg}); is the line cut off?")
        except RecursionError:
            self.fail("JSON that nests too deep")
        except ValueError as error:  # a whole number of thousands of digits
            self.fail(f"not usable JSON ({error})")

    def _distribution(self, name: str, content: Any) -> tuple[Sequence[int], list[float]]:
        if isinstance(content, dict):
            return self._named(name, content)
        if isinstance(content, list):
            return self._listed(name, content)
        return [self._certain(name, content)], [1.0]

    def _named(self, name: str, content: dict[str, Any]) -> tuple[list[int], list[float]]:
        positions = [self.layout.position(name, text, self.lines) for text in content]
        if len(set(positions)) < len(positions):
            self.fail(f"attribute {name!r}: one value is given twice, by two spellings")
        return positions, self._numbers(name, list(content.values()))

    def _listed(self, name: str, content: list[Any]) -> tuple[range, list[float]]:
        size = len(self.layout.inputs[name].domain)
        if len(content) != size:
            self.fail(f"attribute {name!r} has {size} values; got a list of {len(content)} degrees")
        return range(size), self._numbers(name, content)

    def _certain(self, name: str, value: Any) -> int:
        """Return the place of a value that stands alone."""
        if isinstance(value, str):
            return self.layout.position(name, value, self.lines)
        attribute = self.layout.inputs[name]
        if value not in attribute:
            hint = suggestion(json.dumps(value), value_texts(attribute))
            self.fail(f"attribute {name!r} has no value {json.dumps(value):.80}{hint}")
        return attribute.position(value)

    def _numbers(self, name: str, degrees: list[Any]) -> list[float]:
        for degree in degrees:
            if type(degree) is not float and type(degree) is not int:
                shown = json.dumps(degree)
                self.fail(f"attribute {name!r}: the degree {shown:.80} is not a number")
        try:
            return list(map(float, degrees))
        except OverflowError:
            self.fail(f"attribute {name!r}: a degree is far above 1")


def csv_records(lines: Lines, layout: Layout) -> Iterator[Record]:
    """Read CSV with a header."""
    rows = filter(None, _cells(lines))
    header = next(rows, None)
    if header is None:
        return
    columns = _CsvColumns(header, lines, layout)
    for cells in rows:
        yield columns.record(cells)


def _cells(lines: Lines) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines, strict=True)
    except csv.Error as error:
        lines.fail(f"not CSV ({error})")


class _CsvColumns:
    """What the columns of a CSV file mean, and so its rows."""

    def __init__(self, header: list[str], lines: Lines, layout: Layout) -> None:
        self.header = header
        self.lines = lines
        self.layout = layout
        #: Cells that hold degrees, and the columns they go to; cells that hold values.
        self.cells: list[int] = []
        self.columns: list[int] = []
        self.certain: list[tuple[int, str]] = []
        seen: set[tuple[str, int | None]] = set()
        for cell, title in enumerate(header):
            self._place(cell, *self._add(title, seen))
        layout.check_names(dict.fromkeys(name for name, _ in seen), lines)

    def _add(self, title: str, seen: set[tuple[str, int | None]]) -> tuple[str, int | None]:
        """Return the attribute and the value of a column; fail if it is there already."""
        name, position = self._meaning(title)
        clash = (name, None) in seen or (position is None and any(n == name for n, _ in seen))
        if clash or (name, position) in seen:
            self.lines.fail(f"column {title!r:.80}: an earlier column gives the same")
        seen.add((name, position))
        return name, position

    def _meaning(self, title: str) -> tuple[str, int | None]:
        if title in self.layout.known:
            return title, None
        # Names and values may themselves hold "=", so every split is tried.
        splits = [i for i, sign in enumerate(title) if sign == "="]
        found = [(title[:i], title[i + 1 :]) for i in splits if title[:i] in self.layout.known]
        for name, text in found:
            if text in self.layout.positions[name] or (name, text) == found[-1]:
                return name, self.layout.position(name, text, self.lines)
        name = title.partition("=")[0]
        self.lines.fail(
            f"column {title!r:.80} is neither an input nor input=value"
            f"{suggestion(name, self.layout.known)}"
        )

    def _place(self, cell: int, name: str, position: int | None) -> None:
        if name not in self.layout.inputs:
            return
        if position is None:
            self.certain.append((cell, name))
        else:
            self.cells.append(cell)
            self.columns.append(self.layout.starts[name] + position)

    def record(self, cells: list[str]) -> Record:
        """Return the degrees of the sample in one row."""
        if len(cells) != len(self.header):
            length = len(self.header)
            self.lines.fail(f"a row of length {len(cells)} under a header of length {length}")
        degrees = self._numbers([cells[i] for i in self.cells])
        if not self.certain:
            return self.columns, degrees
        values = [
            self.layout.starts[name] + self.layout.position(name, cells[i], self.lines)
            for i, name in self.certain
        ]
        return self.columns + values, degrees + [1.0] * len(values)

    def _numbers(self, texts: list[str]) -> list[float]:
        try:
            if "_" not in "".join(texts):  # Python would read 0_1 as 1
                return list(map(float, texts))
        except ValueError:
            pass
        wrong = next(i for i, text in enumerate(texts) if not _is_number(text))
        title = self.header[self.cells[wrong]]
        self.lines.fail(f"column {title!r:.80}: {texts[wrong]!r:.80} is not a number")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
