"""Perceptions: functions from data to the probability of each value of an attribute.

A *perception* is a function from data ``(n, ...)`` to probabilities ``(n, classes)``, or an object
with such a method `predict_proba`. It can be trained if it has ``fit(data, labels)``, and refuse
data early if it has ``check_data(data, classes, training=...)``. Class `j` is the value `j` of the
attribute's domain, unless the perception has `classes_`, as scikit-learn's have: the values of its
columns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import ismethod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, check_known, check_unmasked, listed
from pinesy.evidence.frames import ordered_columns
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, DegreeError, DomainError, PinesyError, ShapeError, placed
from pinesy.rules.attributes import Attribute

Array = npt.NDArray[Any]
#: For attributes, by name, the positions in the domain of the values of all samples.
Labels = dict[str, npt.NDArray[np.int64]]
#: A function from probabilities to possibilities; see `pinesy.transforms`.
Transform = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class RawSamples:
    """The data of samples, as perceptions take them.

    Attributes
    ----------
    inputs : the attributes, in the order of the columns of one array
    columns : for each attribute, by name, an array ``(n, ...)``
    base : the array ``(n, len(inputs), ...)`` that the columns are views of, if they are
    """

    inputs: tuple[Attribute, ...]
    columns: dict[str, Array]
    base: Array | None = None

    @classmethod
    def of(
        cls, content: object, inputs: tuple[Attribute, ...], description: str = "samples"
    ) -> "RawSamples":
        """Check the names and lengths of the data; perceptions check their content."""
        contents, base = _columns(content, inputs, description, "data")
        columns = {a.name: _array(contents[a.name], f"{description}[{a.name!r}]") for a in inputs}
        first = inputs[0].name
        for name, array in columns.items():
            if array.ndim == 0 or not len(array):
                raise DataError(f"{description} has no rows: there are no samples")
            if len(array) != len(columns[first]):
                raise ShapeError(
                    f"{description} has {len(array)} rows of data for {name!r} and "
                    f"{len(columns[first])} for {first!r}; every sample needs one for each "
                    "attribute"
                )
        return cls(inputs, columns, base)

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.columns[self.inputs[0].name])

    def rows(self, attributes: Sequence[Attribute]) -> Array:
        """Return the data ``(n * len(attributes), ...)`` of these attributes, sample by sample."""
        if self.base is not None and tuple(attributes) == self.inputs:
            return self.base.reshape(-1, *self.base.shape[2:])  # a view, not a copy
        arrays = [self.columns[a.name] for a in attributes]
        for attribute, array in zip(attributes, arrays, strict=True):
            if array.shape != arrays[0].shape:
                raise ShapeError(
                    f"one perception sees {attributes[0].name!r}, with data of shape "
                    f"{arrays[0].shape}, and {attribute.name!r}, with data of shape {array.shape}; "
                    "make the shapes equal, or give each a perception of its own"
                )
        return np.stack(arrays, axis=1).reshape(-1, *arrays[0].shape[1:])


def concept_labels(content: object, inputs: tuple[Attribute, ...], n: int) -> Labels:
    """Return the indices of the values of all attributes, or of those that a dict names."""
    columns, _ = _columns(content, inputs, "concepts", "values", are_all_needed=False)
    labels: Labels = {}
    for attribute in inputs:
        if attribute.name in columns:
            try:
                with placed("concepts"):
                    target = Target.of_values(columns[attribute.name], attribute, n)
            except DomainError as error:
                cure = "leave out samples whose value is not known"
                error.args = (f"{error}; {cure}", *error.args[1:])
                raise
            labels[attribute.name] = target.labels.astype(np.int64)
    return labels


def _columns(
    content: object,
    inputs: tuple[Attribute, ...],
    description: str,
    parts: str,
    *,
    are_all_needed: bool = True,
) -> tuple[dict[str, Any], Array | None]:
    """Return the columns by attribute, and the array of all columns, if it is one.

    Named columns are put in the order of the inputs.
    """
    if isinstance(content, Mapping):
        by_name = mapping_by_input(content, inputs, description, are_all_needed=are_all_needed)
        return by_name, None
    array = _array(ordered_columns(content, (a.name for a in inputs), description), description)
    if array.ndim < 2 or array.shape[1] != len(inputs):
        raise ShapeError(
            f"{description} has shape {array.shape}; it must be (n, {len(inputs)}, ...): for each "
            f"sample the {parts} of each of {names(inputs)}, in this order; or give a dict from "
            f"attributes to {parts}"
        )
    return {a.name: array[:, i] for i, a in enumerate(inputs)}, array


def mapping_by_input(
    content: Mapping[Any, Any],
    inputs: Sequence[Attribute],
    description: str,
    *,
    are_all_needed: bool = True,
) -> dict[str, Any]:
    """Return a mapping from inputs or their names with the names as keys; raise for other keys.

    Parameters
    ----------
    are_all_needed : whether every input needs a content
    """
    with placed(description):
        contents = by_name(content, "input")
        known = dict.fromkeys(a.name for a in inputs)
        for name in contents:
            check_known(name, known, f"there is no input {name!r}")
        missing = [a for a in inputs if a.name not in contents]
        if are_all_needed and missing:
            raise DataError(f"there is none for {names(missing)}; give one for every input")
    return contents


def names(attributes: Sequence[Attribute]) -> str:
    """Return the names of attributes, the first ones if they are many."""
    return listed([a.name for a in attributes])


def _array(content: object, description: str) -> Array:
    check_unmasked(content, description)
    try:
        return np.asarray(content)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{description} cannot be made an array: {error}") from None


@runtime_checkable
class Savable(Protocol):
    """A perception that can be saved to a file.

    Attributes
    ----------
    suffix : how the file's name ends
    """

    suffix: str

    def save(self, path: Path) -> None:
        """Write the learned state to a file."""

    def restore(self, path: Path) -> object:
        """Load the state that a perception of the same form has saved."""


@dataclass(frozen=True, eq=False)
class View:
    """A perception and the attributes that it sees; their domains have the same size."""

    perception: Any
    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        perception, has_method = self.perception, hasattr(self.perception, "predict_proba")
        if isinstance(perception, type) or not (has_method or callable(perception)):
            raise DataError(
                f"{self._where} is {perception!r:.60}; give a function from data to "
                "probabilities, or an object with predict_proba"
            )
        if hasattr(perception, "state_dict") and not has_method:
            raise DataError(
                f"{self._where} is {type(perception).__name__}, a network, which gives scores; "
                "give pinesy.nets.NetworkPerception(network, recipe), or a function that returns "
                "its softmax as an array"
            )
        first = self.attributes[0]
        for other in self.attributes:
            if len(other.domain) != len(first.domain):
                raise DomainError(
                    f"one perception sees {first.name!r}, with {len(first.domain)} values, and "
                    f"{other.name!r}, with {len(other.domain)}; give a dict with a perception for "
                    "each attribute"
                )

    @property
    def _where(self) -> str:
        return f"the perception of {names(self.attributes)}"

    def check(self, samples: RawSamples, labels: Labels, prefix: str = "") -> None:
        """Raise an error if the perception cannot be trained, or refuses such data.

        The labels are of the attributes that it is to be trained for.
        """
        labelled = any(a.name in labels for a in self.attributes)
        if labelled and not callable(getattr(self.perception, "fit", None)):
            raise DataError(
                f"{self._where} is a {type(self.perception).__name__} without fit(data, labels), "
                "so it cannot be trained; if it is trained already, leave out concepts, or give "
                "them as a dict without its attributes"
            )
        if callable(check := getattr(self.perception, "check_data", None)):
            data = samples.rows(self.attributes)
            with placed(f"{prefix}{self._where}"):
                check(data[:1], len(self.attributes[0].domain), training=labelled)

    def fit(self, samples: RawSamples, labels: Labels) -> None:
        """Train the perception: `labels` are positions in the domain, for some attributes."""
        labelled = [a for a in self.attributes if a.name in labels]
        if labelled:
            classes = np.stack([labels[a.name] for a in labelled], axis=1)
            data = samples.rows(labelled)
            with self._named_errors(data):
                self.perception.fit(data, classes.ravel())

    def perceive(
        self, samples: RawSamples, transform: Transform | None = None
    ) -> dict[str, FloatArray]:
        """Return the possibilities (n, size of the domain) of each attribute, by name.

        Without a transformation they are probabilities. The perception gets the data of all
        attributes in one array.
        """
        rows = self._probabilities(samples)
        degrees = rows if transform is None else self._possibilities(rows, transform)
        return {a.name: degrees[:, i] for i, a in enumerate(self.attributes)}

    def _probabilities(self, samples: RawSamples) -> Array:
        """Return the probabilities (n, attributes, size), of values in the order of domains."""
        data = samples.rows(self.attributes)
        with self._named_errors(data):
            predict = getattr(self.perception, "predict_proba", self.perception)
            probabilities = np.asarray(predict(data))
        columns = [self._column_order(attribute) for attribute in self.attributes]
        size = len(self.attributes[0].domain)
        if probabilities.dtype.kind not in "fiub":
            raise DegreeError(
                f"{self._where} must give probabilities; it gave {probabilities.dtype}"
            )
        if probabilities.shape != (len(data), size):
            raise ShapeError(
                f"{self._where} gave an array of shape {probabilities.shape} for {len(data)} rows "
                f"of data; {self.attributes[0].name!r} has {size} values, so it must be "
                f"({len(data)}, {size}): a row for each row of data, a column for each value"
            )
        probabilities = probabilities.reshape(samples.n, len(columns), size)
        if all(order == list(range(size)) for order in columns):
            return probabilities
        return np.take_along_axis(probabilities, np.array(columns)[None], axis=2)

    @contextmanager
    def _named_errors(self, data: Array) -> Iterator[None]:
        """Name the perception in errors that come from it; other errors get a note."""
        try:
            with placed(self._where):
                yield
        except Exception as error:
            if not isinstance(error, PinesyError):
                error.add_note(
                    f"raised by {self._where}, a {type(self.perception).__name__}, which was given "
                    f"{len(data)} rows of data as an array of shape {data.shape} and type "
                    f"{data.dtype}"
                )
            raise

    def _possibilities(self, probabilities: Array, transform: Transform) -> Array:
        """Return possibilities, or raise the error of the first row that cannot be transformed."""
        try:
            return np.asarray(transform(probabilities))
        except DegreeError:
            for row, sample in enumerate(probabilities.tolist()):
                for attribute, degrees in zip(self.attributes, sample, strict=True):
                    with placed(f"the perception of {attribute.name!r}, row {row}"):
                        transform(dict(zip(attribute.domain, degrees, strict=True)))
            raise

    def _column_order(self, attribute: Attribute) -> list[int]:
        """Return the column of each value of a domain in the perception's output."""
        # A method such as `classifier.predict_proba` belongs to the one that has the classes.
        owner = getattr(self.perception, "__self__", self.perception)
        if (classes := getattr(owner, "classes_", None)) is None:
            return list(range(len(attribute.domain)))
        keys, domain = _typed_keys(np.asarray(classes).tolist()), _typed_keys(attribute.domain)
        indices = _typed_keys(range(len(domain)))
        if keys == domain or (keys == indices and set(domain) != set(indices)):
            return list(range(len(domain)))
        if set(keys) == set(domain) and keys != indices:
            return [keys.index(key) for key in domain]
        raise DataError(
            f"the perception of {attribute.name!r} has the classes {classes!r:.80}, which "
            f"{'may be values or positions' if keys == indices else 'are not the values'} of "
            f"{attribute!r}; train it with samples of every value, or give a function whose "
            "columns are in the order of the domain"
        )


def _typed_keys(values: Iterable[object]) -> list[tuple[bool, object]]:
    """Return keys of values that tell True from 1."""
    return [(isinstance(v, bool), v) for v in values]


def views_of(perception: Any, inputs: tuple[Attribute, ...]) -> tuple[View, ...]:
    """Return a view for each distinct perception, with its attributes; see `NeuroSymbolic`."""
    if not isinstance(perception, Mapping):
        return (View(perception, inputs),)
    perceptions = mapping_by_input(perception, inputs, "perception")
    groups: dict[object, list[Attribute]] = {}
    for attribute in inputs:
        perception = perceptions[attribute.name]
        is_method = ismethod(perception)  # every access of a method makes a new object
        owner = (id(perception.__self__), perception.__func__) if is_method else id(perception)
        groups.setdefault(owner, []).append(attribute)
    return tuple(View(perceptions[group[0].name], tuple(group)) for group in groups.values())
