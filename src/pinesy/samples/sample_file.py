"""Data files of samples: JSON Lines, CSV or Parquet, read in batches, every sample checked.

A sample gives evidence on the inputs and, for learning, targets::

    {"left": {"3": 1.0, "8": 0.4}, "right": 5, "total": 8}

``docs/data-files.md`` describes the formats. Values are named by `value_texts`. For rules that are
yet to be induced, the same files are read as tables.
"""

import hashlib
import math
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pinesy._common.files import wrap_read_errors
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, object_array
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples.conversion import (
    Batch,
    Conversion,
    Transform,
    UnseenValues,
    add_unseen,
    warn_unseen,
)
from pinesy.samples.csv_blocks import csv_batches
from pinesy.samples.file_formats import (
    Lines,
    csv_table,
    json_rows,
    json_table,
    parquet_batches,
    parquet_table,
    text_batches,
)
from pinesy.samples.file_layout import FileOptions, Layout, RawBatch, TableLayout, read_column

Source = str | os.PathLike[str] | BinaryIO
Reader = Callable[[BinaryIO, str, Layout, int], Iterator[RawBatch]]

#: Degrees that a batch may hold, whatever number of samples is asked for (128 MB).
MAX_CELLS = 1 << 24

json_batches: Reader = partial(text_batches, json_rows)
READERS: dict[str, Reader] = {
    ".csv": csv_batches,
    ".json": json_batches,
    ".jsonl": json_batches,
    ".ndjson": json_batches,
    ".parquet": parquet_batches,
}


