"""The command ``pinesy replay``."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import typer

from pinesy._common.validation import printable
from pinesy.cli import options
from pinesy.cli.output import (
    ResultRow,
    Screen,
    Shortening,
    open_output,
    rich_table,
    say_wrapped,
    shortened_note,
    writer_of,
)
from pinesy.serve.replay_report import Difference, ReplayReport
from pinesy.serve.replaying import replay as replay_logs

LogFiles = Annotated[
    list[Path],
    typer.Argument(metavar="LOG...", help="Files that pinesy serve --log wrote."),
]
NewModel = Annotated[
    Path, typer.Option("--model", metavar="NEW", help="The model to compare with.")
]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Count by the values of this input, or other name."),
]
SkipBadLines = Annotated[
    bool, typer.Option("--skip-bad-lines", help="Skip lines that cannot be read.")
]
AllowMissing = Annotated[
    bool, typer.Option("--allow-missing", help="Take inputs that the log lacks as unknown.")
]
ReplayFormat = Literal["table", "jsonl", "csv"]
SUFFIXES: dict[str, ReplayFormat] = {".jsonl": "jsonl", ".csv": "csv"}
Form = Annotated[
    ReplayFormat | None,
    typer.Option("--format", help="By default by the output file's suffix; else table."),
]
#: Groups, and rules of each kind, that a table shows without --all.
MAX_GROUPS, MAX_RULES = 20, 5


def replay(
    logs: LogFiles,
    model: NewModel,
    output: options.OutputFile = None,
    form: Form = None,
    group: Group = None,
    skip_bad_lines: SkipBadLines = False,
    allow_missing: AllowMissing = False,
    everything: options.All = False,
    formulas: options.Formulas = False,
) -> None:
    """Compare a log of decisions with a new model: which would differ, and why.

    A decision is the outcome and the best value of one output of one sample. It
    is made again by the new model from the inputs in the log, and compared bit for
    bit. Of rotated logs give all files.

    [bold]Results[/bold]
    table  how many decisions would differ, and how; by group; the rules that decided
           before and do not now, and those that decide now
    jsonl  one object for each decision that differs: where it is in the log, both
           answers and the numbers of the rules that decide them
    csv    the same in rows
    With jsonl and csv the count comes on standard error.

    A last line that was cut off is skipped. Logs without inputs (--log-inputs
    hashed or none) cannot be replayed.

    [bold]Examples[/bold]
      pinesy replay examples/loan_log.jsonl --model examples/loan.rules
      pinesy replay decisions.jsonl.1 decisions.jsonl --model new.json --group region
    """
    file_format = options.format_of(form, output, SUFFIXES, "table")
    options.check_output_file(output, None, [*logs, model])
    report = replay_logs(
        logs,
        model,
        group=group,
        skip_bad_lines=skip_bad_lines,
        allow_missing=allow_missing,
    )
    for notice in report.notices:
        typer.echo(f"notice: {printable(notice)}", err=True)
    with open_output(output) as stream:
        if file_format == "table":
            ReplayTable(report, everything).write(stream)
            return
        if output is None:
            typer.echo(printable(report.verdict), err=True)
        rows = [DifferenceRow(difference) for difference in report.differences]
        writer_of(f".{file_format}", formulas)(stream, rows)
    if output is not None:
        say_wrapped(report.verdict)


class DifferenceRow(ResultRow):
    """A decision that differs, for all writers."""

    def __init__(self, difference: Difference) -> None:
        self.difference = difference

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        return self.difference.to_dict()

    def titles(self) -> list[str]:
        """Return the titles of the columns of a CSV file."""
        return [title for title, _ in self._cells()]

    def cells(self) -> list[Any]:
        """Return the cells of a CSV row."""
        return ["" if cell is None else cell for _, cell in self._cells()]

    def _cells(self) -> Iterator[tuple[str, Any]]:
        """Yield the titles and cells: answers in columns of their own, lists as JSON."""
        for key, content in self.to_dict().items():
            if key in ("before", "after"):
                yield from ((f"{key} {name}", part) for name, part in content.items())
            else:
                yield key, json.dumps(content) if isinstance(content, dict | list) else content


class ReplayTable(Shortening):
    """Prints a report for reading."""

    def __init__(self, report: ReplayReport, everything: bool) -> None:
        self.report, self.everything = report, everything

    def write(self, stream: TextIO) -> None:
        """Print the verdict, then groups and rules."""
        report = self.report
        if stream is sys.stdout:
            say_wrapped(report.verdict)
        else:
            stream.write(f"{report.verdict}\n")
        screen = Screen(file=stream)
        if report.groups:
            screen.print()
            self._groups(screen)
        for title, counts in (
            ("decided before", report.rules_before),
            ("decides now", report.rules_after),
        ):
            if counts:
                screen.print()
                self._rules(screen, title, counts.most_common())
        if report.unexplained:
            screen.print(f"rules of {report.unexplained:,} more decisions were not compared")

    def _groups(self, screen: Screen) -> None:
        counts, n_left = self.first(list(self.report.groups.items()), MAX_GROUPS)
        rows = [
            (name, f"{c.decisions:,}", f"{c.differ:,}", f"{100 * c.share:.3g} %", f"{c.shifted:,}")
            for name, c in counts
        ]
        titles = [str(self.report.column), "decisions", "differ", "share", "other degrees"]
        screen.print(rich_table(titles, rows, right=titles[1:]))
        if n_left:
            screen.print(shortened_note(n_left, "group"))

    def _rules(self, screen: Screen, title: str, counts: Sequence[tuple[str, int]]) -> None:
        first, n_left = self.first(counts, MAX_RULES)
        rows = [(f"{n:,}", self.report.rule_status(text), text) for text, n in first]
        screen.print(rich_table(["decisions", "rule", title], rows, right=["decisions"]))
        if n_left:
            screen.print(shortened_note(n_left, "rule"))
