"""Checks of arguments, whose messages all name the value and the cure; and text helpers."""

import difflib
import json
import re
import sys
from collections.abc import Collection, Iterable, Sequence, Sized
from math import inf, isinf, nan
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import (
    DataError,
    DegreeError,
    DomainError,
    PinesyError,
    ShapeError,
    UnknownAttributeError,
)

#: Known names that a mistyped name is compared with, and the length of a name, at most.
MOST_NAMES, LONGEST_NAME = 2000, 100

_NOT_ASCII = re.compile(r"[^\n\x20-\x7e]")

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def printable(text: str) -> str:
    r"""Return a text with escaped control characters, so that it cannot control a terminal.

    Examples
    --------
    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def cut_repr(value: object, length: int | None = 60) -> str:
    """Return the first characters of the repr of a value; its type if it nests too deeply.

    Examples
    --------
    >>> cut_repr([1, 2, 3], 5)
    '[1, 2'
    """
    try:
        return repr(value)[:length]
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"


def size_of(collection: Sized) -> int:
    """Return ``len(collection)``, or `sys.maxsize` where that overflows.

    Examples
    --------
    >>> size_of(range(2**70)) == sys.maxsize
    True
    """
    try:
        return len(collection)
    except OverflowError:
        return sys.maxsize


def printable_json(content: Any, **options: Any) -> str:
    r"""Return JSON with readable Unicode characters, but escaped control characters.

    Examples
    --------
    >>> print(printable_json("\x9bß"))
    "\u009bß"
    """
    text = json.dumps(content, ensure_ascii=False, **options)
    return _NOT_ASCII.sub(lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text)


#: The beginning of a suggestion of a similar name.
NEAR = "; did you mean"


def suggestion(name: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'x'?"`` if a known name is similar, else the known names.

    Numbers are never similar: -1 does not mean 1.
    """
    names = [str(k) for k in known]
    nearest: list[str] = []
    if isinstance(name, str) and len(name) <= LONGEST_NAME:  # quadratic in the length
        short = [n for n in names[:MOST_NAMES] if len(n) <= LONGEST_NAME]
        nearest = difflib.get_close_matches(name, short, n=1)
    if nearest:
        return f"{NEAR} {nearest[0]!r}?"
    omitted = f", ... ({len(names)} in all)" if len(names) > 8 else ""
    listing = ", ".join(printable(f"{n:.60}") for n in names[:8]) + omitted
    return f"; known: {listing or 'none'}"


def unused_columns(titles: Sequence[str]) -> str:
    """Return the warning for columns that are ignored.

    Examples
    --------
    >>> unused_columns(["weight", "shoe size"])
    "2 columns that no rule uses are ignored: 'weight', 'shoe size'"
    """
    columns = "1 column" if len(titles) == 1 else f"{len(titles):,} columns"
    verb = "is" if len(titles) == 1 else "are"
    return f"{columns} that no rule uses {verb} ignored: {listed([repr(t)[:80] for t in titles])}"


def check_known(
    name: object,
    known: Collection[Any],
    problem: str,
    error: type[PinesyError] = UnknownAttributeError,
) -> None:
    """Raise `error`, with the problem and a suggestion, unless a name is known.

    Give a mapping or a set as `known` where many names are checked: a list is searched each time.
    """
    if name not in known:
        raise error(f"{problem}{suggestion(name, known)}")


def check_unmasked(content: object, name: str) -> None:
    """Raise `DataError` for a masked array with masked entries, which NumPy would read.

    Examples
    --------
    >>> check_unmasked(np.ma.masked_array([0.5, 0.5], mask=False), "probabilities")
    """
    has_masks = "numpy.ma" in sys.modules  # else there are no masked arrays, and it is not loaded
    if has_masks and isinstance(content, np.ma.MaskedArray) and np.ma.is_masked(content):
        indices = np.argwhere(np.ma.getmaskarray(content)).tolist()
        first = indices[0][0] if content.ndim == 1 else tuple(indices[0])
        raise DataError(
            f"{name}: a masked array with {len(indices)} masked entries, the first at {first}; for "
            "missing data give None (as a value) or 1 for every value (as degrees), or drop such "
            "samples"
        )


def listed(names: Sequence[str]) -> str:
    """Return names joined by commas; only the first six, and their number, if there are more."""
    return ", ".join(names[:6]) + (f", ... ({len(names)} in all)" if len(names) > 6 else "")


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value can be iterated over; a 0-d array cannot."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def shape_of(content: Any) -> tuple[int, ...] | None:
    """Return the shape of an array-like; None for rows of unequal lengths."""
    try:
        return tuple(np.shape(content))
    except ValueError:
        return None


def is_word(value: object, known: Collection[str]) -> bool:
    """Return whether a value is one of the known texts; an array is not."""
    return isinstance(value, str) and value in known


