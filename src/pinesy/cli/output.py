"""Writers of results: JSON, CSV or a table, in a file or on the screen."""

import csv
import re
import sys
import textwrap
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pinesy._common.console import progress
from pinesy._common.files import atomic_text, wrap_read_errors
from pinesy._common.reports import count_text, wrap_lines
from pinesy._common.validation import printable, printable_json
from pinesy.samples import Batch

if TYPE_CHECKING:
    from pinesy.verdicts import Verdict

T = TypeVar("T")
#: The first characters of cells that a spreadsheet runs as formulas.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
#: Characters of a line on the screen, so that it fits the smallest usual terminal.
WIDTH = 80
#: The column where the lines of a verdict begin, after their questions.
HEAD = 22
#: Characters between the columns of a table, and characters that a cut column keeps at least.
CELL_GAP, MIN_LAST = 3, 20
#: Samples that a table shows without --all.
MAX_SHOWN = 20


class Screen(Console):
    """A console that raises BrokenPipeError, where Rich exits with 1, and escapes texts."""

    def on_broken_pipe(self) -> None:
        """Raise `BrokenPipeError` again."""
        raise BrokenPipeError

    def render(self, *objects: Any, **settings: Any) -> Iterator[Segment]:
        """Yield segments with escaped control characters."""
        for part in super().render(*objects, **settings):
            yield part if part.control else Segment(printable(part.text), part.style)


def say(text: object = "") -> None:
    """Print a line, with escaped control characters."""
    typer.echo(printable(str(text)))


def say_lines(text: str) -> None:
    """Print a text; lines of more than `WIDTH` characters are wrapped."""
    typer.echo(wrap_lines(printable(text), WIDTH))


def say_wrapped(text: str, *, before: bool = False, indent: int = 0) -> None:
    """Print a text in lines of at most `WIDTH` characters.

    Parameters
    ----------
    before : whether to print an empty line before it
    indent : of all lines but the first
    """
    lines = textwrap.wrap(
        printable(text), WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False
    )
    typer.echo("\n" * before + "\n".join(lines))


def verdict_block(verdict: "Verdict") -> str:
    """Return the answer, and a line for each question, in at most `WIDTH` characters a line."""
    lines = [re.sub(r", (certain \S+)\Z", r"  \1", verdict.answer)]
    for head, text in verdict.questions().items():
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"{head:<{HEAD}}",
            subsequent_indent=" " * HEAD,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file for an atomic write; standard output without a path."""
    if path is None:
        yield sys.stdout
    else:
        with atomic_text(path) as stream:
            yield stream


def put_text(path: Path | None, text: str) -> None:
    """Write a text to a file or, without a path, to standard output.

    A terminal gets escapes in the place of characters that it would act on.
    """
    with open_output(path) as stream:
        if stream.isatty():
            text = "\n".join(map(printable, text.split("\n")))
        stream.write(text)


def plain(result: object) -> str:
    """Return a result as text, without ``ClassName(...)`` around the first line."""
    return re.sub(r"\A\w+\((.*)\)$", r"\1", str(result), count=1, flags=re.MULTILINE)


def six_digits(degree: float) -> str:
    """Return a degree with six significant digits."""
    return f"{degree:.6g}"


def shortened_note(count: int, noun: str, option: str = "--all") -> Text:
    """Return a note on the number of omitted items, and the option that shows them."""
    return Text(f"... and {count_text(count, noun, 'more ')}; {option} shows them", style="italic")


class Shortening:
    """Base class of output that is shortened unless `everything` (``--all``) is set."""

    everything: bool

    def first(self, items: Sequence[T], limit: int) -> tuple[Sequence[T], int]:
        """Return the first items (all with ``--all``), and the number of omitted items."""
        selected = items if self.everything else items[:limit]
        return selected, len(items) - len(selected)

    def text(self, text: str, limit: int) -> str:
        """Return a text, cut after `limit` characters unless ``--all``."""
        beginning, n_left = self.first(text, limit)
        return f"{beginning} ... {n_left:,} more characters (--all)" if n_left else text


def rich_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]] = (), right: Sequence[str] = ()
) -> Table:
    """Return a table of texts without markup; long cells are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify = "right" if column in right else "left"
        table.add_column(column, overflow="fold", justify=justify)  # type: ignore[arg-type]
    for cells in rows:
        table.add_row(*map(Text, cells))
    return table


