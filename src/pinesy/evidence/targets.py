"""Targets: the value or distribution that rules should infer, for each training sample."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, name_of
from pinesy._common.validation import (
    FloatArray,
    check_distributions,
    check_known,
    check_unmasked,
    listed,
)
from pinesy.evidence.evidence_form import RuleBase, target_degrees
from pinesy.evidence.frames import is_frame, ordered_columns
from pinesy.exceptions import DataError, DegreeError, DomainError
from pinesy.rules.attributes import Attribute, check_attribute
from pinesy.rules.possibility import Possibility

LabelArray = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """The targets of an attribute for `n` samples.

    Attributes
    ----------
    attribute : Attribute
    labels : array (n,) of positions in the domain, empty if the targets are distributions
    degrees : array ``(n, |D_b|)``, of shape ``(0, |D_b|)`` if the targets are labels

    Examples
    --------
    >>> color = Attribute("color", ["red", "green"])
    >>> Target.of(["green", "red", "green"], color)
    Target(color: 3 labels)
    >>> Target.of([[1.0, 0.25], [0.5, 1.0]], color)
    Target(color: 2 distributions)
    """

    attribute: Attribute
    labels: LabelArray
    degrees: FloatArray

    @classmethod
    def of(cls, content: object, attribute: Attribute, *, is_batch: bool = True) -> "Target":
        """Return targets from values or distributions in any form.

        Parameters
        ----------
        content : for a batch, a sequence or array of values; an array ``(n, |D_b|)`` of degrees, a
            list of such rows, or a `Possibility`; for a product attribute also an integer array
            ``(n, factors)`` of the factors' values. For one sample, a value or a distribution.
        """
        check_attribute(attribute)
        where = f"the target of {attribute.name!r}"
        if isinstance(content, Target):
            if content.attribute != attribute:
                raise DegreeError(f"{where} is a target of {content.attribute!r}")
            return content
        check_unmasked(content, where)
        if not is_batch:
            return cls._graded(target_degrees(content, attribute)[None, :], attribute)
        if isinstance(content, Possibility):
            if content.attribute != attribute:
                raise DegreeError(f"{where} is a distribution on {content.attribute!r}")
            return cls._graded(np.atleast_2d(content.degrees), attribute)
        if isinstance(content, str | bytes | Mapping | Set) or not hasattr(content, "__len__"):
            raise DataError(
                f"{where} is {content!r:.60}; give one value or one distribution for each sample"
            )
        if is_frame(content) or getattr(content, "ndim", 1) > 1:  # frames iterate over their names
            content = np.asarray(ordered_columns(content, map(str, attribute.domain), where))
        if not isinstance(content, np.ndarray) and _has_values(content, attribute):
            return cls.at(_lookup_positions(list(content), attribute), attribute)  # type: ignore[call-overload]
        try:
            array = np.asarray(content)
        except (TypeError, ValueError):
            raise DataError(
                f"{where} mixes values and distributions, or has rows of several lengths; give one "
                "value a sample, or one row of degrees a sample"
            ) from None
        return cls._of_array(array, attribute)

    @classmethod
    def of_values(cls, content: object, attribute: Attribute, n: int) -> "Target":
        """Return targets that are values, one for each of `n` samples, or raise an error."""
        target = cls.of(content, attribute)
        if target.is_graded or len(target) != n:
            count = f"{len(target)} {'distributions' if target.is_graded else 'values'}"
            raise DataError(f"{attribute.name!r} has {count}; give {n} values, one for each sample")
        return target

    @classmethod
    def _of_array(cls, array: npt.NDArray[Any], attribute: Attribute) -> "Target":
        scale = attribute.scale
        if scale is not None and array.ndim == 1 and array.dtype.kind in "fiu":
            if np.isnan(array).any():
                row = int(np.isnan(array).argmax())
                raise DataError(f"the target of {attribute.name!r}, row {row} is missing; give all")
            if scale.blur:  # degrees of neighbouring intervals
                return cls._graded(scale.degrees(array), attribute)
            return cls.at(scale.positions(array), attribute)
        if array.ndim == 1:
            return cls.at(_positions(array, attribute), attribute)
        if array.ndim == 2 and array.dtype.kind in "iu" and attribute.factors:
            return cls.at(_product_positions(array, attribute), attribute)
        return cls._graded(array, attribute)

    @classmethod
    def at(cls, positions: npt.NDArray[Any], attribute: Attribute) -> "Target":
        """Return targets that are values, by their positions in the domain."""
        return cls(attribute, _readonly(positions, np.uint32), np.empty((0, len(attribute.domain))))

    @classmethod
    def join(cls, parts: "Sequence[Target]") -> "Target":
        """Return the concatenated targets of several batches of one attribute."""
        attribute = parts[0].attribute
        if not any(part.is_graded for part in parts):
            return cls.at(np.concatenate([part.labels for part in parts]), attribute)
        return cls._graded(np.concatenate([part.distributions for part in parts]), attribute)

    @classmethod
    def _graded(cls, array: npt.NDArray[Any], attribute: Attribute) -> "Target":
        size = len(attribute.domain)
        if array.ndim != 2 or array.shape[1] != size or array.dtype.kind not in "fiub":
            raise DegreeError(
                f"the target of {attribute.name!r} takes one value a sample, or degrees of shape "
                f"(n_samples, {size}); got {array.dtype} of shape {array.shape}"
            )
        degrees = _readonly(array, np.float64)
        check_distributions(degrees, attribute.domain, f"the target of {attribute.name!r}")
        return cls(attribute, np.empty(0, dtype=np.uint32), degrees)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.labels) or len(self.degrees)

    def __getitem__(self, samples: slice | npt.NDArray[Any]) -> "Target":
        """Return the targets of a selection of samples."""
        if self.is_graded:
            return Target(self.attribute, self.labels, _readonly(self.degrees[samples], np.float64))
        return Target(self.attribute, self.labels[samples], self.degrees)

    @property
    def is_graded(self) -> bool:
        """Whether the targets are distributions, not values."""
        return len(self.degrees) > 0

    @property
    def array(self) -> npt.NDArray[Any]:
        """The positions of the values ``(n,)``, or the degrees ``(n, |D_b|)``."""
        return self.degrees if self.is_graded else self.labels

    @property
    def distributions(self) -> FloatArray:
        """The targets as degrees ``(n, |D_b|)``; a label is one-hot."""
        if self.is_graded:
            return self.degrees
        degrees = np.zeros((len(self), len(self.attribute.domain)))
        degrees[np.arange(len(self)), self.labels] = 1.0
        return degrees

    def distribution(self, sample: int) -> FloatArray:
        """Return the target of one sample as degrees."""
        return np.asarray(self[np.array([sample])].distributions[0])

    def __repr__(self) -> str:
        noun = "distributions" if self.is_graded else "labels"
        return f"Target({self.attribute.name}: {len(self)} {noun})"


def _readonly(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """Return a read-only contiguous array; a copy if it is float64."""
    contiguous = np.ascontiguousarray(array, dtype=dtype)
    if dtype == np.float64:
        contiguous = contiguous + 0.0  # a copy, and -0.0 becomes 0.0
    view = contiguous.view()
    view.setflags(write=False)
    return view


def _has_values(content: Any, attribute: Attribute) -> bool:
    """Return whether a sequence has values of the attribute, not rows of degrees."""
    first = next(iter(content if isinstance(content, Iterable) else ()), None)
    if isinstance(first, tuple) and attribute.factors:
        return len(first) != len(attribute.domain) or first in attribute
    return isinstance(first, str | bytes) or (isinstance(first, Hashable) and first in attribute)


def _lookup_positions(values: Sequence[Hashable], attribute: Attribute) -> npt.NDArray[Any]:
    """Return the positions in the domain of a list of values."""
    try:
        position_of = {value: attribute.position(value) for value in dict.fromkeys(values)}
    except (DomainError, TypeError) as error:
        row = next(
            i for i, v in enumerate(values) if not (isinstance(v, Hashable) and v in attribute)
        )
        raise DomainError(f"the target of {attribute.name!r}, row {row}: {error}") from None
    positions = map(position_of.__getitem__, values)
    return np.fromiter(positions, dtype=np.uint32, count=len(values))


def _positions(values: npt.NDArray[Any], attribute: Attribute) -> npt.NDArray[Any]:
    """Return the positions in the domain of an array of values."""
    if values.dtype.kind in "iu":
        distinct, codes = np.unique(values, return_inverse=True)
        if all(value in attribute for value in distinct.tolist()):
            return _lookup_positions(distinct.tolist(), attribute)[codes]
    return _lookup_positions(values.tolist(), attribute)


def _product_positions(array: npt.NDArray[Any], attribute: Attribute) -> npt.NDArray[Any]:
    """Return the positions in a product domain of the rows of an array."""
    if array.shape[1] != len(attribute.factors):
        raise DegreeError(
            f"the target of {attribute.name!r}, a product of {len(attribute.factors)} attributes, "
            f"takes as many columns of values; got shape {array.shape} (degrees are floats)"
        )
    positions = np.zeros(len(array), dtype=np.int64)
    for factor, column in zip(attribute.factors, array.T, strict=True):
        try:
            positions = positions * len(factor.domain) + _positions(column, factor)
        except DomainError as error:
            raise DomainError(f"in the target of {attribute.name!r}: {error}") from None
    return positions


def named_targets(
    targets: Any,
    attributes: Mapping[str, Attribute],
    only: Attribute | None = None,
    *,
    optional: bool = False,
) -> dict[str, Any]:
    """Return the targets by name, in the order of `attributes`.

    Parameters
    ----------
    targets : a mapping from attributes, or their names, to targets; or the targets of `only`, even
        as a mapping from its values to degrees
    attributes : the attributes that may have targets, by name
    only : the attribute whose targets may be given without its name, if any
    optional : whether there may be no targets

    Examples
    --------
    >>> color = Attribute("color", ["red", "green"])
    >>> named_targets({color: "red"}, {"color": color})
    {'color': 'red'}
    >>> named_targets("red", {"color": color}, only=color)
    {'color': 'red'}
    """
    # A mapping is from attributes to targets, unless it is from values of `only` to degrees.
    is_mapping = isinstance(targets, Mapping)
    if is_mapping and only is not None and not any(name_of(key) in attributes for key in targets):
        is_mapping = not any(key in only for key in targets)
    if not is_mapping:
        if only is None:
            raise DataError(
                f"targets are {type(targets).__name__} {targets!r:.60}; give a mapping from "
                f"attributes to targets, such as {{{next(iter(attributes))!r}: ...}}; attributes "
                f"that may have one: {listed(list(attributes))}"
            )
        return {only.name: targets}
    contents = by_name(targets, "target")
    for key in targets:
        if isinstance(key, Attribute) and attributes.get(key.name, key) != key:
            raise DataError(f"a target is for {key!r}, but the rules use {attributes[key.name]!r}")
    for name in contents:
        problem = f"there is a target for {name!r}, but no rule set concludes on it"
        check_known(name, attributes, problem)
    if not contents and not optional:
        raise DataError(f"there are no targets; give some for {listed(list(attributes))}")
    return {name: contents[name] for name in attributes if name in contents}


def rule_set_targets(rules: RuleBase, targets: Any, n: int) -> dict[str, Target]:
    """Return the targets of rule sets for `n` samples by name, without evidence.

    The targets of a single rule set may be given without its name; see `named_targets`.
    """
    attributes = {name: rule_set.output for name, rule_set in rules.sets.items()}
    only = next(iter(attributes.values())) if len(attributes) == 1 else None
    return read_targets(named_targets(targets, attributes, only), attributes, n)


def read_targets(
    contents: Mapping[str, Any],
    attributes: Mapping[str, Attribute],
    n: int | None = None,
    *,
    is_batch: bool = True,
) -> dict[str, Target]:
    """Return targets by name; `n` is the number of samples of the inputs, if there are inputs.

    Examples
    --------
    >>> color = Attribute("color", ["red", "green"])
    >>> read_targets({"color": ["red", "green"]}, {"color": color})
    {'color': Target(color: 2 labels)}
    """
    targets = {
        name: Target.of(content, attributes[name], is_batch=is_batch)
        for name, content in contents.items()
    }
    counted = "inputs" if n is not None else f"the target {next(iter(targets))!r}"
    for name, target in targets.items():
        n = len(target) if n is None else n
        if len(target) != n:
            raise DataError(
                f"there are {n} samples of {counted} but {len(target)} of the target {name!r}; "
                "give one value or one distribution for each sample"
            )
    return targets
