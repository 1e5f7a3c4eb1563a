"""Reports: tables as data, which are shown as text, HTML and data frames."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from pinesy.exceptions import needing


@dataclass(frozen=True)
class ReportTable:
    """A table of a report, its cells as text.

    Attributes
    ----------
    head, lines : the titles of the columns, and the cells below them
    title : of the table, or an empty text
    noun : what a line is about, for the count of those that are omitted
    max_lines : how many are printed; None for all
    total : how many lines there are, where `lines` has only the first; None if it has all
    """

    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    title: str = ""
    noun: str = "lines"
    max_lines: int | None = None
    total: int | None = None

    @property
    def size(self) -> int:
        """The number of lines."""
        return len(self.lines) if self.total is None else self.total

    def __str__(self) -> str:
        """Return title, table and the number of omitted lines; an empty text without lines."""
        if not self.title and not self.lines:
            return ""
        lines = self.lines[: self.max_lines]
        omitted = len(self.lines) - len(lines)
        count = f"... and {omitted} more {self.noun}" if omitted else ""
        return "\n".join(filter(None, [self.title, text_table([self.head, *lines]), count]))


class TableReport:
    """Base class of results that are shown as tables: as text, HTML and data frame.

    A subclass gives `_tables` and `_records`, and a ``__repr__`` that is the first line; it may
    change `_heading` and add `_notes`.
    """

    #: The separator of heading, tables and notes in a text.
    SEPARATOR: ClassVar[str] = "\n"

    def _heading(self) -> str:
        """Return the line above the tables."""
        return repr(self)

    def _tables(self) -> list[ReportTable]:
        """Return the tables."""
        raise NotImplementedError

    def _notes(self) -> list[str]:
        """Return the lines below the tables."""
        return []

    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of the data frame."""
        raise NotImplementedError

    def tables(self) -> dict[str, list[list[str]]]:
        """Return the tables by title, each a list of rows whose first is the header."""
        return {
            table.title or table.head[0]: [list(table.head), *map(list, table.lines)]
            for table in self._tables()
        }

    def to_frame(self) -> Any:
        """Return the rows of the report as a pandas DataFrame."""
        return data_frame(self._records())

    def __str__(self) -> str:
        """Return the tables as text."""
        parts = [self._heading(), *map(str, self._tables()), *self._notes()]
        return self.SEPARATOR.join(filter(None, parts))

    def _repr_html_(self) -> str:
        from pinesy.display.markup import report_html

        return report_html(self._heading(), self._tables(), self._notes())


def printed_html(result: object) -> str:
    """Return the printed text of a result as HTML, for classes without tables.

    Use it as ``_repr_html_ = printed_html``.
    """
    from pinesy.display.markup import lines_of

    return lines_of(str(result))


def text_table(lines: Iterable[Sequence[str]]) -> str:
    """Return rows of cells as text with aligned columns.

    Examples
    --------
    >>> print(text_table([["rule", "s"], ["1", "0.25"]]))
    rule  s
    1     0.25
    """
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def count_text(count: int, noun: str, adjective: str = "") -> str:
    """Return a count with its noun in singular or plural, and an adjective between them.

    Examples
    --------
    >>> count_text(1, "rule"), count_text(2000, "rule", "more ")
    ('1 rule', '2,000 more rules')
    """
    return f"{count:,} {adjective}{noun}{'s' * (count != 1)}"


def data_frame(records: Any) -> Any:
    """Return a pandas DataFrame, or raise an error that names the extra to install."""
    with needing("frame", "to_frame needs"):
        pandas = import_module("pandas")
    return pandas.DataFrame(records)
