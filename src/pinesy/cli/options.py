"""Options and arguments that commands share, and the conversion of their values."""

import inspect
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, suggestion
from pinesy.calibration import CalibratedAnswers, CalibratedRules
from pinesy.exceptions import DataError, DomainError, RulesTextError, placed
from pinesy.guarantees import GroupedRules, SelectiveRules
from pinesy.model.storage import load
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import as_floats, is_number
from pinesy.rules.syntax.reader import Reader
from pinesy.samples import Batch, read_samples, value_texts
from pinesy.samples.file_layout import value_positions
from pinesy.transforms import TRANSFORMS, antipignistic_inverse, as_transform

Form = TypeVar("Form")
Data = TypeVar("Data", bound="DataOptions")

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
        help="Write to this file, once it is complete; - for standard output.",
    ),
]
ModelOutput = Annotated[
    Path, typer.Option("--output", "-o", help="The .json file to write, once it is complete.")
]
RulesOutput = Annotated[
    Path, typer.Option("--output", "-o", help="The .rules or .json file to write.")
]
OUTPUTS_HELP = "Infer this attribute (repeatable). By default all that no premise uses."
Outputs = Annotated[list[str] | None, typer.Option(metavar="NAME", help=OUTPUTS_HELP)]
BatchSize = Annotated[int, typer.Option(min=1, help="Samples held in memory at a time.")]
ReadSize = Annotated[int, typer.Option(min=1, help="Samples read at a time.")]
All = Annotated[bool, typer.Option("--all", help="Shorten nothing.")]
Formulas = Annotated[
    bool,
    typer.Option(
        "--formulas",
        help="In CSV, leave texts that begin with =, +, -, @ as they are; by default an apostrophe "
        "stands before them, so that a spreadsheet does not run them.",
    ),
]


def _check_transform(name: str) -> str:
    """Return the name of a transformation with hyphens, or raise `BadParameter`."""
    try:
        return name if name == "none" else as_transform(name).name.replace("_", "-")
    except DomainError as error:
        raise typer.BadParameter(str(error)) from None


def transform_option(explanation: str) -> Any:
    """Return an option that takes the name of a transformation."""
    names = "|".join(["none", *TRANSFORMS]).replace("_", "-")
    return typer.Option(metavar=f"[{names}]", callback=_check_transform, help=explanation)


TransformOption = Annotated[
    str, transform_option("Make possibilities of the data's probabilities.")
]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="NAME",
        help="A column of ids, which the results repeat (repeatable); a column called id is always "
        "one.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(help="The separator of CSV cells. By default as the header shows."),
]
Decimal = Annotated[str, typer.Option(help="The decimal point of numbers in CSV: . or ,")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse columns that no rule uses; by default a notice."),
]
Level = Annotated[
    float | None,
    typer.Option(
        metavar="LEVEL",
        help="For calibrated rules: give the values that are not excluded at this level, such as "
        "0.95.",
    ),
]
TargetNames = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this attribute's targets (repeatable)."),
]


def format_of(
    form: Form | None, output: Path | None, suffixes: Mapping[str, Form], default: Form
) -> Form:
    """Return the format of the option, else of the output file's suffix, else the default."""
    if form is not None or output is None:
        return form or default
    if output.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"{output} ends in none of {', '.join(suffixes)}; say which with --format",
            param_hint="--output",
        )
    return suffixes[output.suffix.lower()]


def refuse_options(*cases: tuple[object, str, str]) -> None:
    """Raise for the first (condition, option, reason) whose condition holds."""
    for wrong, option, why in cases:
        if wrong:
            raise typer.BadParameter(why, param_hint=option)


