"""The written form of cuts, of comparisons with cuts, and of intervals."""

from collections.abc import Mapping
from math import inf, isfinite, nextafter

#: The comparison with the float before a cut that equals a comparison with the cut.
CLOSED = {"<": "<=", ">=": ">"}
#: Larger integers are written with an exponent.
MAX_INTEGER = 1e15


def cut_text(cut: float, closed: str = '"<={}"') -> str:
    """Return a cut as `Attribute.number` takes it: a number, or a text such as ``"<=30"``.

    Examples
    --------
    >>> cut_text(30.0), cut_text(nextafter(30.0, inf))
    ('30', '"<=30"')
    """
    below, text = cut_bound(cut)
    return closed.format(text) if below else text


def cut_bound(cut: float) -> tuple[bool, str]:
    """Return whether a cut is written as the float before it (if shorter), and that text."""
    before = nextafter(cut, -inf)
    below = len(repr(before)) < len(repr(cut))
    return below, exact_text(before if below else cut)


def bound_number(cut: float) -> float:
    """Return the number that a cut is written with; an infinite cut is returned as it is."""
    return float(cut_bound(cut)[1]) if isfinite(cut) else cut


def bounds_of(low: float, high: float) -> dict[str, float]:
    """Return the finite bounds of the range ``[low, high)``, by label.

    Examples
    --------
    >>> bounds_of(-inf, 126.0), bounds_of(30.0, nextafter(65.0, inf))
    ({'below': 126.0}, {'at least': 30.0, 'at most': 65.0})
    """
    labels = (("at least", "above"), ("below", "at most"))
    pairs = zip((low, high), labels, strict=True)
    return {name[cut_bound(cut)[0]]: bound_number(cut) for cut, name in pairs if isfinite(cut)}


def bounds_text(bounds: Mapping[str, float]) -> str:
    """Return the bounds of `bounds_of` as text.

    Examples
    --------
    >>> bounds_text({"at least": 30.0, "below": 65.0})
    'at least 30 but below 65'
    >>> bounds_text({"at least": 3.0, "at most": 3.0})
    '3'
    """
    if len(bounds) == 2 and len(set(bounds.values())) == 1:
        return exact_text(*set(bounds.values()))
    return " but ".join(f"{label} {exact_text(number)}" for label, number in bounds.items())


def exact_text(number: float) -> str:
    """Return a number as text, an integer without a point.

    Examples
    --------
    >>> exact_text(2.0), exact_text(0.5)
    ('2', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < MAX_INTEGER else repr(number)


def cut_comparison(comparison: str, cut: float, space: str = "") -> str:
    """Return a comparison, ``<`` or ``>=``, with a cut as text."""
    below, text = cut_bound(cut)
    return f"{CLOSED[comparison] if below else comparison}{space}{text}"


def interval_text(low: float, high: float, space: str = "") -> str:
    """Return the range ``[low, high)`` as text; one of the bounds is finite.

    Examples
    --------
    >>> interval_text(-inf, 30.0), interval_text(30.0, nextafter(65.0, inf))
    ('<30', '[30, 65]')
    """
    if low == -inf:
        return cut_comparison("<", high, space)
    if high == inf:
        return cut_comparison(">=", low, space)
    (is_above, first), (is_closed, last) = cut_bound(low), cut_bound(high)
    return f"{'(' if is_above else '['}{first}, {last}{']' if is_closed else ')'}"


def comparison_text(name: str, low: float, high: float) -> str | None:
    """Return ``low <= name < high`` as text; None for any number.

    Examples
    --------
    >>> comparison_text("age", 30.0, inf), comparison_text("age", 30.0, nextafter(65.0, inf))
    ('age >= 30', '30 <= age <= 65')
    >>> comparison_text("age", 30.0, nextafter(30.0, inf))
    'age == 30'
    """
    if low == -inf:
        return None if high == inf else f"{name} {cut_comparison('<', high, ' ')}"
    if high == inf:
        return f"{name} {cut_comparison('>=', low, ' ')}"
    is_above, number = cut_bound(low)
    if cut_bound(high) == (True, number):
        return f"{name} == {number}"
    return f"{number} {'<' if is_above else '<='} {name} {cut_comparison('<', high, ' ')}"
