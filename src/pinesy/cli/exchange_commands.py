"""The commands ``pinesy export onnx``, ``problog``, ``cnf``, ``table`` and ``pinesy import``."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

import pinesy
from pinesy._common.files import writing_bytes
from pinesy.cli import options
from pinesy.cli.output import open_output
from pinesy.exceptions import DataError
from pinesy.exchange.table_sheets import SUFFIXES
from pinesy.model.storage import load_rules

T = TypeVar("T")

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A .rules or .json file, or a .zip with a network.")
]
OnnxFile = Annotated[Path, typer.Option("--output", "-o", help="Write to this .onnx file.")]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Infer this attribute (repeatable). By default all that no premise uses.",
    ),
]
Given = Annotated[
    options.TransformName,
    typer.Option(
        "--transform", help="The inputs are probabilities, and the graph transforms them."
    ),
]
TableFile = Annotated[
    Path, typer.Option("--output", "-o", help="Write to this .csv or .xlsx file.")
]
TableSource = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A decision table in a .csv or .xlsx file.")
]
NewRules = Annotated[
    Path, typer.Option("--output", "-o", help="Write to this .rules or .json file.")
]
Queries = Annotated[
    list[str] | None,
    typer.Option(
        "--query",
        metavar="NAME",
        help="Ask for this attribute (repeatable). By default for all that no premise uses.",
    ),
]


def _with_extra(make: Callable[[], T]) -> T:
    """Call a function whose `ModuleNotFoundError` says what to install."""
    try:
        return make()
    except ModuleNotFoundError as error:
        raise DataError(str(error)) from None


def onnx(
    model: ModelFile,
    output: OnnxFile,
    transform: Given = "none",
    outputs: Outputs = None,
) -> None:
    """Write rules, or network, transformation and rules in one, as a graph of ONNX.

    Inputs and outputs have the names of the attributes; degrees are of float64,
    one row a sample. With --transform the inputs are probabilities. A .zip model
    takes images (n, 28, 28) of uint8 and has its own transformation.
    onnxruntime gives the bits of pinesy infer. Samples that pinesy refuses get
    NaN.

    [bold]Examples[/bold]
      pinesy export onnx sum.rules -o sum.onnx
      pinesy export onnx model.zip -o model.onnx
    """
    options.check_output(output, [".onnx"], [model])
    content = _with_extra(lambda: _model_or_rules(model))
    how = None if transform == "none" else transform
    graph = _with_extra(lambda: pinesy.to_onnx(content, outputs, transform=how))
    with writing_bytes(output) as stream:
        stream.write(graph.SerializeToString())


def _model_or_rules(path: Path) -> Any:
    return pinesy.load(path) if path.suffix == ".zip" else load_rules(path)


def problog(
    rules: options.RulesFile, output: options.OutputFile = None, query: Queries = None
) -> None:
    """Write rules without uncertainty as a program of ProbLog.

    Its answers are those of the probabilistic semantics (docs/semantics.md). All
    values of an input are equally probable; write the probabilities of a sample
    in their place, in the first lines.

    [bold]Examples[/bold]
      pinesy export problog sum.rules
      pinesy export problog sum.rules --query total -o sum.pl
    """
    if output is not None:
        options.check_output(output, [output.suffix], [rules])
    text = pinesy.to_problog(load_rules(rules), query=query)
    with open_output(output) as stream:
        stream.write(text)


def cnf(rules: options.RulesFile, output: options.OutputFile = None) -> None:
    """Write rules without uncertainty as clauses in the DIMACS format, for SAT solvers.

    Models are the worlds that the rules allow. Comments say which variable
    stands for which value of an attribute.

    [bold]Examples[/bold]
      pinesy export cnf sum.rules -o sum.cnf
    """
    if output is not None:
        options.check_output(output, [output.suffix], [rules])
    clauses = pinesy.to_dimacs(load_rules(rules))
    with open_output(output) as stream:
        stream.writelines(f"{line}\n" for line in clauses.lines())


def table(rules: options.RulesFile, output: TableFile) -> None:
    """Write rules as a decision table: a row for each, for CSV or Excel.

    A workbook has a sheet for each attribute that rules conclude on. Change it,
    and read it with pinesy import table.

    [bold]Examples[/bold]
      pinesy export table sum.rules -o sum.xlsx
    """
    options.check_output(output, SUFFIXES, [rules])
    cascade = load_rules(rules)
    _with_extra(lambda: pinesy.write_decision_table(cascade, output))


imports = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@imports.callback()
def _about() -> None:
    """Make rules of what other programs write."""


@imports.command("table")
def import_table(source: TableSource, output: NewRules) -> None:
    """Make rules of a decision table in a CSV or Excel file.

    The header says what columns hold: "if NAME" and "then NAME" conditions and
    conclusions, "s" and "r" parameters, "kind" whether a row is an if (the
    default), an iff, or the domain of each attribute:
      kind,    if age,            if pain,    then urgent,  r
      domain,  number cuts {65},  {no, yes},  {no, yes},
      if,      >= 65,             yes,        yes,          0.1
      iff,     -,                 no,         no,
    A cell is a value, a set {a, b}, a comparison, an interval [30, 65), or - for
    any. Formulas of Excel are refused, not evaluated.

    [bold]Examples[/bold]
      pinesy import table triage.xlsx -o triage.rules
    """
    options.check_output(output, [".rules", ".json"], [source])
    pinesy.save(_with_extra(lambda: pinesy.read_decision_table(source)), output)
