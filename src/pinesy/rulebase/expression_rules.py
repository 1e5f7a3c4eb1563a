"""The rules of an expression, computed part by part: no product of all its attributes is made.

A part whose attributes occur nowhere else becomes an inner attribute; min and max over the others
do not depend on it, so its distribution is all that matters. A sum becomes a chain, a remainder of
a sum one of remainders, and a sum that is compared with numbers is followed only as far as they go.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from pinesy._common.budgets import NODE, take_steps
from pinesy.rulebase.function_steps import FunctionSteps, compared, equivalence, images, subsets
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.expressions import (
    RANGES,
    Expression,
    Limits,
    Membership,
    evaluator,
    expression_text,
)

#: Kinds of expressions that are true or false.
TRUTHS = ("compare", "and", "or", "not")
#: Kinds of expressions whose remainder is that of the remainders of their parts.
_RING = ("+", "-", "*", "negative")


class ExpressionRules:
    """Collects the rules of an expression over attributes, whose numbers are its names'."""

    def __init__(self, name: str, attributes: Sequence[Attribute]) -> None:
        self.steps = FunctionSteps()
        self.name = name
        #: The attributes given, and after them the inner ones.
        self.attributes = list(attributes)
        self._inner = 0

    def _next_name(self) -> str:
        self._inner += 1
        return f"{self.name}.{self._inner}"

    def add_all(self, node: Expression, domain: Sequence[Hashable] | None) -> None:
        """Add the rules of the whole expression."""
        self._add(self._with_remainders(node), self.name, domain=domain)

    def _add(
        self,
        node: Expression,
        name: str | None = None,
        limits: Limits | None = None,
        domain: Sequence[Hashable] | None = None,
    ) -> Attribute:
        """Add the rules of an expression and return its attribute, an inner one by default."""
        take_steps(NODE * _size(node))
        groups = _groups(node)
        if len(groups) > 1 and (domain is None or len(domain) == 2):
            return self._add_logical(node.kind, groups, name, domain)
        node = self._simplified(node, limits)
        name = name or self._next_name()
        parts, compute = self._function(node)
        fn = _Limited(compute, limits)
        names = [a.name for a in self.attributes]

        def text(value: Hashable) -> str | None:
            if limits is not None and value in limits:
                sign = "<=" if value == limits[0] else ">="
                return compared(expression_text(node, names, "+"), sign, value)
            return value_condition(node, names, value)

        return self.steps.apply(name, parts, fn, text, domain)

    def _function(self, node: Expression) -> tuple[list[Attribute], Callable[..., Any]]:
        """Return the attributes of an expression, and the function of them that it is."""
        numbers = list(dict.fromkeys(node.names()))
        values = evaluator(_renumbered(node, numbers))
        attributes = [self.attributes[i] for i in numbers]
        take_steps(4 * _size(node) * prod(len(a.domain) for a in attributes))
        return attributes, lambda *u: values(u)

    def _simplified(self, node: Expression, limits: Limits | None) -> Expression:
        """Replace the parts of an expression that share no attribute with its other parts."""
        occurrences = Counter(node.names())
        if len(occurrences) < 2:
            return node
        parts = list(node.parts)
        varying = [i for i, part in enumerate(parts) if list(part.names())]
        for i in varying:
            within = self._part_limits(node, parts, i, limits)
            if len(varying) == 1 and len(_groups(parts[i])) == 1:  # as in (x + y) % 10
                parts[i] = self._simplified(parts[i], within)
            else:
                parts[i] = self._part(parts[i], occurrences, within)
        return node._replace(parts=tuple(parts))

    def _part(
        self, part: Expression, occurrences: Counter[int], limits: Limits | None
    ) -> Expression:
        own = Counter(part.names())
        if part.kind == "name" or not own:
            return part
        if all(occurrences[i] == times for i, times in own.items()):
            if len(own) == 1 and not self._is_shorter(part, limits):
                return part
            self.attributes.append(self._add(part, limits=limits))
            return Expression("name", content=len(self.attributes) - 1)
        parts = list(part.parts)
        for i, inner in enumerate(parts):
            parts[i] = self._part(inner, occurrences, None)
        return part._replace(parts=tuple(parts))

    def _is_shorter(self, part: Expression, limits: Limits | None) -> bool:
        """Tell whether an expression of one attribute has fewer values than this."""
        (attribute,), compute = self._function(part)
        results = images(self.name, attribute, _Limited(compute, limits))
        return len(set(results)) < len(attribute.domain)

    # --- and, or ---------------------------------------------------------------------------

    def _add_logical(
        self,
        kind: str,
        groups: Sequence[tuple[Expression, ...]],
        name: str | None,
        domain: Sequence[Hashable] | None,
    ) -> Attribute:
        """Add the one rule of ``x and y`` or ``x or y`` where they share no attribute.

        ``iff x and y then b in {true}``, and ``iff not x and not y then b in {false}``.
        """
        truth = kind == "and"
        premise = [self._proposition(Expression(kind, group), truth) for group in groups]
        output = Attribute(name or self._next_name(), domain or (False, True))
        self.steps.rule_sets.append(RuleSet([equivalence(premise, output.isin({truth}))]))
        return output

    def _proposition(self, node: Expression, truth: bool) -> Proposition:
        """Return the proposition that an expression is true, or that it is false."""
        lone = node.parts[0] if len(node.parts) == 1 else None
        if lone is None:
            node = self._simplified(node, None)
        elif len(_groups(lone)) > 1:
            return self._add(lone).isin({truth})
        else:
            lone = self._simplified(lone, None)
            node = node._replace(parts=(lone,))
        parts, compute = self._function(node)
        source = parts[0] if len(parts) == 1 else self.steps.source(self._next_name(), parts)
        masks = subsets(self.name, source, compute)
        text = value_condition(lone or node, [a.name for a in self.attributes], truth)
        return Proposition(source, masks.get(truth, 0), text)

    # --- whole numbers: remainders and limits --------------------------------------------------

    def _with_remainders(self, node: Expression) -> Expression:
        """Take the remainders of the parts of sums and products whose remainder is taken."""
        parts = tuple([self._with_remainders(part) for part in node.parts])
        node = node._replace(parts=parts)
        whole = node.kind == "%" and self._bounds(parts[0]) and _is_number(parts[1])
        if whole and parts[1].content and parts[0].kind in _RING:
            return self._remainder(parts[0], parts[1])
        return node

    def _remainder(self, node: Expression, modulo: Expression) -> Expression:
        m = modulo.content
        if node.kind == "constant":
            return node._replace(content=node.content % m)
        if node.kind in _RING:
            parts = tuple([self._remainder(part, modulo) for part in node.parts])
            return Expression("%", (node._replace(parts=parts), modulo))
        low, high = self._bounds(node) or (-1, 0)
        return node if low >= 0 and high < m else Expression("%", (node, modulo))

    def _bounds(self, node: Expression) -> Limits | None:
        """Return bounds of an expression that is a whole number, None for any other."""
        if node.kind == "name":
            attribute = self.attributes[node.content]
            column, values = attribute.column, attribute.domain
            if column is not None and column.kind is int:
                return column.low, column.high
            take_steps(len(values))
            whole = all(isinstance(v, int) for v in values)
            return (int(min(values)), int(max(values))) if whole else None
        if node.kind == "constant":
            return (node.content, node.content) if isinstance(node.content, int) else None
        if node.kind in TRUTHS:
            return 0, 1
        bounds = []
        for part in node.parts:
            bounds.append(self._bounds(part))
        if None in bounds or node.kind not in RANGES:
            return None
        return RANGES[node.kind](*bounds)

    def _part_limits(
        self, node: Expression, parts: Sequence[Expression], i: int, limits: Limits | None
    ) -> Limits | None:
        """Return how far one part of an expression matters, given how far the whole does."""
        if node.kind == "compare":
            return self._compared_limits(node, i)
        if limits is None or node.kind not in ("+", "-"):
            return None
        other = self._bounds(parts[1 - i])
        if other is None or self._bounds(parts[i]) is None:
            return None
        (low, high), (least, most) = limits, other
        if node.kind == "+":
            return low - most, high - least
        return (low + least, high + most) if i == 0 else (least - high, most - low)

    def _compared_limits(self, node: Expression, i: int) -> Limits | None:
        """Return the numbers up to which, and from which on, all tests have one result."""
        part = node.parts[i]
        others = [p for j, p in enumerate(node.parts) if j != i]
        if part.kind not in ("+", "-") or not self._bounds(part):
            return None
        if not all(p.kind == "constant" for p in others):
            return None
        tests = [(t, node.parts[j + 1], 0) for j, t in enumerate(node.content) if j == i]
        tests += [(t, node.parts[j], 1) for j, t in enumerate(node.content) if j + 1 == i]
        edges: list[int] = []
        for test, constant, after in tests:
            if isinstance(test, Membership):
                numbers = [v for v in test.inside if isinstance(v, int)]
                if after or not numbers or len(numbers) < len(test.inside):
                    return None
                edges += [min(numbers) - 1, max(numbers) + 1]
            elif not _is_number(constant):
                return None
            else:
                below, above = _EDGES[_MIRRORED[test] if after else test]
                edges += [constant.content + below, constant.content + above]
        return (min(edges), max(edges)) if edges else None


