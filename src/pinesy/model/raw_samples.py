"""Raw samples: data for each input attribute, as perceptions take them, and their labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common import names as naming
from pinesy._common.validation import in_order, listed, suggestion
from pinesy.exceptions import DataError, DomainError, ShapeError, UnknownAttributeError, placed
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute

Array = npt.NDArray[Any]
#: For attributes, by name, the positions in the domain of the values of all samples.
Labels = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class RawSamples:
    """The data of `n` samples.

    Attributes
    ----------
    n : the number of samples
    inputs : the attributes, in the order of the columns of one array
    content : an array ``(n, len(inputs), ...)``, or for each attribute an array ``(n, ...)``
    """

    n: int
    inputs: tuple[Attribute, ...]
    content: Array | dict[str, Array]

    @classmethod
    def of(
        cls, content: object, inputs: tuple[Attribute, ...], what: str = "samples"
    ) -> "RawSamples":
        """Check the names and the numbers of data; perceptions check what is in them."""
        if isinstance(content, Mapping):
            return cls._by_attribute(content, inputs, what)
        array = _table(content, inputs, what)
        if array.ndim < 2 or array.shape[1] != len(inputs):
            raise ShapeError(
                f"{what} has shape {array.shape}; it must be (n, {len(inputs)}, ...): for each "
                f"sample the data of each of {names(inputs)}, in this order; or give a dict from "
                "attributes to data"
            )
        return cls(_number(array, what), inputs, array)

    @classmethod
    def _by_attribute(
        cls, content: Mapping[Any, Any], inputs: tuple[Attribute, ...], what: str
    ) -> "RawSamples":
        given = by_input(content, inputs, what)
        arrays = {a.name: _array(given[a.name], f"{what}[{a.name!r}]") for a in inputs}
        first, n = inputs[0].name, _number(arrays[inputs[0].name], what)
        for name, array in arrays.items():
            if len(array) != n:
                raise ShapeError(
                    f"{what} has {len(array)} rows of data for {name!r} and {n} for {first!r}; "
                    "every sample needs one for each attribute"
                )
        return cls(n, inputs, arrays)

    @property
    def ignorance(self) -> npt.NDArray[np.float64]:
        """Stands in for the evidence on the samples, where only targets are checked."""
        columns = sum(len(a.domain) for a in self.inputs)
        return np.broadcast_to(np.float64(1.0), (self.n, columns))

    @property
    def first(self) -> "RawSamples":
        """The first sample, whose data have the form of all."""
        content = self.content
        if isinstance(content, np.ndarray):
            return RawSamples(1, self.inputs, content[:1])
        return RawSamples(1, self.inputs, {name: array[:1] for name, array in content.items()})

    def rows(self, attributes: Sequence[Attribute]) -> Array:
        """Return the data of some attributes ``(n * len(attributes), ...)``, sample by sample."""
        stacked = self._stacked(attributes)
        return stacked.reshape(-1, *stacked.shape[2:])

    def _stacked(self, attributes: Sequence[Attribute]) -> Array:
        if isinstance(self.content, np.ndarray):
            if tuple(attributes) == self.inputs:
                return self.content  # a view, not a copy
            column = {a.name: i for i, a in enumerate(self.inputs)}
            return self.content[:, [column[a.name] for a in attributes]]
        arrays = [self.content[a.name] for a in attributes]
        for attribute, array in zip(attributes, arrays, strict=True):
            if array.shape != arrays[0].shape:
                raise ShapeError(
                    f"one perception sees {attributes[0].name!r}, with data of shape "
                    f"{arrays[0].shape}, and {attribute.name!r}, with data of shape {array.shape}; "
                    "make the shapes equal, or give each a perception of its own"
                )
        return arrays[0][:, None] if len(arrays) == 1 else np.stack(arrays, axis=1)


def labels_of(content: object, inputs: tuple[Attribute, ...], n: int) -> Labels:
    """Return the positions of the values of attributes: of all, or of those that a dict names."""
    if isinstance(content, Mapping):
        columns: dict[str, Any] = by_input(content, inputs, "concepts", every=False)
    else:
        array = _table(content, inputs, "concepts")
        if array.shape != (n, len(inputs)):
            raise ShapeError(
                f"concepts has shape {array.shape}; it must be ({n}, {len(inputs)}): for each "
                f"sample the values of {names(inputs)}, in this order; or give a dict from "
                "attributes to values"
            )
        columns = {a.name: array[:, i] for i, a in enumerate(inputs)}
    return {a.name: _positions(columns[a.name], a, n) for a in inputs if a.name in columns}


def _positions(content: object, attribute: Attribute, n: int) -> npt.NDArray[np.int64]:
    try:
        with placed("concepts"):
            target = Target.of(content, attribute)
    except DomainError as error:
        cure = "leave out samples of which it is not known"
        error.args = (f"{error}; {cure}", *error.args[1:])
        raise
    if target.is_graded:
        raise DataError(
            f"concepts: {attribute.name!r} has distributions; give one value for each sample"
        )
    if len(target) != n:
        raise ShapeError(
            f"concepts: {attribute.name!r} has {len(target)} values, and there are {n} samples"
        )
    return target.labels.astype(np.int64)


def by_input(
    content: Mapping[Any, Any], inputs: Sequence[Attribute], what: str, *, every: bool = True
) -> dict[str, Any]:
    """Return a mapping from inputs or their names by the names alone.

    Parameters
    ----------
    every : whether there must be something for every input
    """
    with placed(what):
        given = naming.by_name(content, "input")
        known = [a.name for a in inputs]
        for name in given:
            if name not in known:
                raise UnknownAttributeError(f"there is no input {name!r}{suggestion(name, known)}")
        missing = [a for a in inputs if a.name not in given]
        if every and missing:
            raise DataError(f"there is none for {names(missing)}; give one for every input")
    return given


def names(attributes: Sequence[Attribute]) -> str:
    """Return the names of attributes, the first ones if they are many."""
    return listed([a.name for a in attributes])


def _table(content: object, inputs: tuple[Attribute, ...], what: str) -> Array:
    """Return an array; columns that have names are put in the order of the inputs."""
    return _array(in_order(content, (a.name for a in inputs), what), what)


def _array(content: object, what: str) -> Array:
    try:
        return np.asarray(content)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} cannot be made an array: {error}") from None


def _number(array: Array, what: str) -> int:
    if array.ndim == 0 or not len(array):
        raise DataError(f"{what} has no rows: there are no samples")
    return len(array)
