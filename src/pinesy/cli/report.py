"""The command ``pinesy report``."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from pinesy.cli.options import OutputFile
from pinesy.cli.output import Screen, open_output

#: Columns of a table that no terminal shows.
WIDTH = 200
RESULTS = Path("results")

REPORT_HELP = """Make the tables of the experiments that pinesy reproduce has done.

Ours beside the paper's and beside the published results of others: accuracy,
what each method learned from, times, memory, the symbolic share of the wall
time; thresholds, reliable samples and learned parameters; the ablation.
Quick runs are shown apart. The same records give the same bytes.

[bold]Formats[/bold]
table     for the terminal
markdown  for a document (.md)
html      one page with plots that needs nothing else (.html); the plots need
          matplotlib: pip install 'pinesy\\[plot]'

[bold]Examples[/bold]
  pinesy report
  pinesy report --results results -o results.md
  pinesy report -o results.html
"""


class ReportFormat(StrEnum):
    """How the report is written."""

    TABLE = "table"
    MARKDOWN = "markdown"
    HTML = "html"


SUFFIXES = {
    ".md": ReportFormat.MARKDOWN,
    ".markdown": ReportFormat.MARKDOWN,
    ".html": ReportFormat.HTML,
    ".htm": ReportFormat.HTML,
    ".txt": ReportFormat.TABLE,
}

Results = Annotated[
    Path, typer.Option("--results", metavar="DIR", help="Where the records of experiments are.")
]
FORM_HELP = "By default what the output file is called; else table."
Form = Annotated[ReportFormat | None, typer.Option("--format", help=FORM_HELP)]


def report(results: Results = RESULTS, form: Form = None, output: OutputFile = None) -> None:
    """Print or write the report of all records in a directory."""
    # Here, because other commands need not wait for it.
    from pinesy.experiments.html import page
    from pinesy.experiments.report import markdown, print_report, read_report
    from pinesy.experiments.store import Store

    chosen = form or _form_of(output)
    made = read_report(results)
    with open_output(output) as stream:
        if chosen is ReportFormat.TABLE:
            print_report(made, _screen(stream))
        else:
            is_page = chosen is ReportFormat.HTML
            stream.write(page(made, Store(results).cases()) if is_page else markdown(made))


def _screen(stream: TextIO) -> Screen:
    return Screen(file=stream, width=None if stream.isatty() else WIDTH)


def _form_of(output: Path | None) -> ReportFormat:
    if output is None:
        return ReportFormat.TABLE
    if output.suffix.lower() not in SUFFIXES:
        raise typer.BadParameter(
            f"{output} ends in none of {', '.join(SUFFIXES)}; say what it is with --format",
            param_hint="--output",
        )
    return SUFFIXES[output.suffix.lower()]
