"""The report as Markdown, as one HTML page that needs nothing else, and for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from pinesy.problems import sum_html
from reproduction.plots import can_plot, make_plots
from reproduction.report import ResultsReport
from reproduction.result_tables import LEFT, ResultTable, escaped

NO_PLOTS: Final = (
    "There are no plots, because matplotlib was not installed where this page was made; "
    "pip install '.[reproduction]' brings it."
)


def _rendered(template: str, **content: Any) -> str:
    """Return a template of ours, filled in; what goes into a page of HTML is escaped."""
    templates = Environment(
        loader=PackageLoader("reproduction"),
        autoescape=template.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["escaped"] = escaped
    return templates.get_template(template).render(left=LEFT, **content)


def markdown(report: ResultsReport) -> str:
    """Return the report as Markdown; where others are beside us, our names are in bold."""
    lines = _rendered("report.md", report=report).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def page(report: ResultsReport, cases: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the report as a page; without matplotlib, one without plots that says so.

    Parameters
    ----------
    cases : single samples, explained, as `ExplainedSum.to_dict` gives them
    """
    plotted = bool(report.groups) and can_plot()
    return _rendered(
        "page.html",
        report=report,
        plots=make_plots(report.groups) if plotted else [],
        note=NO_PLOTS if report.groups and not plotted else "",
        cases=map(sum_html, cases),
    )


def print_report(report: ResultsReport, console: Console) -> None:
    """Print the report to a terminal."""
    for section in report.sections:
        console.rule(Text(section.title, style="bold"), align="left")
        for paragraph in section.paragraphs:
            console.print(Text(paragraph))
        for table in section.tables:
            console.print(_rich_table(table))


def _rich_table(table: ResultTable) -> RichTable:
    rich_table = RichTable(
        title=Text(table.caption), title_justify="left", box=SIMPLE_HEAD, pad_edge=False
    )
    for column in table.columns:
        rich_table.add_column(
            column, overflow="fold", justify="left" if column in LEFT else "right"
        )
    for ours, cells in table.rows():
        rich_table.add_row(*map(Text, cells.values()), style="bold" if ours else "")
    return rich_table
