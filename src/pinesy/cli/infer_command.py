"""The command ``pinesy infer``."""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, count, repeat
from typing import Annotated, Any, Literal, NamedTuple

import typer

from pinesy._common.validation import FloatArray
from pinesy.calibration import PredictionSets
from pinesy.cli import options
from pinesy.cli.calibrate_command import Level, calibrated_rules
from pinesy.cli.output import ResultRow, TableWriter, degree_text, write_rows, writer_of
from pinesy.model.storage import load_rules
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import Batch, value_texts
from pinesy.semantics.semirings import semantics_name
from pinesy.semantics.world_weights import WorldWeights

#: Samples that one table holds; more go into further tables, so that memory stays bounded.
PAGE = 1000


InferFormat = Literal["table", "jsonl", "csv"]
SUFFIXES: dict[str, InferFormat] = {".jsonl": "jsonl", ".csv": "csv"}
FORMAT_HELP = "By default by the output file's suffix; else table on a terminal, or jsonl."
Form = Annotated[InferFormat | None, typer.Option("--format", help=FORMAT_HELP)]
SemanticsName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="possibilistic, or of probabilities: probabilistic, mpe (most probable explanation) "
        "or goedel.",
    ),
]


def infer(
    rules: options.RulesFile,
    data: options.DataFile,
    output: options.OutputFile = None,
    form: Form = None,
    outputs: options.Outputs = None,
    level: Level = None,
    semantics: SemanticsName = "possibilistic",
    batch: options.BatchSize = 10_000,
    everything: options.All = False,
    formulas: options.Formulas = False,
    *,
    how: options.DataOptions,
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
        options.refuse((level is not None, "--level", "levels are of possibilities"))
        how = options.probable(how)
    sure = None if level is None else calibrated_rules(rules, how.transform, [level])
    wanted = dict.fromkeys(outputs) if outputs else getattr(sure, "outputs", None)
    program = cascade.compile(wanted)
    inputs = program.inputs if sure is None else cascade.inputs
    numbers = count(1)

    def rows(samples: Batch) -> Iterator[ResultRow]:
        evidence, outputs = samples.evidence, program.outputs
        if named != "possibilistic":
            p: Any = options.probabilities(inputs, evidence)
            worlds: Any = cascade.infer(p, outputs, semantics=named)  # type: ignore[call-overload]
            parts = [_weighed(worlds[a.name]) for a in outputs]
        elif sure is not None and level is not None:
            sets = sure.predict_set(evidence, level, outputs)
            parts = [_possible(sets.possibilities[a.name], sets) for a in outputs]
        else:
            inferred = program.infer(evidence)
            parts = [_possible(inferred[a.name]) for a in outputs]
        ids = map(samples.ids_of, range(len(samples)))
        return map(InferenceRow, zip(*parts, strict=True), numbers, ids)

    options.check_ids(how.ids or (), program.outputs)
    batches = how.batches(data, cascade, inputs, batch)
    last = ("certainty", "flags" if sure is None else "set")
    columns = ("sample", "output", "best", *(last if named == "possibilistic" else ("weight",)))
    table = TableWriter(columns, ("sample",), everything, PAGE, len(program.outputs) > 1)
    write = table if chosen == "table" else writer_of(f".{chosen}", formulas)
    write_rows(batches, rows, write, data, output)


class OutputResult(NamedTuple):
    """What is inferred for one output of one sample, in plain Python values.

    Attributes
    ----------
    texts : the names of the values
    place : of the best value; None if there is none
    word : what the degrees are: ``"possibility"`` or ``"weights"``
    names, facts : what is said besides
    """

    attribute: Attribute
    texts: list[str]
    place: int | None
    word: str
    degrees: list[float]
    names: Sequence[str]
    facts: Sequence[Any]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; degrees of 0 are left out."""
        best = None if self.place is None else _json_value(self.attribute.domain[self.place])
        degrees = {t: d for t, d in zip(self.texts, self.degrees, strict=True) if d > 0.0}
        content = {"best": best, self.word: degrees}
        content.update(zip(self.names, self.facts, strict=True))
        return content

    def titles(self) -> list[str]:
        """Return one for the best value, one for each fact, and one for each value."""
        name = self.attribute.name
        named = [f"{name} {fact}" for fact in self.names]
        return [name, *named, *(f"{name}={text}" for text in self.texts)]

    def cells(self) -> list[Any]:
        """Return what stands below the titles."""
        best = "" if self.place is None else self.texts[self.place]
        return [best, *map(_csv_cell, self.facts), *self.degrees]

    def line(self) -> tuple[str, ...]:
        """Return the cells of a table for reading."""
        best = "-" if self.place is None else show_value(self.attribute.domain[self.place])
        if self.word == "weights":
            return self.attribute.name, best, degree_text(max(self.degrees))
        known = dict(zip(self.names, self.facts, strict=True))
        certainty, flag = "-", "ambiguous" if known["ambiguous"] else ""
        if known["certainty"] is not None:
            certainty = degree_text(known["certainty"])
        if known["contradiction"]:
            flag = f"contradiction {degree_text(known['contradiction'])}"
        if "set" in known:
            flag = f"{{{', '.join(known['set'])}}} {known['abstention']}".rstrip()
        return self.attribute.name, best, certainty, flag


def _results(
    attribute: Attribute, word: str, degrees: FloatArray, decided: Any, facts: dict[str, list[Any]]
) -> Iterator[OutputResult]:
    """Yield the results of each sample; `decided` says which ones have a best value."""
    texts, names = value_texts(attribute), list(facts)
    best = zip(degrees.argmax(axis=1).tolist(), decided.tolist(), strict=True)
    rows = zip(*facts.values(), strict=True) if facts else repeat(())
    for (place, has_best), own, row in zip(best, degrees.tolist(), rows, strict=False):
        best_place = place if has_best else None
        yield OutputResult(attribute, texts, best_place, word, own, names, row)


def _possible(pi: Possibility, sets: PredictionSets | None = None) -> Iterator[OutputResult]:
    """Yield possibilities of each sample, and the sets of a level if one was asked for."""
    facts = {
        "certainty": [c if c == c else None for c in pi.certainty.tolist()],
        "ambiguous": pi.ambiguous.tolist(),
        "normalised": pi.normalised.tolist(),
        "contradiction": pi.contradiction.tolist(),
    }
    if sets is not None:
        name, texts = pi.attribute.name, value_texts(pi.attribute)
        facts["set"] = [[*compress(texts, own)] for own in sets.members(name).tolist()]
        facts["abstention"] = sets.abstentions[name].tolist()
    return _results(pi.attribute, "possibility", pi.degrees, pi.normalised, facts)


def _weighed(worlds: WorldWeights) -> Iterator[OutputResult]:
    """Yield what values weigh in another semantics, for each sample."""
    weights = worlds.weights
    return _results(worlds.attribute, "weights", weights, weights.max(axis=1) > 0.0, {})


@dataclass
class InferenceRow(ResultRow):
    """What is inferred for one sample; `number` counts the samples from 1."""

    results: tuple[OutputResult, ...]
    number: int
    ids: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the ids and the outputs by name."""
        return self.ids | {one.attribute.name: one.to_dict() for one in self.results}

    def titles(self) -> list[str]:
        """Return those of the ids, then those of the outputs."""
        return [*self.ids, *(title for one in self.results for title in one.titles())]

    def cells(self) -> list[Any]:
        """Return the ids, then the cells of the outputs."""
        cells: list[Any] = ["" if entry is None else entry for entry in self.ids.values()]
        for one in self.results:
            cells += one.cells()
        return cells

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield a line for each output."""
        number = ", ".join(map(str, self.ids.values())) or f"{self.number:,}"
        for one in self.results:
            yield number, *one.line()
            number = ""


def _csv_cell(content: Any) -> Any:
    """Return a fact as CSV files have it: truth values as JSON writes them, sets with bars."""
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, list):
        return "|".join(content)
    return "" if content is None else content


def _json_value(value: Any) -> Any:
    """Return a value that JSON has, or else its text."""
    plain = value is None or isinstance(value, str | int)
    if plain or (isinstance(value, float) and math.isfinite(value)):
        return value
    return show_value(value)