def check_output_file(
    output: Path | None, suffixes: Sequence[str] | None, sources: Sequence[Path | None]
) -> None:
    """Raise if a file cannot be the output, before any work; `suffixes` None allows any."""
    if output is None:
        return
    if suffixes is not None and output.suffix not in suffixes:
        endings = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        raise typer.BadParameter(f"{output} does not end in {endings}", param_hint="--output")
    try:
        is_read = any(output.exists() and s and s.exists() and output.samefile(s) for s in sources)
    except OSError as error:  # such as a name that is too long
        name = error.filename or output
        raise DataError(f"{name}: cannot be used: {error.strerror or error}") from None
    why = f"{output} is an input too, and would be overwritten; write to another file"
    refuse_options((is_read, "--output", why))
    if not output.parent.is_dir():
        raise DataError(f"{output}: cannot be written: there is no directory {output.parent}")


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """The options for the format of data files."""

    ids: Ids = None
    separator: Separator = None
    decimal: Decimal = "."
    strict: Strict = False

    @property
    def reading(self) -> dict[str, Any]:
        """The options as `read_samples` takes them."""
        return {
            "ids": tuple(self.ids or ()),
            "separator": self.separator,
            "decimal": self.decimal,
            "strict": self.strict,
        }

    def batches(
        self,
        data: Path,
        cascade: Cascade,
        inputs: Sequence[Attribute],
        batch: int = 10_000,
        targets: Sequence[Attribute] = (),
    ) -> Iterator[Batch]:
        """Read the samples of a file or of stdin; columns may be any attributes of the rules."""
        source = sys.stdin.buffer if str(data) == "-" else data
        known = cascade.attributes.values()
        return read_samples(
            source, inputs, targets=targets, known=known, batch=batch, **self.reading
        )


@dataclass(frozen=True, kw_only=True)
class DataOptions(FormatOptions):
    """The options of commands that read evidence."""

    transform: TransformOption = "none"

    @property
    def reading(self) -> dict[str, Any]:
        """The options as `read_samples` takes them."""
        return super().reading | {
            "transform": None if self.transform == "none" else as_transform(self.transform)
        }


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(DataOptions):
    """The options of commands that read targets too, perhaps several times."""

    target: TargetNames = None
    batch: ReadSize = 10_000


def invertible_options(options: Data) -> Data:
    """Return options with the antipignistic transformation, which `input_probabilities` inverts.

    Then a plain value has probability 1, and missing evidence the uniform distribution. Raises
    `BadParameter` for another transformation.
    """
    why = "--semantics takes probabilities as they are; leave --transform out"
    refuse_options((options.transform not in ("none", "antipignistic"), "--transform", why))
    return replace(options, transform="antipignistic")


def input_probabilities(inputs: Sequence[Attribute], evidence: FloatArray) -> dict[str, FloatArray]:
    """Return the probabilities of inputs, read with the options of `invertible_options`."""
    spans = column_slices(inputs)
    return {name: antipignistic_inverse(evidence[:, span]) for name, span in spans.items()}


