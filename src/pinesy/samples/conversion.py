"""One conversion for all formats: columns of raw entries are made into evidence and targets.

Every entry is checked here, and the first bad row of a file is the one that is reported.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_distribution, listed
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, DataWarning, DegreeError, PinesyError, placed
from pinesy.samples.file_layout import (
    Column,
    DistinctEntries,
    Layout,
    RawBatch,
    RowError,
    is_blank,
)

Transform = Callable[[Any], Any]

#: The values that the rules do not have, with their number, by input.
UnseenValues = dict[str, Counter[str]]
#: The degree of a value that stands alone.
CERTAIN = (1.0,)


def add_unseen(total: UnseenValues, *parts: UnseenValues) -> UnseenValues:
    """Add the values of parts of a file, in their order, to those of the file; return these."""
    for part in parts:
        for name, counts in part.items():
            total.setdefault(name, Counter()).update(counts)
    return total


def unseen_notices(unseen: UnseenValues) -> list[str]:
    """Return which values were taken as unknown, with their number, a text for each input."""
    texts = []
    for name, counts in unseen.items():
        values = listed([repr(text)[:40] for text in counts])
        texts.append(
            f"column {name!r:.80}: {counts.total():,} values that the rules do not have are "
            f"taken as unknown ({values})"
        )
    return texts


def warn_unseen(file: str, unseen: UnseenValues) -> None:
    """Warn of the values of a file that were taken as unknown, with their number."""
    for text in unseen_notices(unseen):
        warn(f"{file}: {text}", DataWarning, stacklevel=2)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some samples of a file.

    Attributes
    ----------
    evidence : array (n_samples, columns)
        The degrees of all inputs side by side, as `Program.infer` takes them.
    lines : the line of each sample in the file, or its row in a Parquet file, counted from 1
    position : the number of bytes of the file read so far (of Parquet, by its share of rows)
    targets : for each target attribute that the file has, by name, its targets: labels where every
        sample of the batch gives one value, else distributions
    ids : the entries of each column that identifies samples, by its title
    numbers : for each numeric input, by name, the numbers that the file gives; NaN for what is no
        number
    unseen : of each input, by name, the values that the rules do not have: taken as unknown, and
        counted
    """

    evidence: FloatArray
    lines: Sequence[int]
    position: int
    targets: dict[str, Target] = field(default_factory=dict)
    ids: dict[str, Sequence[Any]] = field(default_factory=dict)
    numbers: dict[str, FloatArray] = field(default_factory=dict)
    unseen: UnseenValues = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.lines)

    def ids_of(self, row: int) -> dict[str, Any]:
        """Return the entries that identify a sample, by the titles of their columns."""
        return {title: entries[row] for title, entries in self.ids.items()}

    @classmethod
    def joined(cls, parts: "Sequence[Batch]") -> "Batch":
        """Return batches that follow each other as one."""
        last = parts[-1]
        if len(parts) == 1:
            return last
        targets = {name: Target.join([b.targets[name] for b in parts]) for name in last.targets}
        ids: dict[str, Sequence[Any]] = {}
        for title in last.ids:
            ids[title] = list(chain.from_iterable(b.ids[title] for b in parts))
        evidence = np.concatenate([b.evidence for b in parts])
        numbers = {name: np.concatenate([b.numbers[name] for b in parts]) for name in last.numbers}
        lines = tuple(chain.from_iterable(b.lines for b in parts))
        unseen = add_unseen({}, *(b.unseen for b in parts))
        return cls(evidence, lines, last.position, targets, ids, numbers, unseen)


