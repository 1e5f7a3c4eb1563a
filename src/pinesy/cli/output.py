"""Writers of results: JSON, CSV or a table, in a file or on the screen."""

import csv
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pinesy._common.console import progress
from pinesy._common.files import atomic_text, wrap_read_errors
from pinesy._common.reports import count_text
from pinesy._common.validation import printable, printable_json
from pinesy.samples import Batch

T = TypeVar("T")
#: What a cell begins with that a spreadsheet takes for a formula.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
#: Samples that a table shows unless all are wanted.
SHOWN = 20


class Screen(Console):
    """A console that raises BrokenPipeError, where Rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        """Pass the error on."""
        raise BrokenPipeError

    def render(self, *objects: Any, **settings: Any) -> Iterator[Segment]:
        """Yield printable segments: texts of files move no cursor."""
        for part in super().render(*objects, **settings):
            yield part if part.control else Segment(printable(part.text), part.style)


def say(text: object = "") -> None:
    """Print a text on a line of its own; texts of files move no cursor."""
    typer.echo(printable(str(text)))


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file that takes its name only once it is whole; standard output without a path."""
    if path is None:
        yield sys.stdout
    else:
        with atomic_text(path) as stream:
            yield stream


def put_text(path: Path | None, text: str) -> None:
    """Write a text to a file or, without a path, to standard output."""
    with open_output(path) as stream:
        stream.write(text)


def plain(result: object) -> str:
    """Return a result as text, without the name of its class around the first line."""
    return re.sub(r"\A\w+\((.*)\)$", r"\1", str(result), count=1, flags=re.MULTILINE)


def six_digits(degree: float) -> str:
    """Return a degree for reading, with six digits."""
    return f"{degree:.6g}"


def shortened_note(count: int, noun: str, option: str = "--all") -> Text:
    """Return a note on how many are not shown, and the option that shows them."""
    return Text(f"... and {count_text(count, noun, 'more ')}; {option} shows them", style="italic")


class Shortening:
    """Shows the first of many; with `everything` (``--all``) all of them."""

    everything: bool

    def first(self, items: Sequence[T], limit: int) -> tuple[Sequence[T], int]:
        """Return the first items, or all, and the number of the others."""
        selected = items if self.everything else items[:limit]
        return selected, len(items) - len(selected)

    def text(self, text: str, limit: int) -> str:
        """Return a text, or its first characters and how many more there are."""
        beginning, n_left = self.first(text, limit)
        return f"{beginning} ... {n_left:,} more characters (--all)" if n_left else text


def rich_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]] = (), right: Sequence[str] = ()
) -> Table:
    """Return a table of texts as they are; long cells are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify = "right" if column in right else "left"
        table.add_column(column, overflow="fold", justify=justify)  # type: ignore[arg-type]
    for cells in rows:
        table.add_row(*map(Text, cells))
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


#: Writes the results of samples to a stream.
Writer = Callable[[TextIO, Iterable[ResultRow]], None]


def write_json_lines(stream: TextIO, rows: Iterable[ResultRow]) -> None:
    """Write an object for each sample, one a line."""
    for row in rows:
        stream.write(printable_json(row.to_dict()) + "\n")


def write_json_list(stream: TextIO, rows: Iterable[ResultRow]) -> None:
    """Write one list of objects."""
    stream.write(printable_json([row.to_dict() for row in rows], indent=1) + "\n")


def write_csv(stream: TextIO, rows: Iterable[ResultRow], formulas: bool = False) -> None:
    """Write a header, then a row for each sample.

    Parameters
    ----------
    formulas : whether to leave texts as they are that spreadsheets take for formulas
    """
    writer = csv.writer(stream, lineterminator="\n")
    is_screen = stream.isatty()

    def cell_text(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell if formulas else neutral(cell)
        return printable(text) if is_screen else text

    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(map(cell_text, row.titles()))
        writer.writerow(map(cell_text, row.cells()))


def neutral(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: with an apostrophe before it.

    Examples
    --------
    >>> [neutral(text) for text in ("=1+2", "@x", "-1.5", "- or +", "low")]
    ["'=1+2", "'@x", '-1.5', "'- or +", 'low']
    """
    if not text.startswith(FORMULA_SIGNS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


#: The writers of files, by what the names of these end in.
WRITERS: dict[str, Writer] = {
    ".csv": write_csv,
    ".json": write_json_list,
    ".jsonl": write_json_lines,
}


def writer_of(suffix: str, formulas: bool) -> Writer:
    """Return the writer of files whose names end in `suffix`; see `write_csv`."""
    return partial(write_csv, formulas=formulas) if suffix == ".csv" else WRITERS[suffix]


@dataclass(frozen=True)
class TableWriter:
    """Prints tables for reading.

    Attributes
    ----------
    columns, right : their titles, and those whose cells stand on the right
    everything : whether to show all samples, or the first `SHOWN`
    page : the number of samples that one table holds, so that memory stays bounded; None for all
    sections : whether to set samples apart
    """

    columns: Sequence[str]
    right: Sequence[str] = ()
    everything: bool = True
    page: int | None = None
    sections: bool = True

    def __call__(self, stream: TextIO, rows: Iterable[ResultRow]) -> None:
        """Print the samples, and how many are not shown."""
        screen, rows = Screen(file=stream), iter(rows)
        selected = rows if self.everything else iter(list(islice(rows, SHOWN)))
        n_left = 0 if self.everything else sum(1 for _ in rows)
        while page := list(islice(selected, self.page)):
            self._print(screen, page)
        if n_left:
            screen.print(shortened_note(n_left, "sample"))

    def _print(self, screen: Screen, rows: Sequence[ResultRow]) -> None:
        table = rich_table(self.columns, right=self.right)
        for row in rows:
            for cells in row.lines():
                table.add_row(*map(Text, cells))
            if self.sections:
                table.add_section()
        screen.print(table)
        for remark in chain.from_iterable(row.remarks() for row in rows):
            screen.print(Text(remark), soft_wrap=True)


def write_rows(
    batches: Iterable[Batch],
    rows: Callable[[Batch], Iterable[ResultRow]],
    write: Writer,
    data: Path,
    output: Path | None,
) -> None:
    """Write the results of all samples of a data file; `rows` returns those of a batch."""
    with wrap_read_errors(data):  # its name may be too long
        size = data.stat().st_size if data.is_file() else None
    # A bar between results on one screen would garble them; a table comes after it.
    bar = output is not None or isinstance(write, TableWriter) or not sys.stdout.isatty()
    with (
        open_output(output) as stream,
        closing(watched(batches, data.name if bar else "", size)) as watched_batches,
    ):
        write(stream, chain.from_iterable(map(rows, watched_batches)))


def watched(batches: Iterable[Batch], name: str, size: int | None) -> Generator[Batch, None, None]:
    """Yield the batches of a file of `size` bytes, with a bar (given a name) if it takes long."""
    samples = position = 0
    with progress(f"reading {name}" if name else "", size) as bar:
        for batch in batches:
            yield batch
            samples += len(batch)
            bar.advance(batch.position - position, f"reading {name}: {samples:,} samples")
            position = batch.position
