"""Words, numbers and signs of the ``.rules`` text."""

import re
from typing import NamedTuple, NoReturn

from pinesy._common.validation import printable
from pinesy.exceptions import RulesTextError

KEYWORDS = frozenset(
    ["and", "attribute", "false", "if", "iff", "in", "none"]
    + ["not", "or", "product", "then", "true", "where"]
)

# Bounds that no honest file meets, so that no text can exhaust the machine.
#: Levels of tuples, or of brackets in a condition.
MAX_DEPTH = 50
#: Digits of a number (Python itself refuses more than 4300).
MAX_DIGITS = 4000
#: Single values in a tuple, however deep.
MAX_LEAVES = 1_000
#: Values of a range such as 0..9.
MAX_RANGE = 10**6
#: Statements and values that the templates of a text write out.
MAX_STEPS = 10**6
#: A longer line is refused: it is a broken file far more often than a rule.
MAX_LINE = 500_000

# A word may hold hyphens between letters (`long-sleep`), so a minus in a condition takes spaces.
WORD = r"[^\W\d]\w*(?:-[^\W\d]\w*)*"
_TOKEN = re.compile(
    rf"""(?:\s|\#[^\n]*)*+
    (?:(?P<word>{WORD})
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<sign>\.\.|//|==|!=|<=|>=|[-+*%(){{}}\[\],:=<>])
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<name>`[^`\n]+`)
    |(?P<end>\Z))""",
    re.VERBOSE,
)
_SPACE = re.compile(r"(?:\s|#[^\n]*)*")


class Token(NamedTuple):
    """A piece of the text: its kind (word, name, number, string, sign, end) and place."""

    kind: str
    text: str
    start: int


def fail(source: str, start: int, problem: str, file: str = "") -> NoReturn:
    """Raise `RulesTextError` for the text at offset `start`: file, line, column, text, pointer."""
    line = source.count("\n", 0, start) + 1
    begin = source.rfind("\n", 0, start) + 1
    end = source.find("\n", start)
    text = source[begin : end if end >= 0 else len(source)]
    column = start - begin + 1
    window = max(0, column - 41)
    shown = printable(text[window : window + 80])
    pointer = " " * len(printable(text[window : column - 1])) + "^"
    place = f"line {line}, column {column}"
    place = f"{file}: {place}" if file else place
    message = f"{place}: {problem}\n    {shown}\n    {pointer}"
    raise RulesTextError(message, line, column)


def tokenize(source: str, file: str = "") -> list[Token]:
    """Cut `source` into tokens, without spaces and comments; the last one is ``end``."""
    if len(source) > MAX_LINE:
        _check_lines(source, file)
    tokens = []
    position = 0
    for match in _TOKEN.finditer(source):
        if match.start() != position:
            break
        position = match.end()
        kind = match.lastgroup or ""
        if kind != "end":
            tokens.append(Token(kind, match[kind], match.start(kind)))
    if position < len(source):
        place = _SPACE.match(source, position).end()  # type: ignore[union-attr]
        fail(source, place, _unexpected(source[place]), file)
    tokens.append(Token("end", "end of text", len(source)))
    return tokens


def _unexpected(character: str) -> str:
    """Say what is wrong with a character that starts no token, and the cure."""
    cures = {
        '"': "this text has no closing quote on its line",
        "`": "this name has no closing backquote on its line",
        "'": 'unexpected character "\'"; texts stand in double quotes',
        ".": "unexpected character '.'; decimals start with a digit: 0.5",
    }
    return cures.get(character, f"unexpected character {character!r}")


def _check_lines(source: str, file: str) -> None:
    start = 0
    while start < len(source):
        end = source.find("\n", start)
        end = len(source) if end < 0 else end
        if end - start > MAX_LINE:
            problem = f"this line has {end - start:,} characters; the limit is {MAX_LINE:,}"
            fail(source, start, problem + ": break it (a rule may span several lines)", file)
        start = end + 1
