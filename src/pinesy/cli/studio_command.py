"""The command ``pinesy studio``."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pinesy.cli import options
from pinesy.cli.studio_demo import demo_session
from pinesy.exceptions import DataError
from pinesy.studio import Session

StudioFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="MODEL",
        help="Rules or a model: a .rules, .json or .zip file. By default the demo's.",
        show_default=False,
    ),
]
StudioData = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .ndjson, .json, .csv or .parquet file.",
        show_default=False,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        metavar="N",
        help="Listen there; 0 for any. By default the first free one from 8765 on.",
    ),
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not start a browser.")]


def studio(
    model: StudioFile = None,
    data: StudioData = None,
    port: Port = None,
    no_open: NoOpen = False,
    transform: options.TransformOption = "none",
    ids: options.Ids = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    r"""See rules, samples and answers in the browser, change them, and ask why.

    Without a file it opens on a network that reads digits and rules that add
    them: draw two digits and see their sum.

    The studio runs on this machine alone: it listens on 127.0.0.1, the address
    that it prints holds a token without which it answers nobody, and nothing is
    fetched from or sent to anywhere else. It needs pip install 'pinesy\[studio]'.

    [bold]Examples[/bold]
      pinesy studio
      pinesy studio examples/blood_glucose.rules examples/blood_glucose.jsonl
      pinesy studio model.zip --port 9000 --no-open
    """
    missing = [name for name in ("starlette", "uvicorn") if not find_spec(name)]
    if missing:
        raise DataError(f"the studio needs {', '.join(missing)}: pip install 'pinesy[studio]'")
    from pinesy.studio.server import serve

    if model is None:
        serve(demo_session(typer.echo), port, not no_open, typer.echo)
        return
    how = options.reading(ids, separator, decimal)
    how["transform"] = options.transform_function(transform)
    serve(Session.open(model, data, **how), port, not no_open, typer.echo)
