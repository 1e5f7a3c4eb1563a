"""Batches of samples: put together from lines, transformed, checked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_distribution
from pinesy.exceptions import DegreeError
from pinesy.samples.layout import Layout, Lines, Origin, Record

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]
#: For each target attribute a `Target`; in a draft degrees (n, |domain|) or positions (n,).
Targets = dict[str, Any]
Transform = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some samples of a file.

    Attributes
    ----------
    evidence : array (n_samples, columns)
        The degrees of all inputs side by side, as `Program.infer` takes them.
    lines : the line of each sample in the file, or its row in a Parquet file, counted from 1
    position : the number of bytes of the file read so far (of Parquet, by its share of rows)
    targets : dict
        For each target attribute that the file has, by name, its targets: a `Target` of labels
        where every sample of the batch gives one value, else one of distributions. (In a draft,
        the arrays that it is made of.)
    """

    evidence: FloatArray
    lines: Sequence[int]
    position: int
    targets: Targets = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.lines)


@dataclass(frozen=True, eq=False)
class Draft:
    """A batch as it stands in a file.

    Attributes
    ----------
    certain : array (n_samples, n_inputs) of bool
        Whether a sample gives an input by one value; such a value is not transformed.
    """

    batch: Batch
    certain: BoolArray
    layout: Layout
    origin: Origin

    def transform(self, transform: Transform) -> None:
        """Put possibilities in the place of the file's degrees, except of targets."""
        evidence = self.batch.evidence
        for name, certain in zip(self.layout.inputs, self.certain.T, strict=True):
            rows = np.flatnonzero(~certain) if certain.any() else slice(None)
            degrees = evidence[rows, self.layout.spans[name]]
            if len(degrees):
                try:
                    evidence[rows, self.layout.spans[name]] = transform(degrees)
                except DegreeError:
                    numbers = np.asarray(self.batch.lines)[rows]
                    self._blame(name, degrees, numbers.tolist(), transform)
                    raise

    def _blame(
        self, name: str, degrees: FloatArray, numbers: list[int], transform: Transform
    ) -> None:
        """Raise the error of the first sample that cannot be transformed, naming its line."""
        domain = self.layout.inputs[name].domain
        for row, number in zip(degrees.tolist(), numbers, strict=True):
            try:
                transform(dict(zip(domain, row, strict=True)))
            except DegreeError as error:
                place = self.origin.place(number)
                raise DegreeError(f"{place}: attribute {name!r}: {error}") from None

    def check(self) -> None:
        """Raise the error of the first sample that is not made of possibility distributions."""
        evidence = self.batch.evidence
        good = _in_range(evidence)
        parts: dict[str, npt.NDArray[Any]] = {
            name: evidence[:, self.layout.spans[name]] for name in self.layout.inputs
        }
        for name, target in self.batch.targets.items():
            if target.ndim == 2:
                good &= _in_range(target)
                parts[name] = target
        for part in parts.values():
            good &= part.max(axis=1) == 1.0
        if good.all():
            return
        row = int(np.argmin(good))
        for name, part in parts.items():
            where = f"{self.origin.place(self.batch.lines[row])}: attribute {name!r}"
            check_distribution(part[row], self.layout.wanted[name].domain, where)


def _in_range(degrees: npt.NDArray[Any]) -> BoolArray:
    return np.asarray(((degrees >= 0.0) & (degrees <= 1.0)).all(axis=1))


class Rows(Protocol):
    """Reads the samples of a file of lines."""

    targets: list[str]

    def __init__(self, lines: Lines, layout: Layout) -> None: ...

    def __iter__(self) -> Iterator[Record]: ...


def line_drafts(
    rows: type[Rows], file: BinaryIO, name: str, layout: Layout, size: int
) -> Iterator[Draft]:
    """Read a file of lines in batches of up to `size` samples."""
    lines = Lines(file, name)
    reader = rows(lines, layout)
    records = iter(reader)
    while True:
        degrees = np.zeros((size, layout.width))
        certain = np.zeros((size, len(layout.wanted)), dtype=np.bool_)
        numbers = []
        for row, record in enumerate(islice(records, size)):
            degrees[row, record.columns] = record.degrees
            if record.certain:
                certain[row, record.certain] = True
            numbers.append(lines.number)
        if not numbers:
            return
        n = len(numbers)
        evidence = np.ascontiguousarray(degrees[:n, : layout.n_columns])
        targets = _targets(degrees[:n], certain[:n], reader.targets, layout)
        batch = Batch(evidence, tuple(numbers), lines.position, targets)
        yield Draft(batch, certain[:n, : len(layout.inputs)], layout, lines)


def _targets(
    degrees: FloatArray, certain: BoolArray, given: Sequence[str], layout: Layout
) -> Targets:
    targets: Targets = {}
    for name in given:
        part = degrees[:, layout.spans[name]]
        alone = certain[:, layout.numbers[name]].all()
        targets[name] = part.argmax(axis=1).astype(np.int32) if alone else part.copy()
    return targets
