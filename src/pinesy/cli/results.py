"""Writes inferences as a table, JSON Lines or CSV."""

import csv
import json
import math
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Protocol, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pinesy.cli.output import Screen
from pinesy.cli.show import degree_text, new_table, shortened_note
from pinesy.engine.program import Inference
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import value_texts

#: Samples that a table shows unless all are wanted.
SHOWN = 20
#: Samples that one table holds; more go into further tables, so that memory stays bounded.
PAGE = 1000

_FLAG = {True: "true", False: "false"}


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"


class Writer(Protocol):
    """Takes the inference of one batch after the other."""

    def add(self, inference: Inference) -> None:
        """Write the results of a batch."""

    def finish(self) -> None:
        """Write what is left."""


def writer(form: Format, stream: TextIO, names: Sequence[str], everything: bool) -> Writer:
    """Return what writes the outputs `names`, in their order, to `stream`.

    A table shows `everything` or the first samples.
    """
    if form is Format.JSONL:
        return _Jsonl(stream, names)
    if form is Format.CSV:
        return _Csv(stream, names)
    return _Table(Screen(file=stream), names, None if everything else SHOWN)


class _Jsonl:
    def __init__(self, stream: TextIO, names: Sequence[str]) -> None:
        self.stream = stream
        self.names = names

    def add(self, inference: Inference) -> None:
        outputs = [_json_samples(inference[name]) for name in self.names]
        for sample in zip(*outputs, strict=True):
            content = dict(zip(self.names, sample, strict=True))
            self.stream.write(json.dumps(content, ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Do nothing: every sample is written."""


def _json_samples(possibility: Possibility) -> Iterator[dict[str, Any]]:
    texts = value_texts(possibility.attribute)
    for best, certainty, ambiguous, normalised, degrees in _samples(possibility):
        yield {
            "best": _json_value(best),
            "possibility": {t: d for t, d in zip(texts, degrees, strict=True) if d > 0.0},
            "certainty": certainty,
            "ambiguous": ambiguous,
            "normalised": normalised,
        }


def _samples(possibility: Possibility) -> Iterator[tuple[Any, float, bool, bool, list[float]]]:
    """Return best value, certainty, flags and degrees of each sample, as plain Python values."""
    return zip(
        possibility.best.tolist(),
        possibility.certainty.tolist(),
        possibility.ambiguous.tolist(),
        possibility.normalised.tolist(),
        possibility.degrees.tolist(),
        strict=True,
    )


def _json_value(value: Any) -> Any:
    """Return a value that JSON has, or else its text."""
    plain = value is None or isinstance(value, str | int)
    if plain or (isinstance(value, float) and math.isfinite(value)):
        return value
    return show_value(value)


class _Csv:
    def __init__(self, stream: TextIO, names: Sequence[str]) -> None:
        self.names = names
        self.rows = csv.writer(stream, lineterminator="\n")
        self.started = False

    def add(self, inference: Inference) -> None:
        if not self.started:
            self.rows.writerow([t for name in self.names for t in _titles(inference[name])])
            self.started = True
        outputs = [_csv_samples(inference[name]) for name in self.names]
        for sample in zip(*outputs, strict=True):
            self.rows.writerow([cell for cells in sample for cell in cells])

    def finish(self) -> None:
        """Do nothing: every sample is written."""


def _titles(possibility: Possibility) -> list[str]:
    name = possibility.attribute.name
    flags = [name, f"{name} certainty", f"{name} ambiguous", f"{name} normalised"]
    return flags + [f"{name}={text}" for text in value_texts(possibility.attribute)]


def _csv_samples(possibility: Possibility) -> Iterator[list[str | float]]:
    """Return the cells of each sample; csv writes floats so that they read back the same."""
    attribute = possibility.attribute
    texts = dict(zip(attribute.domain, value_texts(attribute), strict=True))
    for best, certainty, ambiguous, normalised, degrees in _samples(possibility):
        yield [texts[best], certainty, _FLAG[ambiguous], _FLAG[normalised], *degrees]


class _Table:
    """Shows the first samples; with no limit, a table for each page of them."""

    def __init__(self, console: Console, names: Sequence[str], limit: int | None) -> None:
        self.console = console
        self.names = names
        self.limit = limit
        self.count = self.waiting = 0
        self.table = self._new()

    def _new(self) -> Table:
        return new_table("sample", "output", "best", "certainty", "flags", right=("sample",))

    def add(self, inference: Inference) -> None:
        outputs = [_samples(inference[name]) for name in self.names]
        for sample in zip(*outputs, strict=True):
            self.count += 1
            if self.limit is None or self.count <= self.limit:
                self._show(sample)

    def _show(self, sample: tuple[Any, ...]) -> None:
        number = f"{self.count:,}"
        for name, found in zip(self.names, sample, strict=True):
            best, certainty, ambiguous, normalised, _ = found
            flags = ["ambiguous"] * ambiguous + ["not normalised"] * (not normalised)
            cells = number, name, show_value(best), degree_text(certainty), ", ".join(flags)
            self.table.add_row(*map(Text, cells))
            number = ""
        if len(self.names) > 1:
            self.table.add_section()
        self.waiting += 1
        if self.waiting == PAGE:
            self._print()

    def _print(self) -> None:
        self.console.print(self.table)
        self.table, self.waiting = self._new(), 0

    def finish(self) -> None:
        if self.waiting:
            self._print()
        if self.limit is not None and self.count > self.limit:
            self.console.print(shortened_note(self.count - self.limit, "sample"))
