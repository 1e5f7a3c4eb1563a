"""The form of evidence: validates the evidence of all inputs and returns it as `Rows`."""

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.names import by_name
from pinesy._common.validation import (
    FloatArray,
    check_degree,
    check_distribution,
    check_unmasked,
    cut_repr,
    object_array,
    suggestion,
    unused_columns,
)
from pinesy.evidence.frames import (
    frame_columns,
    is_column,
    is_frame,
    ordered_columns,
    row_values,
)
from pinesy.evidence.plain_values import ID, degrees_of_value, degrees_of_values, is_scalar
from pinesy.evidence.rows import Rows
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DegreeError,
    UnknownAttributeError,
    UnusedColumnsWarning,
)
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import is_number
from pinesy.rules.possibility import Possibility
from pinesy.transforms import RowTransform, Transformation, as_transform

#: For each input attribute, by name or as the attribute itself, one of these:
#:
#: * a dict ``{value: degree}`` (0 for other values), a sequence of degrees in domain
#:   order, a `Possibility`, or for a batch an array ``(n_samples, |domain|)``;
#: * a plain value, which is certain, or None or NaN if it is missing; for a batch a list, an
#:   array or a column of a table of such values. A single value among batches is broadcast.
#:
#: A list or array of numbers that is as long as the domain is a distribution, unless the attribute
#: is numeric or the other inputs are batches of as many samples; a column of a table never is.
#:
#: Or all inputs in one: an array of their concatenated degrees; a data frame (of pandas, polars,
#: pyarrow) with a column of plain values for each input, or columns ``input=value`` of degrees; a
#: row of such a frame. ``docs/numbers-and-tables.md`` has examples.
Evidence = Mapping[Any, Any] | npt.NDArray[Any]


#: The name of a transformation of probabilities, or the function; None for possibilities.
Transform = str | Callable[..., Any] | None

_NDIM, _DTYPE = attrgetter("ndim"), attrgetter("dtype")


class RuleBase(Protocol):
    """The attributes of rules that take evidence, or not; a `Cascade` is one."""

    @property
    def inputs(self) -> tuple[Attribute, ...]:
        """The attributes that take evidence."""

    @property
    def sets(self) -> Mapping[str, Any]:
        """The rule sets, by the names of the attributes that they conclude on."""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """All declared attributes, by name."""


def evidence_rows(
    rules: RuleBase, evidence: "Evidence", inputs: tuple[Attribute, ...] | None = None
) -> Rows:
    """Return evidence on some inputs (by default all) as rows; validate it as inference does."""
    return evidence_form(rules, rules.inputs if inputs is None else inputs).rows(evidence)


@cached_on_owner
def evidence_form(rules: RuleBase, inputs: tuple[Attribute, ...]) -> "EvidenceForm":
    """Return the form of evidence on some inputs of rules."""
    known = {a.name: a for a in rules.inputs}
    return EvidenceForm(inputs, known, frozenset(rules.sets), rules.attributes)


