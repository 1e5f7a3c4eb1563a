"""A place among the tokens of a text: the steps that every grammar of rules takes."""

from collections.abc import Callable, Hashable, Mapping
from math import inf
from typing import Any, NoReturn

from pinesy._common.budgets import TOKEN, take_steps
from pinesy._common.validation import listed
from pinesy.exceptions import DomainError
from pinesy.rules.syntax.lexer import KEYWORDS, MAX_DEPTH, MAX_DIGITS, Token, TokenizedText
from pinesy.rules.syntax.writer import show_value


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
        #: Brackets of formulas, conditions, sets and indices around this place.
        self.depth = 0
        #: Whether the text has not been read before, as where comparisons lacked cuts.
        self.is_first_reading = True

    def seek(self, position: int) -> None:
        """Go to the token at `position`."""
        self.position = position
        self.token = self.tokens[position]

    def enter(self, source: TokenizedText, position: int) -> None:
        """Go on reading in a text, at a token."""
        self.source, self.tokens = source, source.tokens
        self.seek(position)

    def take_steps(self, steps: int) -> None:
        """Take steps of work from the budget, or fail here."""
        try:
            take_steps(steps)
        except DomainError as error:
            self.fail(str(error))

    def read_again(self, tokens: int) -> None:
        """Take the steps of a pass through so many tokens that templates read again."""
        self.take_steps(TOKEN * (tokens + 1) + len(self.scope))

    def deeper(self, what: str) -> None:
        """Go into a bracket; who comes out of it takes one from `depth`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"{what} more than {MAX_DEPTH} deep")

    def take(self) -> Token:
        """Step over the next token and return it."""
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def is_sign(self, *signs: str) -> bool:
        """Tell whether one of some signs comes next."""
        return self.token.text in signs and self.token.kind == "sign"

    def ahead(self, steps: int = 1) -> str:
        """Return the text of a token after the next one."""
        place = self.position + steps
        return self.tokens[place].text if place < len(self.tokens) else ""

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
            self.missing(repr(text))

    def expect_end(self, what: str = "the end", end: int | None = None) -> None:
        """Fail unless the text, or the part of it up to the place `end`, has been read."""
        if self.position != (len(self.tokens) - 1 if end is None else end):
            self.missing(what)

    def missing(self, what: str, token: Token | None = None) -> NoReturn:
        """Raise `RulesTextError` where something else stands than what is expected."""
        self.fail(f"expected {what}, found {(token or self.token).text!r:.60}", token)

    def fail(self, problem: str, token: Token | None = None) -> NoReturn:
        """Raise `RulesTextError` at `token`, by default the next one, naming the variables."""
        if self.scope:
            values = [f"{name} = {show_value(value):.40}" for name, value in self.scope.items()]
            problem += f", with {listed(values)}"
        self.source.fail(problem, token or self.token)

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
            self.missing(what, token)
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
        self.missing(what, token)

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

    def number(self, token: Token) -> int | float:
        """Decode a number: an int unless it has a point or an exponent."""
        if len(token.text) > MAX_DIGITS:
            self.fail(f"this number has more than {MAX_DIGITS} characters", token)
        number = int(token.text) if token.text.isdecimal() else float(token.text)
        if number == inf:
            self.fail("this number is beyond all decimals; the largest is about 1.8e308", token)
        return number

    # --- what is written most often, in one go ---

    def literals(self) -> list[Hashable] | None:
        """Read ``{low, 3}`` if it is a set of plain words and numbers; else None, and stay."""
        if self.token.text != "{" or self.token.kind != "sign":
            return None
        has_variables = bool(self.scope or self.constants)  # a word may be one, a hyphen a minus
        place = self.position + 1
        values: list[Hashable] = []
        while self.tokens[place].text != "}":
            token = self.tokens[place]
            is_word = token.kind == "word" and token.text not in KEYWORDS and not has_variables
            if not is_word and token.kind != "number":  # such as the end, after which is nothing
                return None
            after = self.tokens[place + 1].text
            if after not in (",", "}"):
                return None
            values.append(token.text if is_word else self.number(token))
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
        pairs: list[tuple[Token, float]] = []
        place = self.position
        while self.tokens[place].text == ("," if pairs else "["):
            if place + 4 >= len(self.tokens):
                return None
            name, equals, number = self.tokens[place + 1 : place + 4]
            if equals.text != "=" or number.kind != "number":
                return None
            pairs.append((name, self.number(number)))
            place += 4
        if not pairs or self.tokens[place].text != "]":
            return None
        self.seek(place + 1)
        return pairs
