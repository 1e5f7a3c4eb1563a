"""The command ``pinesy backprop``."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from pinesy._common.validation import suggestion
from pinesy.cli import options
from pinesy.cli.output import (
    ResultRow,
    Shortening,
    TableWriter,
    Writer,
    six_digits,
    write_json_lines,
    write_rows,
)
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.inverse import Backpropagation, Conflict, Posterior, backpropagate, posterior
from pinesy.model.storage import load_rules
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch, degrees_by_name

#: What a table shows unless all is wanted: inputs of a sample, degrees of an input, conflicts of a
#: sample, characters of a rule.
INPUTS, DEGREES, CONFLICTS, TEXT = 8, 4, 3, 160
#: Samples that one table holds, so that memory stays bounded.
PAGE = 200
COLUMNS = ("line", "outcome", "input", "should be")
#: The figures of each sample.
FIGURES = (
    "reproduced",
    "distance",
    "normalised",
    "solved",
    "exhausted",
    "matches",
    "output_distance",
)
#: The figures of each input of a sample.
MEASURES = ("input_distance", "input_excess")


TargetValues = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=VALUE]",
        help="Use this attribute's targets of the file, or this value for all samples "
        "(repeatable). By default all targets of the file.",
    ),
]
GivePosterior = Annotated[
    bool, typer.Option("--posterior", help="Give the inputs conditioned on the targets.")
]
FORMAT_HELP = "By default table on a terminal, else jsonl (JSON Lines)."
Form = Annotated[Literal["table", "jsonl"] | None, typer.Option("--format", help=FORMAT_HELP)]


def backprop(
    rules: options.RulesFile,
    data: options.DataFile,
    target: TargetValues = None,
    conditioned: GivePosterior = False,
    form: Form = None,
    output: options.OutputFile = None,
    batch: options.BatchSize = 10_000,
    everything: options.All = False,
    *,
    file_options: options.DataOptions,
) -> None:
    """Find what the inputs should have been, from what should have been inferred.

    Data is as for pinesy learn: inputs, and targets for attributes that rules
    conclude on. --target NAME=VALUE sets a target for all samples instead.

    For each sample: the least specific inputs that give the target; whether they
    reproduce it, bit for bit, or at which distance they miss it, and which rules
    are in conflict; and how far the degrees of the actual inputs are from them
    (distance), or above them (excess: at 0 they are within). With --posterior:
    the most possible inputs that fit the target, given the actual.

    [bold]Results[/bold]
    jsonl  one object per sample; degrees of 0 are left out, and
           rules of more than 160 characters are shortened (--all: not)
    table  for reading: six digits, the first 20 samples (--all: all)

    [bold]Examples[/bold]
      pinesy backprop examples/weather.rules examples/weather_train.jsonl
      pinesy backprop sum.rules digits.jsonl --target total=12
      pinesy backprop sum.rules train.jsonl --target total --posterior -o fit.jsonl
    """
    form = form or ("table" if output is None and sys.stdout.isatty() else "jsonl")
    options.check_output_file(output, None, [rules, data])
    cascade = load_rules(rules)
    known = {s.output.name: s.output for s in cascade.order}
    fixed_targets = _read_targets(known, target or ())
    in_file = [
        a for a in known.values() if not fixed_targets or fixed_targets.get(a.name, a) is None
    ]

    def rows(samples: Batch) -> Iterator[BackpropRow]:
        arguments = cascade, samples.evidence, _targets(samples, fixed_targets, cascade, data)
        if conditioned:
            return _posterior_rows(posterior(*arguments), samples.lines, everything)
        return _rows(backpropagate(*arguments), samples.lines, everything)

    write: Writer = write_json_lines
    if form == "table":
        columns = COLUMNS if conditioned else (*COLUMNS, "distance", "excess")
        write = TableWriter(columns, everything=everything, page=PAGE)
    batches = file_options.batches(data, cascade, cascade.inputs, batch, in_file)
    write_rows(batches, rows, write, data, output)


def _read_targets(known: Mapping[str, Attribute], texts: Sequence[str]) -> dict[str, int | None]:
    """Read the targets of options: ``NAME=VALUE`` for all samples, ``NAME`` for a column.

    Returns the index of the value, or None for a column, by attribute.
    """
    fixed_targets: dict[str, int | None] = {}
    for text in texts:  # names and values may themselves hold "="
        names = [name for name in known if text == name or text.startswith(f"{name}=")]
        if not names:
            name = text.partition("=")[0]
            raise UnknownAttributeError(
                f"--target: no rule set concludes on {name!r}{suggestion(name, known)}"
            )
        name = max(names, key=len)
        if name in fixed_targets:
            raise typer.BadParameter(f"{name} has one already", param_hint="--target")
        attribute, value = known[name], text.removeprefix(name)
        fixed_targets[name] = (
            attribute.position(options.find_value(attribute, value[1:])) if value else None
        )
    return fixed_targets


def _targets(
    samples: Batch, fixed_targets: Mapping[str, int | None], cascade: Cascade, data: Path
) -> dict[str, Target]:
    """Return the targets of a batch: of the file, and of the options."""
    targets = dict(samples.targets)
    for name, index in fixed_targets.items():
        if index is not None:
            targets[name] = Target.at(np.full(len(samples), index), cascade[name].output)
        elif name not in targets:
            raise DataError(
                f"{data}: no targets for {name} in it, as --target asks; give one for all "
                f"samples: --target {name}=VALUE"
            )
    if not targets:
        name = cascade.outputs[0].name
        raise DataError(f"{data}: no targets in it; give some: --target {name}=VALUE")
    return targets


@dataclass(frozen=True)
class BackpropRow(ResultRow, Shortening):
    """The target inputs of one sample.

    Attributes
    ----------
    line : the line of the sample in the file
    inputs : the target distributions of the inputs
    outcome : the outcome as text
    figures : further fields of the JSON form
    everything : whether nothing is shortened
    sample : returns the result of the sample alone; None if conflicts are not searched
    """

    line: int
    inputs: dict[str, Possibility]
    outcome: str
    figures: dict[str, Any]
    everything: bool
    sample: Callable[[], Backpropagation] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data; degrees of 0 are left out, long rules are shortened."""
        inputs = {name: degrees_by_name(pi) for name, pi in self.inputs.items()}
        content = {"line": self.line, "inputs": inputs, **self.figures}
        if self.sample:
            content["conflicts"] = [self._conflict_data(c) for c in self.conflicts]
        return content

    @property
    def conflicts(self) -> Sequence[Conflict]:
        """The conflicts that keep the targets from being reached, computed on demand."""
        return self.sample().conflicts if self.sample and not self.figures["reproduced"] else ()

    def _conflict_data(self, conflict: Conflict) -> dict[str, Any]:
        """Return a conflict as plain data."""
        return {
            "kind": conflict.kind,
            "attribute": conflict.attribute,
            "distance": conflict.distance,
            "message": conflict.message,
            "rules": [
                {"attribute": output, "rule": number, "text": self._line(text)}
                for output, number, text in conflict.rules
            ],
        }

    def _line(self, rule: str) -> str:
        """Return a rule in one line, shortened."""
        return self.text(_one_line(rule), TEXT)

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield a line for each input."""
        beginning = str(self.line), self.outcome
        measures = [self.figures[key] for key in MEASURES if key in self.figures]
        names, n_left = self.first(list(self.inputs), INPUTS)
        for name in names:
            distances = [six_digits(measure[name]) for measure in measures]
            yield *beginning, name, self._distribution(self.inputs[name]), *distances
            beginning = "", ""
        if n_left:
            yield "", "", f"... {n_left} more (--all)", "", *[""] * len(measures)

    def _distribution(self, pi: Possibility) -> str:
        """Return the degrees above 0, the highest first."""
        degrees = sorted(degrees_by_name(pi).items(), key=lambda item: -item[1])
        if len(degrees) == len(pi.degrees) and all(d == 1.0 for _, d in degrees):
            return "any value"
        largest, n_left = self.first(degrees, DEGREES)
        parts = [f"{text} {six_digits(degree)}" for text, degree in largest]
        return ", ".join(parts + [f"... {n_left} more"] * (n_left > 0)) or "none within the bounds"

    def remarks(self) -> Iterator[str]:
        """Yield the conflicts, and the rules in them."""
        first_conflicts, n_conflicts = self.first(self.conflicts, CONFLICTS)
        for conflict in first_conflicts:
            yield f"line {self.line}: {conflict.message}"
            rules, n_rules = self.first(conflict.rules, CONFLICTS)
            for _output, number, text in rules:
                yield f"  rule {number}: {self._line(text)}"
            if n_rules:
                yield f"  and {n_rules} more rules (--all)"
        if n_conflicts:
            yield f"line {self.line}: and {n_conflicts} more conflicts (--all)"


@lru_cache(maxsize=256)  # one long rule may be in hundreds of conflicts
def _one_line(text: str) -> str:
    return " ".join(text.split())


def _rows(result: Backpropagation, lines: Sequence[int], everything: bool) -> Iterator[BackpropRow]:
    """Yield the target inputs of each sample of a batch."""
    columns = {name: getattr(result, name).tolist() for name in FIGURES}
    measures = {
        name: {attribute: array.tolist() for attribute, array in getattr(result, name).items()}
        for name in MEASURES
    }
    for row, line in enumerate(lines):
        figures: dict[str, Any] = {name: column[row] for name, column in columns.items()}
        for name, lists in measures.items():
            figures[name] = {attribute: numbers[row] for attribute, numbers in lists.items()}
        inputs = {name: pi.sample(row) for name, pi in result.inputs.items()}
        sample = partial(result.sample, row)
        yield BackpropRow(line, inputs, _outcome_text(figures), figures, everything, sample)


def _outcome_text(figures: Mapping[str, Any]) -> str:
    """Return the outcome of a sample as text."""
    parts = ["reproduced"]
    if not figures["reproduced"]:
        parts = [f"not reproduced, distance {six_digits(figures['distance'])}"]
        parts += ["not normalised"] * (not figures["normalised"])
        parts += ["the search ended at its limit"] * figures["exhausted"]
    parts += ["the actual inputs give the target"] * (figures["output_distance"] == 0.0)
    return "; ".join(parts)


def _posterior_rows(
    result: Posterior, lines: Sequence[int], everything: bool
) -> Iterator[BackpropRow]:
    """Yield the conditioned distributions of each sample of a batch."""
    at_most = "" if result.exact else "at most "
    for row, line in enumerate(lines):
        compatibility = float(result.compatibility[row])
        outcome = f"compatibility {at_most}{six_digits(compatibility)}"
        if compatibility == 0.0:
            outcome = "contradiction: compatibility 0"
        inputs = {name: pi.sample(row) for name, pi in result.items()}
        figures = {"compatibility": compatibility, "exact": result.exact}
        yield BackpropRow(line, inputs, outcome, figures, everything)
