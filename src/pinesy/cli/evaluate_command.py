"""The command ``pinesy evaluate``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pinesy.cli import options
from pinesy.cli.learn_command import plain
from pinesy.cli.output import open_output
from pinesy.cli.training_files import TrainingFiles
from pinesy.learning import DecisionReport
from pinesy.learning import evaluate as evaluated
from pinesy.learning.decision_page import report_page
from pinesy.model.storage import load_rules

Page = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the report to this .html or .json file."),
]


def evaluate(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: Page = None,
    target: options.TargetNames = None,
    transform: options.TransformOption = "none",
    batch: options.ReadSize = 10_000,
    ids: options.Ids = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Compare what rules predict with the true values in a file.

    How many samples are right, undecided and contradictory; how right the surest
    ones are; true values by predicted ones; and which rules decide. Data is as
    for pinesy learn: the true values are the targets. With several targets the
    last attribute in the order of inference is judged, or that of --target.

    [bold]Examples[/bold]
      pinesy evaluate model.json test.csv
      pinesy evaluate model.json test.csv -o report.html
    """
    if output is not None:
        options.check_output(output, [".html", ".json"], [rules, data])
    how = options.reading(ids, separator, decimal)
    files = TrainingFiles(load_rules(rules), target or (), transform, batch, how)
    samples = files.whole(data)
    report = evaluated(files.cascade, samples.evidence, samples.targets)
    typer.echo(plain(report))
    if output is not None:
        _write(report, output, f"{rules.name} on {data.name}")


def _write(report: DecisionReport, output: Path, title: str) -> None:
    is_page = output.suffix == ".html"
    text = report_page(report, title) if is_page else json.dumps(report.to_dict(), indent=1) + "\n"
    with open_output(output) as stream:
        stream.write(text)
    typer.echo(f"\nwritten to {output}")
