"""The command ``pinesy explain``."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pinesy import explanations
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.cli import options
from pinesy.cli.explanation_report import LIMITS, ExplanationFormat, ExplanationReport
from pinesy.cli.output import open_output
from pinesy.exceptions import DataError
from pinesy.explanations.explain import only_output
from pinesy.model.storage import load_rules
from pinesy.samples import Batch

SUFFIXES: dict[str, ExplanationFormat] = {".txt": "text", ".json": "json", ".svg": "svg"}
Row = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        metavar="N",
        help="The line (or row) of the sample. By default the first one.",
    ),
]
AttributeName = Annotated[
    str | None,
    typer.Option(
        "--attribute", metavar="NAME", help="Explain this attribute, not the only output."
    ),
]
Value = Annotated[
    str | None, typer.Option(metavar="V", help="Explain this value, not the most possible one.")
]
OtherValue = Annotated[
    str | None,
    typer.Option(metavar="V", help="Say what holds this value down, and what would make it win."),
]
Eta = Annotated[float, typer.Option(help="Degrees below it count as nothing.")]
Depth = Annotated[int | None, typer.Option(min=1, metavar="N", help="Rule sets to go down.")]
LIMIT_HELP = "Show so many values, rules and propositions of each; the others are counted."
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help=LIMIT_HELP)]
FORMAT_HELP = "By default by the output file's suffix; else text."
Form = Annotated[ExplanationFormat | None, typer.Option("--format", help=FORMAT_HELP)]


def explain(
    rules: options.RulesFile,
    data: options.DataFile,
    sample: Row = None,
    attribute: AttributeName = None,
    value: Value = None,
    why_not: OtherValue = None,
    eta: Eta = 0.1,
    depth: Depth = None,
    limit: Limit = None,
    everything: options.All = False,
    form: Form = None,
    output: options.OutputFile = None,
    transform: options.TransformOption = "none",
) -> None:
    """Explain the result of one sample: why a value is as possible and as certain.

    The rules that set its possibility, what these rest on, down to the inputs;
    then what else is possible, which bounds its certainty. The margin tells how
    far the inputs may move before the most possible value can change. Data is as
    for pinesy infer; values are written as in rules: 7, wet, "(1, 2)".

    [bold]Formats[/bold]
    text  plain English, down 4 rule sets; the first 5 of many values, rules or
          propositions, those that decide first
    json  an object: "sample" (its line), "explanation", "margin" and "why_not"
          (null unless asked for); the first 20 of each, 500 values in all;
          "margin" has "all" (of all inputs together), "inputs" (of each alone;
          null where there is no limit) and "exact" (false: at least as much)
    svg   a picture of the tree; the first 3 of each, 60 boxes of values in all
    What is left out is counted; --limit sets how many, --all leaves out nothing.

    [bold]Examples[/bold]
      pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl
      pinesy explain sum.rules digits.jsonl --sample 7 --value 12 --why-not 13
      pinesy explain sum.rules digits.jsonl --attribute total -o total.svg
    """
    chosen = options.format_of(form, output, SUFFIXES, "text")
    if why_not is not None and chosen == "svg":
        raise typer.BadParameter(
            "a picture does not show it; use --format text or json", param_hint="--why-not"
        )
    if everything and limit is not None:
        raise typer.BadParameter("--all shows all; leave one of them out", param_hint="--limit")
    if output is not None:
        options.check_output(output, [output.suffix], [rules, data])
    cascade = load_rules(rules)
    name = attribute or only_output(cascade, "say which: --attribute NAME").name
    wanted = cascade[name].output
    proposition = wanted if value is None else wanted.isin({options.find_value(wanted, value)})
    rival = None if why_not is None else options.find_value(wanted, why_not)
    inputs = cascade.compile([wanted]).inputs
    batches = options.read_data(data, cascade, inputs, transform, 1 if sample is None else 1000)
    line, row = _find_sample(batches, sample, data)
    evidence = {name: row[part] for name, part in column_slices(inputs).items()}
    report = ExplanationReport(
        cascade,
        line,
        evidence,
        explanations.explain(cascade, evidence, proposition, eta=eta, depth=depth),
        None if why_not is None else explanations.why_not(cascade, evidence, rival, wanted),
        None if everything else limit or LIMITS[chosen],
    )
    with open_output(output) as stream:
        stream.write(f"{report.write(chosen)}\n")


def _find_sample(
    batches: Iterable[Batch], wanted: int | None, data: Path
) -> tuple[int, FloatArray]:
    """Return a sample of a file: the number of its line or row, and its degrees.

    Parameters
    ----------
    wanted : the line or row, None for the first sample
    """
    last = 0
    for batch in batches:
        lines = list(batch.lines)
        if wanted is None or wanted in lines:
            row = 0 if wanted is None else lines.index(wanted)
            return lines[row], batch.evidence[row]
        if lines[-1] > wanted:
            nearest = min([*lines, *[last] * (last > 0)], key=lambda n: abs(n - wanted))
            _refuse(data, wanted, f"the nearest one is in {nearest}")
        last = lines[-1]
    _refuse(data, wanted, f"the last one is in {last}")


def _refuse(data: Path, wanted: int | None, instead: str) -> NoReturn:
    raise DataError(f"{data}: there is no sample in line (or row) {wanted}; {instead}")