@dataclass(frozen=True)
class Conversion:
    """Makes samples of the raw entries of a file.

    Attributes
    ----------
    transform : makes possibilities of the degrees of inputs, except where a value is certain
    """

    layout: Layout
    transform: Transform | None = None

    def __call__(self, raw: RawBatch) -> Batch:
        """Return the samples, or raise the error of the first that cannot be used."""
        while True:
            try:
                batch = self._batch(raw)
                break
            except RowError as bad:  # another column may be wrong in an earlier row
                raw = raw.before(bad)
        if raw.problem:
            raise raw.problem
        return batch

    def _batch(self, raw: RawBatch) -> Batch:
        n, layout = len(raw.lines), self.layout
        unseen: UnseenValues = {}
        columns = {c: raw.read(c, e) if raw.read else e for c, e in raw.columns.items()}
        evidence = np.zeros((n, sum(len(a.domain) for a in layout.inputs.values())))
        targets: dict[str, Target] = {}
        ids = {c.title: columns.pop(c) for c in raw.columns if c.is_id}
        numbers: dict[str, FloatArray] = {}
        for name, group in groupby(columns.items(), lambda item: item[0].name):
            content, measured = self._converted(name, dict(group), unseen)
            if measured is not None and name in layout.inputs:
                numbers[name] = measured
            if name in layout.targets:
                make = Target.at if content.ndim == 1 else Target.of
                targets[name] = make(content, layout.targets[name])
            elif content.ndim == 1:
                evidence[np.arange(n), layout.slices[name].start + content] = 1.0
            else:
                evidence[:, layout.slices[name]] = content
        for name in layout.optional - {column.name for column in columns}:
            evidence[:, layout.slices[name]] = 1.0
        return Batch(evidence, raw.lines, raw.position, targets, ids, numbers, unseen)

    def _converted(
        self, name: str, columns: dict[Column, Any], unseen: UnseenValues
    ) -> tuple[npt.NDArray[Any], FloatArray | None]:
        """Return the content of the columns of an attribute: degrees (n, size) or positions (n,).

        Positions where every row gives one value, which is then certain. With them the numbers
        among the entries on a numeric attribute, if its columns hold any. Values that the rules do
        not have are counted in `unseen`.
        """
        column, entries = next(iter(columns.items()))
        if column.position is not None:
            return self._checked(name, self._by_value(name, columns)), None
        if isinstance(entries, np.ndarray) and entries.ndim == 1:
            return self._measured(name, entries, np.flatnonzero(np.isnan(entries))), entries
        if isinstance(entries, np.ndarray):
            with _bad_row(0):
                self._check_length(name, entries.shape[1])
            return self._checked(name, entries.astype(np.float64)), None
        if isinstance(entries, DistinctEntries):
            return self._distinct(name, entries, unseen)
        if self.layout.wanted[name].scale is None:
            return self._known(name, entries, np.full(len(entries), np.nan), unseen), None
        numbers = self._numbers(entries)
        return self._known(name, entries, numbers, unseen), numbers

    def _distinct(
        self, name: str, entries: DistinctEntries, unseen: UnseenValues
    ) -> tuple[npt.NDArray[Any], FloatArray | None]:
        """Return the content of entries, and the numbers among them; each is converted once."""
        values, rows = entries.values, entries.indices
        is_numeric = self.layout.wanted[name].scale is not None
        numbers = self._numbers(values) if is_numeric else np.full(len(values), np.nan)
        try:
            content = self._known(name, values, numbers, unseen, np.bincount(rows).tolist())
        except RowError as bad:
            raise RowError(int(np.argmax(rows == bad.row)), bad.problem) from None
        return content[rows], numbers[rows] if is_numeric else None

    def _measured(
        self, name: str, numbers: FloatArray, unknown: npt.NDArray[np.intp]
    ) -> npt.NDArray[Any]:
        """Return the content of numbers, some of them unknown."""
        scale = self.layout.wanted[name].scale
        assert scale is not None
        self._check_target(name, unknown.tolist())
        return scale.degrees(numbers) if len(unknown) or scale.blur else scale.positions(numbers)

    def _check_target(self, name: str, unknown: Sequence[int]) -> None:
        """Raise for the first row of a target of which nothing is known."""
        if unknown and name in self.layout.targets:
            problem = DataError(f"attribute {name!r}: no target is given; every sample needs one")
            raise RowError(unknown[0], problem)

    def _known(
        self,
        name: str,
        entries: Sequence[Any],
        numbers: FloatArray,
        unseen: UnseenValues,
        counts: Sequence[int] | None = None,
    ) -> npt.NDArray[Any]:
        """Return the content of entries on an attribute; some are numbers, or blank.

        `counts` has how many samples have each entry, by default one.
        """
        scale, n = self.layout.wanted[name].scale, len(entries)
        has_value, find = self.layout.has_value, self.layout.find
        unknown = _rows_where(entries, lambda e: is_blank(e) and not has_value(name, e))
        if name in self.layout.categories:
            others = _rows_where(entries, lambda e: not is_blank(e) and find(name, e) is None)
            for row in others:
                counter = unseen.setdefault(name, Counter())
                counter[str(entries[row])] += 1 if counts is None else counts[row]
            unknown = sorted({*unknown, *others})
        measured = np.flatnonzero(numbers == numbers).tolist()
        self._check_target(name, unknown)
        if scale and len(measured) == n and not scale.blur:
            return scale.positions(numbers)
        remaining = np.delete(np.arange(n), [*unknown, *measured])
        if len(remaining) == n:
            return self._listed(name, entries)
        degrees = np.ones((n, len(self.layout.wanted[name].domain)))
        if scale:
            degrees[measured] = scale.degrees(numbers[measured])
        if len(remaining):
            try:
                content = self._listed(name, [entries[row] for row in remaining.tolist()])
            except RowError as bad:
                raise RowError(int(remaining[bad.row]), bad.problem) from None
            degrees[remaining] = np.eye(degrees.shape[1])[content] if content.ndim == 1 else content
        return degrees

    def _numbers(self, entries: Sequence[Any]) -> FloatArray:
        """Return the numbers among entries, NaN for others."""
        numbers = np.full(len(entries), np.nan)
        for row, entry in enumerate(entries):
            entry_type = type(entry)
            with suppress(ValueError):
                if entry_type is str:
                    numbers[row] = self.layout.options.number(entry)
                elif entry_type is float:
                    numbers[row] = entry
                elif entry_type is int:
                    numbers[row] = float(str(entry))  # infinite if it is huge
        return numbers

    def _listed(self, name: str, entries: Sequence[Any]) -> npt.NDArray[Any]:
        """Return the content of values and distributions; see `_converted`."""
        types = set(map(type, entries))
        if types.isdisjoint((dict, list)):
            keys = entries if len(types) == 1 else list(map(_key, entries))
            positions = self._positions_by_key(name, entries, keys)
            return np.array([positions[key][0] for key in keys])
        rows = np.flatnonzero([type(entry) in (dict, list) for entry in entries])
        return self._checked(name, self._distributions(name, entries), rows)

    def _by_value(self, name: str, columns: dict[Column, Any]) -> FloatArray:
        """Return the degrees of columns that hold those of one value each."""
        n = len(next(iter(columns.values())))
        degrees = np.zeros((n, len(self.layout.wanted[name].domain)))
        for column, entries in columns.items():
            is_array = isinstance(entries, np.ndarray)
            degrees[:, column.position] = (
                entries if is_array else self._read_numbers(column, entries)
            )
        return degrees

    def _read_numbers(self, column: Column, texts: Sequence[str]) -> list[float]:
        options, numbers = self.layout.options, list[float]()
        with suppress(ValueError):  # the numbers before a text that is none stay in the list
            numbers.extend(map(options.number, texts))
        if len(numbers) < len(texts):
            wrong = texts[len(numbers)]
            cure = options.cure(wrong) if wrong.strip() else "; degrees cannot be blank"
            problem = DataError(f"column {column.title!r:.80}: {wrong!r:.80} is not a number{cure}")
            raise RowError(len(numbers), problem)
        return numbers

    def _distributions(self, name: str, entries: Sequence[Any]) -> FloatArray:
        """Return the degrees of dicts from values to degrees, lists of degrees, and values."""
        keys = list(map(_key, entries))
        by_key = self._positions_by_key(name, entries, keys)
        numbers: list[Any] = []
        for entry in entries:
            is_dict, is_list = type(entry) is dict, type(entry) is list
            numbers.extend(entry.values() if is_dict else entry if is_list else CERTAIN)
        rows = np.repeat(np.arange(len(keys)), [len(by_key[key]) for key in keys])
        degrees = np.zeros((len(keys), len(self.layout.wanted[name].domain)))
        positions = [position for key in keys for position in by_key[key]]
        degrees[rows, positions] = _checked_numbers(name, numbers, rows)
        return degrees

    def _positions_by_key(
        self, name: str, entries: Sequence[Any], keys: Sequence[Hashable]
    ) -> dict[Hashable, Sequence[int]]:
        """Return the positions that entries give degrees for, once for all with the same key."""
        positions: dict[Hashable, Sequence[int]] = {}
        first_rows = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        for row in sorted(first_rows.values()):
            with _bad_row(row):
                positions[keys[row]] = self._positions(name, entries[row])
        return positions

    def _positions(self, name: str, entry: Any) -> Sequence[int]:
        """Return the positions of the values that one entry gives degrees for."""
        if isinstance(entry, list):
            self._check_length(name, len(entry))
            return range(len(entry))
        if not isinstance(entry, dict):
            return [self.layout.position(name, entry)]
        positions = [self.layout.position(name, text) for text in entry]
        if len(set(positions)) < len(positions):
            raise DataError(f"attribute {name!r}: one value is given twice, by two spellings")
        return positions

    def _check_length(self, name: str, length: int) -> None:
        size = len(self.layout.wanted[name].domain)
        if length != size:
            raise DataError(f"attribute {name!r} has {size} values; got a list of {length} degrees")

    def _checked(self, name: str, degrees: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Return possibilities, some rows transformed; raise unless each row is normalised."""
        if self.transform is not None and name in self.layout.inputs:
            self._transform(name, degrees, rows, self.transform)
        in_range = ((degrees >= 0.0) & (degrees <= 1.0)).all(axis=1)
        good = in_range & (degrees.max(axis=1) == 1.0)
        if not good.all():
            row = int(np.argmin(good))
            with _bad_row(row):
                domain = self.layout.wanted[name].domain
                check_distribution(degrees[row], domain, f"attribute {name!r}")
        return degrees

    def _transform(self, name: str, degrees: FloatArray, rows: Any, transform: Transform) -> None:
        """Replace the degrees of some rows by possibilities."""
        try:
            degrees[rows] = transform(degrees[rows])
        except DegreeError:  # find the row
            domain = self.layout.wanted[name].domain
            for row in np.arange(len(degrees))[rows]:
                with _bad_row(row), placed(f"attribute {name!r}"):
                    transform(dict(zip(domain, degrees[row].tolist(), strict=True)))
            raise


def _rows_where(entries: Sequence[Any], test: Callable[[Any], bool]) -> list[int]:
    """Return the rows whose entries are values that pass a test: each is tested once."""
    types = set(map(type, entries))
    if types.isdisjoint((dict, list)) and len(types) == 1:
        passing = {entry for entry in set(entries) if test(entry)}
        return [row for row, entry in enumerate(entries) if entry in passing] if passing else []
    keys = [None if type(e) in (dict, list) else (type(e), e) for e in entries]  # 1 is not True
    passing_keys = {key for key in set(keys) if key is not None and test(key[1])}
    return [row for row, key in enumerate(keys) if key in passing_keys]


@contextmanager
def _bad_row(row: int) -> Iterator[None]:
    """Raise errors with the row that they are about."""
    try:
        yield
    except PinesyError as error:
        raise RowError(row, error) from None


def _key(entry: Any) -> Hashable:
    """Return a key that entries share if they give degrees for the same values."""
    if type(entry) is dict:
        return tuple(entry)
    return len(entry) if type(entry) is list else (type(entry), entry)  # 1 is not True


def _checked_numbers(name: str, numbers: list[Any], rows: npt.NDArray[np.int64]) -> FloatArray:
    """Return degrees as JSON has them; `rows` has the row of each."""
    if not set(map(type, numbers)) <= {float, int}:
        i, wrong = next((i, x) for i, x in enumerate(numbers) if type(x) not in (float, int))
        text = json.dumps(wrong)
        problem = DataError(f"attribute {name!r}: the degree {text:.80} is not a number")
        raise RowError(rows[i], problem)
    try:
        return np.array(numbers, dtype=np.float64)
    except OverflowError:
        most = sys.float_info.max
        i = next(i for i, x in enumerate(numbers) if type(x) is int and abs(x) > most)
        problem = DataError(f"attribute {name!r}: a degree is far above 1")
        raise RowError(rows[i], problem) from None