@dataclass(frozen=True, eq=False)
class EvidenceForm:
    """Validates the names, lengths and numbers of samples of evidence (not its degrees).

    Attributes
    ----------
    attributes : the inputs that are needed, in the order of their columns
    known : all inputs, which evidence may have too
    concluded : the attributes that rules conclude on, which take no evidence
    others : the names of other attributes that a data frame may have
    """

    attributes: tuple[Attribute, ...]
    known: Mapping[str, Attribute]
    concluded: frozenset[str] = frozenset()
    others: Collection[str] = ()

    def rows(
        self, evidence: Evidence, transform: Transform = None, *, probabilities: bool = False
    ) -> Rows:
        """Validate the form of `evidence` and return it as rows of columns.

        Distributions other than a `Possibility` are probabilities if there is a `transform`, or if
        `probabilities` is true; only a `transform` changes them.
        """
        change = None if transform is None else as_transform(transform)
        probabilities = probabilities or change is not None
        if isinstance(evidence, np.ndarray):
            return self._flat_rows(evidence, change, probabilities)
        if isinstance(evidence, Mapping):
            flat = self._joined_arrays(evidence)
            if flat is None:
                return self._rows_by_input(evidence, change, probabilities)
            return self._flat_rows(flat, change, probabilities)
        contents = contents_by_input(
            evidence, self.attributes, self.known, self.concluded, self.others
        )
        if contents is not None:
            return self._rows_by_input(contents, change, probabilities)
        # A generator: there may be thousands of labels, and only frames need them.
        labels = (f"{a.name}={value}" for a in self.attributes for value in a.domain)
        evidence = ordered_columns(evidence, labels, "the array of inputs")
        return self._flat_rows(_as_array(evidence, "the array of inputs"), change, probabilities)

    @cached_property
    def _names(self) -> list[str]:
        return [a.name for a in self.attributes]

    @cached_property
    def sizes(self) -> list[int]:
        """The sizes of the domains."""
        return [len(a.domain) for a in self.attributes]

    @cached_property
    def _has_numbers(self) -> bool:
        """Whether an array as long as a domain may be plain values of several samples."""
        return not self.attributes or any(a.scale is not None for a in self.attributes)

    def _joined_arrays(self, evidence: Mapping[Any, Any]) -> npt.NDArray[Any] | None:
        """Return the degrees of one sample, given as arrays by name, as one array; else None.

        A fast path for streams of samples: checking all arrays at once and joining their bytes
        takes a tenth of the time of `_rows_by_input`.
        """
        if type(evidence) is not dict or len(evidence) != len(self._names) or self._has_numbers:
            return None
        names = self._names
        is_ordered = [*evidence] == names
        arrays: list[Any] = [*(evidence.values() if is_ordered else map(evidence.get, names))]
        n = len(arrays)
        if [*map(type, arrays)] != [np.ndarray] * n or [*map(_NDIM, arrays)] != [1] * n:
            return None
        dtype = arrays[0].dtype
        if [*map(len, arrays)] != self.sizes or [*map(_DTYPE, arrays)] != [dtype] * n:
            return None
        try:
            return np.frombuffer(b"".join(arrays), dtype) if dtype.kind in "fiub" else None
        except TypeError:  # a slice with gaps is not contiguous in memory
            return None

    def _rows_by_input(
        self, evidence: Mapping[Any, Any], transform: Transformation | None, probabilities: bool
    ) -> Rows:
        """Return the rows of evidence given for each input."""
        attributes = self.attributes
        for key in evidence:
            if isinstance(key, Attribute) and self.known.get(key.name, key) != key:
                raise DegreeError(
                    f"the evidence is for {key!r}, but the rules use {self.known[key.name]!r}; "
                    "give the rules' own attribute, or its name"
                )
        contents = by_name(evidence, "input", DegreeError)
        self._check_names(contents)
        degree_name = "probability" if probabilities else "possibility"
        readings = [_read_content(contents[a.name], a, degree_name) for a in attributes]
        sizes = {len(reading.array) for reading in readings if reading.is_batch}
        if sizes:
            pairs = zip(readings, attributes, strict=True)
            readings = [reading.in_batch(sizes, attribute) for reading, attribute in pairs]
        arrays = [reading.array for reading in readings]
        shapes = {a.ndim for a in arrays}
        if len(shapes) > 1:
            single = attributes[[a.ndim for a in arrays].index(1)].name
            raise DegreeError(
                f"attribute {single!r} has one distribution while others have a batch of them; "
                "give every input as an array of shape (n_samples, size of the domain)"
            )
        for array, attribute in zip(arrays, attributes, strict=True):
            if array.ndim == 2 and len(array) != len(arrays[0]):
                raise DegreeError(
                    f"attribute {attribute.name!r} has {len(array)} samples but "
                    f"{attributes[0].name!r} has {len(arrays[0])}; all inputs need the same number"
                )
        is_batch = shapes == {2}
        arrays = arrays if is_batch else [a[None, :] for a in arrays]
        change, indices = None, list[int]()
        if probabilities:
            indices = [i for i, reading in enumerate(readings) if not reading.is_possibility]
        if transform is not None:
            unchanged = tuple(i for i, reading in enumerate(readings) if reading.is_possibility)
            change = _row_transform(self, transform, unchanged)
        n = len(arrays[0]) if arrays else 1
        return Rows(attributes, arrays, n, is_batch, 0, change, indices)

    def _check_names(self, contents: Mapping[str, object]) -> None:
        """Raise an error for concluded attributes, unknown names and inputs without evidence.

        Declared attributes that are not needed are ignored, and so is `id`.
        """
        for name in contents:
            if name in self.concluded:
                raise CascadeError(f"{name!r} takes no evidence: rules conclude on it")
            if name not in self.known and name not in self.others and str(name).lower() != ID:
                hint = suggestion(name, self.known)
                raise UnknownAttributeError(f"there is no input {name!r}{hint}")
        missing = [a.name for a in self.attributes if a.name not in contents]
        if missing:
            names = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" * (len(missing) > 8))
            raise CascadeError(
                f"no distribution is given for {names}; where nothing is known, give None (every "
                "value has possibility 1)"
            )

    def _flat_rows(
        self, array: npt.NDArray[Any], transform: Transformation | None, probabilities: bool
    ) -> Rows:
        """Return the rows of an array with the concatenated degrees of all inputs."""
        check_unmasked(array, "the array of inputs")
        if array.ndim not in (1, 2) or array.shape[-1] != self._n_columns:
            names = ", ".join(self._names[:6]) + (", ..." * (len(self._names) > 6))
            raise DegreeError(
                f"an array of all inputs has {self._n_columns} columns, those of {names} side by "
                f"side; got shape {array.shape}"
            )
        _check_numbers(array, "the array of inputs")
        rows = array if array.ndim == 2 else array[None, :]
        change = None if transform is None else _row_transform(self, transform, ())
        indices = range(len(self.attributes) if probabilities else 0)
        return Rows(self.attributes, [rows], len(rows), array.ndim == 2, 0, change, indices)

    @cached_property
    def _n_columns(self) -> int:
        return sum(self.sizes)


