"""Target inputs of samples, as a table or JSON Lines."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Protocol, TextIO

from rich.text import Text

from pinesy.cli.output import Screen
from pinesy.cli.show import degree_text, new_table, shortened_note
from pinesy.cli.values import degrees_by_name
from pinesy.inverse import Backpropagation, Conflict, Posterior
from pinesy.rules.possibility import Possibility

#: What a table shows unless all is wanted: samples, inputs of a sample, degrees of an input,
#: conflicts of a sample, characters of a rule.
SAMPLES, INPUTS, DEGREES, CONFLICTS, TEXT = 20, 8, 4, 3, 160
#: Samples that one table holds, so that memory stays bounded.
PAGE = 200
#: What is told of each sample, besides the inputs.
FIGURES = (
    "reproduced",
    "distance",
    "normalised",
    "solved",
    "exhausted",
    "matches",
    "output_distance",
)
#: The columns on the actual inputs.
MEASURES = ("distance", "excess")


@dataclass(frozen=True)
class Answer:
    """What was found for one sample.

    Attributes
    ----------
    line : where the sample stands
    inputs : the distributions that the inputs should have
    outcome : how well they do, in words
    distances, excesses : of each input, how far the actual degrees are from these, and above them
    measures : all figures, as JSON has them
    find_conflicts : what finds the conflicts, only when they are looked at; None without any
    """

    line: int
    inputs: dict[str, Possibility]
    outcome: str
    distances: dict[str, float]
    excesses: dict[str, float]
    measures: dict[str, Any]
    find_conflicts: Callable[[], Sequence[Conflict]] | None = None

    @cached_property
    def conflicts(self) -> Sequence[Conflict]:
        """What keeps the targets from being reached."""
        return self.find_conflicts() if self.find_conflicts else ()

    def to_dict(self, everything: bool) -> dict[str, Any]:
        """Return the answer as plain data; degrees of 0 are left out, long rules are shortened."""
        inputs = {name: degrees_by_name(pi) for name, pi in self.inputs.items()}
        content = {"line": self.line, "inputs": inputs, **self.measures}
        if self.find_conflicts is not None:
            content["conflicts"] = [_conflict(c, everything) for c in self.conflicts]
        return content


def propagated(found: Backpropagation, lines: Sequence[int]) -> Iterator[Answer]:
    """Yield what backpropagation found for each sample of a batch."""
    columns = {name: getattr(found, name).tolist() for name in FIGURES}
    distances, excesses = _lists(found.input_distance), _lists(found.input_excess)
    reproduced = columns["reproduced"]
    for row, line in enumerate(lines):
        figures = {name: column[row] for name, column in columns.items()}
        far, above = _at(distances, row), _at(excesses, row)
        yield Answer(
            line,
            {name: pi.sample(row) for name, pi in found.inputs.items()},
            _outcome(figures),
            far,
            above,
            {**figures, "input_distance": far, "input_excess": above},
            tuple if reproduced[row] else partial(_conflicts_of, found, row),
        )


def _lists(arrays: Mapping[str, Any]) -> dict[str, list[float]]:
    return {name: array.tolist() for name, array in arrays.items()}


def _at(lists: Mapping[str, list[float]], row: int) -> dict[str, float]:
    return {name: values[row] for name, values in lists.items()}


def _conflicts_of(found: Backpropagation, row: int) -> Sequence[Conflict]:
    return found.sample(row).conflicts


def _outcome(figures: Mapping[str, Any]) -> str:
    parts = ["reproduced"]
    if not figures["reproduced"]:
        parts = [f"not reproduced, distance {degree_text(figures['distance'])}"]
        parts += ["not normalised"] * (not figures["normalised"])
        parts += ["the search ended at its limit"] * figures["exhausted"]
    parts += ["the actual inputs give the target"] * (figures["output_distance"] == 0.0)
    return "; ".join(parts)


def _conflict(conflict: Conflict, everything: bool) -> dict[str, Any]:
    return {
        "kind": conflict.kind,
        "attribute": conflict.attribute,
        "distance": conflict.distance,
        "message": conflict.message,
        "rules": [
            {"attribute": output, "rule": number, "text": _rule_text(text, everything)}
            for output, number, text in conflict.rules
        ],
    }


def believed(found: Posterior, lines: Sequence[int]) -> Iterator[Answer]:
    """Yield the conditioned distributions of each sample of a batch."""
    for row, line in enumerate(lines):
        compatibility = float(found.compatibility[row])
        at_most = "" if found.exact else "at most "
        outcome = f"compatibility {at_most}{degree_text(compatibility)}"
        if compatibility == 0.0:
            outcome = "contradiction: compatibility 0"
        inputs = {name: pi.sample(row) for name, pi in found.items()}
        measures = {"compatibility": compatibility, "exact": found.exact}
        yield Answer(line, inputs, outcome, {}, {}, measures)


class AnswerWriter(Protocol):
    """Takes the answers of one sample after the other."""

    def add(self, answer: Answer) -> None:
        """Write an answer."""

    def finish(self) -> None:
        """Write what is left."""


def answer_writer(table: bool, stream: TextIO, everything: bool) -> AnswerWriter:
    """Return what writes answers to a stream: a table, or JSON Lines."""
    return _Table(Screen(file=stream), everything) if table else _Jsonl(stream, everything)


class _Jsonl:
    def __init__(self, stream: TextIO, everything: bool) -> None:
        self.stream, self.everything = stream, everything

    def add(self, answer: Answer) -> None:
        content = answer.to_dict(self.everything)
        self.stream.write(json.dumps(content, ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Do nothing: every sample is written."""