def object_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return values as an array of dtype object; tuples stay tuples."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def as_list(collection: Any, name: str, error: type[PinesyError] = DataError) -> list[Any]:
    """Return a collection as a list, or raise `error`; a str is not a collection.

    Examples
    --------
    >>> as_list({"a", "a"}, "names")
    ['a']
    """
    if isinstance(collection, str | bytes) or not is_iterable(collection):
        raise error(f"{name} is {collection!r:.60}; give a list")
    return list(collection)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, but not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_integer(
    value: object,
    name: str,
    least: int = 0,
    error: type[PinesyError] = DomainError,
    most: float = inf,
) -> int:
    """Return `value` as an int from `least` to `most`, or raise `error`.

    Examples
    --------
    >>> check_integer(np.int8(3), "epochs", least=1)
    3
    """
    if not is_integer(value) or not least <= value <= most:
        limits = f", at least {least}" if most == inf else f" from {least} to {most:,}"
        raise error(f"{name} is {value!r:.60}; it must be an integer{limits}")
    return int(value)


def check_flag(value: object, name: str) -> bool:
    """Return `value` as a bool, or raise `DomainError`."""
    if not isinstance(value, bool | np.bool_):
        raise DomainError(f"{name} is {value!r:.60}; it must be True or False")
    return bool(value)


def check_integers(
    content: npt.ArrayLike,
    name: str,
    ndim: int,
    expected: str,
    error: type[PinesyError] = ShapeError,
) -> npt.NDArray[Any]:
    """Return `content` as an array of integers with `ndim` axes, or raise `error`.

    Examples
    --------
    >>> check_integers([3, 8], "labels", 1, "one integer for each image")
    array([3, 8])
    """
    array = np.asarray(content)
    if array.ndim != ndim or array.dtype.kind not in "iu":
        raise error(f"{name} has shape {array.shape} and type {array.dtype}; it must be {expected}")
    return array


def check_rng(rng: object) -> None:
    """Raise `DomainError` unless `rng` is a NumPy generator."""
    if not isinstance(rng, np.random.Generator):
        raise DomainError(
            f"rng is {rng!r:.60}; give a NumPy generator, such as numpy.random.default_rng(0)"
        )


def check_limit(limit: object, name: str) -> int | None:
    """Return `limit` as an int of at least 1, or None for no limit; or raise `DomainError`.

    Examples
    --------
    >>> check_limit(5, "depth"), check_limit(None, "depth")
    (5, None)
    """
    if limit is None:
        return None
    if not is_integer(limit) or limit < 1:
        raise DomainError(f"{name} is {limit!r:.60}; it must be an integer from 1 on, or None")
    return int(limit)


def check_number(
    value: object,
    name: str,
    least: float = 0.0,
    most: float = inf,
    error: type[PinesyError] = DomainError,
) -> float:
    """Return `value` as a finite float from `least` to `most`, or raise `error`.

    Examples
    --------
    >>> check_number(1, "strength", most=4)
    1.0
    """
    is_real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    try:
        number = float(value) if is_real else nan  # type: ignore[arg-type]
    except OverflowError:  # an int too large for a float
        number = inf
    if not least <= number <= most or isinf(number):
        limits = f", at least {least:g}" if most == inf else f" from {least:g} to {most:g}"
        raise error(f"{name} is {value!r:.60}; it must be a number{limits}")
    return number


def check_sample(row: object, n: int) -> int:
    """Return the row of a sample as an index from 0 on (-1 is the last), or raise."""
    if not is_integer(row) or not -n <= row < n:
        raise DomainError(f"there is no sample {row!r:.60}; there are {n}, from 0 on")
    return int(row) % n


def check_degree(degree: object, name: str) -> float:
    """Return `degree` as a float of [0, 1] (-0.0 becomes 0.0), or raise `DegreeError`."""
    try:
        number = float("nan" if isinstance(degree, str | bytes) else degree)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        raise DegreeError(f"{name} is {cut_repr(degree)}; it must be a number in [0, 1]") from None
    if not 0.0 <= number <= 1.0:
        raise DegreeError(f"{name} is {cut_repr(degree)}; it must be a number in [0, 1]")
    return number + 0.0


def check_distribution(degrees: FloatArray, domain: tuple[object, ...], where: str) -> None:
    """Raise `DegreeError` unless `degrees` is a normalised possibility distribution.

    Parameters
    ----------
    degrees : array of shape ``(len(domain),)``
    domain : the values that the degrees belong to, for the message
    where : the location, for the message, such as ``"attribute 'left', row 3"``
    """
    for value, degree in zip(domain, degrees.tolist(), strict=True):
        check_degree(degree, f"{where}: the possibility of {value!r}")
    top = float(degrees.max())
    if top != 1.0:
        raise DegreeError(
            f"{where}: the distribution is not normalised (its largest degree is {top!r}); some "
            "value must have possibility exactly 1: divide by the largest degree, or make "
            "possibilities from probabilities with pinesy.antipignistic"
        )


def check_distributions(rows: FloatArray, domain: tuple[object, ...], where: str) -> None:
    """Raise `DegreeError` unless every row is a normalised possibility distribution."""
    good = ((rows >= 0.0) & (rows <= 1.0)).all(axis=1) & (rows.max(axis=1) == 1.0)
    if not good.all():
        row = int(np.argmin(good))
        check_distribution(rows[row], domain, f"{where}, row {row}")
