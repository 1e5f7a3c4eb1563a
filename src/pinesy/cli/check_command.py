"""The command ``pinesy check``."""

from pathlib import Path
from typing import Annotated

import typer

from pinesy._common.reports import count_text
from pinesy.cli import options
from pinesy.cli.output import say
from pinesy.model.storage import load_rules
from pinesy.samples import Batch

CheckedData = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .ndjson, .json, .csv or .parquet file; - for JSON Lines on stdin.",
        show_default=False,
    ),
]


def check(
    rules: options.RulesFile,
    data: CheckedData = None,
    *,
    file_options: options.DataOptions,
) -> None:
    """Check a file of rules for likely mistakes, print its cost, and try it on data.

    Warnings are likely mistakes (exit code 1), notes are not.

    [bold]Data[/bold]
    With a file of samples (as for pinesy infer) it counts for each output the
    outcomes of its results:
      decided          one value alone is fully possible
      several values   more than one value is fully possible, but not all
      no rule decides  every value is fully possible
      contradiction    no value is fully possible, here or on the way
      right            if the file has targets (as for pinesy learn)
    and names the rules that clash, with a line where they do (exit code 1).

    [bold]Examples[/bold]
      pinesy check sum.rules
      pinesy check sum.rules digits.csv
    """
    cascade = load_rules(rules)
    if data is None:
        findings = cascade.check()
    else:
        concluded = [s.output for s in cascade.order]
        batches = file_options.batches(data, cascade, cascade.inputs, targets=concluded)
        samples = Batch.joined(list(batches))
        findings = cascade.check(samples.evidence, samples.targets or None, lines=samples.lines)
    say(str(findings))
    warnings = len(findings.warnings)
    notes = len(findings.findings) - warnings
    say(f"{count_text(warnings, 'warning')}, {count_text(notes, 'note')}")
    raise typer.Exit(1 if warnings else 0)
