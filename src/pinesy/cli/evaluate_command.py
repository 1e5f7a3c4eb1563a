"""The command ``pinesy evaluate``."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pinesy.calibration import CalibratedAnswers, CalibratedRules, CoverageReport, coverage
from pinesy.cli import options
from pinesy.cli.calibrate_command import calibrated_rules
from pinesy.cli.learn_command import plain
from pinesy.cli.output import put_text, say
from pinesy.cli.training_files import TrainingFiles
from pinesy.learning import DecisionReport
from pinesy.learning import evaluate as evaluated
from pinesy.learning.evaluate import report_page
from pinesy.model.storage import load_rules
from pinesy.rulebase.semantics_comparison import compare_semantics
from pinesy.samples import Batch
from pinesy.semantics.semirings import SEMANTICS, semantics_name

Page = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the report to this .html or .json file."),
]
Levels = Annotated[
    list[float] | None,
    typer.Option(
        metavar="LEVEL",
        help="Of calibrated rules, report how often true values are in the sets of this level, "
        "such as 0.95 (repeatable).",
    ),
]
SemanticsNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Compare semantics, for data that are probabilities (repeatable): all, or "
        "possibilistic, probabilistic, mpe, goedel.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="With --level: a column of groups to be told apart."),
]


def evaluate(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: Page = None,
    level: Levels = None,
    group: Group = None,
    semantics: SemanticsNames = None,
    *,
    how: options.TrainingOptions,
) -> None:
    """Compare what rules predict with the true values in a file.

    How many samples are right, undecided and contradictory; how right the surest
    ones are; true values by predicted ones; and which rules decide. Data is as
    for pinesy learn: the true values are the targets. With several targets the
    last attribute in the order of inference is judged, or that of --target.

    With --level also, of rules that pinesy calibrate has seen, how often the true
    values are in their sets: nominal and observed coverage, sizes of sets, by
    class and by group. Read the data with the same --transform as there, and take
    samples that were used neither for learning nor for calibration.

    With --semantics instead a table of several semantics of the same rules, which
    must be certain; the data are then probabilities.

    [bold]Examples[/bold]
      pinesy evaluate model.json test.csv
      pinesy evaluate model.json test.csv -o report.html
      pinesy evaluate calibrated.json test.csv --level 0.9 --level 0.99
      pinesy evaluate sum.rules softmax.csv --semantics all
    """
    options.check_output(output, [".html", ".json"], [rules, data])
    printed = "a table of semantics is printed; leave --level and --output out"
    options.refuse(
        (group is not None and not level, "--group", "groups are told apart by --level"),
        (semantics and (level or output is not None), "--semantics", printed),
    )
    if semantics:
        how = options.probable(how)
    calibrated = calibrated_rules(rules, how.transform, level) if level else None
    if group:
        how = replace(how, ids=[*(how.ids or ()), group])
    files = TrainingFiles(load_rules(rules), how)
    samples = files.whole(data)
    if semantics:
        chosen = SEMANTICS if "all" in semantics else [semantics_name(name) for name in semantics]
        p = options.probabilities(files.cascade.inputs, samples.evidence)
        say(compare_semantics(files.cascade, p, samples.targets, semantics=chosen))
        return
    report = evaluated(files.cascade, samples.evidence, samples.targets)
    say(plain(report))
    covered = None
    if calibrated is not None:
        covered = _coverage(calibrated, samples, level or [], group)
        say(f"\n{covered}")
    if output is not None:
        _write(report, covered, output, f"{rules.name} on {data.name}")


def _coverage(
    calibrated: CalibratedRules, samples: Batch, levels: list[float], group: str | None
) -> CoverageReport:
    targets = samples.targets
    if isinstance(calibrated, CalibratedAnswers):
        targets = {name: t for name, t in targets.items() if name in calibrated.outputs}
    groups = None if group is None else [str(entry) for entry in samples.ids[group]]
    return coverage(calibrated, samples.evidence, targets, levels, groups=groups)


def _write(
    report: DecisionReport, covered: CoverageReport | None, output: Path, title: str
) -> None:
    if output.suffix == ".html":
        text = report_page(report, title, "" if covered is None else covered.html())
    else:
        more = {} if covered is None else {"coverage": covered.to_dict()}
        text = json.dumps({**report.to_dict(), **more}, indent=1) + "\n"
    put_text(output, text)
    say(f"\nwritten to {output}")
