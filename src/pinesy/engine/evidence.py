"""What is known of the inputs, checked for form and brought to rows of columns."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, NamedTuple

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
    in_order,
    object_array,
    suggestion,
)
from pinesy.engine.plain_values import (
    ID,
    by_input,
    degrees_of_value,
    degrees_of_values,
    is_column,
    is_scalar,
)
from pinesy.engine.rows import Rows
from pinesy.exceptions import CascadeError, DegreeError, UnknownAttributeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import is_number
from pinesy.rules.possibility import Possibility
from pinesy.transforms import RowTransform, Transformation, as_transform

#: For each input attribute, by name or as the attribute itself, one of these:
#:
#: * a dict ``{value: degree}`` (values left out are impossible), a sequence of degrees in domain
#:   order, a `Possibility`, or for a batch an array ``(n_samples, |domain|)``;
#: * a plain value, which is certain, or None or NaN where nothing is known; for a batch a list, an
#:   array or a column of a table of such values. One value among batches holds for all samples.
#:
#: A list or array of numbers that is as long as the domain is a distribution, unless the attribute
#: is numeric or the other inputs are batches of as many samples; a column of a table never is.
#:
#: Or all inputs in one: an array of their degrees side by side; a table (pandas, polars) with a
#: column of plain values for each input, or columns ``input=value`` of degrees; a row of such a
#: table. ``docs/numbers-and-tables.md`` has examples.
Evidence = Mapping[Any, Any] | npt.NDArray[Any]


#: The name of a transformation of probabilities, or the function; None for possibilities.
Transform = str | Callable[..., Any] | None

#: What is asked of many arrays at once.
_AXES, _TYPE = attrgetter("ndim"), attrgetter("dtype")


@dataclass(frozen=True, eq=False)
class EvidenceForm:
    """What evidence must look like: names, lengths, numbers of samples (degrees are not read yet).

    Attributes
    ----------
    attributes : the inputs that are needed, in the order of their columns
    known : all inputs, for telling a superfluous one from an unknown name
    concluded : the attributes that rules conclude on, which take no evidence
    others : the names of attributes that a table may hold besides
    """

    attributes: tuple[Attribute, ...]
    known: Mapping[str, Attribute]
    concluded: frozenset[str] = frozenset()
    others: Collection[str] = ()

    def rows(
        self, evidence: Evidence, transform: Transform = None, *, probabilities: bool = False
    ) -> Rows:
        """Check the form of `evidence` and return it as rows of columns.

        Distributions in it are `probabilities` where this is true or a `transform` is given, except
        for each `Possibility`. Without a `transform` they stay what they are.
        """
        change = None if transform is None else as_transform(transform)
        probable = probabilities or change is not None
        if isinstance(evidence, np.ndarray):
            return self._flat(evidence, change, probable)
        if isinstance(evidence, Mapping):
            flat = self._joined(evidence)
            if flat is None:
                return self._by_attribute(evidence, change, probable)
            return self._flat(flat, change, probable)
        named = by_input(evidence, self.attributes, self.known, self.concluded, self.others)
        if named is not None:
            return self._by_attribute(named, change, probable)
        # Made only for a table: there may be thousands, and arrays need none.
        labels = (f"{a.name}={value}" for a in self.attributes for value in a.domain)
        evidence = in_order(evidence, labels, "the array of inputs")
        return self._flat(_as_array(evidence, "the array of inputs"), change, probable)

    @cached_property
    def _names(self) -> list[str]:
        return [a.name for a in self.attributes]

    @cached_property
    def sizes(self) -> list[int]:
        """The sizes of the domains."""
        return [len(a.domain) for a in self.attributes]

    @cached_property
    def _has_numbers(self) -> bool:
        """Whether an array as long as a domain may hold plain values of several samples."""
        return not self.attributes or any(a.scale is not None for a in self.attributes)

    def _joined(self, evidence: Mapping[Any, Any]) -> npt.NDArray[Any] | None:
        """Return one sample's arrays of degrees, by name, as one array; None for all other forms.

        A stream of samples often comes so. To look at all arrays at once, and join their bytes,
        takes a tenth of the time of reading each by itself.
        """
        if type(evidence) is not dict or len(evidence) != len(self._names) or self._has_numbers:
            return None
        as_needed = [*evidence] == self._names
        arrays: list[Any] = [*evidence.values()] if as_needed else [*map(evidence.get, self._names)]
        n = len(arrays)
        if [*map(type, arrays)] != [np.ndarray] * n or [*map(_AXES, arrays)] != [1] * n:
            return None
        kind = arrays[0].dtype
        if [*map(len, arrays)] != self.sizes or [*map(_TYPE, arrays)] != [kind] * n:
            return None
        try:
            return np.frombuffer(b"".join(arrays), kind) if kind.kind in "fiub" else None
        except TypeError:  # some are slices with gaps, which have no bytes in a row
            return None

    def _by_attribute(
        self, named: Mapping[Any, Any], transform: Transformation | None, probable: bool
    ) -> Rows:
        """Return the rows of evidence that is given for each input by itself."""
        _check_attributes(named, self.known)
        given = by_name(named, "input", DegreeError)
        attributes = self.attributes
        _check_names(given, attributes, self)
        word = "probability" if probable else "possibility"
        contents = [_content(given[a.name], a, word) for a in attributes]
        sizes = {len(one.array) for one in contents if one.is_batch}
        if sizes:
            contents = [one.beside(sizes, a) for one, a in zip(contents, attributes, strict=True)]
        arrays = [one.array for one in contents]
        shapes = {a.ndim for a in arrays}
        if len(shapes) > 1:
            one = attributes[[a.ndim for a in arrays].index(1)].name
            raise DegreeError(
                f"attribute {one!r} has one distribution while others have a batch of them; "
                "give every input as an array of shape (n_samples, size of the domain)"
            )
        _check_samples(arrays, attributes)
        is_batch = shapes == {2}
        arrays = arrays if is_batch else [a[None, :] for a in arrays]
        change = None
        settled: tuple[int, ...] = ()
        probabilities: tuple[int, ...] = ()
        if probable:
            settled = tuple(index for index, one in enumerate(contents) if one.is_settled)
            probabilities = tuple(i for i in range(len(contents)) if i not in settled)
        if transform is not None:
            change = _row_transform(self, transform, settled)
        n = len(arrays[0]) if arrays else 1
        return Rows(attributes, arrays, n, is_batch, 0, change, probabilities)

    def _flat(
        self, array: npt.NDArray[Any], transform: Transformation | None, probable: bool
    ) -> Rows:
        """Return the rows of an array that holds the degrees of all inputs."""
        check_unmasked(array, "the array of inputs")
        if array.ndim not in (1, 2) or array.shape[-1] != self._columns:
            names = ", ".join(self._names[:6]) + (", ..." * (len(self._names) > 6))
            raise DegreeError(
                f"an array of all inputs has {self._columns} columns, those of {names} side by "
                f"side; got shape {array.shape}"
            )
        _check_numbers(array, "the array of inputs")
        rows = array if array.ndim == 2 else array[None, :]
        change = None if transform is None else _row_transform(self, transform, ())
        probabilities = range(len(self.attributes) if probable else 0)
        return Rows(self.attributes, [rows], len(rows), array.ndim == 2, 0, change, probabilities)

    @cached_property
    def _columns(self) -> int:
        return sum(self.sizes)


@cached_on_owner
def _row_transform(
    form: EvidenceForm, transform: Transformation, settled: tuple[int, ...]
) -> RowTransform:
    """Return the transformation of all inputs but those that are `settled`."""
    return RowTransform(transform, form.sizes, settled)


def _check_attributes(evidence: Mapping[Any, object], known: Mapping[str, Attribute]) -> None:
    for key in evidence:
        if isinstance(key, Attribute) and known.get(key.name, key) != key:
            raise DegreeError(
                f"the evidence is for {key!r}, but the rules use {known[key.name]!r}; give the "
                "rules' own attribute, or its name"
            )


def _check_names(
    given: Mapping[str, object], attributes: Sequence[Attribute], form: EvidenceForm
) -> None:
    """Refuse evidence for what takes none, and names that are not declared; `id` is passed over."""
    for name in given:
        if name in form.concluded:
            raise CascadeError(f"{name!r} takes no evidence: rules conclude on it")
        if name not in form.known and name not in form.others and str(name).lower() != ID:
            hint = suggestion(name, form.known)
            raise UnknownAttributeError(f"there is no input {name!r}{hint}")
    missing = [a.name for a in attributes if a.name not in given]
    if missing:
        shown = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" * (len(missing) > 8))
        raise CascadeError(
            f"no distribution is given for {shown}; where nothing is known, give None (every value "
            "has possibility 1)"
        )


class _Content(NamedTuple):
    """What is given of an attribute.

    Attributes
    ----------
    array : degrees (size,) or (n, size), or plain values (n,)
    meant : what these are; one value holds for all samples of a batch, and numbers that may be
        values are so only beside batches of as many samples
    is_settled : whether they are possibilities, whatever distributions are
    """

    array: Any
    meant: Literal["degrees", "one value", "values", "degrees or values"] = "degrees"
    is_settled: bool = False

    @property
    def is_batch(self) -> bool:
        """Whether there is no doubt that it is given for several samples."""
        return self.meant == "values" or (self.meant == "degrees" and self.array.ndim == 2)

    def beside(self, sizes: Collection[int], attribute: Attribute) -> "_Content":
        """Return the degrees that are meant beside batches of some numbers of samples."""
        if self.meant == "one value":
            return _Content(np.tile(self.array, (max(sizes), 1)), is_settled=True)
        may_be = self.meant == "degrees or values" and len(self.array) in sizes
        if self.meant == "values" or may_be:
            return _Content(degrees_of_values(self.array, attribute), is_settled=True)
        return self


def _content(given: Any, attribute: Attribute, word: str) -> _Content:
    """Tell what is given of an attribute; `word` is what its degrees are."""
    if isinstance(given, np.ndarray):
        check_unmasked(given, f"attribute {attribute.name!r}")
        if given.ndim == 2:
            return _Content(_checked_degrees(given, attribute))
        given = given if given.ndim else given.item()
    elif isinstance(given, Mapping | Possibility) or hasattr(given, "columns"):
        return _Content(_degrees(given, attribute, word), is_settled=isinstance(given, Possibility))
    if is_scalar(given, attribute):
        return _Content(degrees_of_value(given, attribute), "one value", True)
    if is_column(given):
        return _Content(given, "values")
    array = _as_array(given, f"attribute {attribute.name!r}")
    first = given[0] if isinstance(given, list) and given else None
    mixed = array is not given and array.dtype.kind == "U" and set(map(type, given)) != {str}
    if mixed or (isinstance(first, tuple) and first in attribute):
        array = object_array(given)
    if array.ndim != 1:
        return _Content(_checked_degrees(array, attribute))
    is_numbers = array.dtype.kind in "fiub" and attribute.scale is None
    may_be = is_numbers and len(array) == len(attribute.domain)
    return _Content(array, "degrees or values" if may_be else "values")


def _degrees(content: object, attribute: Attribute, word: str = "possibility") -> npt.NDArray[Any]:
    """Return one distribution (size,) or a batch (n, size) of an attribute, as numbers."""
    if isinstance(content, Mapping):
        array = np.zeros(len(attribute.domain))
        for value, degree in content.items():
            if type(degree) is not float or not 0.0 <= degree <= 1.0:  # most are
                where = f"attribute {attribute.name!r}: the {word} of {value!r}"
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
    array = _as_array(in_order(content, map(str, attribute.domain), where), where)
    return _checked_degrees(array, attribute)


def _checked_degrees(array: npt.NDArray[Any], attribute: Attribute) -> npt.NDArray[Any]:
    """Return an array if it has the form of one distribution or of a batch of them."""
    size = len(attribute.domain)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise DegreeError(
            f"attribute {attribute.name!r} has {size} values, so it takes an array of shape "
            f"({size},) or (n_samples, {size}); got shape {array.shape}"
        )
    _check_numbers(array, f"attribute {attribute.name!r}")
    return array


def target_degrees(target: object, attribute: Attribute) -> FloatArray:
    """Return a target as a normalised distribution: all of a value that is given alone."""
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


def _as_array(content: object, what: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(content)
    except (TypeError, ValueError):
        raise DegreeError(
            f"{what}: {cut_repr(content, 80)} is neither a dict {{value: degree}} nor an array of "
            "degrees"
        ) from None


def _check_numbers(array: npt.NDArray[Any], what: str) -> None:
    if array.dtype.kind not in "fiub":
        raise DegreeError(f"{what}: degrees must be numbers; got an array of {array.dtype}")


def _check_samples(arrays: Sequence[npt.NDArray[Any]], attributes: Sequence[Attribute]) -> None:
    for array, attribute in zip(arrays, attributes, strict=True):
        if array.ndim == 2 and len(array) != len(arrays[0]):
            raise DegreeError(
                f"attribute {attribute.name!r} has {len(array)} samples but "
                f"{attributes[0].name!r} has {len(arrays[0])}; all inputs need the same number"
            )