@cached_on_owner
def _row_transform(
    form: EvidenceForm, transform: Transformation, unchanged: tuple[int, ...]
) -> RowTransform:
    """Return the transformation of all inputs except those with the indices `unchanged`."""
    return RowTransform(transform, form.sizes, unchanged)


def contents_by_input(
    evidence: Any, attributes: Sequence[Attribute], *known: Iterable[str]
) -> Mapping[Any, Any] | None:
    """Return the evidence of each input by name; None for concatenated columns of all inputs.

    Parameters
    ----------
    evidence : a mapping, a data frame or a row of one
    attributes : the inputs that are needed
    known : the names of all attributes that a data frame may have
    """
    if isinstance(evidence, Mapping):
        return evidence
    columns = frame_columns(evidence)
    if columns is None:
        columns = row_values(evidence, [a.name for a in attributes])
    if columns is None or {a.name for a in attributes}.isdisjoint(columns):
        return None
    contents: dict[str, Any] = {}
    for attribute in attributes:
        labels = [f"{attribute.name}={value}" for value in attribute.domain]
        if attribute.name in columns:
            contents[attribute.name] = columns.pop(attribute.name)
        elif all(label in columns for label in labels):
            degrees = [np.asarray(columns.pop(label)) for label in labels]
            contents[attribute.name] = np.stack(degrees, axis=-1)
    names = set(chain(*known))
    unused = [name for name in columns if name not in names and name.lower() != ID]
    if unused and len(contents) < len(attributes):  # one of them may be misspelt
        raise DataError(
            f"no rule uses the column {unused[0]!r} of the table{suggestion(unused[0], names)}; "
            f"leave it out, declare it in the rules, or call it {ID!r} if it identifies samples"
        )
    if unused:
        warnings.warn(UnusedColumnsWarning(unused_columns(unused)), stacklevel=4)
    return contents


class _Reading(NamedTuple):
    """The evidence of one attribute as an array, and its interpretation.

    Attributes
    ----------
    array : degrees (size,) or (n, size), or plain values (n,)
    meaning : the content of the array. One value is broadcast to a batch; ``"degrees or values"``
        are values if other inputs are batches of as many samples
    is_possibility : whether the degrees are possibilities even if distributions are probabilities
    """

    array: Any
    meaning: Literal["degrees", "one value", "values", "degrees or values"] = "degrees"
    is_possibility: bool = False

    @property
    def is_batch(self) -> bool:
        """Whether the array certainly has several samples."""
        return self.meaning == "values" or (self.meaning == "degrees" and self.array.ndim == 2)

    def in_batch(self, sizes: Collection[int], attribute: Attribute) -> "_Reading":
        """Return the degrees of this attribute if other inputs are batches of some `sizes`."""
        if self.meaning == "one value":
            return _Reading(np.tile(self.array, (max(sizes), 1)), is_possibility=True)
        is_ambiguous = self.meaning == "degrees or values" and len(self.array) in sizes
        if self.meaning == "values" or is_ambiguous:
            return _Reading(degrees_of_values(self.array, attribute), is_possibility=True)
        return self


