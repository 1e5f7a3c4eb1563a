"""The program ``pinesy``: its commands, and what its exit codes mean."""

import codecs
import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pinesy
from pinesy.cli.command_table import COMMANDS, UnloadedCommand
from pinesy.exceptions import DataWarning, PinesyError

#: What wrong options and arguments raise: typer has a click of its own in some versions.
UsageError: Any = typer.BadParameter.__mro__[1]


def _printable(text: str) -> str:
    """Return a text without control characters; NumPy is not loaded where there is none."""
    from pinesy._common.validation import printable

    return printable(text)


class CommandGroup(TyperGroup):
    """A group of commands that reports an error as one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with _notices():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except UsageError as error:
            error.message = _printable(error.message)
            raise
        except PinesyError as error:
            typer.echo(f"error: {_printable(str(error))}", err=True)
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
                typer.echo(f"notice: {_printable(text)}", err=True)

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


class PinesyCommands(CommandGroup):
    """The commands of pinesy; the module of each is imported when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for panel, summaries in COMMANDS.items():
            for name, summary in summaries.items():
                self.commands[name] = UnloadedCommand(name, summary, panel)


app = typer.Typer(**SETTINGS | {"cls": PinesyCommands})


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
