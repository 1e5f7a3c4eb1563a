"""The lexer of ``.rules`` text: words, names, numbers, strings and signs."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, NoReturn

from pinesy._common.validation import printable
from pinesy.exceptions import RulesTextError

KEYWORDS = frozenset(
    ["and", "attribute", "false", "if", "iff", "in", "none"]
    + ["not", "or", "product", "then", "true", "where"]
)
#: The values of keywords.
CONSTANTS: dict[str, Hashable] = {"true": True, "false": False, "none": None}

# Limits, so that no text can exhaust memory or time.
#: Nesting depth of tuples, or of brackets in a condition.
MAX_DEPTH = 50
#: Digits of a number (Python itself refuses more than 4300).
MAX_DIGITS = 4000
#: Single values in a nested tuple.
MAX_LEAVES = 1_000
#: Values of a range such as 0..9.
MAX_RANGE = 10**6
#: Characters of a line: a longer one is probably a broken file.
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
    |(?P<end>\Z)
    |(?P<wrong>(?s:.)))""",
    re.VERBOSE,
)
#: Messages for characters that start no token.
_CURES = {
    '"': "this text has no closing quote on its line",
    "`": "this name has no closing backquote on its line",
    "'": 'unexpected character "\'"; write texts in double quotes',
    ".": "unexpected character '.'; decimals start with a digit: 0.5",
}
_CLOSING = {"{": "}", "(": ")", "[": "]"}


class Token(NamedTuple):
    """A token: its kind (word, name, number, string, sign, end), text and offset."""

    kind: str
    text: str
    start: int


def fail(source: str, start: int, problem: str, file: str = "") -> NoReturn:
    """Raise `RulesTextError` with the file, line, column and excerpt of an offset."""
    line = source.count("\n", 0, start) + 1
    begin = source.rfind("\n", 0, start) + 1
    end = source.find("\n", start)
    text = source[begin : end if end >= 0 else len(source)]
    column = start - begin + 1
    window = max(0, column - 41)
    excerpt = printable(text[window : window + 80])
    pointer = " " * len(printable(text[window : column - 1])) + "^"
    location = f"line {line}, column {column}"
    location = f"{file}: {location}" if file else location
    message = f"{location}: {problem}\n    {excerpt}\n    {pointer}"
    raise RulesTextError(message, line, column)


def tokenize(source: str, file: str = "") -> list[Token]:
    """Return the tokens of `source`, without spaces and comments; the last one is ``end``."""
    if len(source) > MAX_LINE:
        _check_lines(source, file)
    tokens = []
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup or ""
        if kind == "wrong":
            character = match[kind]
            problem = _CURES.get(character, f"unexpected character {character!r}")
            fail(source, match.start(kind), problem, file)
        if kind != "end":
            tokens.append(Token(kind, match[kind], match.start(kind)))
    tokens.append(Token("end", "end of text", len(source)))
    return tokens


def _check_lines(source: str, file: str) -> None:
    """Raise `RulesTextError` for a line that is too long."""
    start = 0
    for line in source.split("\n"):
        if len(line) > MAX_LINE:
            problem = f"this line has {len(line):,} characters; the limit is {MAX_LINE:,}"
            fail(source, start, problem + ": break it (a rule may span several lines)", file)
        start += len(line) + 1


class TokenizedText:
    """A text and its tokens; `file` is its name if another file includes it."""

    def __init__(self, text: str, file: str = "") -> None:
        self.text = text
        self.file = file
        self.tokens = tokenize(text, file)

    def fail(self, problem: str, token: Token) -> NoReturn:
        """Raise `RulesTextError` at a token of this text."""
        fail(self.text, token.start, problem, self.file)

    def closing_bracket(self, index: int) -> int:
        """Return the index of the closing bracket of the bracket at `index`."""
        return self._pairs[index]

    def is_sign(self, index: int, *signs: str) -> bool:
        """Return whether the token at an index is one of some signs."""
        token = self.tokens[index]
        return token.kind == "sign" and token.text in signs

    @cached_property
    def has_loops(self) -> bool:
        """Whether the word ``for`` occurs."""
        return any(token.text == "for" for token in self.tokens)

    def outside_brackets(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices from `start` to before `end`, without those inside brackets."""
        index = start
        while index < end:
            yield index
            opens = self.is_sign(index, *_CLOSING)
            index = self.closing_bracket(index) + 1 if opens else index + 1

    def find(self, start: int, end: int, keyword: str) -> int:
        """Return the index of a keyword that follows an operand; 0 if there is none."""
        for index in self.outside_brackets(start, end):
            kind, text, _start = self.tokens[index]
            is_word = text == keyword and kind == "word"
            if is_word and index > start and self.ends_operand(index - 1):
                return index
        return 0

    def find_sign(self, start: int, *signs: str) -> int:
        """Return the index of the next of some signs inside the bracket; 0 if there is none.

        The bracket of a set, after ``in``, is skipped.
        """
        for index in self.outside_brackets(start, len(self.tokens) - 1):
            is_set = self.is_sign(index, "{") and self.tokens[index - 1].text == "in"
            if self.is_sign(index, *signs) and not is_set:
                return index
            if self.is_sign(index, *_CLOSING.values()):
                _ = self._pairs  # raises for an unmatched bracket
                break
        return 0

    def commas(self, start: int, end: int) -> list[int]:
        """Return the indices of the commas from `start` to before `end`, outside brackets."""
        return [i for i in self.outside_brackets(start, end) if self.is_sign(i, ",")]

    def ends_operand(self, index: int) -> bool:
        """Return whether a token can end a value, a name or a bracket."""
        kind, text, _start = self.tokens[index]
        if kind == "sign":
            return text in _CLOSING.values()
        return kind != "word" or text not in KEYWORDS or text in CONSTANTS

    @cached_property
    def _pairs(self) -> dict[int, int]:
        """The index of the closing bracket of each opening bracket."""
        pairs, open_brackets = {}, []
        for index, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in _CLOSING:
                open_brackets.append(index)
            elif token.text in _CLOSING.values():
                if not open_brackets or _CLOSING[self.tokens[open_brackets[-1]].text] != token.text:
                    self.fail(f"this {token.text!r} closes nothing", token)
                pairs[open_brackets.pop()] = index
        if open_brackets:
            token = self.tokens[open_brackets[-1]]
            self.fail(f"this {token.text!r} is not closed", token)
        return pairs


def standard_text(source: str, renamed: Callable[[str], str | None] = lambda _name: None) -> str:
    """Return a text with normalised spaces: none inside brackets or before commas.

    Parameters
    ----------
    renamed : from a name to its replacement, or None
    """
    texts = []
    for kind, text, _start in tokenize(source)[:-1]:
        is_name = kind in ("word", "name")
        texts.append(((is_name and renamed(text.strip("`"))) or text, kind == "sign"))
    return join_tokens(texts)


def join_tokens(texts: Iterable[tuple[str, bool]]) -> str:
    """Join the texts of tokens, each given with whether it is a sign, with spaces."""
    parts: list[str] = []
    for text, is_sign in texts:
        tight = not parts or parts[-1][-1:] in ("(", "[", "{") or (is_sign and text in ")]},")
        parts.append(text if tight else f" {text}")
    return "".join(parts)
