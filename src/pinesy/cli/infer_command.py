"""The command ``pinesy infer``."""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import compress, count
from typing import Annotated, Any, Literal, NamedTuple

import typer

from pinesy.calibration import PredictionSets
from pinesy.cli import options
from pinesy.cli.calibrate_command import Level, calibrated_rules
from pinesy.cli.other_semantics import InferSemantics, probable, weighed_rows
from pinesy.cli.output import (
    ResultRow,
    TableWriter,
    Writer,
    degree_text,
    write_csv,
    write_json_lines,
    write_rows,
)
from pinesy.model.storage import load_rules
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import Batch, value_texts
from pinesy.semantics.semirings import semantics_name

#: Samples that one table holds; more go into further tables, so that memory stays bounded.
PAGE = 1000
#: Truth values as CSV files have them.
FLAGS = ("false", "true")


InferFormat = Literal["table", "jsonl", "csv"]
SUFFIXES: dict[str, InferFormat] = {".jsonl": "jsonl", ".csv": "csv"}
FORMAT_HELP = "By default by the output file's suffix; else table on a terminal, or jsonl."
Form = Annotated[InferFormat | None, typer.Option("--format", help=FORMAT_HELP)]


def infer(
    rules: options.RulesFile,
    data: options.DataFile,
    output: options.OutputFile = None,
    form: Form = None,
    transform: options.TransformOption = "none",
    outputs: options.Outputs = None,
    level: Level = None,
    semantics: InferSemantics = "possibilistic",
    batch: options.BatchSize = 10_000,
    everything: options.All = False,
    ids: options.Ids = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Infer the outputs of rules for every sample of a data file.

    [bold]Data[/bold]
    JSON Lines, one sample per line; for each input the degrees of its values
    (those left out have degree 0), a list of degrees in domain order, or one
    value that is certain:
      {"left": {"3": 1.0, "8": 0.4}, "right": 5}
    CSV; columns input=value hold degrees (those left out have degree 0), columns
    input hold values that are certain:
      left=3,left=8,right
      1.0,0.4,5
    Parquet (needs pyarrow) has the columns of CSV, or lists of degrees.
    A numeric attribute takes numbers. Where a cell is blank, or null in JSON,
    nothing is known: every value is possible.
    Degrees are possibilities, or with --transform probabilities.

    [bold]Results[/bold]
    jsonl  one object per sample; "possibility" leaves out values of degree 0
    csv    one row per sample: each output's best value, certainty, flags, degrees
    table  for reading: six digits, the first 20 samples (--all: all)
    Columns --id, and one called id, come first in each.
    A result is ambiguous if several values are most possible; the best one is
    the first of them. If no value is fully possible, here or on the way, the
    rules contradict each other for that sample: there is no best value and no
    certainty (null, or an empty cell), and "contradiction" is above 0. See
    pinesy explain for the rules that clash, and pinesy check RULES DATA.

    With --level, of rules that pinesy calibrate has seen: degrees are calibrated,
    "set" has the values that are not excluded at the level, and "abstention" why
    there is not one: ambiguous, novel or contradictory.

    With --semantics the data are probabilities, and the results weights of values:
    their probabilities, or those of the most probable explanation with them, or
    degrees of truth. Rules must be certain.

    [bold]Examples[/bold]
      pinesy infer sum.rules digits.jsonl
      pinesy infer sum.rules softmax.csv --transform antipignistic -o sums.csv
      pinesy infer sum.rules softmax.csv --semantics probabilistic
      pinesy infer triage.rules patients.csv --id patient --decimal ,
      cat digits.jsonl | pinesy infer sum.rules - --format jsonl --outputs total
    """
    default: InferFormat = "table" if sys.stdout.isatty() else "jsonl"
    chosen = options.format_of(form, output, SUFFIXES, default)
    options.check_output(output, None, [rules, data])
    cascade = load_rules(rules)
    if (named := semantics_name(semantics)) != "possibilistic":
        if level is not None:
            raise typer.BadParameter("levels are of possibilities", param_hint="--level")
        transform = probable(transform)
    sure = None if level is None else calibrated_rules(rules, transform, [level])
    wanted = dict.fromkeys(outputs) if outputs else getattr(sure, "outputs", None)
    program = cascade.compile(wanted)
    table = TableWriter(
        columns=_columns(named, sure is not None),
        right=("sample",),
        everything=everything,
        page=PAGE,
        sections=len(program.outputs) > 1,
    )
    writers: dict[InferFormat, Writer] = {
        "table": table,
        "jsonl": write_json_lines,
        "csv": write_csv,
    }
    numbers = count(1)

    def rows(samples: Batch) -> Iterator[ResultRow]:
        if named != "possibilistic":
            return weighed_rows(cascade, inputs, program.outputs, named, samples, numbers)
        if sure is None or level is None:
            inference = program.infer(samples.evidence)
            parts = [_results(inference[a.name]) for a in program.outputs]
        else:
            sets = sure.predict_set(samples.evidence, level, program.outputs)
            parts = [_results(sets.possibilities[a.name], sets) for a in program.outputs]
        return map(InferenceRow, zip(*parts, strict=True), numbers, options.ids_by_sample(samples))

    options.check_ids(ids or (), program.outputs)
    how = options.reading(ids, separator, decimal)
    inputs = program.inputs if sure is None else cascade.inputs
    batches = options.read_data(data, cascade, inputs, transform, batch, how=how)
    write_rows(batches, rows, writers[chosen], data, output)


def _columns(semantics: str, has_sets: bool) -> tuple[str, ...]:
    """Return the columns of the table for reading."""
    if semantics != "possibilistic":
        return "sample", "output", "best", "weight"
    return "sample", "output", "best", "certainty", "set" if has_sets else "flags"


class OutputResult(NamedTuple):
    """What is inferred for one output of one sample, in plain Python values."""

    attribute: Attribute
    texts: list[str]
    best: Any
    certainty: float
    ambiguous: bool
    contradiction: float
    degrees: list[float]
    members: list[bool] | None = None
    abstention: str = ""

    @property
    def kept(self) -> list[str] | None:
        """The names of the values in the set of a level, if one was asked for."""
        return None if self.members is None else [*compress(self.texts, self.members)]


def _results(
    possibility: Possibility, sets: PredictionSets | None = None
) -> Iterator[OutputResult]:
    """Yield the results of each sample."""
    attribute = possibility.attribute
    levels: list[Any] = []
    if sets is not None:
        name = attribute.name
        levels = [sets.members(name).tolist(), sets.abstentions[name].tolist()]
    return map(
        partial(OutputResult, attribute, value_texts(attribute)),
        possibility.best.tolist(),
        possibility.certainty.tolist(),
        possibility.ambiguous.tolist(),
        possibility.contradiction.tolist(),
        possibility.degrees.tolist(),
        *levels,
    )


@dataclass
class InferenceRow(ResultRow):
    """What is inferred for one sample; `number` counts the samples from 1."""

    results: tuple[OutputResult, ...]
    number: int
    ids: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the ids and the outputs by name; degrees of 0 are left out."""
        return self.ids | {
            one.attribute.name: {
                "best": None if one.contradiction else _json_value(one.best),
                "possibility": {
                    t: d for t, d in zip(one.texts, one.degrees, strict=True) if d > 0.0
                },
                "certainty": None if one.contradiction else one.certainty,
                "ambiguous": one.ambiguous,
                "normalised": not one.contradiction,
                "contradiction": one.contradiction,
                **({} if one.kept is None else {"set": one.kept, "abstention": one.abstention}),
            }
            for one in self.results
        }

    def titles(self) -> list[str]:
        """Return those of the ids, then five and one for each value, of each output."""
        titles = list(self.ids)
        for one in self.results:
            name = one.attribute.name
            words = ("certainty", "ambiguous", "normalised", "contradiction")
            titles += [name, *(f"{name} {word}" for word in words)]
            titles += [f"{name} set", f"{name} abstention"] * (one.kept is not None)
            titles += [f"{name}={text}" for text in one.texts]
        return titles

    def cells(self) -> list[Any]:
        """Return the ids; the best value, its certainty, flags and all degrees, of each output."""
        cells: list[Any] = ["" if entry is None else entry for entry in self.ids.values()]
        best: str
        certainty: str | float
        for one in self.results:
            best, certainty = "", ""
            if not one.contradiction:
                best, certainty = one.texts[one.attribute.position(one.best)], one.certainty
            flags = [FLAGS[one.ambiguous], FLAGS[not one.contradiction]]
            level = [] if one.kept is None else ["|".join(one.kept), one.abstention]
            cells += [best, certainty, *flags, one.contradiction, *level, *one.degrees]
        return cells

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield a line for each output."""
        number = ", ".join(map(str, self.ids.values())) or f"{self.number:,}"
        for one in self.results:
            best, certainty = show_value(one.best), degree_text(one.certainty)
            flag = "ambiguous" if one.ambiguous else ""
            if one.contradiction:
                best = certainty = "-"
                flag = f"contradiction {degree_text(one.contradiction)}"
            if one.kept is not None:
                flag = f"{{{', '.join(one.kept)}}} {one.abstention}".rstrip()
            yield number, one.attribute.name, best, certainty, flag
            number = ""


def _json_value(value: Any) -> Any:
    """Return a value that JSON has, or else its text."""
    plain = value is None or isinstance(value, str | int)
    if plain or (isinstance(value, float) and math.isfinite(value)):
        return value
    return show_value(value)
