"""The command ``pinesy audit``."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.text import Text

import pinesy
from pinesy.cli import options
from pinesy.cli.learn_command import plain
from pinesy.cli.output import (
    WRITERS,
    ResultRow,
    Screen,
    TableWriter,
    open_output,
    shortened_note,
    writer_of,
)
from pinesy.cli.training_files import TrainingFiles
from pinesy.learning import Audit
from pinesy.learning.set_audits import Judged
from pinesy.model.storage import load_rules
from pinesy.samples import Batch

COLUMNS = ("line", "suspicion", "nabla", "set", "label", "repaired", "contradiction")
JudgedBy = Annotated[
    Judged,
    typer.Option(
        help="With which parameters labels are judged: those of RULES, or learned ones, out of "
        "fold. For noisy data, counts or gradient.",
    ),
]
Folds = Annotated[int, typer.Option(min=2, help="With a learned method: the number of folds.")]
Limit = Annotated[int, typer.Option(min=0, help="Samples to print.")]


def audit(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: options.OutputFile = None,
    limit: Limit = 20,
    method: JudgedBy = "given",
    folds: Folds = 5,
    formulas: options.Formulas = False,
    *,
    how: options.TrainingOptions,
) -> None:
    """Rank the samples of a file by how badly they contradict the rules.

    Data is as for pinesy learn. For each sample the distance nabla of its target
    to the nearest one that the rules allow, which rule stands against it, and
    what the repaired target says. A wrong label is near the top.

    Beside it the suspicion of the label: how much more possible the rules find
    another value, with their parameters. In noisy data, where rules have
    exceptions, rank by it: --method counts learns the parameters first, those
    that judge a sample from other samples.

    The worst samples are printed; -o writes all of them, worst first, to a .csv,
    .json or .jsonl file, with columns --id.

    [bold]Examples[/bold]
      pinesy audit sum.rules train.csv
      pinesy audit model.json train.csv --limit 50 -o audit.csv
      pinesy audit flu.rules patients.csv --method counts
    """
    options.check_output(output, list(WRITERS), [rules, data])
    files = TrainingFiles(load_rules(rules), how)
    samples = files.whole(data)
    result = pinesy.audit(
        files.cascade, samples.evidence, samples.targets, method=method, folds=folds
    )
    _print(result, samples, limit)
    if output is not None:
        with open_output(output) as stream:
            writer_of(output.suffix, formulas)(stream, _rows(result, samples))


def _print(result: Audit, samples: Batch, limit: int) -> None:
    """Print the worst samples, with what they contradict."""
    screen = Screen()
    screen.print(Text(plain(repr(result))))
    rows = [row for row in _rows(result, samples, limit) if row.content["reason"]]
    if not rows:
        return
    TableWriter(COLUMNS, sections=False)(sys.stdout, rows)
    count = int(((result.worst > 0.0) | (result.suspicion > 0.0)).sum())
    if count > len(rows):
        screen.print(shortened_note(count - len(rows), "sample", f"--limit {count}"))


def _rows(result: Audit, samples: Batch, limit: int | None = None) -> Iterator["AuditRow"]:
    for row in result.rows(limit):
        place = row["sample"]
        yield AuditRow({"line": samples.lines[place]} | samples.ids_of(place) | row)


@dataclass(frozen=True)
class AuditRow(ResultRow):
    """What is against a sample, which stands in a line of the file."""

    content: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return all that the audit has on the sample."""
        return self.content

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield one line."""
        row = self.content
        repaired = row["repaired"] or "ambiguous"
        numbers = (f"{row[key]:.4g}" for key in ("suspicion", "nabla"))
        yield str(row["line"]), *numbers, row["set"], row["label"], repaired, row["reason"]
