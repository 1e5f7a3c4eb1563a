"""A small, safe language of conditions: ``left + right == 7``, ``a in {1, 2} and not b > 3``.

Numbers, texts in quotes, tuples, ``+ - * // %``, comparisons (chained too), ``in {...}``,
``and``, ``or``, ``not`` and the names of the attribute's components; nothing else, and no `eval`.
"""

import json
import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pinesy._validation import suggestion
from pinesy.exceptions import DomainError
from pinesy.rules.lexer import (
    KEYWORDS,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_RANGE,
    Token,
    fail,
    tokenize,
)

__all__ = ["Condition", "Reader", "parse_condition", "read_condition"]

#: From the values of the named components to the value of the expression.
Evaluator = Callable[[Sequence[Any]], Any]

#: Operands of a condition; a bound like those of the lexer.
MAX_OPERANDS = 200

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONSTANTS: dict[str, Hashable] = {"true": True, "false": False, "none": None}


class Reader:
    """A place in a list of tokens, with the steps that every grammar here takes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.position = 0

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.position]

    def accept(self, text: str) -> bool:
        """Step over the keyword or sign `text` if it comes next; say whether it did."""
        if self.token.text == text and self.token.kind in ("word", "sign"):
            self.position += 1
            return True
        return False

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
        self.position += token.kind != "end"
        return token

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
            return _CONSTANTS.get(token.text, token.text)
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
    return token.text in _CONSTANTS or token.text not in KEYWORDS


@dataclass(frozen=True)
class Condition:
    """A condition that has been read.

    Attributes
    ----------
    holds : from the values of the named components to true or false
    text : its standard form
    pattern : its text with numbers in place of names: conditions of one pattern hold for the
        same components, whatever these are called
    """

    holds: Evaluator
    text: str
    pattern: str


def parse_condition(source: str, names: Sequence[str]) -> Condition:
    """Return the condition that `source` writes; the whole text must be one.

    Examples
    --------
    >>> condition = parse_condition("left+right==7", ["left", "right"])
    >>> condition.holds((3, 4)), condition.holds((3, 5)), condition.text
    (True, False, 'left + right == 7')
    """
    reader = Reader(source)
    formula = _Formula(reader, names)
    holds = formula.either()
    if reader.token.kind != "end":
        reader.fail(f"expected the end of the condition, found {reader.token.text!r:.60}")
    text = standard_text(reader.tokens[:-1])
    # In a rule, the words and, or, not of a condition stand in brackets.
    return Condition(holds, f"({text})" if formula.loose else text, formula.pattern(0))


def read_condition(reader: Reader, names: Sequence[str]) -> Condition:
    """Read a condition inside a rule: one comparison, or any formula in brackets."""
    start = reader.position
    formula = _Formula(reader, names)
    holds = formula.negation()
    text = standard_text(reader.tokens[start : reader.position])
    return Condition(holds, text, formula.pattern(start))


def standard_text(tokens: Sequence[Token]) -> str:
    """Write tokens with single spaces, none inside brackets or before commas."""
    text = ""
    for token in tokens:
        tight = not text or text[-1] in "([{" or (token.kind == "sign" and token.text in ")]},")
        text += token.text if tight else " " + token.text
    return text


class _Formula:
    """Recursive descent: `either` > `both` > `negation` > `comparison` > `sum` > `product`."""

    def __init__(self, reader: Reader, names: Sequence[str]) -> None:
        self.reader = reader
        self.names = list(names)
        self.depth = 0
        self.operands = 0
        self._numbers: dict[int, str] = {}  # by where the name stands
        #: Whether and, or, not stand outside brackets (a rule's ``and`` would take them apart).
        self.loose = False

    def pattern(self, start: int) -> str:
        """Return the text read since token `start`, names replaced by their numbers."""
        tokens = self.reader.tokens[start : self.reader.position]
        return " ".join(self._numbers.get(t.start, t.text) for t in tokens)

    def either(self) -> Evaluator:
        """Read ``x or y or ...``."""
        return self._logical("or", self.both, any)

    def both(self) -> Evaluator:
        """Read ``x and y and ...``."""
        return self._logical("and", self.negation, all)

    def _logical(
        self, word: str, part: Callable[[], Evaluator], fold: Callable[[Any], bool]
    ) -> Evaluator:
        parts = [part()]
        while self.reader.accept(word):
            self.loose |= self.depth == 0
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        return lambda values: fold(_truth(p(values)) for p in parts)

    def negation(self) -> Evaluator:
        """Read ``not x`` or a comparison."""
        if self.reader.accept("not"):
            self.loose |= self.depth == 0
            part = self._nested(self.negation)
            return lambda values: not _truth(part(values))
        return self.comparison()

    def comparison(self) -> Evaluator:
        """Read ``x``, ``x < y <= z`` or ``x in {...}``."""
        terms, tests = [self.sum()], []
        while True:
            reader = self.reader
            if reader.token.kind == "sign" and reader.token.text in _COMPARISONS:
                tests.append(_COMPARISONS[reader.take().text])
                terms.append(self.sum())
            elif reader.token.text in ("in", "not") and reader.token.kind == "word":
                negated = reader.accept("not")
                reader.expect("in")
                inside = frozenset(reader.subset())
                tests.append(_membership(inside, negated))
                terms.append(lambda _values: None)
            else:
                break
        if not tests:
            return terms[0]
        return lambda values: _chain(tests, [t(values) for t in terms])

    def sum(self) -> Evaluator:
        """Read ``x + y - z``."""
        return self._arithmetic(("+", "-"), self.product)

    def product(self) -> Evaluator:
        """Read ``x * y // z % w``."""
        return self._arithmetic(("*", "//", "%"), self.operand)

    def _arithmetic(self, signs: tuple[str, ...], part: Callable[[], Evaluator]) -> Evaluator:
        result = part()
        while self.reader.token.kind == "sign" and self.reader.token.text in signs:
            operation = _ARITHMETIC[self.reader.take().text]
            result = _binary(operation, result, part())
        return result

    def operand(self) -> Evaluator:
        """Read a number, a text, a name, ``-x``, ``(x)`` or a tuple ``(x, y)``."""
        token = self.reader.take()
        self.operands += 1
        if self.operands > MAX_OPERANDS:
            self.reader.fail(f"this condition has more than {MAX_OPERANDS} operands", token)
        if token.text == "-" and token.kind == "sign":
            part = self._nested(self.operand)
            return lambda values: -_numeric(part(values))
        if token.text == "(" and token.kind == "sign":
            return self._brackets()
        if token.kind == "number":
            return _constant(self.reader.number(token))
        if token.kind == "string":
            return _constant(self.reader.string(token))
        if token.kind == "word" and token.text in _CONSTANTS:
            return _constant(_CONSTANTS[token.text])
        return self._name(token)

    def _name(self, token: Token) -> Evaluator:
        name = token.text.strip("`")
        if token.kind not in ("word", "name"):
            self.reader.fail(f"expected a number, a name or '(', found {token.text!r:.60}", token)
        if name not in self.names:
            hint = suggestion(name, self.names)
            spaces = " (a minus takes spaces around it)" if "-" in name else ""
            quotes = f'; a text value takes quotes: "{name}"' if token.kind == "word" else ""
            self.reader.fail(f"unknown name {name!r}{hint}{spaces}{quotes}", token)
        index = self.names.index(name)
        self._numbers[token.start] = f"${index}"
        return lambda values: values[index]

    def _brackets(self) -> Evaluator:
        parts = [self._nested(self.either)]
        comma = False
        while self.reader.accept(","):
            comma = True
            if self.reader.token.text == ")":
                break
            parts.append(self._nested(self.either))
        self.reader.expect(")")
        if not comma:
            return parts[0]
        return lambda values: tuple(p(values) for p in parts)

    def _nested(self, part: Callable[[], Evaluator]) -> Evaluator:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.reader.fail(f"this condition nests more than {MAX_DEPTH} deep")
        result = part()
        self.depth -= 1
        return result


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise DomainError(f"gives {value!r} where true or false is needed")


def _constant(value: Hashable) -> Evaluator:
    return lambda _values: value


def _binary(operation: Callable[[Any, Any], Any], left: Evaluator, right: Evaluator) -> Evaluator:
    return lambda values: operation(_numeric(left(values)), _numeric(right(values)))


def _numeric(value: object) -> int | float:
    if isinstance(value, int | float):
        return value
    raise DomainError(f"computes with {value!r}, which is not a number")


def _membership(inside: frozenset[Hashable], negated: bool) -> Callable[[Any, Any], bool]:
    return lambda value, _none: (value in inside) != negated


def _chain(tests: Sequence[Callable[[Any, Any], bool]], terms: Sequence[Any]) -> bool:
    return all(test(terms[i], terms[i + 1]) for i, test in enumerate(tests))
