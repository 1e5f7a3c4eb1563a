"""The commands ``pinesy export ...``: rules as something that other programs read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile

import numpy as np
import typer

from pinesy._common.files import reading
from pinesy._common.markup import counted
from pinesy.cli import options
from pinesy.cli.output import open_output
from pinesy.exceptions import DataError
from pinesy.exchange.page import rules_page
from pinesy.exchange.page_samples import PageSamples
from pinesy.model.storage import load_rules

export = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")

ModelFile = Annotated[
    Path, typer.Argument(metavar="RULES", help="A .rules, .json or (a model with a network) .zip.")
]
Samples = Annotated[
    Path | None,
    typer.Option("--data", metavar="DATA", help="Samples to look at, as for pinesy infer."),
]
SampleLimit = Annotated[
    int, typer.Option("--samples", min=1, metavar="N", help="Take so many samples, the first.")
]
ImageFile = Annotated[
    Path | None,
    typer.Option(
        "--images",
        metavar="FILE",
        help="A .npz file with, for some inputs by name, a uint8 array (samples, height, width) "
        "of what is seen; needs --data.",
    ),
]
Title = Annotated[str | None, typer.Option(help="What to call it; by default the file's name.")]
PageFile = Annotated[
    Path, typer.Option("--output", "-o", help="Write to this .html file, once it is whole.")
]


@export.callback()
def _about() -> None:
    """Write rules for other programs: each command below is one of the forms."""


@export.command()
def page(
    rules: ModelFile,
    output: PageFile,
    data: Samples = None,
    samples: SampleLimit = 100,
    images: ImageFile = None,
    title: Title = None,
    transform: options.TransformOption = "none",
    ids: options.Ids = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Write one HTML file to send: what-if, why, why not and margin, without a server.

    Whoever opens it in a browser sets the inputs by choices, numbers or sliders,
    or picks a sample; sees how possible and how certain every value is; and asks
    why a value is so, why not another, and how far the inputs may move. The
    degrees are, bit for bit, those of pinesy infer. Nothing is sent or fetched.

    Of a model with a network (.zip) only the rules are in the page: its inputs
    are set by hand, or come from the samples of --data with what was recorded of
    them (possibilities or, with --transform, probabilities).

    A page holds at most 20 MB; larger ones are refused, with their size.

    [bold]Examples[/bold]
      pinesy export page triage.rules -o triage.html
      pinesy export page sum.rules --data digits.jsonl --samples 20 -o sum.html
      pinesy export page model.zip --data softmax.csv --transform antipignistic
        --images digits.npz -o digits.html
    """
    options.check_output(output, [".html"], [rules, data, images])
    if images is not None and data is None:
        raise typer.BadParameter("images are of samples: give --data", param_hint="--images")
    cascade = load_rules(rules)
    found: list[dict[str, Any]] = []
    if data is not None:
        how = options.reading(ids, separator, decimal)
        read = options.read_data(data, cascade, cascade.inputs, transform, samples, how=how)
        shown = PageSamples.of_file(next(read))
        found = shown.data(cascade, {} if images is None else _read_images(images))
    text = rules_page(cascade, found, title or rules.stem, network=rules.suffix == ".zip")
    with open_output(output) as stream:
        stream.write(text)
    told = f", {counted(len(found), 'sample')}" if found else ""
    typer.echo(f"{output}: {len(text.encode()):,} bytes{told}")


def _read_images(path: Path) -> Mapping[str, Any]:
    """Return the arrays of a file by their names, or raise `DataError`."""
    try:
        with reading(path), np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (ValueError, BadZipFile, AttributeError, EOFError):
        raise DataError(
            f"{path}: not a .npz file of plain arrays; numpy.savez writes one"
        ) from None
