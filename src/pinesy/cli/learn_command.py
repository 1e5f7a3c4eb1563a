"""The command ``pinesy learn``: files of training samples, and what is learned from them."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, cast

import typer

import pinesy
from pinesy._common.reports import TableReport
from pinesy._common.validation import listed
from pinesy.cli import guaranteed_models, options
from pinesy.cli.output import WIDTH, say, say_lines
from pinesy.cli.training_files import TrainingFiles, provenance
from pinesy.exceptions import DataError
from pinesy.learning import (
    LearnedRules,
    LearningResult,
    ParameterEstimate,
    compare_methods,
    learn_batches,
    learn_more,
    search_tolerances,
)
from pinesy.learning.learn import Method
from pinesy.model.storage import load_rules

Tolerances = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[GROUP=]NUMBER",
        help="Leave out samples at this distance or more: for all rule sets, or for those that a "
        "name or pattern fits (repeatable).",
    ),
]
MethodWord = Annotated[
    Method,
    typer.Option(
        help="exact: rules that must hold; counts: noisy data, how often each rule holds; "
        "gradient: from these counts, all rules fitted together."
    ),
]
Fixed = Annotated[
    Literal["implications", "s", "r", "none"] | None,
    typer.Option(
        help="Parameters that stay as they are in RULES: the s of implications (by default), all "
        "s, all r, or none."
    ),
]
Compare = Annotated[
    bool | None,
    typer.Option(
        "--compare/--no-compare",
        help="Compare the methods on a held-out part of the samples first. By default with counts "
        "and gradient.",
    ),
]
Validation = Annotated[
    Path | None,
    typer.Option(metavar="DATA", help="Search for the tolerances that predict these samples best."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GROUP",
        help="With --validation: a name or pattern of rule sets that share a tolerance "
        "(repeatable). By default all share one.",
    ),
]
More = Annotated[
    bool,
    typer.Option(
        "--more", help="Add the counts of DATA to a model of --method counts, given as RULES."
    ),
]


def learn(
    rules: options.RulesFile,
    data: options.SamplesFile,
    output: options.ModelOutput,
    method: MethodWord = "exact",
    fixed: Fixed = None,
    compare: Compare = None,
    tolerance: Tolerances = None,
    validation: Validation = None,
    group: Groups = None,
    extend: More = False,
    *,
    file_options: options.TrainingOptions,
) -> None:
    """Learn the parameters of rules from a file of samples, and write a model.

    A sample gives the inputs and, in the same way, targets: what should be
    inferred for attributes that rules conclude on (see pinesy infer --help):
      {"left": {"3": 1.0, "8": 0.4}, "right": 5, "total": 8}
    Rules on attributes without targets keep their parameters. Samples that
    contradict the rules by the tolerance or more are left out (by default none
    is); with --validation the tolerances are searched for.

    That is the exact method, for rules that must hold. Where data are noisy and
    rules hold most of the time, take --method counts or gradient: every sample
    counts, and methods are compared on samples held out, beside the most
    frequent value and the rules as they are.

    The model is a .json file of rules that every command takes, with the data's
    fingerprint and the tolerances. Counts of later samples can be added: --more
    takes a model in the place of RULES, and DATA as samples to add.

    [bold]Examples[/bold]
      pinesy learn examples/weather.rules examples/weather_train.jsonl -o model.json
      pinesy learn sum.rules train.parquet -o model.json --tolerance "c_*=0.05"
      pinesy learn sum.rules train.csv -o model.json --validation valid.csv
      pinesy learn flu.rules patients.csv -o model.json --method counts
      pinesy learn model.json new.csv -o model.json --more
    """
    keeps = "with --more a model keeps the tolerances it has"
    no_tolerance = f"--method {method} keeps every sample"
    options.refuse_options(
        (extend and method != "exact", "--method", "with --more a model keeps its method"),
        (extend and fixed, "--fixed", "with --more a model keeps the parameters that are fixed"),
        (method != "exact" and tolerance, "--tolerance", no_tolerance),
        (method != "exact" and validation, "--validation", no_tolerance),
        (extend and validation, "--validation", keeps),
        (extend and tolerance, "--tolerance", keeps),
        (validation and tolerance, "--tolerance", "--validation finds the tolerances itself"),
        (group and not validation, "--group", "groups are for the search of --validation"),
    )
    options.check_output_file(output, [".json"], [None if extend else rules, data, validation])
    tolerances = read_tolerances(tolerance or ())
    constant = None if fixed == "none" else fixed or "implications"
    model = guaranteed_models.without_threshold(pinesy.load(rules)) if extend else None
    if model is not None and not isinstance(model, LearnedRules):
        raise DataError(
            f"{rules}: the file holds rules, but not how they were learned; give one that pinesy "
            "learn wrote"
        )
    files = TrainingFiles(model.cascade if model else load_rules(rules), file_options)
    notes = provenance(rules, file_options.transform, model)
    fingerprint = files.fingerprint(data)
    reports: list[TableReport] = []
    if compare or (compare is None and method != "exact"):
        reports.append(compare_methods(files.cascade, *files.pair(data), fixed=constant))
    result: LearningResult | ParameterEstimate
    if model:
        transform = model.provenance.get("transform", file_options.transform)
        if transform != file_options.transform:
            raise DataError(
                f"the model was learned with --transform {transform}, so samples to add need the "
                f"same; got {file_options.transform}"
            )
        result = learn_more(cast(Any, model.result), files.batches(data), progress=True)
    elif validation:
        searched = search_tolerances(
            files.cascade,
            *files.pair(data),
            files.pair(validation),
            groups=group or None,
            fixed=constant,
        )
        reports.append(searched)
        result = searched.result
        notes["validation"] = files.fingerprint(validation) | {"metric": searched.metric}
    elif method == "gradient":
        result = pinesy.learn(files.cascade, *files.pair(data), method=method, fixed=constant)
    else:
        result = learn_batches(
            files.cascade,
            files.batches(data),
            method=method,
            tolerance=tolerances,
            fixed=constant,
            progress=True,
        )
    before = model.result.samples if model else 0
    notes["data"].append(fingerprint | {"samples": result.samples - before})
    pinesy.save(result, output, notes)
    others = [s.output.name for s in result.cascade.order if s.output.name not in result.sets]
    say(result.text(WIDTH))
    if others:
        say_lines(f"not learned, so as before: {listed(others)}")
    say(f"written to {output}")
    for report in reports:
        say(f"\n{report.text(WIDTH)}")


def read_tolerances(texts: Sequence[str]) -> Any:
    """Read tolerances as the command line takes them: ``0.05``, or ``c_*=0.05`` several times.

    Examples
    --------
    >>> read_tolerances(["c_*=0.05", "y_*=none"])
    {'c_*': 0.05, 'y_*': None}
    """
    if len(texts) == 1 and "=" not in texts[0]:
        return _tolerance(texts[0], texts[0])
    tolerances: dict[str, float | None] = {}
    for text in texts:
        group, _, number = text.rpartition("=")
        if not group:
            _refuse(text, "with several, write each as GROUP=NUMBER, such as c_*=0.05")
        if group in tolerances:
            _refuse(text, f"{group} has one already; give each once")
        tolerances[group] = _tolerance(number, text)
    return tolerances or None


def _tolerance(number: str, text: str) -> float | None:
    if number.strip().lower() == "none":
        return None
    with suppress(ValueError):
        if (tolerance := float(number)) > 0.0:
            return tolerance
    _refuse(text, "it must be a number > 0, or none to keep every sample")


def _refuse(text: str, why: str) -> NoReturn:
    raise typer.BadParameter(f"{text!r}: {why}", param_hint="--tolerance")
