"""The steps that reading rules and reading conditions share: tokens, values, subsets."""

import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NoReturn

from pinesy.rules.syntax.lexer import (
    KEYWORDS,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_RANGE,
    Token,
    fail,
    tokenize,
)

#: The values that keywords stand for.
CONSTANTS: dict[str, Hashable] = {"true": True, "false": False, "none": None}


class Reader:
    """A place in a list of tokens, with the steps that every grammar here takes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.position = 0
        #: The token that comes next.
        self.token = self.tokens[0]

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
        """Raise `RulesTextError` at `token`, by default the next one."""
        fail(self.source, (token or self.token).start, problem)

    def take(self) -> Token:
        """Step over the next token and return it."""
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def name(self, what: str) -> str:
        """Read the name of an attribute: a word, or anything in backquotes."""
        token = self.take()
        if token.kind == "name":
            return token.text[1:-1]
        if token.kind == "word" and token.text not in KEYWORDS:
            return token.text
        self.fail(f"expected {what}, found {token.text!r:.60}", token)

    def settings(self, *names: str) -> dict[str, tuple[Token, Hashable]]:
        """Read ``[s=0.1, r=0]`` if it is there: for each name its token and its value."""
        settings: dict[str, tuple[Token, Hashable]] = {}

        def setting() -> None:
            token = self.take()
            if token.text not in names or token.text in settings:
                expected = " or ".join(f"{name}=" for name in names)
                self.fail(f"expected {expected}, once each, found {token.text!r:.60}", token)
            self.expect("=")
            settings[token.text] = token, self.value()

        if self.accept("["):
            self.listing("]", setting)
        return settings

    def value(self, depth: int = 0) -> Hashable:
        """Read a domain value: a number, a word, a text in quotes, true, false, none, a tuple."""
        if depth > MAX_DEPTH:
            self.fail(f"tuples nest more than {MAX_DEPTH} deep")
        sign = -1 if self.accept("-") else 1
        token = self.take()
        if token.kind == "number":
            return sign * self.number(token)
        if sign == 1 and token.kind == "string":
            return self.string(token)
        if sign == 1 and token.kind == "word" and _is_value(token):
            return CONSTANTS.get(token.text, token.text)
        if sign == 1 and token.text == "(" and token.kind == "sign":
            return tuple(self.listing(")", lambda: self.value(depth + 1)))
        self.fail(f"expected a value, found {token.text!r:.60}", token)

    def number(self, token: Token) -> int | float:
        """Decode a number: an int unless it has a point or an exponent."""
        if len(token.text) > MAX_DIGITS:
            self.fail(f"this number has more than {MAX_DIGITS} characters", token)
        return int(token.text) if token.text.isdecimal() else float(token.text)

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

    def subset(self) -> list[Hashable]:
        """Read ``{v, v, 0..9}``, with ranges of whole numbers written out."""
        self.expect("{")
        return [v for part in self.listing("}", self._values) for v in part]

    def _values(self) -> Sequence[Hashable]:
        token = self.token
        first = self.value()
        if not self.accept(".."):
            return [first]
        last = self.value()
        if type(first) is not int or type(last) is not int or not first <= last:
            self.fail("a range goes up between whole numbers, such as 0..9", token)
        if last - first >= MAX_RANGE:
            self.fail(f"this range has more than {MAX_RANGE:,} values", token)
        return range(first, last + 1)


def _is_value(token: Token) -> bool:
    return token.text in CONSTANTS or token.text not in KEYWORDS


def standard_text(tokens: Sequence[Token]) -> str:
    """Write tokens with single spaces, none inside brackets or before commas."""
    text = ""
    for token in tokens:
        tight = not text or text[-1] in "([{" or (token.kind == "sign" and token.text in ")]},")
        text += token.text if tight else " " + token.text
    return text
