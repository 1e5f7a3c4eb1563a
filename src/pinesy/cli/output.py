"""Where results go, and in what form: JSON, CSV or a table, in a file or on the screen."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pinesy._common.console import Bar, progress
from pinesy._common.files import writing
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch, value_texts

#: Samples that a table shows unless all are wanted.
SHOWN = 20


class Screen(Console):
    """A console that leaves a reader's going away to the caller, where Rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        """Pass the error on."""
        raise BrokenPipeError


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file that takes its name only once it is whole; standard output without a path."""
    if path is None:
        yield sys.stdout
    else:
        with writing(path) as stream:
            yield stream


def degree_text(degree: float) -> str:
    """Return a degree for reading, with six digits."""
    return f"{degree:.6g}"


def degrees_by_name(pi: Possibility) -> dict[str, float]:
    """Return the degrees that are not 0, by the names that values have in data files."""
    texts = value_texts(pi.attribute)
    return {t: d for t, d in zip(texts, pi.degrees.tolist(), strict=True) if d > 0.0}


def counted(count: int, what: str, word: str = "") -> str:
    """Return a number with what it counts: ``1 rule``, ``2 more rules``."""
    return f"{count:,} {word}{what}{'s' * (count != 1)}"


def shortened_note(count: int, what: str, option: str = "--all") -> Text:
    """Return the line that says how much is left out, and which option shows it."""
    return Text(f"... and {counted(count, what, 'more ')}; {option} shows them", style="italic")


def new_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; long cells are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify = "right" if column in right else "left"
        table.add_column(column, overflow="fold", justify=justify)  # type: ignore[arg-type]
    return table


class ResultRow:
    """The result of one sample, for a writer of any form."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        raise NotImplementedError

    def titles(self) -> Sequence[str]:
        """Return the titles of its cells in a CSV file."""
        return list(self.to_dict())

    def cells(self) -> Sequence[Any]:
        """Return its cells in a CSV file; floats are written so that they read back the same."""
        return list(self.to_dict().values())

    def lines(self) -> Iterable[Sequence[str]]:
        """Yield its lines in a table for reading."""
        raise NotImplementedError

    def remarks(self) -> Iterable[str]:
        """Yield what is written below the table."""
        return ()


class RowWriter(Protocol):
    """Takes the result of one sample after the other."""

    def add(self, row: ResultRow) -> None:
        """Write a result, at once or later."""

    def finish(self) -> None:
        """Write what is left."""


#: Makes a writer to a stream.
WriterMaker = Callable[[TextIO], RowWriter]


class JsonLinesWriter:
    """Writes an object for each sample, one a line."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def add(self, row: ResultRow) -> None:
        """Write a line."""
        self.stream.write(json.dumps(row.to_dict(), ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Do nothing: every sample is written."""


class JsonListWriter:
    """Writes one list of objects."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.rows: list[dict[str, Any]] = []

    def add(self, row: ResultRow) -> None:
        """Add an object to the list."""
        self.rows.append(row.to_dict())

    def finish(self) -> None:
        """Write the list."""
        json.dump(self.rows, self.stream, ensure_ascii=False, indent=1)
        self.stream.write("\n")


class CsvWriter:
    """Writes a header, then a row for each sample."""

    def __init__(self, stream: TextIO) -> None:
        self.rows = csv.writer(stream, lineterminator="\n")
        self.started = False

    def add(self, row: ResultRow) -> None:
        """Write a row, before the first one the header."""
        if not self.started:
            self.rows.writerow(row.titles())
            self.started = True
        self.rows.writerow(row.cells())

    def finish(self) -> None:
        """Do nothing: every sample is written."""


class TableWriter:
    """Prints tables for reading.

    Parameters
    ----------
    columns, right : their titles, and those whose cells stand on the right
    everything : whether to show all samples, or the first `SHOWN`
    page : the number of samples that one table holds, so that memory stays bounded; None for all
    sections : whether to set samples apart
    """

    def __init__(
        self,
        stream: TextIO,
        columns: Sequence[str],
        *,
        right: Sequence[str] = (),
        everything: bool = True,
        page: int | None = None,
        sections: bool = True,
    ) -> None:
        self.screen = Screen(file=stream)
        self.columns, self.right = columns, right
        self.page, self.sections = page, sections
        self.limit = None if everything else SHOWN
        self.count = 0
        self._start()

    def _start(self) -> None:
        self.table = new_table(*self.columns, right=self.right)
        self.remarks: list[str] = []
        self.waiting = 0

    def add(self, row: ResultRow) -> None:
        """Put a sample into the table, unless enough are shown."""
        self.count += 1
        if self.limit is not None and self.count > self.limit:
            return
        for cells in row.lines():
            self.table.add_row(*map(Text, cells))
        if self.sections:
            self.table.add_section()
        self.remarks.extend(row.remarks())
        self.waiting += 1
        if self.waiting == self.page:
            self._print()

    def _print(self) -> None:
        self.screen.print(self.table)
        for remark in self.remarks:
            self.screen.print(Text(remark), soft_wrap=True)
        self._start()

    def finish(self) -> None:
        """Print what is left, and say how many samples are not shown."""
        if self.waiting:
            self._print()
        if self.limit is not None and self.count > self.limit:
            self.screen.print(shortened_note(self.count - self.limit, "sample"))


def write_rows(
    batches: Iterable[Batch],
    rows: Callable[[Batch], Iterable[ResultRow]],
    make_writer: WriterMaker,
    data: Path,
    output: Path | None,
) -> None:
    """Write the results of all samples of a data file.

    Parameters
    ----------
    rows : what returns the results of a batch
    output : the file to write, None for standard output
    """
    size = data.stat().st_size if data.is_file() else None
    with open_output(output) as stream:
        writer = make_writer(stream)
        # A bar between results on one screen would garble them; a table comes after it.
        bar = output is not None or isinstance(writer, TableWriter) or not sys.stdout.isatty()
        with watched(batches, data.name if bar else "", size) as seen:
            for batch in seen:
                for row in rows(batch):
                    writer.add(row)
        writer.finish()


@contextmanager
def watched(batches: Iterable[Batch], name: str, size: int | None) -> Iterator[Iterator[Batch]]:
    """Give the batches of a file, with a bar if going through them takes long.

    Parameters
    ----------
    name : the file; empty for no bar
    size : its bytes, if their number is known
    """
    with progress(f"reading {name}" if name else "", size) as bar:
        yield _advancing(batches, name, bar)


def _advancing(batches: Iterable[Batch], name: str, bar: Bar) -> Iterator[Batch]:
    samples = position = 0
    for batch in batches:
        yield batch
        samples += len(batch)
        bar.advance(batch.position - position, f"reading {name}: {samples:,} samples")
        position = batch.position
