"""The commands ``pinesy export onnx``, ``problog`` and ``cnf``."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

import pinesy
from pinesy._common.files import writing_bytes
from pinesy.cli import options
from pinesy.cli.output import open_output
from pinesy.exceptions import DataError
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
