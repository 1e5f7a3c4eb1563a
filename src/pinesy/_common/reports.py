"""Reports: tables as data, which are shown as text, HTML and data frames."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import zip_longest
from typing import Any, ClassVar

from pinesy.exceptions import needing

#: Characters of a wrapped column, at least.
MIN_WRAPPED = 24


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

    def text(self, width: int | None = None) -> str:
        """Return title, table and the number of omitted lines; an empty text without lines.

        Parameters
        ----------
        width : characters of a line; see `text_table`
        """
        if not self.title and not self.lines:
            return ""
        lines = self.lines[: self.max_lines]
        omitted = len(self.lines) - len(lines)
        count = f"... and {omitted} more {self.noun}" if omitted else ""
        table = text_table([self.head, *lines], width)
        return "\n".join(filter(None, [self.title, table, count]))

    def __str__(self) -> str:
        """Return the table as text."""
        return self.text()


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

    def text(self, width: int | None = None) -> str:
        """Return the tables as text, with lines of at most `width` characters."""
        heading = re.sub(r"\A\w+\((.*)\)\Z", r"\1", self._heading()) if width else self._heading()
        tables = (table.text(width) for table in self._tables())
        parts = [
            wrap_lines(heading, width),
            *tables,
            *(wrap_lines(n, width) for n in self._notes()),
        ]
        return self.SEPARATOR.join(filter(None, parts))

    def __str__(self) -> str:
        """Return the tables as text."""
        return self.text()

    def _repr_html_(self) -> str:
        from pinesy.display.markup import report_html

        return report_html(self._heading(), self._tables(), self._notes())


def printed_html(result: object) -> str:
    """Return the printed text of a result as HTML, for classes without tables.

    Use it as ``_repr_html_ = printed_html``.
    """
    from pinesy.display.markup import lines_of

    return lines_of(str(result))


def wrap_lines(text: str, width: int | None) -> str:
    """Break long lines between words; the rest of an indented one is indented by two more.

    None as width: no line is long.

    Examples
    --------
    >>> print(wrap_lines("  one two three four", 12))
      one two
        three
        four
    """
    if width is None:
        return text
    lines = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        wrapped = textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * (indent + 2 if indent else 0),
            break_on_hyphens=False,
            break_long_words=False,  # a path or a name can be copied
        )
        lines += wrapped if len(line) > width else [line]
    return "\n".join(lines)


def text_table(lines: Iterable[Sequence[str]], width: int | None = None) -> str:
    """Return rows of cells as text with aligned columns.

    Parameters
    ----------
    width : characters of a line; in a wider table the widest cells are wrapped, and where that is
        not enough the table goes on below with other columns, the first one repeated. No cell is
        cut

    Examples
    --------
    >>> print(text_table([["rule", "s"], ["1", "0.25"]]))
    rule  s
    1     0.25
    >>> print(text_table([["rule", "s", "r"], ["1", "0.25", "0.5"]], 11))
    rule  s
    1     0.25
    <BLANKLINE>
    rule  r
    1     0.5
    """
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if width is None or _table_width(widths) <= width:
        return _aligned(lines, widths)
    others = _table_width(widths) - max(widths)
    if width - others >= MIN_WRAPPED:
        widest = widths.index(max(widths))
        widths[widest] = width - others
        return _aligned(lines, widths)
    if len(widths) <= 2:
        return _aligned(
            lines, [min(widths[0], width // 2), *[width - width // 2 - 2] * (len(widths) - 1)]
        )
    end = 2
    while end < len(widths) and _table_width(widths[: end + 1]) <= width:
        end += 1
    parts = [line[:end] for line in lines], [[line[0], *line[end:]] for line in lines]
    return "\n\n".join(text_table(part, width) for part in parts if len(part[0]) > 1)


def _table_width(widths: Sequence[int]) -> int:
    """Return the width of a table; there are two spaces between columns."""
    return sum(widths) + 2 * (len(widths) - 1)


def _aligned(lines: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """Return rows of cells in columns of some widths; longer cells are wrapped."""
    texts = []
    for line in lines:
        cells = [
            [cell] if len(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)
            for cell, width in zip(line, widths, strict=True)
        ]
        for row in zip_longest(*cells, fillvalue=""):
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            texts.append("  ".join(padded).rstrip())
    return "\n".join(texts)


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
