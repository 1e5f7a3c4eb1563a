"""Words, numbers and signs of the ``.rules`` text, and the printed form of names and values."""

import json
import math
import re
from dataclasses import dataclass
from typing import NoReturn

from pinesy.exceptions import DomainError, RulesTextError

__all__ = ["KEYWORDS", "Token", "fail", "format_name", "format_value", "tokenize"]

KEYWORDS = frozenset(
    ["and", "attribute", "false", "if", "in", "none"]
    + ["not", "or", "product", "then", "true", "where"]
)

# Bounds that no honest file meets, so that no text can exhaust the machine.
#: Levels of tuples, or of brackets in a condition.
MAX_DEPTH = 50
#: Digits of a number (Python itself refuses more than 4300).
MAX_DIGITS = 4000
#: Values of a range such as 0..9.
MAX_RANGE = 10**6
#: A longer line is refused: it is a broken file far more often than a rule.
MAX_LINE = 500_000

# A word may hold hyphens between letters (`long-sleep`), so a minus in a condition takes spaces.
_WORD = r"[^\W\d]\w*(?:-[^\W\d]\w*)*"
_TOKEN = re.compile(
    rf"""(?P<space>\s+|\#[^\n]*)
    |(?P<word>{_WORD})
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<name>`[^`\n]+`)
    |(?P<sign>\.\.|//|==|!=|<=|>=|[-+*%(){{}}\[\],=<>])""",
    re.VERBOSE,
)
_BARE = re.compile(_WORD)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: its kind (word, name, number, string, sign, end) and place."""

    kind: str
    text: str
    start: int


def fail(source: str, start: int, problem: str) -> NoReturn:
    """Raise `RulesTextError` for the text at offset `start`: line, column, text, pointer."""
    line = source.count("\n", 0, start) + 1
    begin = source.rfind("\n", 0, start) + 1
    end = source.find("\n", start)
    text = source[begin : end if end >= 0 else len(source)]
    column = start - begin + 1
    window = max(0, column - 41)
    shown = text[window : window + 80]
    pointer = " " * (column - 1 - window) + "^"
    message = f"line {line}, column {column}: {problem}\n    {shown}\n    {pointer}"
    raise RulesTextError(message, line, column)


def tokenize(source: str) -> list[Token]:
    """Cut `source` into tokens, without spaces and comments; the last one is ``end``."""
    _check_lines(source)
    tokens = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            if source[position] == '"':
                fail(source, position, "this text has no closing quote on its line")
            fail(source, position, f"unexpected character {source[position]!r}")
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(Token(kind, match.group(), position))
        position = match.end()
    return [*tokens, Token("end", "end of text", len(source))]


def _check_lines(source: str) -> None:
    start = 0
    while start < len(source):
        end = source.find("\n", start)
        end = len(source) if end < 0 else end
        if end - start > MAX_LINE:
            problem = f"this line has {end - start:,} characters; the limit is {MAX_LINE:,}"
            fail(source, start, problem + ": break it (a rule may span several lines)")
        start = end + 1


def format_name(name: str) -> str:
    """Return an attribute's name as it is written: bare if it is a word, else in backquotes."""
    return name if _BARE.fullmatch(name) and name not in KEYWORDS else f"`{name}`"


def format_value(value: object, depth: int = 0) -> str:
    """Return a domain value as it is written in text; raise `DomainError` if it cannot be.

    Examples
    --------
    >>> format_value((0, "drink coffee", True))
    '(0, "drink coffee", true)'
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) and value not in KEYWORDS else json.dumps(value)
    if type(value) is int and value.bit_length() < 3.3 * MAX_DIGITS:
        return repr(value)
    if type(value) is float and math.isfinite(value):
        return repr(value)
    if type(value) is tuple and depth <= MAX_DEPTH:
        inside = ", ".join(format_value(part, depth + 1) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    kind = type(value).__name__
    shown = f"the value {value!r:.60} of type {kind}" if kind != "int" else "a huge whole number"
    raise DomainError(
        f"{shown} has no written form; files hold text, whole numbers of up to {MAX_DIGITS} "
        f"digits, finite decimals, true, false, none, and tuples of these up to {MAX_DEPTH} deep"
    )
