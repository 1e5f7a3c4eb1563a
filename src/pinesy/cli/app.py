"""The commands of ``pinesy``."""

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pinesy
from pinesy.cli.demo import run_demo
from pinesy.cli.help import CHECK_HELP, HELP, INFER_HELP, SHOW_HELP
from pinesy.cli.output import Screen, open_output, progress
from pinesy.cli.results import Format, writer
from pinesy.cli.show import Page, counted
from pinesy.exceptions import PinesyError
from pinesy.samples import Source, read_samples

__all__ = ["app", "main"]


class _Group(TyperGroup):
    """Turns what goes wrong into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except PinesyError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(3) from None
        except BrokenPipeError:
            _abandon_stdout()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(130) from None
        return result


def _abandon_stdout() -> None:
    """Let Python flush what is left into nothing: the reader is gone, as after ``| head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=_Group,
    help=HELP,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


class Transform(StrEnum):
    """What makes possibilities of the data's numbers."""

    NONE = "none"
    ANTIPIGNISTIC = "antipignistic"
    MINIMUM_SPECIFICITY = "minimum-specificity"

    @property
    def function(self) -> Callable[[Any], Any] | None:
        """The function of the library."""
        return None if self is Transform.NONE else getattr(pinesy, self.replace("-", "_"))


RulesFile = Annotated[Path, typer.Argument(metavar="RULES", help="A .rules or .json file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A .jsonl, .ndjson, .json or .csv file; - for JSON Lines on stdin."
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file, once it is whole.")
]
FORMAT_HELP = "By default what the output file is called; else table on a terminal, or jsonl."
FormatName = Annotated[Format | None, typer.Option("--format", help=FORMAT_HELP)]
OUTPUTS_HELP = "Infer this attribute (repeatable). By default all that no premise uses."
Outputs = Annotated[list[str] | None, typer.Option(metavar="NAME", help=OUTPUTS_HELP)]
BatchSize = Annotated[int, typer.Option(min=1, help="Samples held in memory at a time.")]
All = Annotated[bool, typer.Option("--all", help="Shorten nothing.")]
Attributes = Annotated[bool, typer.Option("--attributes", help="Show the attributes.")]
RuleTexts = Annotated[bool, typer.Option("--rules", help="Show the rules.")]
Cells = Annotated[bool, typer.Option("--partition", help="Show the cells of the outputs' domains.")]
Matrix = Annotated[bool, typer.Option("--matrix", help="Show the matrix M.")]
Numbers = Annotated[bool, typer.Option("--numbers", help="Show the matrix M in numbers.")]
SetName = Annotated[
    str | None, typer.Option("--set", metavar="NAME", help="Only the rules on this attribute.")
]
TransformName = Annotated[
    Transform,
    typer.Option("--transform", help="Make possibilities of the data's probabilities."),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pinesy {pinesy.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command(help=CHECK_HELP)
def check(rules: RulesFile) -> None:
    """Print what is odd, and what inference costs."""
    report = pinesy.load(rules).check()
    typer.echo(str(report))
    warnings = len(report.warnings)
    notes = len(report.findings) - warnings
    typer.echo(f"{counted(warnings, 'warning')}, {counted(notes, 'note')}")
    raise typer.Exit(1 if warnings else 0)


@app.command(help=SHOW_HELP)
def show(
    rules: RulesFile,
    attributes: Attributes = False,
    rule_texts: RuleTexts = False,
    partition: Cells = False,
    matrix: Matrix = False,
    numbers: Numbers = False,
    name: SetName = None,
    everything: All = False,
) -> None:
    """Print the parts of a rule base."""
    cascade = pinesy.load(rules)
    sets = cascade.rule_sets if name is None else (cascade[name],)
    page = Page(Screen(), everything)
    if not (attributes or rule_texts or partition or matrix or numbers):
        # Of the whole a survey; of one rule set everything there is.
        attributes, rule_texts = name is None, True
        partition = matrix = name is not None
        page.summary(cascade)
    if attributes:
        page.attributes(cascade)
    if rule_texts or partition or matrix or numbers:
        kind = "numbers" if numbers else "symbols" if matrix else ""
        page.sets(sets, rules=rule_texts, cells=partition, matrix=kind)


@app.command(help=INFER_HELP)
def infer(
    rules: RulesFile,
    data: DataFile,
    output: OutputFile = None,
    form: FormatName = None,
    transform: TransformName = Transform.NONE,
    outputs: Outputs = None,
    batch: BatchSize = 10_000,
    everything: All = False,
) -> None:
    """Print the inferred distributions of every sample."""
    form = form or _format_of(output)
    cascade = pinesy.load(rules)
    program = cascade.compile(dict.fromkeys(outputs) if outputs else None)
    source, size = _source(data)
    batches = read_samples(
        source, program.inputs, known=cascade.inputs, transform=transform.function, batch=batch
    )
    # A bar between results on one screen would garble them; a table comes after it.
    bar = output is not None or form is Format.TABLE or not sys.stdout.isatty()
    with open_output(output) as stream, progress(size, bar) as advance:
        results = writer(form, stream, [a.name for a in program.outputs], everything)
        for samples in batches:
            results.add(program.infer(samples.evidence))
            advance(len(samples), samples.position)
        results.finish()


@app.command()
def demo() -> None:
    """Take a guided tour: the paper's example, then an addition of uncertain digits."""
    run_demo(Screen())


def _source(data: Path) -> tuple[Source, int | None]:
    """Return what to read, and its size if it is a file."""
    if str(data) == "-":
        return sys.stdin.buffer, None
    return data, data.stat().st_size if data.is_file() else None


def _format_of(output: Path | None) -> Format:
    if output is None:
        return Format.TABLE if sys.stdout.isatty() else Format.JSONL
    suffix = output.suffix.lower().removeprefix(".")
    if suffix not in ("jsonl", "csv"):
        raise typer.BadParameter(
            f"{output} ends in neither .jsonl nor .csv; say which with --format",
            param_hint="--output",
        )
    return Format(suffix)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # so that no name fails for want of an encoding
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="pinesy")
