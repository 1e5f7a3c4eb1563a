"""Writes an expression as text, with brackets where they are needed."""

import json
from collections.abc import Hashable, Iterable, Sequence

from pinesy.exceptions import DomainError
from pinesy.rules.syntax.expressions import Expression, Membership
from pinesy.rules.syntax.lexer import tokenize
from pinesy.rules.syntax.reader import standard_text
from pinesy.rules.syntax.writer import format_name, format_subset, format_value

#: How tightly the parts of an expression are bound; what binds less stands in brackets.
_BINDING = {"or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "//": 6, "%": 6}
#: What binds tightest: names, constants, tuples, minus.
_ATOM = 7


def expression_text(node: Expression, names: Sequence[str], within: str | int = 0) -> str:
    """Return the text of an expression, given its names, for a place inside another.

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
    """Write a set: whole numbers in their order, then all others in that of their texts."""
    numbers = sorted(v for v in values if type(v) is int)
    others = sorted((v for v in values if type(v) is not int), key=repr)
    return standard_text(tokenize(format_subset([*numbers, *others]))[:-1])


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