#: How far around a constant the truth of a comparison with it changes.
_EDGES = {"<": (-1, 0), ">=": (-1, 0), "<=": (0, 1), ">": (0, 1), "==": (-1, 1), "!=": (-1, 1)}
#: The comparison with its sides exchanged.
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, eq=False)
class _Limited:
    """A function whose results beyond limits are taken as these."""

    compute: Callable[..., Any]
    limits: Limits | None

    def __call__(self, *values: Any) -> Any:
        result = self.compute(*values)
        return result if self.limits is None else min(max(result, self.limits[0]), self.limits[1])


def value_condition(node: Expression, names: Sequence[str], value: Hashable) -> str | None:
    """Return the text of the condition that an expression has a value.

    Examples
    --------
    >>> a, b = Expression("name", content=0), Expression("name", content=1)
    >>> value_condition(Expression("+", (a, b)), ["left", "right"], 7)
    'left + right == 7'
    >>> value_condition(Expression("compare", (a, b), ("<",)), ["left", "right"], True)
    'left < right'
    """
    if node.kind not in TRUTHS:
        return compared(expression_text(node, names, "+"), "==", value)
    truth = node if bool(value) else Expression("not", (node,))
    return expression_text(truth, names, "compare")


def _size(node: Expression) -> int:
    """Return the number of nodes of an expression."""
    return 1 + sum(map(_size, node.parts))


def _is_number(node: Expression) -> bool:
    return node.kind == "constant" and type(node.content) is int


def _renumbered(node: Expression, numbers: Sequence[int]) -> Expression:
    """Give each name the place of its number in `numbers`."""
    if node.kind == "name":
        return node._replace(content=numbers.index(node.content))
    return node._replace(parts=tuple([_renumbered(part, numbers) for part in node.parts]))


def _groups(node: Expression) -> list[tuple[Expression, ...]]:
    """Put those parts of an `and` or `or` together that share attributes; others stay whole."""
    if node.kind not in ("and", "or"):
        return [(node,)]
    constants = [part for part in node.parts if not list(part.names())]
    groups: list[tuple[set[int], list[Expression]]] = []
    for part in node.parts:
        numbers, parts = set(part.names()), [part]
        for group in [g for g in groups if g[0] & numbers]:
            groups.remove(group)
            numbers |= group[0]
            parts = group[1] + parts
        if numbers:
            groups.append((numbers, parts))
    return [tuple(constants + groups[0][1]), *(tuple(parts) for _, parts in groups[1:])]
