"""What several commands take: options, data, and values as the command line names them."""

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, DomainError, RulesTextError
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import as_floats, is_number
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.value_sets import read_value
from pinesy.samples import Batch, read_samples, value_texts
from pinesy.samples.file_layout import value_positions
from pinesy.transforms import TRANSFORMS

Form = TypeVar("Form")


#: What makes possibilities of the data's numbers.
TransformName = Literal["none", "antipignistic", "minimum-specificity"]
RulesFile = Annotated[Path, typer.Argument(metavar="RULES", help="A .rules or .json file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .ndjson, .json, .csv or .parquet file; - for JSON Lines on stdin.",
    ),
]
SamplesFile = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A .jsonl, .ndjson, .json, .csv or .parquet file."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=lambda path: None if str(path) == "-" else path,
        help="Write to this file, once it is whole; - for standard output.",
    ),
]
ModelOutput = Annotated[
    Path, typer.Option("--output", "-o", help="The .json file to write, once it is whole.")
]
OUTPUTS_HELP = "Infer this attribute (repeatable). By default all that no premise uses."
Outputs = Annotated[list[str] | None, typer.Option(metavar="NAME", help=OUTPUTS_HELP)]
BatchSize = Annotated[int, typer.Option(min=1, help="Samples held in memory at a time.")]
ReadSize = Annotated[int, typer.Option("--batch", min=1, help="Samples read at a time.")]
All = Annotated[bool, typer.Option("--all", help="Shorten nothing.")]
TransformOption = Annotated[
    TransformName,
    typer.Option("--transform", help="Make possibilities of the data's probabilities."),
]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="NAME",
        help="A column that tells samples apart and is carried through (repeatable); one called id "
        "always is.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(help="What stands between the cells of CSV. By default as the header shows."),
]
Decimal = Annotated[str, typer.Option(help="The decimal point of numbers in CSV: . or ,")]
TargetNames = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="NAME", help="Only this attribute's targets (repeatable)."),
]


def format_of(
    form: Form | None, output: Path | None, suffixes: Mapping[str, Form], default: Form
) -> Form:
    """Return the format given, else that of the output file's name; the default without both."""
    if form is not None or output is None:
        return form or default
    if output.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"{output} ends in none of {', '.join(suffixes)}; say which with --format",
            param_hint="--output",
        )
    return suffixes[output.suffix.lower()]


def check_output(
    output: Path | None, suffixes: Sequence[str] | None, sources: Sequence[Path | None]
) -> None:
    """Refuse, before any work is done, a file that cannot be the output; None for any suffix."""
    if output is None:
        return
    if suffixes is not None and output.suffix not in suffixes:
        wanted = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        raise typer.BadParameter(f"{output} does not end in {wanted}", param_hint="--output")
    try:
        is_read = any(output.exists() and s and s.exists() and output.samefile(s) for s in sources)
    except OSError as error:  # such as a name that is too long
        name = error.filename or output
        raise DataError(f"{name}: cannot be used: {error.strerror or error}") from None
    if is_read:
        raise typer.BadParameter(
            f"{output} is read from too, and would be lost; write to another file",
            param_hint="--output",
        )
    if not output.parent.is_dir():
        raise DataError(f"{output}: cannot be written: there is no directory {output.parent}")


def transform_function(name: TransformName) -> Callable[[Any], Any] | None:
    """Return the function of the library that makes possibilities, None if they are given."""
    return TRANSFORMS.get(name.replace("-", "_"))


def read_data(
    data: Path,
    cascade: Cascade,
    inputs: Sequence[Attribute],
    transform: TransformName,
    batch: int,
    targets: Sequence[Attribute] = (),
    how: Mapping[str, Any] | None = None,
) -> Iterator[Batch]:
    """Read the samples of a file, which may hold any attribute of the rules, or of stdin.

    `how` to read it is told by `reading`.
    """
    return read_samples(
        sys.stdin.buffer if str(data) == "-" else data,
        inputs,
        targets=targets,
        known=cascade.attributes.values(),
        transform=transform_function(transform),
        batch=batch,
        **(how or {}),
    )


def reading(ids: Sequence[str] | None, separator: str | None, decimal: str) -> dict[str, Any]:
    """Return how to read a data file, as `read_samples` takes it."""
    return {"ids": tuple(ids or ()), "separator": separator, "decimal": decimal}


def ids_by_sample(samples: Batch) -> Iterator[dict[str, Any]]:
    """Yield, for each sample, the entries that tell it apart, by the titles of their columns."""
    for row in range(len(samples)):
        yield {title: entries[row] for title, entries in samples.ids.items()}


def check_ids(ids: Sequence[str], outputs: Sequence[Attribute]) -> None:
    """Refuse a column that would stand in the results under the name of an output."""
    for attribute in outputs:
        if attribute.name in ids:
            raise typer.BadParameter(
                f"{attribute.name} is inferred, so it cannot tell samples apart", param_hint="--id"
            )


def find_value(attribute: Attribute, text: str) -> Hashable:
    """Return the domain value that a text is the written form of.

    That is its name in data files, or anything that reads as it in ``.rules`` files; of a numeric
    attribute also any number, which stands for its interval.

    Examples
    --------
    >>> pair = Attribute("pair", [(0, 1), (1, 2), "long sleep"])
    >>> find_value(pair, "(1,2)"), find_value(pair, "long sleep"), find_value(pair, '"long sleep"')
    ((1, 2), 'long sleep', 'long sleep')
    """
    places = value_positions(attribute)
    if text in places:
        return attribute.domain[places[text]]
    value = _parsed(text)
    if attribute.scale is not None and is_number(value):
        return attribute.domain[int(attribute.scale.positions(as_floats([value]))[0])]
    if value is not None and value in attribute:
        return attribute.domain[attribute.position(value)]
    hint = suggestion(text, value_texts(attribute))
    raise DomainError(f"attribute {attribute.name!r} has no value {text!r:.80}{hint}")


def _parsed(text: str) -> Hashable:
    """Return the value that a text reads as; None where it does not (`none` has its own name)."""
    try:
        reader = Reader(text)
        value = read_value(reader)
    except RulesTextError:
        return None
    return value if reader.token.kind == "end" else None
