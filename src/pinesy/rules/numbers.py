"""The intervals of a numeric attribute: cuts, names and blur.

A cut `c` separates the numbers below `c` from those of at least `c`, so intervals are
``[low, high)``. A cut that separates the numbers up to `x` from those above `x` is the next float
after `x`, and is written ``<= x``.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sized
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice, pairwise
from math import inf, isfinite, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.budgets import take_steps
from pinesy._common.validation import FloatArray, check_number, is_iterable, listed, size_of
from pinesy.exceptions import DomainError
from pinesy.rules.cut_texts import (
    bound_number,
    comparison_text,
    cut_text,
    exact_text,
    interval_text,
)
from pinesy.rules.syntax.writer import format_subset

#: Cuts of an attribute, at most, and the steps of each.
MAX_CUTS, CUT = 10**6, 20
#: Types of numbers; bool, a subclass of int, is excluded in `is_number`.
NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)


def is_number(value: object) -> bool:
    """Return whether a value is a real number, not a bool.

    Examples
    --------
    >>> [is_number(value) for value in (3, 2.5, True, "3")]
    [True, True, False, False]
    """
    return isinstance(value, NUMBERS) and not isinstance(value, bool)


def as_floats(numbers: Iterable[Any]) -> FloatArray:
    """Return numbers of any type as an array of floats; too large ones are infinite."""

    def as_float(number: Any) -> float:
        try:
            return float(number)
        except OverflowError:
            return inf if number > 0 else -inf

    return np.array([as_float(number) for number in numbers], dtype=np.float64)


@dataclass(frozen=True)
class Scale:
    """The intervals between cuts.

    Attributes
    ----------
    cuts : increasing floats
    names : the names of the intervals, from the lowest on; empty if they have none
    blur : the largest distance of a number outside an interval to which it may still belong

    Examples
    --------
    >>> age = Scale.of("age", [30, "<=65"], blur=2)
    >>> age.intervals
    ('<30', '[30, 65]', '>65')
    >>> age.degrees(np.array([29.0, 47.0, np.nan])).tolist()
    [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """

    cuts: tuple[float, ...]
    names: tuple[str, ...] = ()
    blur: float = 0.0

    @classmethod
    def of(
        cls,
        attribute: str,
        cuts: Iterable[Any] = (),
        names: Iterable[str] | None = None,
        blur: float = 0.0,
    ) -> "Scale":
        """Return a scale from the arguments of `Attribute.number`, or raise `DomainError`."""
        where = f"attribute {attribute!r}"
        if isinstance(cuts, str | bytes) or not is_iterable(cuts):
            raise DomainError(f"{where}: cuts is {cuts!r:.60}; give a list of numbers")
        if isinstance(cuts, Sized):
            check_cut_count(size_of(cuts), where)
        checked_cuts = tuple(_read_cut(cut, where) for cut in islice(cuts, MAX_CUTS + 1))
        check_cut_count(len(checked_cuts), where)
        for low, high in pairwise(checked_cuts):
            if not low < high:
                raise DomainError(
                    f"{where}: the cut {cut_text(high)} follows {cut_text(low)}; cuts must increase"
                )
        interval_names = () if names is None else _check_names(names, len(checked_cuts), where)
        return cls(checked_cuts, interval_names, check_number(blur, f"the blur of {where}"))

    @cached_property
    def intervals(self) -> tuple[str, ...]:
        """The intervals from the lowest on, as texts."""
        if not self.cuts:
            return ("any",)
        return tuple(interval_text(low, high) for low, high in pairwise(self._edges.tolist()))

    @property
    def domain(self) -> tuple[str, ...]:
        """The values of the attribute: the names of the intervals, or the intervals."""
        return self.names or self.intervals

    @property
    def declaration(self) -> str:
        """The cuts, names and blur as in a ``.rules`` file."""
        cuts = ", ".join(cut_text(cut, "<= {}") for cut in self.cuts)
        names = f" named {format_subset(self.names)}" if self.names else ""
        blur = f" [blur={exact_text(self.blur)}]" if self.blur else ""
        return (f" cuts {{{cuts}}}" if cuts else "") + names + blur

    def degrees(self, numbers: npt.NDArray[Any]) -> FloatArray:
        """Return the possibility of each interval for each number, shape (n, intervals).

        ``max(0, 1 - d / blur)`` at distance `d` outside an interval (docs/numbers-and-tables.md);
        without blur 1 inside and 0 outside. NaN is unknown: 1 everywhere.
        """
        x = np.asarray(numbers, dtype=np.float64)
        degrees = np.zeros((len(x), len(self.cuts) + 1))
        if self.blur:
            limits = np.array([bound_number(float(edge)) for edge in self._edges])
            with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers are set below
                distance = np.maximum(limits[:-1] - x[:, None], x[:, None] - limits[1:])
                degrees = np.minimum(np.maximum(1.0 - distance / self.blur, 0.0), 1.0)
        degrees[np.arange(len(x)), self.positions(x)] = 1.0
        degrees[np.isnan(x)] = 1.0
        return degrees

    def positions(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return the index of the interval of each number; the last one for NaN."""
        return np.searchsorted(self._edges[1:-1], numbers, side="right")

    @cached_property
    def _edges(self) -> FloatArray:
        """The cuts between -inf and inf."""
        return np.array([-inf, *self.cuts, inf])

    def certain_numbers(self, first: int, last: int) -> tuple[float, float]:
        """Return the range ``[low, high)`` of numbers that are certainly in some intervals.

        The intervals are those from index `first` to `last`. With blur, the numbers are at least
        that far inside; if the intervals are too narrow, it is the number in their middle.

        Examples
        --------
        >>> from pinesy.rules.cut_texts import bounds_of
        >>> bounds_of(*Scale((30.0, 40.0, 41.0), blur=2.0).certain_numbers(1, 1))
        {'at least': 32.0, 'at most': 38.0}
        >>> bounds_of(*Scale((30.0, 40.0, 41.0), blur=2.0).certain_numbers(2, 2))
        {'at least': 40.5, 'at most': 40.5}
        """
        low, high = float(self._edges[first]), float(self._edges[last + 1])
        if not self.blur:
            return low, high
        start, end = bound_number(low), bound_number(high)
        low, high = start + self.blur, end - self.blur
        while low - start < self.blur:  # rounded down
            low = nextafter(low, inf)
        while end - high < self.blur:
            high = nextafter(high, -inf)
        if low > high:
            low = high = (start + end) / 2
        return low, nextafter(high, inf)

    def below(self, comparison: str, number: Any, attribute: str) -> int:
        """Return the number of intervals below the cut of a comparison.

        Raises
        ------
        DomainError : if there is no such cut
        """
        cut = cut_of(comparison, number, f"attribute {attribute!r}")
        if self.has_cut(cut):
            return bisect_left(self.cuts, cut) + 1
        cuts = ", ".join(cut_text(c) for c in sorted({*self.cuts, cut}))
        raise DomainError(
            f"attribute {attribute!r} has no cut for {comparison} {number!r:.60}; its intervals "
            f"are {listed(self.intervals)}. Declare it with cuts=[{cuts}]"
        )

    def has_cut(self, cut: float) -> bool:
        """Return whether `cut` is one of the cuts."""
        index = bisect_left(self.cuts, cut)
        return index < len(self.cuts) and self.cuts[index] == cut

    def ranges(self, mask: int) -> list[tuple[float, float]]:
        """Return the union of a set of intervals as maximal ranges ``[low, high)``.

        Examples
        --------
        >>> Scale((30.0, 40.0, 65.0)).ranges(0b1011)
        [(-inf, 40.0), (65.0, inf)]
        """
        edges = [i for i in range(len(self.cuts) + 2) if (mask >> i ^ (mask << 1) >> i) & 1]
        limits = [float(self._edges[i]) for i in edges]
        return list(zip(limits[::2], limits[1::2], strict=True))

    def comparison(self, name: str, mask: int) -> str | None:
        """Return a set of intervals as a comparison, such as ``30 <= age < 65``, or None."""
        ranges = [] if self.names else self.ranges(mask)
        return comparison_text(name, *ranges[0]) if len(ranges) == 1 else None

    def invalid_value_error(self, attribute: str, value: object) -> DomainError:
        """Return the error for a value that is neither a number nor an interval."""
        return DomainError(
            f"attribute {attribute!r} takes numbers, or the intervals {listed(self.domain)}; got "
            f"{value!r:.60}"
        )


def check_cut_count(count: int, where: str) -> None:
    """Raise `DomainError` for more than `MAX_CUTS` cuts; take their steps from the budget."""
    if count > MAX_CUTS:
        raise DomainError(f"{where} has {count:,} cuts or more; at most {MAX_CUTS:,} are allowed")
    take_steps(CUT * count)


def cut_of(comparison: str, number: Any, where: str) -> float:
    """Return the cut of a comparison: `x` for ``< x`` and ``>= x``, else the next float.

    Examples
    --------
    >>> cut_of("<", 30, "age"), cut_of("<=", 30, "age")
    (30.0, 30.000000000000004)
    """
    cut = _check_finite(number, where)
    return cut if comparison in ("<", ">=") else nextafter(cut, inf)


def needed_cuts(comparison: str, number: Any, where: str) -> set[float]:
    """Return the cuts that a comparison needs: two for ``==`` and ``!=``, else one.

    Examples
    --------
    >>> sorted(needed_cuts("==", 30, "age"))
    [30.0, 30.000000000000004]
    """
    signs = ("<", "<=") if comparison in ("==", "!=") else (comparison,)
    return {cut_of(sign, number, where) for sign in signs}


def _read_cut(cut: Any, where: str) -> float:
    """Return a cut as a float, given as a number or as a text such as ``"<=30"``."""
    if not isinstance(cut, str):
        return _check_finite(cut, where)
    comparison = next((c for c in ("<=", ">=", "<", ">") if cut.startswith(c)), "")
    try:
        number = float(cut.removeprefix(comparison))
    except ValueError:
        number = inf
    if not comparison or not isfinite(number):
        raise DomainError(
            f"{where}: the cut {cut!r:.60} is no number; give a number, or a text such as '<=30'"
        )
    return cut_of(comparison, number, where)


def _check_finite(number: Any, where: str) -> float:
    """Return a finite number as a float, or raise `DomainError`."""
    try:
        value = float(number) if is_number(number) else inf
    except OverflowError:
        value = inf
    if not isfinite(value):
        raise DomainError(f"{where}: {number!r:.60} is no cut; cuts are finite numbers")
    return value + 0.0  # -0.0 becomes 0.0


def _check_names(names: Iterable[str], n_cuts: int, where: str) -> tuple[str, ...]:
    """Return the names of intervals, or raise `DomainError`."""
    texts = tuple(names) if not isinstance(names, str) and is_iterable(names) else ()
    if len(texts) != n_cuts + 1:
        raise DomainError(
            f"{where}: {len(texts)} names for {n_cuts + 1} intervals; give one name more than cuts"
        )
    for name in texts:
        is_name = isinstance(name, str) and bool(name.strip())
        if is_name:
            with suppress(ValueError):
                float(name)
                is_name = False  # it reads as a number
        if not is_name:
            raise DomainError(
                f"{where}: {name!r:.60} is no name of an interval; names are texts, not numbers"
            )
    if len(set(texts)) < len(texts):
        raise DomainError(f"{where}: two intervals have one name in {listed(texts)}")
    return texts
