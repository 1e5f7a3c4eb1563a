"""Perceptions: whatever says how probable each value of an attribute is, given data.

A *perception* is a function from data ``(n, ...)`` to probabilities ``(n, classes)``, or an object
with such a method `predict_proba`; one that can be trained has ``fit(data, labels)`` besides, and
one that can say beforehand what it cannot do ``check_data(data, classes, training=...)``. Class
`j` is the value `j` of the attribute's domain, unless the perception says by `classes_`, as those
of scikit-learn do, which values its columns are of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import ismethod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError, DegreeError, DomainError, PinesyError, ShapeError, placed
from pinesy.model.raw_samples import Array, Labels, RawSamples, by_input, names
from pinesy.rules.attributes import Attribute

#: Makes possibilities of probabilities; see `pinesy.transforms`.
Transform = Callable[[Any], Any]
#: Degrees that are transformed at a time: they should stay in cache.
CELLS = 1 << 18


@runtime_checkable
class Savable(Protocol):
    """A perception that can be saved to a file.

    Attributes
    ----------
    suffix : how the file's name ends
    """

    suffix: str

    def save(self, path: Path) -> None:
        """Write what was learned."""

    def restore(self, path: Path) -> object:
        """Take what another perception of the same form has learned and written."""


@dataclass(frozen=True, eq=False)
class View:
    """A perception and the attributes that it sees; their domains have the same size."""

    perception: Any
    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        _check_form(self.perception, self._where)
        one = self.attributes[0]
        for other in self.attributes:
            if len(other.domain) != len(one.domain):
                raise DomainError(
                    f"one perception sees {one.name!r}, with {len(one.domain)} values, and "
                    f"{other.name!r}, with {len(other.domain)}; give a dict with a perception for "
                    "each attribute"
                )

    @property
    def _where(self) -> str:
        return f"the perception of {names(self.attributes)}"

    def check(self, samples: RawSamples, labels: Labels, what: str = "") -> None:
        """Raise an error if the perception cannot be trained, or refuses such data.

        Parameters
        ----------
        labels : of the attributes that it is to be trained for
        what : the data are called so
        """
        labelled = any(a.name in labels for a in self.attributes)
        if labelled and not callable(getattr(self.perception, "fit", None)):
            raise DataError(
                f"{self._where} is a {type(self.perception).__name__} without fit(data, labels), "
                "so it cannot be trained; if it is trained already, leave out concepts, or give "
                "them as a dict without its attributes"
            )
        if callable(check := getattr(self.perception, "check_data", None)):
            data = samples.first.rows(self.attributes)
            with placed(f"{what}{self._where}"):
                check(data, len(self.attributes[0].domain), training=labelled)

    def fit(self, samples: RawSamples, labels: Labels) -> None:
        """Train the perception: `labels` are positions in the domain, for some attributes."""
        seen = [a for a in self.attributes if a.name in labels]
        if seen:
            classes = np.stack([labels[a.name] for a in seen], axis=1)
            data = samples.rows(seen)
            with self._blamed(data):
                self.perception.fit(data, classes.ravel())

    def possibilities(self, samples: RawSamples, transform: Transform) -> dict[str, FloatArray]:
        """Return the possibilities (n, size of the domain) of each attribute, by name.

        The data of all attributes are given to the perception at once.
        """
        probabilities = self._probabilities(samples)
        degrees, size = np.empty(probabilities.shape), len(self.attributes[0].domain)
        step = max(1, CELLS // (len(self.attributes) * size))
        for begin in range(0, len(degrees), step):
            part = probabilities[begin : begin + step]
            try:
                rows = transform(part.reshape(-1, size))
            except DegreeError:
                self._refuse(part, begin, transform)
                raise
            degrees[begin : begin + step] = rows.reshape(part.shape)
        return {a.name: degrees[:, i] for i, a in enumerate(self.attributes)}

    def _probabilities(self, samples: RawSamples) -> Array:
        """Return the probabilities (n, attributes, size), of values in the order of domains."""
        data = samples.rows(self.attributes)
        with self._blamed(data):
            given = np.asarray(getattr(self.perception, "predict_proba", self.perception)(data))
        columns = [self._columns(attribute) for attribute in self.attributes]
        size = len(self.attributes[0].domain)
        if given.dtype.kind not in "fiub":
            raise DegreeError(f"{self._where} must give probabilities; it gave {given.dtype}")
        if given.shape != (len(data), size):
            raise ShapeError(
                f"{self._where} gave an array of shape {given.shape} for {len(data)} rows of "
                f"data; {self.attributes[0].name!r} has {size} values, so it must be "
                f"({len(data)}, {size}): a row for each row of data, a column for each value"
            )
        each = given.reshape(samples.n, len(columns), size)
        in_order = all(order == list(range(size)) for order in columns)
        return each if in_order else np.take_along_axis(each, np.array(columns)[None], axis=2)

    @contextmanager
    def _blamed(self, data: Array) -> Iterator[None]:
        """Name the perception in errors that come from it: those of others stay what they are."""
        try:
            with placed(self._where):
                yield
        except PinesyError:
            raise
        except Exception as error:
            kind, n = type(self.perception).__name__, len(data)
            error.add_note(
                f"raised by {self._where}, a {kind}, which was given {n} rows of data as an "
                f"array of shape {data.shape} and type {data.dtype}"
            )
            raise

    def _refuse(self, part: Array, begin: int, transform: Transform) -> None:
        """Raise the error of the first distribution that cannot be transformed."""
        for row, sample in enumerate(part.tolist(), begin):
            for attribute, degrees in zip(self.attributes, sample, strict=True):
                with placed(f"the perception of {attribute.name!r}, row {row}"):
                    transform(dict(zip(attribute.domain, degrees, strict=True)))

    def _columns(self, attribute: Attribute) -> list[int]:
        """Return the column of each value of a domain."""
        # A method such as `classifier.predict_proba` belongs to the one that has the classes.
        owner = getattr(self.perception, "__self__", self.perception)
        if (classes := getattr(owner, "classes_", None)) is None:
            return list(range(len(attribute.domain)))
        given, domain = _keys(np.asarray(classes).tolist()), _keys(attribute.domain)
        numbers = _keys(range(len(domain)))
        if given == domain or (given == numbers and set(domain) != set(numbers)):
            return list(range(len(domain)))
        if set(given) == set(domain) and given != numbers:
            return [given.index(key) for key in domain]
        raise DataError(
            f"the perception of {attribute.name!r} has the classes {classes!r:.80}, which "
            f"{'may be values or positions' if given == numbers else 'are not the values'} of "
            f"{attribute!r}; train it with samples of every value, or give a function whose "
            "columns are in the order of the domain"
        )


def _keys(values: Iterable[object]) -> list[tuple[bool, object]]:
    """Tell values apart as domains do not need to: True is not 1."""
    return [(isinstance(v, bool), v) for v in values]


def _check_form(perception: object, where: str) -> None:
    """Raise `DataError` unless `perception` can give probabilities."""
    predicts = callable(perception) or callable(getattr(perception, "predict_proba", None))
    if isinstance(perception, type) or not predicts:
        raise DataError(
            f"{where} is {perception!r:.60}; give a function from data to probabilities, or an "
            "object with predict_proba"
        )
    if hasattr(perception, "state_dict") and not hasattr(perception, "predict_proba"):
        raise DataError(
            f"{where} is {type(perception).__name__}, a network, which gives scores; give "
            "pinesy.nets.NetworkPerception(network, recipe), or a function that returns its "
            "softmax as an array"
        )


def views_of(perception: object, inputs: tuple[Attribute, ...]) -> tuple[View, ...]:
    """Return each perception once, with the attributes that it sees.

    Parameters
    ----------
    perception : one for all inputs, or a mapping from inputs (or their names) to perceptions
    """
    if not isinstance(perception, Mapping):
        return (View(perception, inputs),)
    given = by_input(perception, inputs, "perception")
    seen: dict[object, list[Attribute]] = {}
    for attribute in inputs:
        seen.setdefault(_identity(given[attribute.name]), []).append(attribute)
    return tuple(View(given[same[0].name], tuple(same)) for same in seen.values())


def _identity(perception: object) -> object:
    """Return what no other perception has; every access of a method makes a new object."""
    if ismethod(perception):
        return id(perception.__self__), perception.__func__
    return id(perception)
