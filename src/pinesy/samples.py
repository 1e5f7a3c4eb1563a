"""Evidence in data files: JSON Lines or CSV, read in batches, every line checked.

JSON Lines, one sample a line; for each input attribute an object of degrees (values left out have
degree 0), a list of degrees in domain order, or one value that is certain::

    {"left": {"3": 1.0, "8": 0.4}, "right": 5}

CSV, with a header; a column ``attribute=value`` holds degrees (columns left out have degree 0), a
column ``attribute`` holds values that are certain::

    left=3,left=8,right
    1.0,0.4,5

Values are named by `value_texts`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pinesy._sample_formats import Record, csv_records, json_records
from pinesy._sample_layout import Layout, Lines, value_texts
from pinesy._validation import FloatArray, check_distribution
from pinesy.exceptions import DataError, DegreeError
from pinesy.rules.attribute import Attribute

__all__ = ["Batch", "read_samples", "value_texts"]

Source = str | os.PathLike[str] | BinaryIO
Transform = Callable[[Any], Any]

#: Degrees that a batch may hold, whatever number of samples is asked for (128 MB).
MAX_CELLS = 1 << 24

SUFFIXES = {
    ".csv": csv_records,
    ".json": json_records,
    ".jsonl": json_records,
    ".ndjson": json_records,
}


@dataclass(frozen=True, eq=False)
class Batch:
    """Some samples of a file.

    Attributes
    ----------
    evidence : array (n_samples, columns)
        The degrees of all inputs side by side, as `Program.infer` takes them.
    lines : the line of each sample in the file
    position : the number of bytes of the file read so far
    """

    evidence: FloatArray
    lines: tuple[int, ...]
    position: int

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.lines)


def read_samples(
    source: Source,
    inputs: Sequence[Attribute],
    *,
    known: Iterable[Attribute] = (),
    transform: Transform | None = None,
    batch: int = 10_000,
) -> Iterator[Batch]:
    """Read the samples of a data file, a batch at a time.

    Parameters
    ----------
    source : a path ending in .jsonl, .ndjson, .json or .csv, or an open binary file of JSON Lines
    inputs : the attributes wanted, in the order of their columns, such as `Program.inputs`
    known : attributes that the file may hold besides; they are not read
    transform : what makes possibilities of the file's degrees, such as `antipignistic`
    batch : samples a batch; fewer where the domains are very large (`MAX_CELLS`)

    Raises
    ------
    DataError, DegreeError : with the file, the line and the attribute that are wrong

    Examples
    --------
    >>> import io
    >>> left = Attribute("left", range(3))
    >>> file = io.BytesIO(b'{"left": {"0": 1, "2": 0.5}}')
    >>> [b.evidence.tolist() for b in read_samples(file, [left])]
    [[[1.0, 0.0, 0.5]]]
    """
    layout = Layout(inputs, known)
    with _opened(source) as file:
        lines = Lines(file, _name(source))
        records = _format(source)(lines, layout)
        rows = max(1, min(batch, MAX_CELLS // max(1, layout.width)))
        empty = True
        for content in _batches(records, lines, layout.width, rows):
            empty = False
            if transform is not None:
                _transform(content, layout, lines, transform)
            _check(content, layout, lines)
            yield content
    if empty:
        raise DataError(f"{lines.name}: no samples in it")


def _batches(records: Iterator[Record], lines: Lines, width: int, rows: int) -> Iterator[Batch]:
    while True:
        evidence = np.zeros((rows, width))
        numbers = []
        for row, (columns, degrees) in enumerate(islice(records, rows)):
            evidence[row, columns] = degrees
            numbers.append(lines.number)
        if not numbers:
            return
        yield Batch(evidence[: len(numbers)], tuple(numbers), lines.position)


def _transform(batch: Batch, layout: Layout, lines: Lines, transform: Transform) -> None:
    """Put possibilities in the place of the file's degrees."""
    for attribute, span in layout.spans:
        try:
            batch.evidence[:, span] = transform(batch.evidence[:, span])
        except DegreeError:
            _blame(batch, attribute, span, lines, transform)
            raise


def _blame(
    batch: Batch, attribute: Attribute, span: slice, lines: Lines, transform: Transform
) -> None:
    """Raise the error of the first sample that cannot be transformed, naming its line."""
    for degrees, number in zip(batch.evidence[:, span].tolist(), batch.lines, strict=True):
        try:
            transform(dict(zip(attribute.domain, degrees, strict=True)))
        except DegreeError as error:
            place = lines.place(number)
            raise DegreeError(f"{place}: attribute {attribute.name!r}: {error}") from None


def _check(batch: Batch, layout: Layout, lines: Lines) -> None:
    """Raise the error of the first sample that is not made of possibility distributions."""
    degrees = batch.evidence
    good = ((degrees >= 0.0) & (degrees <= 1.0)).all(axis=1)
    for _, span in layout.spans:
        good &= degrees[:, span].max(axis=1) == 1.0
    if good.all():
        return
    row = int(np.argmin(good))
    for attribute, span in layout.spans:
        where = f"{lines.place(batch.lines[row])}: attribute {attribute.name!r}"
        check_distribution(degrees[row, span], attribute.domain, where)


def _opened(source: Source) -> AbstractContextManager[BinaryIO]:
    if not isinstance(source, str | os.PathLike):
        return nullcontext(source)
    try:
        return open(source, "rb")
    except OSError as error:
        raise DataError(f"{source}: cannot be read: {error.strerror or error}") from None


def _name(source: Source) -> str:
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", "<stream>")
    return name if isinstance(name, str) else "<stream>"


def _format(source: Source) -> Callable[[Lines, Layout], Iterator[Record]]:
    if not isinstance(source, str | os.PathLike):
        return json_records
    suffix = Path(source).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{source}: data are read from {', '.join(SUFFIXES)}, not {suffix!r}")
    return SUFFIXES[suffix]
