"""The steps that every grammar of rules takes: tokens, names, lists, and variables."""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, NoReturn

from pinesy._common.validation import listed
from pinesy.rules.syntax.lexer import KEYWORDS, MAX_DIGITS, MAX_STEPS, Token, fail, tokenize
from pinesy.rules.syntax.writer import show_value

#: The values that keywords stand for.
CONSTANTS: dict[str, Hashable] = {"true": True, "false": False, "none": None}

#: What follows a value that is no expression.
AFTER_VALUE = frozenset([",", "}", ")", "]", ".."])

_CLOSING = {"{": "}", "(": ")", "[": "]"}


class TokenizedText:
    """A text cut into tokens; `file` is its name if it was included by another."""

    def __init__(self, text: str, file: str = "") -> None:
        self.text = text
        self.file = file
        self.tokens = tokenize(text, file)

    def fail(self, problem: str, token: Token) -> NoReturn:
        """Raise `RulesTextError` at a token of this text."""
        fail(self.text, token.start, problem, self.file)

    def closing(self, position: int) -> int:
        """Return the position of the bracket that closes the one at `position`."""
        return self._pairs[position]

    def is_sign(self, position: int, *signs: str) -> bool:
        """Tell whether one of some signs stands at a place."""
        token = self.tokens[position]
        return token.kind == "sign" and token.text in signs

    @cached_property
    def has_loops(self) -> bool:
        """Whether the word ``for`` occurs."""
        return any(token.text == "for" for token in self.tokens)

    def outside(self, start: int, end: int) -> Iterator[int]:
        """Go through the positions of tokens that stand in no bracket between two places."""
        position = start
        while position < end:
            yield position
            opens = self.is_sign(position, *_CLOSING)
            position = self.closing(position) + 1 if opens else position + 1

    def find(self, start: int, end: int, word: str) -> int:
        """Return where a word stands between two places, after an operand; 0 if it does not."""
        for position in self.outside(start, end):
            kind, text, _start = self.tokens[position]
            is_word = text == word and kind == "word"
            if is_word and position > start and self.ends_operand(position - 1):
                return position
        return 0

    def find_sign(self, start: int, sign: str) -> int:
        """Return where a sign stands next, in the bracket that a place is in; 0 if it does not."""
        for position in self.outside(start, len(self.tokens) - 1):
            if self.is_sign(position, sign):
                return position
            if self.is_sign(position, *_CLOSING.values()):
                break
        return 0

    def commas(self, start: int, end: int) -> list[int]:
        """Return where commas stand between two places."""
        return [p for p in self.outside(start, end) if self.is_sign(p, ",")]

    def ends_operand(self, position: int) -> bool:
        """Tell whether a token can be the last one of a value, a name or a bracket."""
        kind, text, _start = self.tokens[position]
        if kind == "sign":
            return text in _CLOSING.values()
        return kind != "word" or text not in KEYWORDS or text in CONSTANTS

    @cached_property
    def _pairs(self) -> dict[int, int]:
        pairs, opened = {}, []
        for position, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in _CLOSING:
                opened.append(position)
            elif token.text in _CLOSING.values():
                if not opened or _CLOSING[self.tokens[opened[-1]].text] != token.text:
                    self.fail(f"this {token.text!r} closes nothing", token)
                pairs[opened.pop()] = position
        if opened:
            token = self.tokens[opened[-1]]
            self.fail(f"this {token.text!r} is not closed", token)
        return pairs


