"""Expressions of the language of conditions: trees, and their values for one tuple of values."""

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from pinesy.exceptions import DomainError

#: From the values of the named components to the value of the expression.
Evaluator = Callable[[Sequence[Any]], Any]

#: Size of the numbers that an expression may compute with.
MAX_BITS = 4_096

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: What an expression may raise that the values it is tried on are to blame for.
FAILURES = (ArithmeticError, AttributeError, DomainError, LookupError, TypeError, ValueError)


class Membership(NamedTuple):
    """The test ``in {...}`` or ``not in {...}`` of a comparison."""

    inside: frozenset[Hashable]
    negated: bool


class Expression(NamedTuple):
    """A node of an expression's tree.

    Attributes
    ----------
    kind : ``constant``, ``name``, ``tuple``, ``negative``, a sign ``+ - * // %``, ``compare``,
        ``and``, ``or`` or ``not``
    parts : the operands
    content : of a constant its value; of a name its number among the names that may be used; of
        a comparison its tests, one less than its operands: signs, or a `Membership` (whose right
        operand is the constant none)
    """

    kind: str
    parts: tuple["Expression", ...] = ()
    content: Any = None

    def names(self) -> Iterator[int]:
        """Go through the numbers of the names that occur, each as often as it does."""
        if self.kind == "name":
            yield self.content
        for part in self.parts:
            yield from part.names()


def evaluator(expression: Expression) -> Evaluator:
    """Return the function that computes the expression; it raises one of `FAILURES`.

    Examples
    --------
    >>> three, first = Expression("constant", content=3), Expression("name", content=0)
    >>> evaluator(Expression("+", (first, three)))((4,))
    7
    """
    kind, content = expression.kind, expression.content
    parts = [evaluator(part) for part in expression.parts]
    if kind == "constant":
        return lambda _values: content
    if kind == "name":
        return lambda values: values[content]
    if kind == "tuple":
        return lambda values: tuple(part(values) for part in parts)
    if kind == "negative":
        return lambda values: -_number(parts[0](values))
    if kind == "not":
        return lambda values: not _truth(parts[0](values))
    if kind in ("and", "or"):
        fold = all if kind == "and" else any
        return lambda values: fold(_truth(part(values)) for part in parts)
    if kind == "compare":
        tests = [_test(test) for test in content]
        return lambda values: _chain(tests, [part(values) for part in parts])
    return _binary(ARITHMETIC[kind], *parts)


def _binary(operation: Callable[[Any, Any], Any], left: Evaluator, right: Evaluator) -> Evaluator:
    return lambda values: _number(operation(_number(left(values)), _number(right(values))))


def _test(test: str | Membership) -> Callable[[Any, Any], Any]:
    if isinstance(test, str):
        return COMPARISONS[test]
    inside, negated = test.inside, test.negated
    return lambda value, _none: (value in inside) != negated


def _chain(tests: Sequence[Callable[[Any, Any], Any]], terms: Sequence[Any]) -> bool:
    return all(test(terms[i], terms[i + 1]) for i, test in enumerate(tests))


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise DomainError(f"gives {value!r} where true or false is needed")


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise DomainError(f"computes with {value!r:.60}, which is not a number")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise DomainError(f"computes a number of more than {MAX_BITS} bits")
    return value
