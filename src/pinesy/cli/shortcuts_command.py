"""The command ``pinesy shortcuts``."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

import pinesy
from pinesy._common.names import column_slices
from pinesy._common.validation import printable_json
from pinesy.cli import options
from pinesy.cli.output import say, say_lines
from pinesy.exceptions import DataError
from pinesy.model.storage import load_rules
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch

Data = Annotated[
    Path | None,
    typer.Argument(metavar="DATA", help="The true values of inputs: a file as for infer."),
]
Where = Annotated[
    str | None,
    typer.Option(help="In the place of DATA, a condition such as 'left + right < 5'."),
]
Share = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME",
        help="Inputs that one network reads (repeatable). By default those with equal domains.",
    ),
]
Limit = Annotated[int, typer.Option(min=1, help="Remappings to print.")]
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How to print.")]


def shortcuts(
    rules: options.RulesFile,
    data: Data = None,
    where: Where = None,
    share: Share = None,
    limit: Limit = 20,
    form: Format = "text",
    *,
    file_options: options.FormatOptions,
) -> None:
    """Count the wrong readings of inputs that still give right answers.

    A network that learns from answers alone may take a 2 for a 3 and a 3 for a
    2, if no answer shows it. These are all such remappings of the values of inputs,
    for the combinations of values that DATA holds (without it, all there are),
    and the fewest labels that would leave only the true one.

    [bold]Examples[/bold]
      pinesy shortcuts examples/weather.rules
      pinesy shortcuts sum.rules --where 'left + right < 5' --format json
      pinesy shortcuts formula.rules seen.csv --share d0,d1
    """
    options.refuse_options(
        (data and where is not None, "--where", "give DATA or a condition, not both")
    )
    cascade = load_rules(rules)
    observed: str | dict[str, list[Any]] | None = where
    if data is not None:
        samples = Batch.joined(list(file_options.batches(data, cascade, cascade.inputs)))
        columns = column_slices(cascade.inputs)
        observed = {a.name: _values(samples, a, columns[a.name]) for a in cascade.inputs}
    kinds = None
    if share is not None:  # each kind is named by its inputs
        groups = ([name.strip() for name in names.split(",")] for names in share)
        kinds = {", ".join(group): group for group in groups}
    remappings = pinesy.shortcuts(cascade, observed, kinds=kinds, limit=limit)
    if form == "json":
        say(printable_json(remappings.to_dict(), indent=1, default=str))
    else:
        say_lines(str(remappings))


def _values(batch: Batch, attribute: Attribute, columns: slice) -> list[Any]:
    """Return the plain values of an attribute in a batch, or raise `DataError`."""
    degrees = batch.evidence[:, columns]
    unsure = np.flatnonzero((degrees > 0.0).sum(axis=1) != 1)
    if len(unsure):
        raise DataError(
            f"line {batch.lines[int(unsure[0])]}: the value of {attribute.name!r} is not known for "
            "sure; give the true values of inputs, or leave the line out"
        )
    return [attribute.domain[i] for i in degrees.argmax(axis=1)]
