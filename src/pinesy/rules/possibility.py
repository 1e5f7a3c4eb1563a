"""Possibility distributions on the domain of an attribute, one or a batch of them."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import positions
from pinesy._common.validation import BoolArray, FloatArray, check_sample, cut_repr, object_array
from pinesy.exceptions import DegreeError, DomainError
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import (
    OUTCOMES,
    outcome_codes,
    outcome_indices,
    plain_text,
    verdict_text,
)
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import show_value


@dataclass(frozen=True, repr=False, eq=False)
class Possibility:
    """A possibility distribution ``pi: D_a -> [0, 1]``, or one for each sample of a batch.

    Every property gives one answer for a single distribution and an array for a batch.
    `outcome` is whether a value is decided, and if not, why not; then `best` is None. A result
    that is not normalised is a contradiction among the rules for that sample: it has no best value
    and no certainty, even if one value has the largest degree (see `best_values`);
    `contradiction` is its degree.

    Attributes
    ----------
    attribute : Attribute
    degrees : array of shape ``(|D_a|,)``, or ``(n_samples, |D_a|)`` for a batch
    coherence : the lowest height (largest degree) of the distributions that this one was inferred
        from; 1 if all of them were normalised

    Examples
    --------
    >>> total = Possibility(Attribute("total", range(3)), np.array([0.4, 1.0, 0.2]))
    >>> total.best, total.possibility({0, 2}), total.necessity({1})
    (1, 0.4, 0.6)
    >>> total.outcome, total.verdict
    ('decided', '1, certain at 0.6')
    >>> clash = Possibility(Attribute("total", range(3)), np.array([0.25, 0.5, 0.0]))
    >>> clash
    Possibility(total, {1: 0.5, 0: 0.25, 2: 0}, contradiction 0.5)
    >>> clash.best, clash.certainty, clash.outcome, clash.best_values
    (None, nan, 'contradiction', (1,))
    >>> tie = Possibility(Attribute("total", range(3)), np.array([1.0, 1.0, 0.0]))
    >>> tie.best, tie.best_values, tie.verdict
    (None, (0, 1), 'undecided: 0 or 1 remain')
    """

    attribute: Attribute
    degrees: FloatArray
    coherence: "float | FloatArray" = field(default=1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.attribute, Attribute):
            raise DomainError(f"a distribution is on an attribute; got {self.attribute!r:.60}")
        try:
            degrees = np.asarray(self.degrees, dtype=np.float64)
        except (TypeError, ValueError):
            raise DegreeError(
                f"the degrees of {self.attribute.name!r} are an array of numbers; got "
                f"{cut_repr(self.degrees)}"
            ) from None
        size = len(self.attribute.domain)
        if degrees.ndim not in (1, 2) or degrees.shape[-1] != size:
            raise DegreeError(
                f"attribute {self.attribute.name!r} has {size} values, so its degrees have shape "
                f"({size},) or (n_samples, {size}); got shape {degrees.shape}"
            )
        object.__setattr__(self, "degrees", degrees)

    @property
    def is_batch(self) -> bool:
        """Whether this is a batch of distributions, one for each sample."""
        return self.degrees.ndim == 2

    def possibility(self, subset: Iterable[Hashable] | Proposition) -> Any:
        """Return ``Pi(A) = max {pi(u) : u in A}``, 0 for the empty set."""
        return self._maximum(self.attribute.mask(subset))

    def necessity(self, subset: Iterable[Hashable] | Proposition) -> Any:
        """Return ``N(A) = 1 - Pi(not A)``: how certain it is that the value is in `A`."""
        return 1.0 - self._maximum(self.attribute.full & ~self.attribute.mask(subset))

    def _maximum(self, mask: int) -> Any:
        """Return the largest degree of the values of a mask."""
        degrees = self.degrees[..., positions(mask)].max(axis=-1, initial=0.0)
        return degrees if self.is_batch else float(degrees)

    def __getitem__(self, value: Hashable) -> Any:
        """Return the degree ``pi(value)``."""
        degrees = self.degrees[..., self.attribute.position(value)]
        return degrees if self.is_batch else float(degrees)

    @cached_property
    def _largest(self) -> FloatArray:
        """The largest degree of each distribution."""
        return np.asarray(self.degrees.max(axis=-1))

    @cached_property
    def best(self) -> Any:
        """The decided value: the only one whose possibility is 1.

        None where the `outcome` is not ``"decided"``. For a batch, an array of values, of dtype
        object where they are not plain numbers or some are None.
        """
        return best_value(self.attribute, self.degrees, self.decided)

    @cached_property
    def best_values(self) -> Any:
        """A tuple of the values of largest degree, in domain order; empty if all degrees are 0.

        For a batch, an array of tuples.
        """
        return values_of_mask(self.attribute, self.is_best)

    @cached_property
    def outcome(self) -> Any:
        """Whether the result is decided, or why not (`Outcome`); for a batch, an array of codes.

        ``"decided"``: exactly one value has possibility 1; ``"several"``: more than one, but not
        all; ``"no_rule"``: all values, no rule excludes any; ``"contradiction"``: the result is not
        `normalised`.
        """
        return outcome_codes(self._outcome_indices)

    @cached_property
    def _outcome_indices(self) -> npt.NDArray[np.intp]:
        is_best = self.is_best
        return outcome_indices(is_best, is_best.all(axis=-1), ~self._is_normalised)

    @property
    def verdict(self) -> str:
        """The outcome of one distribution as text."""
        if self.is_batch:
            raise DomainError("a batch has no single verdict; take one sample(row) first")
        names = [plain_text(value) for value in self.best_values]
        return verdict_text(self.outcome, names, self.certainty, self.contradiction)

    @cached_property
    def is_best(self) -> BoolArray:
        """Which values are `best_values`: bool array, of the shape of the degrees."""
        return np.asarray((self.degrees == self._largest[..., None]) & (self.degrees > 0.0))

    @cached_property
    def normalised(self) -> Any:
        """Whether some value has possibility 1, here and in all distributions before this one.

        If not, the rules contradict each other for that input; nothing is rescaled.
        """
        return self._is_normalised if self.is_batch else bool(self._is_normalised)

    @cached_property
    def _is_normalised(self) -> BoolArray:
        return np.asarray(self._height == 1.0)

    @cached_property
    def decided(self) -> Any:
        """Whether exactly one value has possibility 1: the `outcome` is ``"decided"``."""
        decided = self._is_normalised & (self.is_best.sum(axis=-1) == 1)
        return decided if self.is_batch else bool(decided)

    @cached_property
    def contradiction(self) -> Any:
        """The degree of contradiction among the rules: 1 minus the largest degree.

        If the largest degree of a distribution that this one is inferred from is lower, that
        counts. 0 if the result is `normalised`, 1 if no value is possible.
        """
        gap = 1.0 - self._height
        return gap if self.is_batch else float(gap)

    @cached_property
    def _height(self) -> FloatArray:
        """The largest degree, or that of a distribution this is inferred from, if lower."""
        return np.asarray(np.minimum(self._largest, self.coherence))

    @cached_property
    def certainty(self) -> Any:
        """The necessity of the best value: 1 minus the second largest degree.

        0 where several values have possibility 1. NaN where the result is not `normalised`: rules
        that contradict each other exclude every value.
        """
        second = 0.0 * self._largest
        if len(self.attribute.domain) > 1:
            second = np.partition(self.degrees, -2, axis=-1)[..., -2]
        certain = np.where(self.normalised, 1.0 - second, np.nan)
        return certain if self.is_batch else float(certain)

    def sample(self, row: int) -> "Possibility":
        """Return the distribution of one sample of a batch."""
        if not self.is_batch:
            raise DomainError("this is a single distribution already; sample() is for batches")
        row = check_sample(row, len(self))
        coherence = float(np.broadcast_to(self.coherence, len(self))[row])
        return Possibility(self.attribute, self.degrees[row], coherence)

    def __len__(self) -> int:
        """Return the number of samples of a batch."""
        if not self.is_batch:
            raise DomainError("a single distribution has no length; see .attribute.domain")
        return len(self.degrees)

    def to_dict(self) -> dict[Hashable, float]:
        """Return one distribution as ``{value: degree}``."""
        if self.is_batch:
            raise DomainError("a batch has no single dict; take one sample(row) first")
        return dict(zip(self.attribute.domain, self.degrees.tolist(), strict=True))

    def __repr__(self) -> str:
        if self.is_batch:
            counts = np.bincount(self._outcome_indices, minlength=len(OUTCOMES)).tolist()
            undecided = list(zip(OUTCOMES, counts, strict=True))[1:]
            note = "".join(f", {count} {code}" for code, count in undecided if count)
            return f"Possibility({self.attribute.name}, {len(self)} samples{note})"
        note = "" if self.decided else f", {self.verdict}"
        return f"Possibility({self.summary}{note})"

    def _repr_html_(self) -> str:
        from pinesy.display.rules_html import distribution_html

        return distribution_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw bars of possibility and necessity (shades for a batch); return the axes."""
        from pinesy.display.rules_html import plot_distribution

        return plot_distribution(self, axes)

    @property
    def summary(self) -> str:
        """The attribute and its largest degrees, as text, for one distribution."""
        return summary(self.attribute, self.degrees)


