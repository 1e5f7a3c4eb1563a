"""Sheets of texts in CSV and Excel files; formulas are refused, never evaluated."""

import csv
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from math import isfinite
from pathlib import Path
from typing import Any

from pinesy._common.files import atomic_bytes, atomic_text, read_text, wrap_read_errors
from pinesy.exceptions import DataError, PinesyError, needing, placed
from pinesy.rules.cut_texts import exact_text

#: The limits of Excel: rows, columns, characters of a cell and of a title.
MAX_ROWS, MAX_COLUMNS, MAX_TEXT, MAX_TITLE = 1_048_576, 16_384, 32_767, 31
#: The limits of a workbook to read: unpacked bytes, and cells of a sheet with blank ones.
MAX_UNPACKED, MAX_CELLS = 50_000_000, 5_000_000
#: The precision of numbers in Excel, in digits.
MAX_DIGITS = 15
SUFFIXES = (".csv", ".xlsx")
SEPARATORS = (",", ";", "\t")
_FORBIDDEN = dict.fromkeys(map(ord, "[]:*?/\\'"), "_")


@dataclass(frozen=True)
class TableSheet:
    """A sheet of a table.

    Attributes
    ----------
    title : the title of a sheet in a workbook; empty for a CSV file
    rows : lists of texts, stripped
    """

    title: str
    rows: list[list[str]]

    def location(self, row: int, column: int | None = None) -> str:
        """Return the location of a cell or a row, given by indices from 0, for messages."""
        sheet = f"sheet {self.title!r}, " if self.title else ""
        if column is None:
            return f"{sheet}row {row + 1}"
        header = self.rows[0][column] if row and column < len(self.rows[0]) else ""
        title = f" ({header!r:.60})" if header else ""
        return f"{sheet}row {row + 1}, column {column_letters(column)}{title}"


