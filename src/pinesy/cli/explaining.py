"""The command ``pinesy explain``."""

from pathlib import Path
from typing import Annotated

import typer

from pinesy.cli.answers import LIMITS, Asked, ExplanationFormat, Told
from pinesy.cli.options import (
    All,
    DataFile,
    OutputFile,
    RulesFile,
    Transform,
    TransformName,
    check_output,
)
from pinesy.cli.output import open_output
from pinesy.model.storage import load_rules

SUFFIXES = {
    ".txt": ExplanationFormat.TEXT,
    ".json": ExplanationFormat.JSON,
    ".svg": ExplanationFormat.SVG,
}
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
FORM_HELP = "By default what the output file is called; else text."
Form = Annotated[ExplanationFormat | None, typer.Option("--format", help=FORM_HELP)]


def explain(
    rules: RulesFile,
    data: DataFile,
    sample: Row = None,
    attribute: AttributeName = None,
    value: Value = None,
    why_not: OtherValue = None,
    eta: Eta = 0.1,
    depth: Depth = None,
    limit: Limit = None,
    everything: All = False,
    form: Form = None,
    output: OutputFile = None,
    transform: TransformName = Transform.NONE,
) -> None:
    """Print why a value is as possible and as certain as it is."""
    form = form or _format_of(output)
    if why_not is not None and form is ExplanationFormat.SVG:
        raise typer.BadParameter(
            "a picture does not show it; use --format text or json", param_hint="--why-not"
        )
    if everything and limit is not None:
        raise typer.BadParameter("--all shows all; leave one of them out", param_hint="--limit")
    if output is not None:
        check_output(output, [output.suffix], [rules, data])
    asked = Asked.of(load_rules(rules), attribute, value, why_not)
    line, evidence = asked.read(data, sample, transform)
    told = Told(asked, line, evidence, eta, depth, LIMITS[form] if limit is None else limit)
    text = (told.everything() if everything else told).write(form)
    with open_output(output) as stream:
        stream.write(f"{text}\n")


def _format_of(output: Path | None) -> ExplanationFormat:
    if output is None:
        return ExplanationFormat.TEXT
    if output.suffix not in SUFFIXES:
        raise typer.BadParameter(
            f"{output} ends in none of {', '.join(SUFFIXES)}; say which with --format",
            param_hint="--output",
        )
    return SUFFIXES[output.suffix]
