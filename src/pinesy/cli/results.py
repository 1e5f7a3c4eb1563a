"""Writes inferences as a table, JSON Lines or CSV, to the screen or to a file."""

import csv
import json
import math
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pinesy.cli.show import degree_text, new_table, shortened_note
from pinesy.exceptions import DataError
from pinesy.inference import Inference
from pinesy.possibility import Possibility
from pinesy.rules.attribute import show_value
from pinesy.samples import value_texts

__all__ = ["Format", "Writer", "open_output", "writer"]

#: Samples that a table shows unless all are wanted.
SHOWN = 20
#: Samples that one table holds; more go into further tables, so that memory stays bounded.
PAGE = 1000


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


def writer(form: Format, stream: TextIO, everything: bool) -> Writer:
    """Return what writes results to `stream`; a table shows `everything` or the first samples."""
    if form is Format.JSONL:
        return _Jsonl(stream)
    if form is Format.CSV:
        return _Csv(stream)
    return _Table(Console(file=stream), None if everything else SHOWN)


class _Jsonl:
    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def add(self, inference: Inference) -> None:
        outputs = [_json_samples(inference[name]) for name in inference]
        for sample in zip(*outputs, strict=True):
            content = dict(zip(inference, sample, strict=True))
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
    def __init__(self, stream: TextIO) -> None:
        self.rows = csv.writer(stream, lineterminator="\n")
        self.started = False

    def add(self, inference: Inference) -> None:
        if not self.started:
            self.rows.writerow([t for name in inference for t in _titles(inference[name])])
            self.started = True
        outputs = [_csv_samples(inference[name]) for name in inference]
        for sample in zip(*outputs, strict=True):
            self.rows.writerow([cell for cells in sample for cell in cells])

    def finish(self) -> None:
        """Do nothing: every sample is written."""


def _titles(possibility: Possibility) -> list[str]:
    name = possibility.attribute.name
    flags = [name, f"{name} certainty", f"{name} ambiguous", f"{name} normalised"]
    return flags + [f"{name}={text}" for text in value_texts(possibility.attribute)]


def _csv_samples(possibility: Possibility) -> Iterator[list[str]]:
    attribute = possibility.attribute
    texts = dict(zip(attribute.domain, value_texts(attribute), strict=True))
    for best, certainty, ambiguous, normalised, degrees in _samples(possibility):
        flags = [show_value(ambiguous), show_value(normalised)]
        yield [texts[best], repr(certainty), *flags, *map(repr, degrees)]


class _Table:
    """Shows the first samples; with no limit, a table for each page of them."""

    def __init__(self, console: Console, limit: int | None) -> None:
        self.console = console
        self.limit = limit
        self.count = self.waiting = 0
        self.table = self._new()

    def _new(self) -> Table:
        return new_table("sample", "output", "best", "certainty", "flags", right=("sample",))

    def add(self, inference: Inference) -> None:
        outputs = [_samples(inference[name]) for name in inference]
        for sample in zip(*outputs, strict=True):
            self.count += 1
            if self.limit is None or self.count <= self.limit:
                self._show(list(inference), sample)

    def _show(self, names: list[str], sample: tuple[Any, ...]) -> None:
        number = f"{self.count:,}"
        for name, (best, certainty, ambiguous, normalised, _) in zip(names, sample, strict=True):
            flags = ["ambiguous"] * ambiguous + ["not normalised"] * (not normalised)
            cells = number, name, show_value(best), degree_text(certainty), ", ".join(flags)
            self.table.add_row(*map(Text, cells), end_section=name == names[-1] and len(names) > 1)
            number = ""
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


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file that takes its name only once it is whole; standard output without a path."""
    if path is None:
        yield sys.stdout
        return
    try:
        with _file(path.resolve()) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def _file(path: Path) -> Iterator[TextIO]:
    whole = path if path.exists() and not path.is_file() else None  # a pipe or device stays one
    target = whole or path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    with _removed_on_error(target, keep=whole is not None) as done:
        # "x" and not mkstemp: the file shall have the permissions that any new file has.
        mode = "w" if whole else "x"
        with open(target, mode, encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield stream
            stream.flush()
        done(path)


@contextmanager
def _removed_on_error(temporary: Path, keep: bool) -> Iterator[Callable[[Path], None]]:
    try:
        yield lambda path: None if keep else os.replace(temporary, path)
    except BaseException:
        if not keep:
            temporary.unlink(missing_ok=True)
        raise
