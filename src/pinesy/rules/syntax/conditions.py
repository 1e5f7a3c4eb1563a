"""A small, safe language of conditions: ``left + right == 7``, ``a in {1, 2} and not b > 3``.

Numbers, texts in quotes, tuples, ``+ - * // %``, comparisons (chained too), ``in {...}``,
``and``, ``or``, ``not`` and the names of the attribute's components; nothing else, and no `eval`.
"""

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.validation import suggestion
from pinesy.exceptions import DomainError
from pinesy.rules.syntax.lexer import MAX_DEPTH, Token
from pinesy.rules.syntax.reader import CONSTANTS, Reader, standard_text

#: From the values of the named components to the value of the expression.
Evaluator = Callable[[Sequence[Any]], Any]

#: Operands of a condition; a bound like those of the lexer.
MAX_OPERANDS = 200
#: Size of the numbers that a condition may compute with.
MAX_BITS = 4_096
#: Masks that are cached.
MAX_MASKS = 4_096

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
#: What a condition may raise that the value it is tried on is to blame for.
_FAILURES = (ArithmeticError, AttributeError, DomainError, LookupError, TypeError, ValueError)
#: Masks of conditions by pattern and domain (held, so that its id stays its own): equal products
#: share their domain, and a Sudoku has thousands of rules of a few patterns.
_MASKS: dict[tuple[str, int], tuple[tuple[Hashable, ...], int]] = {}


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
    formula = _ConditionReader(reader, names)
    holds = formula.either()
    if reader.token.kind != "end":
        reader.fail(f"expected the end of the condition, found {reader.token.text!r:.60}")
    text = standard_text(reader.tokens[:-1])
    # In a rule, the words and, or, not of a condition stand in brackets.
    return Condition(holds, f"({text})" if formula.loose else text, formula.pattern(0))


def read_condition(reader: Reader, names: Sequence[str]) -> Condition:
    """Read a condition inside a rule: one comparison, or any formula in brackets."""
    start = reader.position
    formula = _ConditionReader(reader, names)
    holds = formula.negation()
    text = standard_text(reader.tokens[start : reader.position])
    return Condition(holds, text, formula.pattern(start))


def condition_mask(
    condition: Condition | Callable[..., object],
    domain: tuple[Hashable, ...],
    is_product: bool,
    name: str,
) -> int:
    """Return the mask of the values that meet a condition, a function or one that was read.

    One that was read is evaluated once for all attributes of one domain.

    Parameters
    ----------
    is_product : whether the values are tuples of components, which the condition takes one by one
    name : that of the attribute, for messages
    """
    if not isinstance(condition, Condition):
        function = condition
        return _mask(lambda parts: function(*parts), domain, is_product, name, "the condition")
    key = (condition.pattern, id(domain))
    if key not in _MASKS:
        holds, text = condition.holds, f"'{condition.text:.60}'"
        # A text may use the name of a product too, after those of its components.
        whole = (lambda parts: holds((*parts, parts))) if is_product else holds
        mask = _mask(whole, domain, is_product, name, text)
        if len(_MASKS) >= MAX_MASKS:
            _MASKS.clear()
        _MASKS[key] = (domain, mask)
    return _MASKS[key][1]


def _mask(
    holds: Callable[[Any], object],
    domain: tuple[Hashable, ...],
    is_product: bool,
    name: str,
    text: str,
) -> int:
    """Return the mask of the values for which `holds` of the tuple of their components."""
    mask = 0
    for position, value in enumerate(domain):
        try:
            answer = holds(value if is_product else (value,))
        except _FAILURES as error:
            place = f"attribute {name!r}, value {value!r}"
            raise DomainError(f"{place}: {text} fails: {error}") from error
        if not isinstance(answer, bool | np.bool_):
            raise DomainError(
                f"attribute {name!r}, value {value!r}: {text} gives {answer!r:.60}; it must give "
                "true or false"
            )
        mask |= int(answer) << position
    return mask


class _ConditionReader:
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
                negated = bool(reader.accept("not"))
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
        if token.kind == "word" and token.text in CONSTANTS:
            return _constant(CONSTANTS[token.text])
        return self._name(token)

    def _name(self, token: Token) -> Evaluator:
        name = token.text.strip("`")
        if token.kind not in ("word", "name"):
            self.reader.fail(f"expected a number, a name or '(', found {token.text!r:.60}", token)
        if name not in self.names:
            if self.reader.token.text == "(":
                self.reader.fail(
                    f"{name!r}: functions are not known here; give a function of your own instead "
                    "of a text, such as lambda a, b: abs(a - b) <= 1",
                    token,
                )
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
    return lambda values: _numeric(operation(_numeric(left(values)), _numeric(right(values))))


def _numeric(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise DomainError(f"computes with {value!r:.60}, which is not a number")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise DomainError(f"computes a number of more than {MAX_BITS} bits")
    return value


def _membership(inside: frozenset[Hashable], negated: bool) -> Callable[[Any, Any], bool]:
    return lambda value, _none: (value in inside) != negated


def _chain(tests: Sequence[Callable[[Any, Any], bool]], terms: Sequence[Any]) -> bool:
    return all(test(terms[i], terms[i + 1]) for i, test in enumerate(tests))