def with_single_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command so that the fields of its option dataclasses become its parameters."""
    signature = inspect.signature(command)
    parameters = signature.parameters.items()
    groups: dict[str, Any] = {n: p.annotation for n, p in parameters if is_dataclass(p.annotation)}
    fields = {name: inspect.signature(group).parameters for name, group in groups.items()}

    @wraps(command)
    def run(**arguments: Any) -> None:
        for name, group in groups.items():
            arguments[name] = group(**{field: arguments.pop(field) for field in fields[name]})
        command(**arguments)

    single = [parameter for name, parameter in parameters if name not in groups]
    merged = [*single, *(p for parts in fields.values() for p in parts.values())]
    run.__signature__ = signature.replace(parameters=merged)  # type: ignore[attr-defined]
    return run


def check_ids(ids: Sequence[str], outputs: Sequence[Attribute]) -> None:
    """Raise `BadParameter` for a column of ids with the name of an output."""
    for attribute in outputs:
        why = f"{attribute.name} is inferred, so it cannot be an id of samples"
        refuse_options((attribute.name in ids, "--id", why))


def without_threshold(model: Any) -> Any:
    """Return a model without the threshold from which it decides, and without groups."""
    model = model.model if isinstance(model, SelectiveRules) else model
    return model.base if isinstance(model, GroupedRules) else model


def selective_rules(path: Path, transform: str) -> SelectiveRules:
    """Load rules with the threshold from which they decide, for possibilities read from files."""
    selective = load(path) if path.suffix == ".json" else None
    if not isinstance(selective, SelectiveRules):
        raise DataError(
            f"{path}: has no threshold from which cases are decided; test one on other samples "
            f"first: pinesy calibrate {path} DATA -o MODEL.json --error 0.01"
        )
    with placed(str(path)):
        return selective.for_possibilities(transform)


def calibration_of(
    path: Path, transform: str, levels: list[float]
) -> CalibratedRules | GroupedRules:
    """Load calibrated rules, also of groups in a column of data files."""
    model = load(path) if path.suffix == ".json" else None
    model = model.model if isinstance(model, SelectiveRules) else model
    if not isinstance(model, GroupedRules):
        return _calibrated_on_files(model, path, transform, levels)
    if model.column is None:
        raise DataError(
            f"{path}: was calibrated in Python for every group, so its groups have no column; use "
            f"pinesy.load({path.name!r}).predict_set(evidence, level, groups=...), or calibrate "
            "with pinesy calibrate --group COLUMN"
        )
    return replace(model, base=_calibrated_on_files(model.base, path, transform, levels))


def calibrated_rules(path: Path, transform: str, levels: list[float]) -> CalibratedRules:
    """Load calibrated rules whose evidence is possibilities, as read from files."""
    calibrated = calibration_of(path, transform, levels)
    if isinstance(calibrated, GroupedRules):
        raise DataError(
            f"{path}: was calibrated for every group, which this command does not take; use pinesy "
            "infer --level or evaluate --level, or calibrate without --group"
        )
    return calibrated


def with_group_columns(options: Data, *columns: str | None) -> Data:
    """Return options that read columns of groups too, as ids; None is no column."""
    names = [name for name in columns if name is not None]
    return replace(options, ids=[*dict.fromkeys([*(options.ids or ()), *names])] or None)


def group_column(calibrated: object) -> str | None:
    """Return the column with the groups of calibrated rules; None if they have none."""
    return calibrated.column if isinstance(calibrated, GroupedRules) else None


def calibrated_for(calibrated: CalibratedRules | GroupedRules, samples: Batch) -> CalibratedRules:
    """Return calibrated rules for the groups of a batch."""
    if isinstance(calibrated, CalibratedRules):
        return calibrated
    assert calibrated.column is not None
    return calibrated.for_groups(samples.ids[calibrated.column], len(samples))


def _calibrated_on_files(
    calibrated: Any, path: Path, transform: str, levels: list[float]
) -> CalibratedRules:
    """Return calibrated rules for evidence read from files, or raise `DataError`."""
    if not isinstance(calibrated, CalibratedRules):
        raise DataError(
            f"{path}: is not calibrated, so nothing is guaranteed at any level; calibrate on other "
            f"samples first: pinesy calibrate {path} DATA -o CALIBRATED.json"
        )
    if calibrated.transform.is_weighted:
        raise DataError(
            f"{path}: was calibrated with weights, so new samples need theirs, which commands do "
            f"not take; use Python: pinesy.load({path.name!r}).predict_set(evidence, level, "
            "weights=...), or calibrate_more(..., weights)"
        )
    for level in levels:
        calibrated.transform.check_level(level)
    if isinstance(calibrated, CalibratedAnswers) and calibrated.probabilities is not None:
        expected = calibrated.probabilities.replace("_", "-")
        if transform != expected:
            raise DataError(f"{path}: was calibrated with --transform {expected}; give the same")
        return replace(calibrated, probabilities=None)
    return calibrated


def find_value(attribute: Attribute, text: str) -> Hashable:
    """Return the value of a domain that a text denotes.

    The text is the name of the value in data files, or a written form of it in ``.rules`` files;
    for a numeric attribute also any number, which denotes its interval.

    Examples
    --------
    >>> pair = Attribute("pair", [(0, 1), (1, 2), "long sleep"])
    >>> find_value(pair, "(1,2)"), find_value(pair, "long sleep"), find_value(pair, '"long sleep"')
    ((1, 2), 'long sleep', 'long sleep')
    """
    indices = value_positions(attribute)
    if text in indices:
        return attribute.domain[indices[text]]
    value = None  # the value none is found by its name above
    with suppress(RulesTextError):
        reader = Reader(text)
        parsed_value = reader.value()
        reader.expect_end()
        value = parsed_value
    if attribute.scale is not None and is_number(value):
        return attribute.domain[int(attribute.scale.positions(as_floats([value]))[0])]
    if value is not None and value in attribute:
        return attribute.domain[attribute.position(value)]
    hint = suggestion(text, value_texts(attribute))
    raise DomainError(f"attribute {attribute.name!r} has no value {text!r:.80}{hint}")