def read_samples(
    source: Source,
    inputs: Sequence[Attribute],
    *,
    targets: Sequence[Attribute] = (),
    known: Iterable[Attribute] = (),
    transform: Transform | None = None,
    batch: int = 10_000,
    ids: Iterable[str] = (),
    separator: str | None = None,
    decimal: str = ".",
    strict: bool = False,
    optional: Iterable[str] = (),
    share: tuple[int, int] = (0, 1),
) -> Iterator[Batch]:
    """Read the samples of a data file, a batch at a time.

    Texts that are no value of an input of texts are unknown; a `DataWarning` counts them.

    Parameters
    ----------
    source : a path ending in .jsonl, .ndjson, .json, .csv or .parquet, or an open binary file of
        JSON Lines
    inputs : the attributes wanted, in the order of their columns, such as `Program.inputs`
    targets : attributes whose possibilities are given for learning; the file has each of them in
        all samples or in none
    known : attributes that the file may hold besides; they are not read
    transform : what makes possibilities of the file's degrees, such as `antipignistic`; it is not
        applied to targets, nor to values that are certain
    batch : samples a batch; fewer where the domains are very large (`MAX_CELLS`)
    ids : columns that identify samples, for `Batch.ids`; one called ``id`` always does
    separator : what separates the cells of CSV, by default found from the header
    decimal : the decimal point of numbers in CSV, ``"."`` or ``","``
    strict : refuse columns of no attribute; by default they are ignored with an
        `UnusedColumnsWarning`, unless an input is missing
    optional : the names of inputs that the file need not have
    share : ``(i, n)`` for the batches ``i``, ``i + n``, ``i + 2n`` ... alone, counted from 0: of
        `n` processes that share the work, each takes another `i`

    Raises
    ------
    DataError, DegreeError : with the file, the line or row, and the attribute that are wrong

    Examples
    --------
    >>> import io
    >>> left, size = Attribute("left", range(3)), Attribute("size", ["small", "large"])
    >>> file = io.BytesIO(b'{"left": {"0": 1, "2": 0.5}, "size": "large"}')
    >>> (batch,) = read_samples(file, [left], targets=[size])
    >>> batch.evidence.tolist(), batch.targets["size"]
    ([[1.0, 0.0, 0.5]], Target(size: 1 labels))
    """
    id_titles = ids if isinstance(ids, str) else tuple(ids)
    options = FileOptions(id_titles, separator, decimal, strict)  # type: ignore[arg-type]
    layout = Layout(inputs, known, targets, options, optional)
    size = max(1, min(batch, MAX_CELLS // max(1, layout.width)))
    (name, reader), convert = _reader(source), Conversion(layout, transform)
    first, step = share
    parts: list[Batch] = []
    unseen: UnseenValues = {}
    n = 0
    try:
        with wrap_read_errors(name), _opened(source) as file:
            for raw in reader(file, name, layout, size):
                if n // size % step == first:
                    parts.append(convert(raw))
                    add_unseen(unseen, parts[-1].unseen)
                n += len(raw.lines)
                if n % size == 0 and parts:
                    yield Batch.joined(parts)
                    parts = []
        if parts:
            yield Batch.joined(parts)
    except GeneratorExit:  # no more batches are wanted
        warn_unseen(name, unseen)
        raise
    warn_unseen(name, unseen)
    if not n:
        raise DataError(f"{name}: no samples in it")


class SampleFile:
    """The samples of a data file, for algorithms that go through them several times.

    Iterating gives pairs ``(evidence, targets)`` of the batches that `read_samples` reads, anew
    each time; the file must stay as it was when this object was made.

    Parameters
    ----------
    path : a data file
    inputs, targets, known, transform, batch, ids, separator, decimal, strict, optional : as
        `read_samples` takes them

    Attributes
    ----------
    n_bytes : the size of the file

    Raises
    ------
    DataError : if the file is not there, and whenever it has changed
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        inputs: Sequence[Attribute],
        *,
        targets: Sequence[Attribute] = (),
        known: Iterable[Attribute] = (),
        transform: Transform | None = None,
        batch: int = 10_000,
        ids: Iterable[str] = (),
        separator: str | None = None,
        decimal: str = ".",
        strict: bool = False,
        optional: Iterable[str] = (),
    ) -> None:
        self.path = Path(path)
        self._read = partial(
            read_samples,
            self.path,
            tuple(inputs),
            targets=tuple(targets),
            known=tuple(known),
            transform=transform,
            batch=batch,
            ids=tuple(ids),
            separator=separator,
            decimal=decimal,
            strict=strict,
            optional=tuple(optional),
        )
        _reader(path)
        self._state = self._look()
        self.n_bytes = self._state[0]

    def __iter__(self) -> Iterator[tuple[FloatArray, dict[str, Target]]]:
        for batch in self.batches():
            yield batch.evidence, batch.targets

    def batches(self) -> Iterator[Batch]:
        """Read the batches with the lines of their samples."""
        self._check_unchanged()
        yield from self._read()
        self._check_unchanged()

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file's bytes, in hexadecimal."""
        with wrap_read_errors(self.path), self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        self._check_unchanged()
        return digest.hexdigest()

    def _look(self) -> tuple[int, int]:
        """Return the size of the file and when it was written."""
        with wrap_read_errors(self.path):
            status = self.path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{self.path}: not a file, so it cannot be read several times")
        return status.st_size, status.st_mtime_ns

    def _check_unchanged(self) -> None:
        if self._look() != self._state:
            raise DataError(
                f"{self.path}: the file was changed after it was first looked at; leave it as it "
                "is while it is in use, or make a new SampleFile of it"
            )

    def __repr__(self) -> str:
        return f"SampleFile({os.fspath(self.path)!r}, {self.n_bytes:,} bytes)"


def _opened(source: Source) -> AbstractContextManager[BinaryIO]:
    return open(source, "rb") if isinstance(source, str | os.PathLike) else nullcontext(source)


def _reader(source: Source) -> tuple[str, Reader]:
    """Return what messages call a source, and what reads its format."""
    if not isinstance(source, str | os.PathLike):
        name = getattr(source, "name", None)
        return name if isinstance(name, str) else "<stream>", json_batches
    suffix = Path(source).suffix.lower()
    if suffix not in READERS:
        raise DataError(f"{source}: data are read from {', '.join(READERS)}, not {suffix!r}")
    return os.fspath(source), READERS[suffix]


def evidence_of(batch: Batch, row: int, inputs: Sequence[Attribute]) -> dict[str, Any]:
    """Return a sample as plain values where the file gives numbers, single values or nothing.

    Parameters
    ----------
    batch : samples whose columns are those of the inputs
    row : the index of the sample in the batch
    inputs : the attributes, in the order of the columns
    """
    evidence: dict[str, Any] = {}
    slices = column_slices(inputs)
    for a in inputs:
        number = batch.numbers[a.name][row] if a.name in batch.numbers else math.nan
        degrees = batch.evidence[row, slices[a.name]]
        evidence[a.name] = float(number) if number == number else _content(a, degrees)
    return evidence


def columns_of(batch: Batch, inputs: Sequence[Attribute]) -> dict[str, Any]:
    """Return samples by input: plain values where each has one or none, else degrees ``(n, |D|)``.

    Parameters
    ----------
    batch, inputs : as for `evidence_of`
    """
    slices = column_slices(inputs)
    columns = {}
    for a in inputs:
        degrees = batch.evidence[:, slices[a.name]]
        numbers = batch.numbers.get(a.name)
        unknown = (degrees == 1.0).all(axis=1)
        if numbers is not None and bool((unknown | ~np.isnan(numbers)).all()):
            columns[a.name] = numbers
            continue
        is_value = (degrees > 0.0).sum(axis=1) == 1
        if a.scale is not None or None in a or not (unknown | is_value).all():
            columns[a.name] = degrees
            continue
        positions = degrees.argmax(axis=1)
        entries = [a.domain[i] if v else None for i, v in zip(positions, is_value, strict=True)]
        columns[a.name] = object_array(entries)
    return columns


def _content(attribute: Attribute, degrees: FloatArray) -> Any:
    """Return a value that is certain, None if all are possible, else the distribution."""
    certain = np.flatnonzero(degrees)
    if len(certain) == 1:
        return attribute.domain[certain[0]]
    unknown = bool((degrees == 1.0).all()) and None not in attribute
    return None if unknown else Possibility(attribute, degrees)


def read_table(path: Path, separator: str | None, decimal: str) -> dict[str, Any]:
    """Read a file as a table without rules: columns of numbers, or of values with None for blanks.

    Cells are read as `read_samples` reads them; see `read_column`.
    """
    options = FileOptions((), separator, decimal)
    name, _ = _reader(path)
    with wrap_read_errors(name), path.open("rb") as file:
        if path.suffix.lower() == ".parquet":
            columns = parquet_table(file, name)
        else:
            lines, layout = Lines(file), TableLayout(options)
            try:
                is_csv = path.suffix.lower() == ".csv"
                columns = (csv_table if is_csv else json_table)(lines, layout)
            except DataError as error:
                raise DataError(f"{name}, line {lines.number}: {error}") from None
    if not any(map(len, columns.values())):
        raise DataError(f"{name}: no samples in it")
    return {title: read_column(entries, options) for title, entries in columns.items()}