def _read_content(content: Any, attribute: Attribute, degree_name: str) -> _Reading:
    """Return the evidence of an attribute as an array; messages call a degree `degree_name`."""
    if isinstance(content, np.ndarray):
        check_unmasked(content, f"attribute {attribute.name!r}")
        if content.ndim == 2:
            return _Reading(_check_shape(content, attribute))
        content = content if content.ndim else content.item()
    elif isinstance(content, Mapping | Possibility) or is_frame(content):
        degrees = _degrees(content, attribute, degree_name)
        return _Reading(degrees, is_possibility=isinstance(content, Possibility))
    if is_scalar(content, attribute):
        return _Reading(degrees_of_value(content, attribute), "one value", True)
    if is_column(content):
        return _Reading(content, "values")
    array = _as_array(content, f"attribute {attribute.name!r}")
    first = content[0] if isinstance(content, list) and content else None
    is_mixed = array is not content and array.dtype.kind == "U" and set(map(type, content)) != {str}
    if is_mixed or (isinstance(first, tuple) and first in attribute):
        array = object_array(content)
    if array.ndim != 1:
        return _Reading(_check_shape(array, attribute))
    is_numbers = array.dtype.kind in "fiub" and attribute.scale is None
    is_ambiguous = is_numbers and len(array) == len(attribute.domain)
    return _Reading(array, "degrees or values" if is_ambiguous else "values")


def _degrees(
    content: object, attribute: Attribute, degree_name: str = "possibility"
) -> npt.NDArray[Any]:
    """Return one distribution (size,) or a batch (n, size) of an attribute as an array."""
    if isinstance(content, Mapping):
        array = np.zeros(len(attribute.domain))
        for value, degree in content.items():
            if type(degree) is not float or not 0.0 <= degree <= 1.0:  # most are
                where = f"attribute {attribute.name!r}: the {degree_name} of {value!r}"
                degree = check_degree(degree, where)
            array[attribute.position(value)] = degree + 0.0  # -0.0 becomes 0.0
        return array
    if isinstance(content, Possibility):
        if content.attribute != attribute:
            raise DegreeError(
                f"attribute {attribute.name!r} got a distribution on {content.attribute!r}"
            )
        return content.degrees
    where = f"attribute {attribute.name!r}"
    array = _as_array(ordered_columns(content, map(str, attribute.domain), where), where)
    return _check_shape(array, attribute)


def _check_shape(array: npt.NDArray[Any], attribute: Attribute) -> npt.NDArray[Any]:
    """Return an array of one distribution or a batch; raise `DegreeError` for other shapes."""
    size = len(attribute.domain)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise DegreeError(
            f"attribute {attribute.name!r} has {size} values, so it takes an array of shape "
            f"({size},) or (n_samples, {size}); got shape {array.shape}"
        )
    _check_numbers(array, f"attribute {attribute.name!r}")
    return array


def target_degrees(target: object, attribute: Attribute) -> FloatArray:
    """Return a target, a value or a distribution, as the degrees of a normalised distribution."""
    is_value = isinstance(target, Hashable) and target in attribute
    if is_value or (attribute.scale is not None and is_number(target)):
        return degrees_of_value(target, attribute)
    if is_scalar(target, attribute):
        attribute.position(target)  # raises: no such value
    degrees = _degrees(target, attribute).astype(np.float64)
    if degrees.ndim != 1:
        raise DegreeError(f"the target of {attribute.name!r} must be one distribution")
    check_distribution(degrees, attribute.domain, f"the target of {attribute.name!r}")
    return degrees


def _as_array(content: object, description: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(content)
    except (TypeError, ValueError):
        raise DegreeError(
            f"{description}: {cut_repr(content, 80)} is neither a dict {{value: degree}} nor an "
            "array of degrees"
        ) from None


def _check_numbers(array: npt.NDArray[Any], description: str) -> None:
    if array.dtype.kind not in "fiub":
        raise DegreeError(f"{description}: degrees must be numbers; got an array of {array.dtype}")