class _Table:
    """Shows the first samples, or all; what is against them comes below their table."""

    def __init__(self, console: Screen, everything: bool) -> None:
        self.console, self.everything = console, everything
        self.count = 0
        self.page: list[Answer] = []

    def add(self, answer: Answer) -> None:
        self.count += 1
        if self.everything or self.count <= SAMPLES:
            self.page.append(answer)
        if len(self.page) == PAGE:
            self._print()

    def finish(self) -> None:
        if self.page:
            self._print()
        if not self.everything and self.count > SAMPLES:
            self.console.print(shortened_note(self.count - SAMPLES, "sample"))

    def _print(self) -> None:
        measured = 2 if any(answer.distances for answer in self.page) else 0
        table = new_table("line", "outcome", "input", "should be", *MEASURES[:measured])
        for answer in self.page:
            for cells in self._rows(answer):
                table.add_row(*map(Text, cells[: 4 + measured]))
            table.add_section()
        self.console.print(table)
        for line in (line for answer in self.page for line in self._conflicts(answer)):
            self.console.print(Text(line), soft_wrap=True)
        self.page = []

    def _rows(self, answer: Answer) -> Iterator[tuple[str, ...]]:
        first = str(answer.line), answer.outcome
        shown = list(answer.inputs)[: None if self.everything else INPUTS]
        for name in shown:
            pair = answer.distances.get(name), answer.excesses.get(name)
            far = ["" if x is None else degree_text(x) for x in pair]
            yield *first, name, self._distribution(answer.inputs[name]), *far
            first = "", ""
        left = len(answer.inputs) - len(shown)
        if left:
            yield "", "", f"... {left} more (--all)", "", "", ""

    def _distribution(self, pi: Possibility) -> str:
        """Return the degrees above 0, the highest first."""
        degrees = sorted(degrees_by_name(pi).items(), key=lambda item: -item[1])
        if len(degrees) == len(pi.degrees) and all(d == 1.0 for _, d in degrees):
            return "any value"
        shown = degrees[: None if self.everything else DEGREES]
        parts = [f"{text} {degree_text(degree)}" for text, degree in shown]
        left = len(degrees) - len(shown)
        return ", ".join(parts + [f"... {left} more"] * (left > 0)) or "none within the bounds"

    def _conflicts(self, answer: Answer) -> Iterator[str]:
        conflicts = answer.conflicts
        shown = conflicts[: None if self.everything else CONFLICTS]
        for conflict in shown:
            yield f"line {answer.line}: {conflict.message}"
            for output, number, text in conflict.rules[: None if self.everything else CONFLICTS]:
                yield f"  rule {number} on {output}: {_rule_text(text, self.everything)}"
            more = len(conflict.rules) - CONFLICTS
            if more > 0 and not self.everything:
                yield f"  and {more} more rules (--all)"
        if len(conflicts) > len(shown):
            left = len(conflicts) - len(shown)
            yield f"line {answer.line}: and {left} more conflicts (--all)"


@lru_cache(maxsize=256)  # one long rule may be in hundreds of conflicts
def _rule_text(text: str, everything: bool) -> str:
    """Return a rule in one line; if it is long its beginning, unless all is wanted."""
    text = " ".join(text.split())
    if everything or len(text) <= TEXT:
        return text
    return f"{text[:TEXT]} ... {len(text) - TEXT:,} more characters (--all)"
