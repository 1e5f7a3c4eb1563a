"""The command ``pinesy evaluate``."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import pinesy
from pinesy.calibration import CalibratedAnswers, CalibratedRules, coverage
from pinesy.cli import guaranteed_models as models
from pinesy.cli import options
from pinesy.cli.output import WIDTH, put_text, say
from pinesy.cli.training_files import TrainingFiles
from pinesy.display.pages import report_page
from pinesy.display.report_rows import suspicious_labels
from pinesy.evidence.targets import Target
from pinesy.guarantees import SelectiveRules, selective_report
from pinesy.learning.audit import induced_output, unused_inputs
from pinesy.model.storage import load_rules
from pinesy.rulebase.semantics_comparison import compare_semantics
from pinesy.samples import columns_of
from pinesy.semantics.semantics import SEMANTICS, as_semantics

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
Decide = Annotated[
    bool,
    typer.Option(
        "--decide",
        help="Of a model of pinesy calibrate --error, report how many samples are decided, and how "
        "many of these are wrong.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With --level or --decide: a column of groups to report one by one; by default that "
        "of pinesy calibrate --group.",
    ),
]


def evaluate(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: Page = None,
    level: Levels = None,
    is_selective: Decide = False,
    group: Group = None,
    semantics: SemanticsNames = None,
    *,
    file_options: options.TrainingOptions,
) -> None:
    """Compare what rules predict with the true values in a file.

    A verdict first; then how many samples are right, undecided and contradictory;
    how right the surest ones are; true values by predicted ones; and which rules
    decide. Of induced rules also precision, recall, F1, AUC, Brier score and
    calibration, by class, beside the most frequent class and a logistic
    regression on the same samples; and the score card. Data is as
    for pinesy learn: the true values are the targets. With several targets the
    last attribute in the order of inference is judged, or that of --target.

    With --level also, for calibrated rules, how often the true values are in
    their sets: nominal and observed coverage, sizes of sets, by class and by
    group. Read the data with the same --transform as there, and take
    samples that were used neither for learning nor for calibration.

    With --decide also the share of samples that are decided, and how many of these
    are wrong, in all and by group.

    With --semantics instead a table of several semantics of the same rules, which
    must be certain; the data are then probabilities.

    [bold]Examples[/bold]
      pinesy evaluate examples/weather.rules examples/weather_valid.jsonl
      pinesy evaluate model.json test.csv -o report.html
      pinesy evaluate calibrated.json test.csv --level 0.9 --level 0.99
      pinesy evaluate sum.rules softmax.csv --semantics all
    """
    options.check_output_file(output, [".html", ".json"], [rules, data])
    printed = "a table of semantics is printed; leave --level, --decide and --output out"
    is_guaranteed = bool(level) or is_selective
    options.refuse_options(
        (group is not None and not is_guaranteed, "--group", "it needs --level or --decide"),
        (semantics and (is_guaranteed or output is not None), "--semantics", printed),
    )
    if semantics:
        file_options = options.invertible_options(file_options)
    calibrated = models.calibration_of(rules, file_options.transform, level) if level else None
    selective = models.selective_rules(rules, file_options.transform) if is_selective else None
    column = models.group_column(calibrated)
    group = group or column
    file_options = options.with_group_columns(file_options, group, column)
    cascade = load_rules(rules)
    files = TrainingFiles(cascade, file_options, unused_inputs(cascade))
    samples = files.read(data)
    inputs = samples.evidence[:, : sum(len(a.domain) for a in cascade.inputs)]
    if semantics:
        compared = map(as_semantics, SEMANTICS if "all" in semantics else semantics)
        p = options.input_probabilities(cascade.inputs, inputs)
        say(compare_semantics(cascade, p, samples.targets, semantics=compared).text(WIDTH))
        return
    is_induced = induced_output(cascade) is not None
    evidence: Any = columns_of(samples, files.inputs) if is_induced else inputs
    report = pinesy.evaluate(cascade, evidence, samples.targets)
    say(report.text(WIDTH))
    groups = None if group is None else samples.ids[group]
    covered, decisions = None, None
    if calibrated is not None:
        fair = models.calibrated_for(calibrated, samples)
        targets = _known_answers(samples.targets, fair)
        covered = coverage(fair, inputs, targets, level or [], groups=groups)
    if selective is not None:
        targets = _known_answers(samples.targets, selective)
        decisions = selective_report(selective.decisions(inputs), targets, groups)
    parts = {"coverage": covered, "decisions": decisions}
    reports = {name: part for name, part in parts.items() if part is not None}
    for part in reports.values():
        say(f"\n{part.text(WIDTH)}")
    if output is None:
        return
    if output.suffix == ".html":
        title = f"{rules.name} on {data.name}"
        audited = pinesy.audit(
            cascade, columns_of(samples, files.inputs), samples.targets, method="given"
        )
        suspicious = suspicious_labels(audited, samples, cascade.inputs)
        text = report_page(report, title, covered, suspicious, decisions)
    else:
        content = report.to_dict() | {name: part.to_dict() for name, part in reports.items()}
        text = json.dumps(content, indent=1) + "\n"
    put_text(output, text)
    say(f"\nwritten to {output}")


def _known_answers(
    targets: dict[str, Target], guaranteed: CalibratedRules | SelectiveRules
) -> dict[str, Target]:
    """Return the true values of the outputs that were calibrated, or that are decided."""
    if isinstance(guaranteed, CalibratedAnswers | SelectiveRules):
        return {name: target for name, target in targets.items() if name in guaranteed.outputs}
    return targets
