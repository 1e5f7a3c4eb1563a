"""Expressions of the language of conditions: syntax trees, their evaluation, and their text."""

import json
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from pinesy.exceptions import DomainError
from pinesy.rules.syntax.lexer import standard_text
from pinesy.rules.syntax.writer import format_name, format_subset, format_value

#: A function from the values of the names to the value of the expression.
Evaluator = Callable[[Sequence[Any]], Any]

#: Bits of the integers that an expression may compute with, at most.
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
#: The minimum and the maximum of some integers.
Limits = tuple[int, int]
#: Interval arithmetic: from the limits of operands to the limits of the result; None if unknown.
RANGES: dict[str, Callable[..., Limits | None]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": lambda a, b: (min(x * y for x in a for y in b), max(x * y for x in a for y in b)),
    "//": lambda a, b: (a[0] // b[0], a[1] // b[0]) if b[0] == b[1] > 0 else None,
    "%": lambda _a, b: (0, b[0] - 1) if b[0] == b[1] > 0 else None,
    "negative": lambda a: (-a[1], -a[0]),
}
#: Errors that the evaluation of an expression may raise for some values.
FAILURES = (ArithmeticError, AttributeError, DomainError, LookupError, TypeError, ValueError)
#: The precedence of operators; an operand of lower precedence is written in brackets.
_PRECEDENCE = {"or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "//": 6, "%": 6}
#: The precedence of names, constants, tuples and the unary minus.
_ATOM = 7


class Membership(NamedTuple):
    """The test ``in {...}`` or ``not in {...}`` of a comparison."""

    inside: frozenset[Hashable]
    negated: bool


class Expression(NamedTuple):
    """A node of a syntax tree.

    Attributes
    ----------
    kind : ``constant``, ``name``, ``tuple``, ``negative``, a sign ``+ - * // %``, ``compare``,
        ``and``, ``or`` or ``not``
    parts : the operands
    content : the value of a constant; the referent of a name, mostly its index; the tests of a
        comparison, one less than its operands: signs, or a `Membership` (whose right operand is
        the constant none)
    """

    kind: str
    parts: tuple["Expression", ...] = ()
    content: Any = None

    def names(self) -> Iterator[Any]:
        """Yield the contents of the names that occur, with repetitions."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.kind == "name":
                yield node.content
            waiting.extend(reversed(node.parts))


def evaluator(expression: Expression) -> Evaluator:
    """Return the function that evaluates the expression; it may raise one of `FAILURES`.

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
        return lambda values: -_check_number(parts[0](values))
    if kind == "not":
        return lambda values: not _check_bool(parts[0](values))
    if kind in ("and", "or"):
        fold = all if kind == "and" else any
        return lambda values: fold(_check_bool(part(values)) for part in parts)
    if kind == "compare":
        tests = [_test_function(test) for test in content]
        # All operands are computed: an error in one is not hidden by a test that fails before.
        return lambda values: all(
            test(*operands)
            for test, operands in zip(
                tests, pairwise([part(values) for part in parts]), strict=True
            )
        )
    operation, (left, right) = ARITHMETIC[kind], parts
    return lambda values: _check_number(
        operation(_check_number(left(values)), _check_number(right(values)))
    )


def _test_function(test: str | Membership) -> Callable[[Any, Any], Any]:
    """Return the function of two operands that a test of a comparison is."""
    if isinstance(test, str):
        return COMPARISONS[test]
    inside, negated = test.inside, test.negated
    return lambda value, _none: (value in inside) != negated


def _check_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise DomainError(f"gives {value!r} where true or false is needed")


def _check_number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise DomainError(f"computes with {value!r:.60}, which is not a number")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise DomainError(f"computes a number of more than {MAX_BITS} bits")
    return value


def expression_text(node: Expression, names: Sequence[str], within: str | int = 0) -> str:
    """Return the text of an expression, in brackets if its precedence is below that of `within`.

    Examples
    --------
    >>> a, b = Expression("name", content=0), Expression("name", content=1)
    >>> expression_text(Expression("*", (Expression("+", (a, b)), b)), ["left", "right"])
    '(left + right) * right'
    """
    lowest = _PRECEDENCE[within] if isinstance(within, str) else within
    text = _node_text(node, names)
    return f"({text})" if _PRECEDENCE.get(node.kind, _ATOM) < lowest else text


def _node_text(node: Expression, names: Sequence[str]) -> str:
    kind, parts = node.kind, node.parts
    if kind == "name":
        return format_name(names[node.content])
    if kind == "constant":
        return value_text(node.content)
    if kind == "compare":
        return _comparison_text(node, names)
    if kind in ("and", "or"):
        texts = [expression_text(part, names, _PRECEDENCE[kind] + 1) for part in parts]
        return f" {kind} ".join(texts)
    if kind == "not":
        return f"not {expression_text(parts[0], names, 'not')}"
    if kind == "negative":
        return f"- {expression_text(parts[0], names, _ATOM)}"
    if kind == "tuple":
        inside = ", ".join(expression_text(part, names) for part in parts)
        return f"({inside},)" if len(parts) == 1 else f"({inside})"
    left, right = (expression_text(p, names, _PRECEDENCE[kind] + i) for i, p in enumerate(parts))
    return f"{left} {kind} {right}"


def _comparison_text(node: Expression, names: Sequence[str]) -> str:
    texts = [expression_text(part, names, "+") for part in node.parts]
    written = texts[0]
    for test, text in zip(node.content, texts[1:], strict=True):
        if isinstance(test, Membership):
            written += f" {'not ' * test.negated}in {_set_text(test.inside)}"
        else:
            written += f" {test} {text}"
    return written


def _set_text(values: Iterable[Hashable]) -> str:
    """Return the text of a set: integers sorted, then other values sorted by repr."""
    numbers = sorted(v for v in values if type(v) is int)
    others = sorted((v for v in values if type(v) is not int), key=repr)
    return standard_text(format_subset([*numbers, *others]))


def value_text(value: Hashable) -> str:
    """Return the text of a value in an expression: strings in quotes, a space after a minus.

    Examples
    --------
    >>> value_text((-1, "low"))
    '(- 1, "low")'
    """
    if isinstance(value, str):
        return json.dumps(str.__str__(value))
    if value == ():
        raise DomainError("expressions do not know the empty tuple")
    if isinstance(value, tuple):
        inside = ", ".join(map(value_text, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    text = format_value(value)
    return f"- {text[1:]}" if text.startswith("-") else text
