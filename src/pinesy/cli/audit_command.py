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
    ResultRow,
    Screen,
    TableWriter,
    Writer,
    open_output,
    shortened_note,
    write_csv,
    write_json_lines,
    write_json_list,
)
from pinesy.cli.training_files import TrainingFiles
from pinesy.learning import Audit
from pinesy.model.storage import load_rules
from pinesy.samples import Batch

WRITERS: dict[str, Writer] = {
    ".csv": write_csv,
    ".json": write_json_list,
    ".jsonl": write_json_lines,
}
COLUMNS = ("line", "nabla", "set", "label", "repaired", "contradiction")
Worst = Annotated[int, typer.Option(min=0, help="Samples to print.")]


def audit(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: options.OutputFile = None,
    worst: Worst = 20,
    target: options.TargetNames = None,
    transform: options.TransformOption = "none",
    batch: options.ReadSize = 10_000,
    ids: options.Ids = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Rank the samples of a file by how badly they contradict the rules.

    Data is as for pinesy learn. For each sample the distance nabla of its target
    to the nearest one that the rules allow, which rule stands against it, and
    what the repaired target says. A wrong label is near the top.

    The worst samples are printed; -o writes all of them, worst first, to a .csv,
    .json or .jsonl file, with columns --id.

    [bold]Examples[/bold]
      pinesy audit sum.rules train.csv
      pinesy audit model.json train.csv --worst 50 -o audit.csv
    """
    if output is not None:
        options.check_output(output, list(WRITERS), [rules, data])
    how = options.reading(ids, separator, decimal)
    files = TrainingFiles(load_rules(rules), target or (), transform, batch, how)
    samples = files.whole(data)
    result = pinesy.audit(files.cascade, samples.evidence, samples.targets)
    _print(result, samples, worst)
    if output is not None:
        with open_output(output) as stream:
            WRITERS[output.suffix](stream, _rows(result, samples))


def _print(result: Audit, samples: Batch, worst: int) -> None:
    """Print the worst samples, with what they contradict."""
    screen = Screen()
    screen.print(Text(plain(repr(result))))
    rows = [row for row in _rows(result, samples, worst) if row.content["reason"]]
    if not rows:
        return
    TableWriter(COLUMNS, sections=False)(sys.stdout, rows)
    count = int((result.worst > 0.0).sum())
    if count > len(rows):
        screen.print(shortened_note(count - len(rows), "sample", f"--worst {count}"))


def _rows(result: Audit, samples: Batch, worst: int | None = None) -> Iterator["AuditRow"]:
    for row in result.rows(worst):
        place = row["sample"]
        ids = {title: entries[place] for title, entries in samples.ids.items()}
        yield AuditRow(samples.lines[place], ids | row)


@dataclass(frozen=True)
class AuditRow(ResultRow):
    """What is against a sample, which stands in a line of the file."""

    line: int
    content: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return all that the audit has on the sample."""
        return {"line": self.line, **self.content}

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield one line."""
        row = self.content
        repaired = row["repaired"] or "ambiguous"
        nabla = f"{row['nabla']:.4g}"
        yield str(self.line), nabla, row["set"], row["label"], repaired, row["reason"]
