"""Reads samples of requests and logs: JSON objects as ``pinesy infer`` takes them in JSON Lines.

Samples of plain values take a short way, in which each value is looked up in a table of its input;
all others, and all errors, take that of data files.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import DataError
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch, evidence_of
from pinesy.samples.conversion import (
    Conversion,
    Transform,
    UnseenValues,
    add_unseen,
    unseen_notices,
)
from pinesy.samples.file_layout import Column, FileOptions, Layout, RawBatch, value_positions

#: Whole numbers that are floats without rounding.
MAX_EXACT = 2**53
#: Returns the index of a plain value of an input and the value itself; None where it has none.
Lookup = Callable[[Any], tuple[int, Any] | None]


class ReadSample(NamedTuple):
    """A sample of a request.

    Attributes
    ----------
    row : the degrees of all inputs side by side
    plain_values : the plain values of inputs that have one, None for unknown, by name
    content : the JSON object
    """

    row: FloatArray
    plain_values: dict[str, Any]
    content: Mapping[str, Any]


class SampleReader:
    """Reads samples with evidence on some inputs.

    Parameters
    ----------
    rules : whose other attributes samples may have too; these are ignored
    inputs : in the order of their columns
    transform : what makes possibilities of degrees, if these are probabilities
    ids : names that samples may have beside, which answers repeat
    optional : the names of inputs that samples need not have
    """

    def __init__(
        self,
        rules: Cascade,
        inputs: Sequence[Attribute],
        transform: Transform | None = None,
        ids: Iterable[str] = (),
        optional: Iterable[str] = (),
    ) -> None:
        self.inputs, self.transform = tuple(inputs), transform
        #: Names that identify samples.
        self.ids = tuple(dict.fromkeys(["id", *ids]))
        self.layout = Layout(
            inputs, rules.attributes.values(), options=FileOptions(strict=True), optional=optional
        )
        for name in ids:
            if name in self.layout.known:
                raise DataError(f"{name!r} is an attribute of the rules; an id is another name")
        self._allowed = {*self.layout.known, *self.ids}
        self._columns = [Column(i, a.name, a.name, None) for i, a in enumerate(inputs)]
        slices = column_slices(inputs)
        self._width = sum(len(a.domain) for a in inputs)
        self._lookups = [(a.name, slices[a.name], _lookup(a), None not in a) for a in inputs]

    def read(self, contents: Sequence[Mapping[str, Any]]) -> tuple[list[ReadSample], list[str]]:
        """Return samples, and a notice for each input with values that are taken as unknown.

        Raises an error that names the first sample that cannot be used, counted from 1.
        """
        samples = [self._plain_sample(content) for content in contents]
        slow = [i for i, sample in enumerate(samples) if sample is None]
        if not slow:
            return [sample for sample in samples if sample is not None], []
        unseen: UnseenValues = {}
        for index in slow:
            batch = self.batch([contents[index]], [index + 1], "the request", "sample")
            samples[index] = self.sample_of(batch, 0, contents[index])
            add_unseen(unseen, batch.unseen)
        return [sample for sample in samples if sample is not None], unseen_notices(unseen)

    def batch(
        self,
        contents: Sequence[Mapping[str, Any]],
        lines: Sequence[int],
        file: str,
        unit: str,
    ) -> Batch:
        """Return samples as a batch, as data files are read.

        Parameters
        ----------
        lines, file, unit : of messages: the line (or another `unit`) of each sample in its file
        """
        for content, line in zip(contents, lines, strict=True):
            try:
                self._check_names(content)
            except DataError as error:
                raise DataError(f"{file}, {unit} {line}: {error}") from None
        columns = {
            column: [content.get(column.name) for content in contents] for column in self._columns
        }
        return Conversion(self.layout, self.transform)(RawBatch(columns, lines, 0, file, unit))

    def sample_of(self, batch: Batch, row: int, content: Mapping[str, Any]) -> ReadSample:
        """Return a sample of a batch."""
        evidence = evidence_of(batch, row, self.inputs)
        plain = {n: v for n, v in evidence.items() if not isinstance(v, Possibility)}
        return ReadSample(batch.evidence[row], plain, content)

    def ids_of(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return what identifies a sample, by name."""
        return {name: content[name] for name in self.ids if name in content}

    def _check_names(self, content: Mapping[str, Any]) -> None:
        for name in content:
            if name not in self._allowed:
                hint = suggestion(name, self.layout.inputs)
                raise DataError(f"there is no input {name!r:.80}{hint}")
        self.layout.check_names({n: e for n, e in content.items() if n in self.layout.known})

    def _plain_sample(self, content: Mapping[str, Any]) -> ReadSample | None:
        """Return a sample whose inputs all have plain values or null; None for another."""
        if len(content) > len(self._lookups) and not self._allowed.issuperset(content):
            return None
        row: FloatArray = np.zeros(self._width)
        plain_values: dict[str, Any] = {}
        for name, columns, lookup, takes_null in self._lookups:
            if name not in content:
                return None
            entry = content[name]
            if entry is None and takes_null:
                row[columns] = 1.0
                plain_values[name] = None
                continue
            located = lookup(entry)
            if located is None:
                return None
            row[columns.start + located[0]] = 1.0
            plain_values[name] = located[1]
        return ReadSample(row, plain_values, content)


def _lookup(attribute: Attribute) -> Lookup:
    """Return the table of the plain values of an input."""
    scale, domain = attribute.scale, attribute.domain
    if scale is not None and scale.blur:
        return lambda _entry: None
    if scale is not None:
        cuts = scale.cuts

        def interval(entry: Any) -> tuple[int, Any] | None:
            if type(entry) is float or (type(entry) is int and abs(entry) <= MAX_EXACT):
                number = float(entry)
                return bisect_right(cuts, number), number
            return None

        return interval
    texts = {text: (i, domain[i]) for text, i in value_positions(attribute).items()}
    integers = {value: (i, value) for i, value in enumerate(domain) if type(value) is int}

    def value(entry: Any) -> tuple[int, Any] | None:
        if type(entry) is str:
            return texts.get(entry)
        return integers.get(entry) if type(entry) is int else None

    return value
