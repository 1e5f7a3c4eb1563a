"""The tables of a report of results, by section, and their rows."""

from reproduction.report import ResultsReport
from reproduction.result_tables import ResultTable


def section(report: ResultsReport, title: str) -> list[ResultTable]:
    return list(next(s for s in report.sections if s.title == title).tables)


def rows(table: ResultTable) -> list[dict[str, str]]:
    return [cells for _, cells in table.rows()]


def row(table: ResultTable, **wanted: str) -> dict[str, str]:
    """Return the only row with these cells."""
    found = [r for r in rows(table) if all(r[name] == text for name, text in wanted.items())]
    assert len(found) == 1
    return found[0]
