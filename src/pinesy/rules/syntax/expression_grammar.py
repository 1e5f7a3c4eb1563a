"""Reads expressions; variables are replaced by their values as they are read."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from pinesy._common.budgets import OPERAND
from pinesy._common.validation import is_integer, suggestion
from pinesy.rules.syntax.expressions import COMPARISONS, Expression, Membership
from pinesy.rules.syntax.lexer import (
    CONSTANTS,
    KEYWORDS,
    Token,
    spaced,
    standard_text,
)
from pinesy.rules.syntax.writer import format_name, format_subset, show_value

if TYPE_CHECKING:
    from pinesy.rules.syntax.value_reader import ValueReader

#: Operands of a condition; a bound like those of the lexer.
MAX_OPERANDS = 200


class _Replaced(NamedTuple):
    """What tokens of a condition are written as: their end, the text, and that of the pattern."""

    end: int
    text: str
    pattern: str


class ExpressionGrammar:
    """Recursive descent: `either`, `both`, `negation`, `comparison`, `sum`, `product`, `operand`.

    Parameters
    ----------
    reader : the place where it starts
    names : what each name that it may use stands for, its number mostly; None where words that are
        no variables are texts, as in sets and indices
    """

    def __init__(self, reader: "ValueReader", names: Mapping[str, Any] | None) -> None:
        self.reader = reader
        self.names = names
        self.depth = 0
        self.operands = 0
        self._start = reader.position
        self._replaced: dict[int, _Replaced] = {}
        #: Whether and, or, not stand outside brackets (a rule's ``and`` would take them apart).
        self.loose = False

    def texts(self) -> tuple[str, str]:
        """Return what was read, in standard form, and its pattern: numbers in place of names."""
        words, pattern = [], []
        position, tokens = self._start, self.reader.tokens
        while position < self.reader.position:
            kind, word, _start = tokens[position]
            replaced = self._replaced.get(position)
            position += 1
            if replaced is None:
                pattern.append(word)
            else:
                position, word, numbered = replaced
                pattern.append(numbered)
            words.append((word, kind == "sign"))
        return spaced(words), " ".join(pattern)

    def _replace(self, start: int, text: str, pattern: str | None = None) -> None:
        replaced = _Replaced(self.reader.position, text, text if pattern is None else pattern)
        self._replaced[start] = replaced

    def either(self) -> Expression:
        """Read ``x or y or ...``."""
        return self._logical("or", self.both)

    def both(self) -> Expression:
        """Read ``x and y and ...``."""
        return self._logical("and", self.negation)

    def _logical(self, word: str, part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self.reader.accept(word):
            self.loose |= self.depth == 0
            parts.append(part())
        return parts[0] if len(parts) == 1 else Expression(word, tuple(parts))

    def negation(self) -> Expression:
        """Read ``not x`` or a comparison."""
        if self.reader.accept("not"):
            self.loose |= self.depth == 0
            return Expression("not", (self._nested(self.negation),))
        return self.comparison()

    def comparison(self) -> Expression:
        """Read ``x``, ``x < y <= z`` or ``x in {...}``."""
        terms, tests = [self.sum()], list[str | Membership]()
        reader = self.reader
        while True:
            if reader.token.text in COMPARISONS and reader.token.kind == "sign":
                tests.append(reader.take().text)
                terms.append(self.sum())
            elif reader.token.text in ("in", "not") and reader.token.kind == "word":
                negated = bool(reader.accept("not"))
                reader.expect("in")
                tests.append(Membership(frozenset(self._members()), negated))
                terms.append(Expression("constant"))
            else:
                break
        return Expression("compare", tuple(terms), tuple(tests)) if tests else terms[0]

    def _members(self) -> Sequence[Hashable]:
        start, lookups = self.reader.position, self.reader.lookups
        values = self.reader.subset()
        if self.reader.lookups > lookups:
            self._replace(start, standard_text(format_subset(values)))
        return values

    def sum(self) -> Expression:
        """Read ``x + y - z``."""
        return self._arithmetic(("+", "-"), self.product)

    def product(self) -> Expression:
        """Read ``x * y // z % w``."""
        return self._arithmetic(("*", "//", "%"), self.operand)

    def _arithmetic(self, signs: tuple[str, ...], part: Callable[[], Expression]) -> Expression:
        result = part()
        while self.reader.token.text in signs and self.reader.token.kind == "sign":
            result = Expression(self.reader.take().text, (result, part()))
        return result

    def operand(self) -> Expression:
        """Read a number, a text, a name, ``-x``, ``(x)`` or a tuple ``(x, y)``."""
        token = self.reader.take()
        self.reader.take_steps(OPERAND)
        self.operands += 1
        if self.operands > MAX_OPERANDS:
            self.reader.fail(f"this condition has more than {MAX_OPERANDS} operands", token)
        if token.text == "-" and token.kind == "sign":
            return Expression("negative", (self._nested(self.operand),))
        if token.text == "(" and token.kind == "sign":
            return self._brackets()
        if token.kind == "number":
            return _constant(self.reader.number(token))
        if token.kind == "string":
            return _constant(self.reader.string(token))
        if token.kind == "word" and token.text in CONSTANTS:
            return _constant(CONSTANTS[token.text])
        if token.kind not in ("word", "name") or (self.names is None and token.text in KEYWORDS):
            what = "a number, a name or '('" if self.names is not None else "a value"
            self.reader.missing(what, token)
        return self._name(token)

    def _name(self, token: Token) -> Expression:
        """Return what a word stands for: a component, a variable's value, or a text."""
        start = self.reader.position - 1
        known, value = self.reader.variable(token)
        name = token.text.strip("`") if not known else value
        if isinstance(name, str):
            name = self.reader.indexed(name)
        indexed = self.reader.position > start + 1
        if self.names is not None and isinstance(name, str) and name in self.names:
            number = self.names[name]
            written = format_name(name) if known or indexed else token.text
            # Functions give attributes in place of numbers, and use no patterns.
            self._replace(start, written, f"${number}" if is_integer(number) else written)
            return Expression("name", content=number)
        if known and not indexed:
            self._replace(start, _literal(value))
            return _constant(value)
        if self.names is None:
            self._check_minus(token)
            return _constant(name)
        self._unknown(token, name)

    def _check_minus(self, token: Token) -> None:
        first = token.text.split("-")[0]
        if first != token.text and self.reader.variable(token._replace(text=first))[0]:
            self.reader.fail(f"{token.text!r} is one word: a minus takes spaces around it", token)

    def _unknown(self, token: Token, name: str) -> NoReturn:
        if self.reader.token.text == "(":
            self.reader.fail(
                f"{name!r}: functions are not known here; give a function of your own instead "
                "of a text, such as lambda a, b: abs(a - b) <= 1",
                token,
            )
        variables = [*self.reader.scope, *self.reader.constants]
        hint = suggestion(name, [*(self.names or ()), *variables])
        spaces = " (a minus takes spaces around it)" if "-" in name else ""
        quotes = f'; a text value takes quotes: "{name}"' if name == token.text else ""
        self.reader.fail(f"unknown name {name!r}{hint}{spaces}{quotes}", token)

    def _brackets(self) -> Expression:
        part = self.sum if self.names is None else self.either
        parts: list[Expression] = []
        comma = False
        while self.reader.token.text != ")":
            parts.append(self._nested(part))
            if not self.reader.accept(","):
                break
            comma = True
        self.reader.expect(")")
        return Expression("tuple", tuple(parts)) if comma or not parts else parts[0]

    def _nested(self, part: Callable[[], Expression]) -> Expression:
        self.depth += 1
        self.reader.deeper("this condition nests" if self.names is not None else "tuples nest")
        result = part()
        self.reader.depth -= 1
        self.depth -= 1
        return result


def _constant(value: Any) -> Expression:
    return Expression("constant", content=value)


def _literal(value: Hashable) -> str:
    """Write a value as conditions take it: texts in quotes."""
    if isinstance(value, str):
        return json.dumps(value)
    if is_integer(value) and value >= 0:
        return str(value)
    if isinstance(value, tuple):
        inside = ", ".join(map(_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return standard_text(show_value(value))
