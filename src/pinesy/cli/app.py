"""The program ``pinesy``: its commands, and what its exit codes mean."""

import codecs
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pinesy
from pinesy._common.validation import printable
from pinesy.cli.ask_command import ask
from pinesy.cli.audit_command import audit
from pinesy.cli.backprop_command import backprop
from pinesy.cli.calibrate_command import calibrate
from pinesy.cli.check_command import check
from pinesy.cli.demo_command import demo
from pinesy.cli.evaluate_command import evaluate
from pinesy.cli.explain_command import explain
from pinesy.cli.export_command import export
from pinesy.cli.import_command import imports
from pinesy.cli.induce_command import induce
from pinesy.cli.infer_command import infer
from pinesy.cli.learn_command import learn
from pinesy.cli.mine_command import mine
from pinesy.cli.options import with_single_options
from pinesy.cli.replay_command import replay
from pinesy.cli.serve_command import serve
from pinesy.cli.shortcuts_command import shortcuts
from pinesy.cli.show_command import show
from pinesy.cli.solve_command import solve
from pinesy.cli.studio_command import studio
from pinesy.exceptions import DataWarning, PinesyError

#: What wrong options and arguments raise: typer has a click of its own in some versions.
UsageError: Any = typer.BadParameter.__mro__[1]


class CommandGroup(TyperGroup):
    """A group of commands that reports an error as one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with _notices():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except UsageError as error:
            error.message = printable(error.message)
            raise
        except PinesyError as error:
            typer.echo(f"error: {printable(str(error))}", err=True)
            raise typer.Exit(3) from None
        except BrokenPipeError:
            _abandon_stdout()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(130) from None
        return result


@contextmanager
def _notices() -> Iterator[None]:
    """Print each warning on data once, as a line on standard error."""
    printed: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        default = warnings.showwarning

        def show(message: Any, category: Any, *location: Any, **keywords: Any) -> None:
            if not issubclass(category, DataWarning):
                default(message, category, *location, **keywords)
            elif (text := str(message)) not in printed:
                printed.add(text)
                typer.echo(f"notice: {printable(text)}", err=True)

        warnings.showwarning = show
        yield


def _abandon_stdout() -> None:
    """Redirect stdout to the null device after a broken pipe, as of ``| head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


#: Of this program, and of others like it.
SETTINGS: dict[str, Any] = {
    "cls": CommandGroup,
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": "rich",
    "pretty_exceptions_enable": False,
}
app = typer.Typer(**SETTINGS)
#: The commands by what they are for, as `--help` groups them.
GROUPS: dict[str, tuple[Callable[..., None], ...]] = {
    "Ask: what is decided, and why": (infer, explain, backprop, ask),
    "Rules: look at them, find them, fit them": (check, show, induce, mine, learn, calibrate),
    "Data: how good rules are, which labels are wrong": (evaluate, audit, shortcuts),
    "See and share": (studio, demo),
    "Serve: answer other programs": (serve, replay),
    "Mathematics alone": (solve,),
}
for panel, commands in GROUPS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(with_single_options(command))
app.add_typer(export, name="export", rich_help_panel="See and share")
app.add_typer(imports, name="import", rich_help_panel="See and share")


def _version(is_given: bool) -> None:
    if is_given:
        typer.echo(f"pinesy {pinesy.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Rules that decide, and say why: reject, certain 0.80, because ...

    [bold]Example[/bold]
      pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl

    [bold]Exit codes[/bold]
      0  fine
      1  check found warnings
      2  wrong usage
      3  rules or data that cannot be used
      130  interrupted
    """


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Escape characters that the encoding lacks as in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def run_program(commands: typer.Typer, name: str) -> None:
    """Run the commands of a program."""
    # Closed streams become empty ones: files that are opened would get their descriptors.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    codecs.register_error("pinesy.escape", _escape)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # so that no name fails for want of an encoding
            stream.reconfigure(errors="pinesy.escape")
    try:
        commands(prog_name=name)
    except OSError as error:  # errors of writing files are reported elsewhere
        _abandon_stdout()
        sys.stderr.write(f"error: the output cannot be written: {error.strerror or error}\n")
        sys.exit(3)


def run_pinesy() -> None:
    """Run the command line."""
    run_program(app, "pinesy")
