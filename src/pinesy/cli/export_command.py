"""The commands ``pinesy export``: rules for other programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from zipfile import BadZipFile

import numpy as np
import typer

import pinesy
from pinesy._common.files import atomic_bytes, wrap_read_errors
from pinesy._common.reports import count_text
from pinesy.cli import options
from pinesy.cli.output import open_output, put_text, say
from pinesy.exceptions import DataError
from pinesy.exchange.page import rules_page
from pinesy.exchange.page_data import samples_data, titles_of
from pinesy.exchange.table_sheets import SUFFIXES
from pinesy.guarantees import SelectiveRules
from pinesy.model.storage import load_rules

export = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
ModelFile = Annotated[
    Path, typer.Argument(metavar="RULES", help="A .rules, .json or (a model with a network) .zip.")
]
Samples = Annotated[
    Path | None,
    typer.Option(metavar="DATA", help="Samples to look at, as for pinesy infer."),
]
SampleLimit = Annotated[
    int, typer.Option(min=1, metavar="N", help="Take so many samples, the first.")
]
ImageFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A .npz file with, for some inputs by name, a uint8 array (samples, height, width) "
        "of what is seen; needs --data.",
    ),
]
Title = Annotated[str | None, typer.Option(help="What to call it; by default the file's name.")]
PageFile = Annotated[
    Path, typer.Option("--output", "-o", help="Write to this .html file, once it is complete.")
]
GraphSource = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A .rules or .json file, or a .zip with a network.")
]
OnnxFile = Annotated[Path, typer.Option("--output", "-o", help="Write to this .onnx file.")]
Given = Annotated[
    str,
    options.transform_option("The inputs are probabilities, and the graph transforms them."),
]
GraphForm = Annotated[
    Literal["values", "degrees"],
    typer.Option(
        help="A number, or the index of a value, for each input (NaN is unknown); or the degree of "
        "each value."
    ),
]
Decided = Annotated[
    bool,
    typer.Option("--decide", help="Write which cases the model decides, and which it hands over."),
]
TableFile = Annotated[
    Path, typer.Option("--output", "-o", help="Write to this .csv or .xlsx file.")
]
Engine = Annotated[
    Literal["duckdb", "sqlite", "postgresql", "spark"], typer.Option(help="The engine.")
]
TableName = Annotated[str, typer.Option(metavar="NAME", help="The table of the samples.")]
SchemaName = Annotated[
    str | None, typer.Option("--schema", metavar="NAME", help="The schema of the table.")
]
KeptColumns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Return this column of the table, too (repeatable)."),
]
InputForm = Annotated[
    Literal["values", "degrees"],
    typer.Option(help="A column for each input, or one input=value for the degree of each value."),
]
NoDegrees = Annotated[bool, typer.Option("--no-degrees", help="Leave out degrees of values.")]
SourceFile = Annotated[
    Path, typer.Option("--output", "-o", help="Write to this .c file, and a .h file beside it.")
]
Queries = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Ask for this attribute (repeatable). By default for all that no premise uses.",
    ),
]


@export.callback()
def _about() -> None:
    """Write rules for other programs: each command below is one of the forms."""


@export.command()
@options.with_single_options
def page(
    rules: ModelFile,
    output: PageFile,
    data: Samples = None,
    samples: SampleLimit = 100,
    images: ImageFile = None,
    title: Title = None,
    *,
    file_options: options.DataOptions,
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
      pinesy export page examples/weather.rules -o weather.html
      pinesy export page sum.rules --data digits.jsonl --samples 20 -o sum.html
      pinesy export page model.zip --data softmax.csv --transform antipignistic
        --images digits.npz -o digits.html
    """
    options.check_output_file(output, [".html"], [rules, data, images])
    options.refuse_options((images and not data, "--images", "images are of samples: give --data"))
    cascade = load_rules(rules)
    contents: list[dict[str, Any]] = []
    if data is not None:
        first = next(file_options.batches(data, cascade, cascade.inputs, samples))
        pictures = {} if images is None else _read_images(images)
        contents = samples_data(cascade, first, titles_of(first), pictures)
    text = rules_page(cascade, contents, title or rules.stem, network=rules.suffix == ".zip")
    put_text(output, text)
    note = f", {count_text(len(contents), 'sample')}" if contents else ""
    say(f"{output}: {len(text.encode()):,} bytes{note}")


def _read_images(path: Path) -> Mapping[str, Any]:
    """Return the arrays of a file by their names, or raise `DataError`."""
    try:
        with wrap_read_errors(path), np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (ValueError, BadZipFile, AttributeError, EOFError):
        raise DataError(
            f"{path}: not a .npz file of plain arrays; numpy.savez writes one"
        ) from None


