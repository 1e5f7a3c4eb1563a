"""Cuts as text: numbers, comparisons with them, and bounds in words."""

from collections.abc import Mapping
from math import inf, isfinite, nextafter

#: What comparisons with the number just before a cut are.
CLOSED = {"<": "<=", ">=": ">"}
#: Larger integers are written with an exponent.
MAX_WHOLE = 1e15


def written(cut: float, closed: str = '"<={}"') -> str:
    """Write a cut as `cuts` takes it: a number, or a text such as ``"<=30"``.

    Examples
    --------
    >>> written(30.0), written(nextafter(30.0, inf))
    ('30', '"<=30"')
    """
    below, text = limit(cut)
    return closed.format(text) if below else text


def limit(cut: float) -> tuple[bool, str]:
    """Return whether a cut is written as the number just before it, and the number as text.

    It does if that number is shorter to write.
    """
    before = nextafter(cut, -inf)
    below = len(repr(before)) < len(repr(cut))
    return below, exact_text(before if below else cut)


def limit_number(cut: float) -> float:
    """Return the number that a cut is written with; infinite ones are returned as they are."""
    return float(limit(cut)[1]) if isfinite(cut) else cut


def bounds_of(low: float, high: float) -> dict[str, float]:
    """Return the bounds of the numbers from `low` to below `high`, by labels.

    Examples
    --------
    >>> bounds_of(-inf, 126.0), bounds_of(30.0, nextafter(65.0, inf))
    ({'below': 126.0}, {'at least': 30.0, 'at most': 65.0})
    """
    labels = (("at least", "above"), ("below", "at most"))
    pairs = zip((low, high), labels, strict=True)
    return {name[limit(cut)[0]]: limit_number(cut) for cut, name in pairs if isfinite(cut)}


def bounds_text(bounds: Mapping[str, float]) -> str:
    """Write bounds as `bounds_of` returns them.

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
    """Write a number, a whole one without a point.

    Examples
    --------
    >>> exact_text(2.0), exact_text(0.5)
    ('2', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < MAX_WHOLE else repr(number)


def compared(comparison: str, cut: float, space: str = "") -> str:
    """Write a comparison, ``<`` or ``>=``, with a cut."""
    below, text = limit(cut)
    return f"{CLOSED[comparison] if below else comparison}{space}{text}"


def interval_text(low: float, high: float, space: str = "") -> str:
    """Write the interval of the numbers from `low` to below `high`, one of them finite.

    Examples
    --------
    >>> interval_text(-inf, 30.0), interval_text(30.0, nextafter(65.0, inf))
    ('<30', '[30, 65]')
    """
    if low == -inf:
        return compared("<", high, space)
    if high == inf:
        return compared(">=", low, space)
    (is_above, first), (is_closed, last) = limit(low), limit(high)
    return f"{'(' if is_above else '['}{first}, {last}{']' if is_closed else ')'}"


def comparison_text(name: str, low: float, high: float) -> str | None:
    """Write that `name` is one of the numbers from `low` to below `high`; None for any number.

    Examples
    --------
    >>> comparison_text("age", 30.0, inf), comparison_text("age", 30.0, nextafter(65.0, inf))
    ('age >= 30', '30 <= age <= 65')
    >>> comparison_text("age", 30.0, nextafter(30.0, inf))
    'age == 30'
    """
    if low == -inf:
        return None if high == inf else f"{name} {compared('<', high, ' ')}"
    if high == inf:
        return f"{name} {compared('>=', low, ' ')}"
    is_above, number = limit(low)
    if limit(high) == (True, number):
        return f"{name} == {number}"
    return f"{number} {'<' if is_above else '<='} {name} {compared('<', high, ' ')}"
