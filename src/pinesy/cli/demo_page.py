"""The demo as one HTML page that needs nothing else."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from pinesy.experiments.html import case_html, html_table, whole_page
from pinesy.experiments.tables import Row, Table

COLUMNS = ("problem", "samples", "right", "if all digits must be right")


def demo_page(
    facts: Sequence[str], rows: Sequence[Sequence[str]], cases: Sequence[Mapping[str, Any]]
) -> str:
    """Return the page: what was done, the table of results, and single sums explained."""
    paragraphs = [f"<p>{escape(fact)}</p>" for fact in facts]
    table = Table("Images that were never seen", COLUMNS, tuple(Row(tuple(row)) for row in rows))
    parts = [*paragraphs, html_table(table), *map(case_html, cases)]
    return whole_page("pinesy: a network reads digits, rules reason about them", parts)
