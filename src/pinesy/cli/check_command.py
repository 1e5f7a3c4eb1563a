"""The command ``pinesy check``."""

from pathlib import Path
from typing import Annotated

import typer

from pinesy._common.reports import count_text
from pinesy.cli import options
from pinesy.cli.output import say, say_wrapped
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.check_report import MAX_SHOWN, Finding, Report
from pinesy.samples import Batch

CheckedData = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .ndjson, .json, .csv or .parquet file; - for JSON Lines on stdin.",
        show_default=False,
    ),
]
Costs = Annotated[
    bool,
    typer.Option("--costs", help="Print what inference costs: cells, tree nodes, instructions."),
]
#: Characters of a rule that are printed.
RULE_TEXT = 200


def check(
    rules: options.RulesFile,
    data: CheckedData = None,
    costs: Costs = False,
    everything: options.All = False,
    *,
    file_options: options.DataOptions,
) -> None:
    r"""Say what to look at first in a file of rules, with a case for each finding.

    Rules that can contradict each other, inputs for which no rule decides, rules
    that never decide, then other likely mistakes, then notes. The rules are
    numbered through the whole file. Likely mistakes give exit code 1.

    [bold]Data[/bold]
    With a file of samples (as for pinesy infer) it counts for each output the
    outcomes of its results:
      decided          one value alone is fully possible
      several values   more than one value is fully possible, but not all
      no rule decides  every value is fully possible
      contradiction    no value is fully possible, here or on the way
      right            if the file has targets (as for pinesy learn)
    and names the rules that contradict each other, with a line where they do.
    Where inferred degrees may be upper bounds, it counts how often they exceed the
    exact ones, in the first 1,000 samples (pip install 'pinesy\[exact]').

    [bold]Examples[/bold]
      pinesy check examples/weather.rules
      pinesy check examples/weather.rules examples/weather_train.jsonl --costs
    """
    cascade = options.read_cascade(rules)
    if data is None:
        report = cascade.check()
    else:
        concluded = [s.output for s in cascade.order]
        batches = file_options.batches(data, cascade, cascade.inputs, targets=concluded)
        samples = Batch.joined(list(batches))
        report = cascade.check(samples.evidence, samples.targets or None, lines=samples.lines)
    say_wrapped(report.overview)
    first, left = report.first_findings(len(report.findings) if everything else MAX_SHOWN)
    for finding in first:
        _print(finding, report, cascade)
    for sentence in left:
        say_wrapped(f"{sentence[:-1]} (--all shows them).", before=True)
    if not report.findings:
        say("Nothing to look at.")
    if report.data is not None:
        say(f"\n{report.data}")
    if costs:
        say_wrapped(f"Costs: {report.cost}", before=True)
    warnings = len(report.warnings)
    notes = len(report.findings) - warnings
    say(f"\n{count_text(warnings, 'warning')}, {count_text(notes, 'note')}")
    raise typer.Exit(1 if warnings else 0)


def _print(finding: Finding, report: Report, cascade: Cascade) -> None:
    """Print a finding, its rules, and a case that shows it."""
    sign = "!" if finding.level == "warning" else "?" if finding.kind == "gap" else "-"
    say_wrapped(f"{sign} {finding.text}", before=True, indent=2)
    for number in finding.rules[:MAX_SHOWN]:
        index = number - report.first_numbers[finding.attribute]
        text = " ".join(str(cascade[finding.attribute].rules[index]).split())
        text = text if len(text) <= RULE_TEXT else f"{text[:RULE_TEXT]} ..."
        say_wrapped(f"  rule {number}  {text}", indent=10 + len(str(number)) - 1)
    if finding.case:
        say_wrapped(f"  For example: {report.case_text(finding)}.", indent=4)
