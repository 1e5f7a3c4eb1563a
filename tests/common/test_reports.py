"""Reports: text, HTML and tables follow from tables that are given once."""

from typing import Any

import pytest

from common.html_reading import Snippet
from pinesy._common.reports import ReportTable, TableReport, text_table

LINES = [[f"rule {i}", f"0.{i}"] for i in range(30)]


class Rules(TableReport):
    def __init__(self, *tables: ReportTable) -> None:
        self.given = list(tables)

    def __repr__(self) -> str:
        return "Rules(<30>)"

    def _tables(self) -> list[ReportTable]:
        return self.given

    def _notes(self) -> list[str]:
        return ["a note"]

    def _records(self) -> list[dict[str, Any]]:
        return [{"rule": rule, "s": s} for rule, s in LINES]


def test_the_text_has_heading_tables_and_notes_and_counts_what_it_omits() -> None:
    report = Rules(ReportTable(["rule", "s"], LINES, noun="rules", max_lines=3))
    table = text_table([["rule", "s"], *LINES[:3]])
    assert str(report) == f"Rules(<30>)\n{table}\n... and 27 more rules\na note"


def test_html_has_the_first_lines_and_the_count_of_all() -> None:
    few = ReportTable(["rule", "s"], LINES[:5], "Title", noun="rules", total=1000)
    for table, omitted in (ReportTable(["rule", "s"], LINES), 10), (few, 995):
        html = Rules(table)._repr_html_()
        assert f"... {omitted} more {table.noun}" in html
        assert (table.title in Snippet(html).texts) == bool(table.title)
        assert "Rules(<30>)" in Snippet(html).text
        assert "a note" in Snippet(html).text


def test_tables_are_named_by_their_titles_or_their_first_column() -> None:
    report = Rules(ReportTable(["rule"], [["1"]], "Title"), ReportTable(["s"], [["0.5"]]))
    assert report.tables() == {"Title": [["rule"], ["1"]], "s": [["s"], ["0.5"]]}


def test_a_table_without_title_and_lines_is_not_printed() -> None:
    assert str(Rules(ReportTable(["rule"], []))) == "Rules(<30>)\na note"
    assert str(ReportTable(["rule"], [], "Title")) == "Title\nrule"


def test_the_frame_has_the_records() -> None:
    pandas = pytest.importorskip("pandas")
    frame = Rules().to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["rule"].tolist() == [rule for rule, _ in LINES]
