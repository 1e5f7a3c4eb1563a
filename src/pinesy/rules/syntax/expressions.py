"""Expressions of the language of conditions: trees, their values for one tuple, and their text."""

import json
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pinesy.exceptions import DomainError
from pinesy.rules.syntax.lexer import standard_text
from pinesy.rules.syntax.writer import format_name, format_subset, format_value

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
#: The lowest and the highest of some integers.
Limits = tuple[int, int]
#: From the limits of operands to those of the result; None where they are not known.
RANGES: dict[str, Callable[..., Limits | None]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": lambda a, b: _span([x * y for x in a for y in b]),
    "//": lambda a, b: (a[0] // b[0], a[1] // b[0]) if b[0] == b[1] > 0 else None,
    "%": lambda _a, b: (0, b[0] - 1) if b[0] == b[1] > 0 else None,
    "negative": lambda a: (-a[1], -a[0]),
}
#: Errors of an expression that depend on the values it is computed for.
FAILURES = (ArithmeticError, AttributeError, DomainError, LookupError, TypeError, ValueError)
#: How tightly the parts of an expression are bound; what binds less is written in brackets.
_BINDING = {"or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "//": 6, "%": 6}
#: What binds tightest: names, constants, tuples, minus.
_ATOM = 7


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
    content : of a constant its value; of a name what it refers to, mostly its index among those
        that may be used; of a comparison its tests, one less than its operands: signs, or a
        `Membership` (whose right operand is the constant none)
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


def _span(numbers: Sequence[int]) -> Limits:
    return min(numbers), max(numbers)


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


def expression_text(node: Expression, names: Sequence[str], within: str | int = 0) -> str:
    """Return the text of an expression, given its names, in brackets if `within` binds tighter.

    Examples
    --------
    >>> a, b = Expression("name", content=0), Expression("name", content=1)
    >>> expression_text(Expression("*", (Expression("+", (a, b)), b)), ["left", "right"])
    '(left + right) * right'
    """
    least = _BINDING[within] if isinstance(within, str) else within
    text = _text(node, names)
    return f"({text})" if _BINDING.get(node.kind, _ATOM) < least else text


def _text(node: Expression, names: Sequence[str]) -> str:
    kind, parts = node.kind, node.parts
    if kind == "name":
        return format_name(names[node.content])
    if kind == "constant":
        return value_text(node.content)
    if kind == "compare":
        return _comparison(node, names)
    if kind in ("and", "or"):
        texts = [expression_text(part, names, _BINDING[kind] + 1) for part in parts]
        return f" {kind} ".join(texts)
    if kind == "not":
        return f"not {expression_text(parts[0], names, 'not')}"
    if kind == "negative":
        return f"- {expression_text(parts[0], names, _ATOM)}"
    if kind == "tuple":
        inside = ", ".join(expression_text(part, names) for part in parts)
        return f"({inside},)" if len(parts) == 1 else f"({inside})"
    left, right = (expression_text(p, names, _BINDING[kind] + i) for i, p in enumerate(parts))
    return f"{left} {kind} {right}"


def _comparison(node: Expression, names: Sequence[str]) -> str:
    texts = [expression_text(part, names, "+") for part in node.parts]
    written = texts[0]
    for test, text in zip(node.content, texts[1:], strict=True):
        if isinstance(test, Membership):
            written += f" {'not ' * test.negated}in {_subset(test.inside)}"
        else:
            written += f" {test} {text}"
    return written


def _subset(values: Iterable[Hashable]) -> str:
    """Write a set: integers in their order, then all others in that of their texts."""
    numbers = sorted(v for v in values if type(v) is int)
    others = sorted((v for v in values if type(v) is not int), key=repr)
    return standard_text(format_subset([*numbers, *others]))


def value_text(value: Hashable) -> str:
    """Write a value as expressions do: texts in quotes, a space after a minus.

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