class ResultRow:
    """Base class of the result of one sample, for all writers."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        raise NotImplementedError

    def titles(self) -> Sequence[str]:
        """Return the titles of the columns of a CSV file."""
        return list(self.to_dict())

    def cells(self) -> Sequence[Any]:
        """Return the cells of a CSV row; floats are written with their repr."""
        return list(self.to_dict().values())

    def lines(self) -> Iterable[Sequence[str]]:
        """Yield the rows of a printed table."""
        raise NotImplementedError

    def remarks(self) -> Iterable[str]:
        """Yield lines to print below the table."""
        return ()


#: Writes the results of samples to a stream.
Writer = Callable[[TextIO, Iterable[ResultRow]], None]


def write_json_lines(stream: TextIO, rows: Iterable[ResultRow]) -> None:
    """Write JSON Lines: an object for each sample."""
    for row in rows:
        stream.write(printable_json(row.to_dict()) + "\n")


def write_json_list(stream: TextIO, rows: Iterable[ResultRow]) -> None:
    """Write a JSON array of objects."""
    stream.write(printable_json([row.to_dict() for row in rows], indent=1) + "\n")


def write_csv(stream: TextIO, rows: Iterable[ResultRow], formulas: bool = False) -> None:
    """Write a header, then a row for each sample.

    Parameters
    ----------
    formulas : whether to write texts that spreadsheets run as formulas unchanged
    """
    writer = csv.writer(stream, lineterminator="\n")
    cell_text = cell_writer(formulas, stream.isatty())
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(map(cell_text, row.titles()))
        writer.writerow(map(cell_text, row.cells()))


def cell_writer(formulas: bool, is_screen: bool) -> Callable[[Any], Any]:
    """Return what makes the cells of CSV: texts are escaped, for a spreadsheet and a screen."""

    def cell_text(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell if formulas else escape_formula(cell)
        return printable(text) if is_screen else text

    return cell_text


def escape_formula(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run it as a formula.

    Examples
    --------
    >>> [escape_formula(text) for text in ("=1+2", "@x", "-1.5", "- or +", "low")]
    ["'=1+2", "'@x", '-1.5', "'- or +", 'low']
    """
    if not text.startswith(FORMULA_SIGNS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


#: The writers, by the suffix of the file.
WRITERS: dict[str, Writer] = {
    ".csv": write_csv,
    ".json": write_json_list,
    ".jsonl": write_json_lines,
}


def writer_of(suffix: str, formulas: bool) -> Writer:
    """Return the writer of files with a suffix; for `formulas` see `write_csv`."""
    return partial(write_csv, formulas=formulas) if suffix == ".csv" else WRITERS[suffix]


@dataclass(frozen=True)
class TableWriter:
    """Prints tables for reading.

    Attributes
    ----------
    columns, right : the titles of the columns, and of those that are right-aligned
    fit : whether the last column is cut so that lines fit the screen
    everything : whether to show all samples, or the first `MAX_SHOWN`
    page : the number of samples of one table, so that memory is bounded; None for all
    sections : whether to separate samples
    """

    columns: Sequence[str]
    right: Sequence[str] = ()
    everything: bool = True
    page: int | None = None
    sections: bool = True
    fit: bool = False

    def __call__(self, stream: TextIO, rows: Iterable[ResultRow]) -> None:
        """Print the samples, and the number of omitted ones."""
        screen, rows = Screen(file=stream), iter(rows)
        selected = rows if self.everything else iter(list(islice(rows, MAX_SHOWN)))
        n_left = 0 if self.everything else sum(1 for _ in rows)
        while page := list(islice(selected, self.page)):
            self._print(screen, page)
        if n_left:
            screen.print(shortened_note(n_left, "sample"))

    def _print(self, screen: Screen, rows: Sequence[ResultRow]) -> None:
        table = rich_table(self.columns, right=self.right)
        lines = [[list(map(printable, cells)) for cells in row.lines()] for row in rows]
        if self.fit:
            self._cut([cells for row_lines in lines for cells in row_lines], screen.width)
        for row_lines in lines:
            for cells in row_lines:
                table.add_row(*map(Text, cells))
            if self.sections:
                table.add_section()
        screen.print(table)
        for remark in chain.from_iterable(row.remarks() for row in rows):
            screen.print(Text(remark), soft_wrap=True)

    def _cut(self, lines: Sequence[list[str]], width: int) -> None:
        """Cut the last cell of each line to the width that the others leave."""
        others = zip(self.columns[:-1], *(cells[:-1] for cells in lines), strict=False)
        widths = [max(map(cell_len, column)) + CELL_GAP for column in others]
        remaining = max(MIN_LAST, width - sum(widths))
        for cells in lines:
            if cell_len(cells[-1]) > remaining:
                start = set_cell_size(cells[-1], remaining - 4)
                cells[-1] = f"{start.rpartition(' ')[0] or start} ..."


def write_rows(
    batches: Iterable[Batch],
    rows: Callable[[Batch], Iterable[ResultRow]],
    write: Writer,
    data: Path,
    output: Path | None,
) -> None:
    """Write the results of all samples of a data file; `rows` returns the results of a batch."""
    with wrap_read_errors(data):  # its name may be too long
        size = data.stat().st_size if data.is_file() else None
    # A bar between results on one screen would garble them; a table comes after it.
    bar = output is not None or isinstance(write, TableWriter) or not sys.stdout.isatty()
    with (
        open_output(output) as stream,
        closing(with_progress(batches, data.name if bar else "", size)) as watched_batches,
    ):
        write(stream, chain.from_iterable(map(rows, watched_batches)))


class ReadBatch(Protocol):
    """Protocol of what is read of a file, with the bytes read so far."""

    @property
    def position(self) -> int:
        """The number of bytes."""

    def __len__(self) -> int:
        """Return the number of samples."""


AnyBatch = TypeVar("AnyBatch", bound=ReadBatch)


def with_progress(
    batches: Iterable[AnyBatch], name: str, size: int | None
) -> Generator[AnyBatch, None, None]:
    """Yield the batches of a file of `size` bytes, with a progress bar if `name` is given."""
    samples = position = 0
    with progress(f"reading {name}" if name else "", size) as bar:
        for batch in batches:
            yield batch
            samples += len(batch)
            bar.advance(batch.position - position, f"reading {name}: {samples:,} samples")
            position = batch.position