@export.command()
def onnx(
    model: GraphSource,
    output: OnnxFile,
    transform: Given = "none",
    outputs: options.Outputs = None,
    inputs_as: GraphForm = "degrees",
    level: options.Level = None,
    is_selective: Decided = False,
) -> None:
    """Write rules, or network, transformation and rules in one, as a graph of ONNX.

    Inputs and outputs have the names of the attributes; degrees are of float64,
    one row a sample. With --transform the inputs are probabilities. A .zip model
    takes images (n, 28, 28) of uint8 and has its own transformation.
    onnxruntime gives the bits of pinesy infer. Samples that pinesy refuses get
    NaN.

    With --level, of calibrated rules: degrees are calibrated, and each output b
    has "b (set)", the values that are not excluded, and "b (outcome)". With
    --decide, of a model of pinesy calibrate --error: "decided", "certainty" and
    "b (best)". Such a model has its own transformation.

    [bold]Examples[/bold]
      pinesy export onnx examples/weather.rules -o weather.onnx
      pinesy export onnx loan.json --inputs-as values --level 0.95 -o loan.onnx
      pinesy export onnx model.zip -o model.onnx
    """
    options.check_output_file(output, [".onnx"], [model])
    if level is not None or is_selective:
        content: Any = _guaranteed_model(model, is_selective)
    else:
        content = pinesy.load(model) if model.suffix == ".zip" else load_rules(model)
    transform_name = None if transform == "none" else transform
    graph = pinesy.to_onnx(
        content, outputs, transform=transform_name, inputs_as=inputs_as, level=level
    )
    with atomic_bytes(output) as stream:
        stream.write(graph.SerializeToString())


def _guaranteed_model(path: Path, is_selective: bool) -> Any:
    """Return a model with its threshold, or with its calibration alone; raise `DataError`."""
    model: Any = pinesy.load(path)
    if not is_selective:
        return model.model if isinstance(model, SelectiveRules) else model
    if not isinstance(model, SelectiveRules):
        raise DataError(
            f"{path}: has no threshold from which cases are decided; test one on other samples "
            f"first: pinesy calibrate {path} DATA -o MODEL.json --error 0.01"
        )
    return model


@export.command()
def sql(
    rules: options.RulesFile,
    dialect: Engine,
    output: options.OutputFile = None,
    table: TableName = "samples",
    schema: SchemaName = None,
    outputs: options.Outputs = None,
    keep: KeptColumns = None,
    inputs_as: InputForm = "values",
    no_degrees: NoDegrees = False,
) -> None:
    """Write rules as a query of SQL that infers every row of a table.

    The table has a column for each input: numbers, or categories; NULL is unknown.
    The result has columns of pinesy infer, with its bits: best value, outcome,
    certainty, contradiction and degrees. The outcome is "refused", and the rest
    NULL, where infer in Python raises an error, as for a category that the rules do
    not have. Induced rules are written as their score card, with the classes of
    predict.

    [bold]Examples[/bold]
      pinesy export sql examples/loan.rules --dialect duckdb --table loans --keep id
      pinesy export sql sum.rules --dialect sqlite --inputs-as degrees -o sum.sql
    """
    options.check_output_file(output, None, [rules])
    parts = [table] if schema is None else [schema, table]
    text = pinesy.to_sql(
        load_rules(rules),
        dialect,
        parts,
        outputs,
        keep=keep or (),
        inputs_as=inputs_as,
        degrees=not no_degrees,
    )
    put_text(output, text)


@export.command()
def c(
    rules: options.RulesFile,
    output: SourceFile,
    name: Annotated[
        str | None, typer.Option(help="What functions begin with; by default the file's name.")
    ] = None,
    outputs: options.Outputs = None,
) -> None:
    """Write rules as one file of C99 without dependencies, and its header.

    Its functions take many samples, as raw values or as degrees, and give the bits
    of pinesy infer.

    [bold]Examples[/bold]
      pinesy export c examples/loan.rules -o loan.c
    """
    options.check_output_file(output, [".c"], [rules])
    files = pinesy.to_c(load_rules(rules), output.stem if name is None else name, outputs)
    put_text(output.with_suffix(".h"), files.header)
    put_text(output, files.source)


@export.command()
def problog(
    rules: options.RulesFile, output: options.OutputFile = None, query: Queries = None
) -> None:
    """Write rules without uncertainty as a program of ProbLog.

    Its answers are those of the probabilistic semantics (docs/semantics.md). All
    values of an input are equally probable; write the probabilities of a sample
    in their place, in the first lines.

    [bold]Examples[/bold]
      pinesy export problog examples/weather.rules
      pinesy export problog sum.rules --query total -o sum.pl
    """
    options.check_output_file(output, None, [rules])
    put_text(output, pinesy.to_problog(load_rules(rules), query=query))


@export.command()
def cnf(rules: options.RulesFile, output: options.OutputFile = None) -> None:
    """Write rules without uncertainty as clauses in the DIMACS format, for SAT solvers.

    Models are the worlds that the rules allow. Comments say which variable
    stands for which value of an attribute.

    [bold]Examples[/bold]
      pinesy export cnf examples/weather.rules -o weather.cnf
    """
    options.check_output_file(output, None, [rules])
    clauses = pinesy.to_dimacs(load_rules(rules))
    with open_output(output) as stream:
        stream.writelines(f"{line}\n" for line in clauses.lines())


@export.command()
def table(rules: options.RulesFile, output: TableFile) -> None:
    """Write rules as a decision table: a row for each, for CSV or Excel.

    A workbook has a sheet for each attribute that rules conclude on. Change it,
    and read it with pinesy import table.

    [bold]Examples[/bold]
      pinesy export table examples/weather.rules -o weather.csv
    """
    options.check_output_file(output, SUFFIXES, [rules])
    pinesy.write_decision_table(load_rules(rules), output)