def column_letters(index: int) -> str:
    """Return the name of a column: ``A``, ``B``, ..., ``Z``, ``AA``.

    Examples
    --------
    >>> [column_letters(n) for n in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    letters = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def check_suffix(path: Path) -> None:
    """Raise `DataError` unless the name of a file ends in .csv or .xlsx."""
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path}: a decision table is a .csv or .xlsx file, not {path.suffix!r}")


def read_sheets(path: Path, is_header: Callable[[str], bool]) -> list[TableSheet]:
    """Return the sheets of a file that are not blank.

    Parameters
    ----------
    path : a .csv or .xlsx file
    is_header : returns whether a text can be the header of a column; the separator of a CSV file is
        the one that gives the most headers
    """
    check_suffix(path)
    is_csv = path.suffix.lower() == ".csv"
    sheets = [_read_csv(path, is_header)] if is_csv else list(_read_workbook(path))
    return [sheet for sheet in sheets if any(any(row) for row in sheet.rows)]


def _read_csv(path: Path, is_header: Callable[[str], bool]) -> TableSheet:
    text = read_text(path)

    def score(separator: str) -> tuple[bool, int]:
        """Return whether a separator gives headers only, and the number of headers."""
        try:
            titles = next(_csv_rows(text, separator), [])
        except csv.Error:  # reported when the file is read
            titles = []
        if len(titles) < 2:  # a table has a condition and a conclusion
            return False, 0
        headers = [title for title in titles if is_header(title)]
        return len(headers) == len(titles), len(headers)

    try:
        return TableSheet("", list(_csv_rows(text, max(SEPARATORS, key=score))))
    except csv.Error as error:
        raise DataError(f"{path}: no CSV file: {error}") from None


def _csv_rows(text: str, separator: str) -> Iterator[list[str]]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    return ([cell.strip() for cell in row] for row in reader)


def write_sheets(path: Path, sheets: Sequence[TableSheet]) -> None:
    """Write sheets to a workbook, or a single sheet to a CSV file."""
    if path.suffix.lower() == ".csv":
        (sheet,) = sheets
        with atomic_text(path) as stream:
            csv.writer(stream, lineterminator="\n").writerows(sheet.rows)
    else:
        _write_workbook(path, sheets)


# --- Excel ---------------------------------------------------------------------------------------


def _openpyxl() -> Any:
    with needing("excel", "Excel files need", ", or use a .csv file"):
        import openpyxl
    return openpyxl


def _read_workbook(path: Path) -> Iterator[TableSheet]:
    openpyxl = _openpyxl()
    with wrap_read_errors(path):
        content = path.read_bytes()
    try:
        with placed(str(path)), zipfile.ZipFile(BytesIO(content)) as archive:
            _check_size(sum(part.file_size for part in archive.infolist()), MAX_UNPACKED, "bytes")
        book = openpyxl.load_workbook(BytesIO(content))
    except PinesyError:
        raise
    except Exception as error:  # of zipfile, zlib, the XML parser or openpyxl: any kind
        problem = f"{type(error).__name__}: {error!s:.200}"
        raise DataError(f"{path}: no workbook of Excel that can be read: {problem}") from None
    for sheet in book.worksheets:
        with placed(f"{path}: sheet {sheet.title!r}"):
            _check_size(sheet.max_row * sheet.max_column, MAX_CELLS, "cells")
        if sheet.merged_cells.ranges:
            first = next(iter(sheet.merged_cells.ranges))
            raise DataError(
                f"{path}: sheet {sheet.title!r}, cells {first.coord}: merged cells have one "
                "content for all of them; unmerge them, and write it in each"
            )
        rows = [[_cell_text(cell, path, sheet.title) for cell in row] for row in sheet.iter_rows()]
        yield TableSheet(sheet.title, rows)


def _check_size(count: int, limit: int, unit: str) -> None:
    if count > limit:
        raise DataError(f"{count:,} {unit}, and a table has {limit:,} at most; save it as .csv")


def _cell_text(cell: Any, path: Path, title: str) -> str:
    """Return the content of a cell as a text in the language of rules."""
    value = cell.value
    where = f"{path}: sheet {title!r}, row {cell.row}, column {cell.column_letter}"
    if cell.data_type == "f":
        raise DataError(
            f"{where}: a formula ({value!s:.40}), which is not evaluated; put its value there "
            "(copy, paste as values)"
        )
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return exact_text(value)
    if isinstance(value, str) and cell.data_type != "e":
        return value.strip()
    kind = "an error" if cell.data_type == "e" else f"a {type(value).__name__}"
    raise DataError(f"{where}: {kind} ({value!s:.40}); write a text or a number")


def _write_workbook(path: Path, sheets: Sequence[TableSheet]) -> None:
    book = _openpyxl().Workbook()
    book.remove(book.active)
    titles: set[str] = set()
    for sheet in sheets:
        _check_limits(sheet, path)
        page = book.create_sheet(_unused_title(sheet.title, titles))
        for i, row in enumerate(sheet.rows, 1):
            for j, text in enumerate(row, 1):
                if text:
                    _write_cell(page.cell(i, j), text)
        page.freeze_panes = "A2"
    with atomic_bytes(path) as stream:
        book.save(stream)


def _check_limits(sheet: TableSheet, path: Path) -> None:
    longest = max(len(text) for row in sheet.rows for text in row)
    shape = len(sheet.rows), max(map(len, sheet.rows))
    if shape[0] > MAX_ROWS or shape[1] > MAX_COLUMNS or longest > MAX_TEXT:
        raise DataError(
            f"{path}: the rules on {sheet.title!r} take {shape[0]:,} rows, {shape[1]:,} columns "
            f"and cells of {longest:,} characters; Excel holds {MAX_ROWS:,}, {MAX_COLUMNS:,} and "
            f"{MAX_TEXT:,}: write a .csv or .rules file"
        )


def _unused_title(title: str, used_titles: set[str]) -> str:
    """Return a valid title for Excel that is not used yet, and mark it as used."""
    plain = title.translate(_FORBIDDEN)[:MAX_TITLE] or "_"
    number, free = 1, plain
    while free.casefold() in used_titles:
        number += 1
        free = f"{plain[: MAX_TITLE - len(str(number)) - 1]} {number}"
    used_titles.add(free.casefold())
    return free


def _write_cell(cell: Any, text: str) -> None:
    """Write a text to a cell, as a number if it is one; never as a formula."""
    if not text.isprintable():
        raise DataError(f"Excel cannot hold the text {text!r:.80}; write a .csv or .rules file")
    number = _excel_number(text)
    cell.value = text if number is None else number
    if isinstance(cell.value, str):
        cell.data_type = "s"


def _excel_number(text: str) -> float | None:
    """Return the number that a text is the shortest form of; None if Excel would round it."""
    try:
        number = float(text)
    except ValueError:
        return None
    is_kept = isfinite(number) and len(text) <= MAX_DIGITS and exact_text(number) == text
    return number if is_kept else None