class Reader:
    """A place in the tokens of a text, and the variables that hold there."""

    def __init__(self, text: str) -> None:
        self.source = TokenizedText(text)
        self.tokens = self.source.tokens
        self.position = 0
        #: The token that comes next.
        self.token = self.tokens[0]
        #: Variables that are set for the whole text.
        self.constants: dict[str, Any] = {}
        #: Variables of the loops and macros around this place.
        self.scope: Mapping[str, Any] = {}
        #: How often a variable was read: what was read meanwhile is no longer what is written.
        self.lookups = 0
        self._steps = 0

    def seek(self, position: int) -> None:
        """Go to the token at `position`."""
        self.position = position
        self.token = self.tokens[position]

    def enter(self, source: TokenizedText, position: int) -> None:
        """Go on reading in a text, at a token."""
        self.source, self.tokens = source, source.tokens
        self.seek(position)

    def step(self, steps: int = 1) -> None:
        """Count statements, passes of loops and values that templates write out."""
        self._steps += steps
        if self._steps > MAX_STEPS:
            self.fail(
                f"the templates of this text write out more than {MAX_STEPS:,} statements and "
                "values; use smaller ranges"
            )

    def accept(self, *texts: str) -> str:
        """Step over the keyword or sign that comes next if it is one of `texts`; return it.

        The empty text says that it is none of them.
        """
        if self.token.text in texts and self.token.kind in ("word", "sign"):
            return self.take().text
        return ""

    def expect(self, text: str) -> None:
        """Step over `text` or fail, saying what stands there instead."""
        if not self.accept(text):
            self.fail(f"expected {text!r}, found {self.token.text!r:.60}")

    def fail(self, problem: str, token: Token | None = None) -> NoReturn:
        """Raise `RulesTextError` at `token`, by default the next one, naming the variables."""
        if self.scope:
            values = [f"{name} = {show_value(value):.40}" for name, value in self.scope.items()]
            problem += f", with {listed(values)}"
        self.source.fail(problem, token or self.token)

    def take(self) -> Token:
        """Step over the next token and return it."""
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def ahead(self, steps: int = 1) -> str:
        """Return the text of a token after the next one."""
        place = self.position + steps
        return self.tokens[place].text if place < len(self.tokens) else ""

    def variable(self, token: Token) -> tuple[bool, Any]:
        """Tell whether a word is a variable here, and its value."""
        if not self.scope and not self.constants:
            return False, None
        for variables in (self.scope, self.constants):
            if token.kind == "word" and token.text in variables:
                self.lookups += 1
                return True, variables[token.text]
        return False, None

    def word(self, what: str) -> str:
        """Read a word that is no keyword, such as the name of a variable."""
        token = self.take()
        if token.kind != "word" or token.text in KEYWORDS:
            self.fail(f"expected {what}, found {token.text!r:.60}", token)
        return token.text

    def plain_name(self, what: str) -> str:
        """Read a name as it is written: a word, or anything in backquotes.

        A variable whose value is a text stands for the name that this text is.
        """
        token = self.take()
        known, value = self.variable(token)
        if known and not isinstance(value, str):
            self.fail(f"expected {what}; {token.text!r} is a variable here, not a name", token)
        if known:
            return str(value)
        if token.kind == "name":
            return token.text[1:-1]
        if token.kind == "word" and token.text not in KEYWORDS:
            return token.text
        self.fail(f"expected {what}, found {token.text!r:.60}", token)

    def number(self, token: Token) -> int | float:
        """Decode a number: an int unless it has a point or an exponent."""
        if len(token.text) > MAX_DIGITS:
            self.fail(f"this number has more than {MAX_DIGITS} characters", token)
        number = int(token.text) if token.text.isdecimal() else float(token.text)
        if number == inf:
            self.fail("this number is beyond all decimals; the largest is about 1.8e308", token)
        return number

    def string(self, token: Token) -> str:
        """Decode a text in quotes."""
        try:
            return str(json.loads(token.text))
        except ValueError:
            self.fail("this text has an unknown escape; use those of JSON", token)

    def listing(self, closing: str, element: Callable[[], Any]) -> list[Any]:
        """Read elements between commas up to the `closing` sign (a last comma is allowed)."""
        elements: list[Any] = []
        while not self.accept(closing):
            if elements:
                self.expect(",")
                if self.accept(closing):
                    break
            elements.append(element())
        return elements

    def is_literal(self) -> bool:
        """Tell whether a number or a word comes next that is no part of an expression."""
        kind, text, _start = self.token
        if self.ahead() not in AFTER_VALUE:
            return False
        return kind == "number" or (kind == "word" and text not in KEYWORDS and "-" not in text)

    def literal(self) -> Any:
        """Read a number, a word, or the value of the variable that it is."""
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        known, value = self.variable(token)
        return value if known else token.text

    def literals(self) -> list[Hashable] | None:
        """Read ``{low, 3}`` if it is a set of plain words and numbers; else None, and stay."""
        if self.token.text != "{" or self.token.kind != "sign":
            return None
        place = self.position + 1
        values: list[Hashable] = []
        while self.tokens[place].text != "}":
            token = self.tokens[place]
            if not self._is_plain(token):  # such as the end of the text, after which is nothing
                return None
            after = self.tokens[place + 1].text
            if after not in (",", "}"):
                return None
            values.append(self.number(token) if token.kind == "number" else token.text)
            place += 2 if after == "," else 1
        self.seek(place + 1)
        return values

    def plain_membership(self) -> tuple[str, list[Hashable]] | None:
        """Read ``glucose in {low, 3}`` if no word of it can be more; else None, and stay."""
        start, (kind, name, _start) = self.position, self.token
        if self.scope or self.constants or kind not in ("word", "name") or name in KEYWORDS:
            return None
        if self.ahead() != "in":
            return None
        self.seek(start + 2)
        values = self.literals()
        if values is None:
            self.seek(start)
            return None
        return name[1:-1] if kind == "name" else name, values

    def plain_parameters(self) -> list[tuple[Token, float]] | None:
        """Read ``[s=1, r=0]`` if all are numbers, which their names come with; else stay."""
        found: list[tuple[Token, float]] = []
        place = self.position
        while self.tokens[place].text == ("," if found else "["):
            if place + 4 >= len(self.tokens):
                return None
            name, equals, number = self.tokens[place + 1 : place + 4]
            if equals.text != "=" or number.kind != "number":
                return None
            found.append((name, self.number(number)))
            place += 4
        if not found or self.tokens[place].text != "]":
            return None
        self.seek(place + 1)
        return found

    def _is_plain(self, token: Token) -> bool:
        if self.scope or self.constants:  # a word may be a variable, a hyphen a minus
            return token.kind == "number"
        return token.kind == "number" or (token.kind == "word" and token.text not in KEYWORDS)


def standard_text(tokens: Sequence[Token]) -> str:
    """Write tokens with single spaces, none inside brackets or before commas."""
    text = ""
    for kind, word, _start in tokens:
        text = spaced(text, word, kind == "sign")
    return text


def spaced(text: str, word: str, is_sign: bool) -> str:
    """Write a word or sign after a text, with a space between them if one belongs there."""
    tight = not text or text[-1] in "([{" or (is_sign and word in ")]},")
    return text + word if tight else f"{text} {word}"