def best_value(attribute: Attribute, numbers: FloatArray, has_best: Any) -> Any:
    """Return the value with the largest number, or None where `has_best` is False.

    For a batch, an array, of dtype object if some are None.
    """
    index = numbers.argmax(axis=-1)
    if numbers.ndim == 1:
        return attribute.domain[int(index)] if has_best else None
    values = value_array(attribute)[index]
    if has_best.all():
        return values
    values = values.astype(object)
    values[~has_best] = None
    return values


def values_of_mask(attribute: Attribute, is_best: BoolArray) -> Any:
    """Return a tuple of the values of a boolean mask; for a batch, an array of tuples."""
    if is_best.ndim == 1:
        return tuple(attribute.domain[i] for i in np.flatnonzero(is_best))
    patterns, inverse = np.unique(np.packbits(is_best, axis=1), axis=0, return_inverse=True)
    masks = np.unpackbits(patterns, axis=1, count=is_best.shape[1]).astype(np.bool_)
    tuples = [values_of_mask(attribute, mask) for mask in masks]
    return object_array(tuples)[inverse.ravel()]


def summary(attribute: Attribute, numbers: FloatArray) -> str:
    """Return an attribute and the six largest numbers of its values, as text."""
    order = np.argsort(-numbers, kind="stable")
    degrees = [f"{show_value(attribute.domain[i])}: {numbers[i]:.4g}" for i in order[:6]]
    ellipsis = ", ..." if len(order) > 6 else ""
    return f"{attribute.name}, {{{', '.join(degrees)}{ellipsis}}}"


def value_array(attribute: Attribute) -> npt.NDArray[Any]:
    """Return the domain as an array: numeric where every value is a plain number of one type."""
    kinds = {type(v) for v in attribute.domain}
    if kinds in ({int}, {float}, {bool}):
        try:
            return np.array(attribute.domain)
        except OverflowError:
            pass
    return object_array(list(attribute.domain))
