"""The written form of names, values and subsets."""

import json
import math
import re
from collections.abc import Hashable, Sequence

from pinesy._common.validation import cut_repr
from pinesy.exceptions import DomainError
from pinesy.rules.syntax.lexer import KEYWORDS, MAX_DEPTH, MAX_DIGITS, MAX_RANGE, WORD

#: Values in a line of a long subset.
LINE_VALUES = 20
_BARE = re.compile(WORD)


def format_name(name: str) -> str:
    """Return the written form of a name: as it is if it is a word, else in backquotes."""
    return name if _is_word(name) else f"`{name}`"


def format_text(text: str) -> str:
    """Return the written form of a text in quotes, with the escapes of JSON."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def format_value(value: object, depth: int = 0) -> str:
    """Return the written form of a value; raise `DomainError` if it has none.

    Examples
    --------
    >>> format_value((0, "drink coffee", True))
    '(0, "drink coffee", true)'
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = str.__str__(value)  # also of an enumeration's member that is a text
        return text if _is_word(text) else format_text(text)
    if type(value) is int and value.bit_length() < 3.3 * MAX_DIGITS:
        return repr(value)
    if type(value) is float and math.isfinite(value):
        return repr(value)
    if type(value) is tuple and depth <= MAX_DEPTH:
        inside = ", ".join(format_value(part, depth + 1) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    kind = type(value).__name__
    described = f"the value {cut_repr(value)} of type {kind}" if kind != "int" else "a huge integer"
    raise DomainError(
        f"{described} has no written form; files hold text, integers of up to {MAX_DIGITS} "
        f"digits, finite decimals, true, false, none, and tuples of these up to {MAX_DEPTH} deep"
    )


def format_subset(values: Sequence[Hashable]) -> str:
    """Return a subset as ``{a, b, 0..9}``; runs of at least three integers become ranges."""
    runs = runs_of(values, MAX_RANGE)
    parts = ["..".join(map(show_value, dict.fromkeys((run[0], run[-1])))) for run in runs]
    lines = [", ".join(parts[i : i + LINE_VALUES]) for i in range(0, len(parts), LINE_VALUES)]
    return "{" + ",\n    ".join(lines) + "}"


def show_value(value: Hashable) -> str:
    """Return the written form of a value, or its repr where there is none."""
    try:
        return format_value(value)
    except DomainError:
        return cut_repr(value, None)


def equation_text(name: str, value: Hashable) -> str:
    """Return the text of a name and its value, such as ``rain = yes``."""
    return f"{format_name(name)} = {show_value(value)}"


def runs_of(values: Sequence[Hashable], most: float = math.inf) -> list[list[Hashable]]:
    """Group values: runs of 3 to `most` successive integers, other values alone.

    Examples
    --------
    >>> runs_of([0, 1, 2, 7, 8, "a"])
    [[0, 1, 2], [7], [8], ['a']]
    """
    runs: list[list[Hashable]] = []
    for value in values:
        if runs and len(runs[-1]) < most and _is_successor(runs[-1][-1], value):
            runs[-1].append(value)
        else:
            runs.append([value])
    return [part for run in runs for part in ([run] if len(run) > 2 else [[v] for v in run])]


def _is_successor(value: Hashable, after: Hashable) -> bool:
    return type(value) is int and type(after) is int and after == value + 1


def is_run(values: Sequence[Hashable]) -> bool:
    """Return whether the values are successive integers."""
    return all(map(_is_successor, values, values[1:]))


def _is_word(text: str) -> bool:
    """Return whether a name or value can be written without quotes."""
    return _BARE.fullmatch(text) is not None and text not in KEYWORDS
