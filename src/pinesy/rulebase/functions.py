"""Attributes that are functions of others, as exact rules.

A function `f` of attributes needs two rule sets. The pairing rules give the distribution of the
product attribute, ``pi(u_1, ..., u_k) = min_i pi_i(u_i)``, and the rules ``iff pair where f == t
then total in {t}`` that of the results, ``pi(t) = max {pi(u) : f(u) = t}`` (docs/functions.md).

The rules of an expression are computed part by part, without the product of all its attributes. A
part whose attributes occur nowhere else becomes an inner attribute: only its distribution matters
for the min and max over the others. A sum becomes a chain, the remainder of a sum a chain of
remainders, and a sum that is compared with numbers is clipped to their range.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from pinesy._common.budgets import BITS, NODE, take_steps
from pinesy._common.masks import group_masks, positions
from pinesy._common.names import first_duplicate
from pinesy._common.validation import is_iterable, listed
from pinesy.exceptions import DomainError
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import MAX_PRODUCT, Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.conditions import parse_condition
from pinesy.rules.syntax.expressions import (
    RANGES,
    Expression,
    Limits,
    Membership,
    evaluator,
    expression_text,
    value_text,
)
from pinesy.rules.syntax.writer import format_name

#: From a value of a function to the text of its condition; None if it has none.
ConditionText = Callable[[Hashable], str | None]
#: Bits of the subsets in the rules of one function, at most: half a gigabyte.
MAX_SUBSET_BITS = 4 * 10**9
#: Values of a domain, at most, for which preimages are cached.
MAX_SHARED = 10_000
#: Values of a product, at most, on which an expression is evaluated if one of its parts fails.
MAX_TRIED = 100_000
#: Kinds of boolean expressions.
TRUTHS = ("compare", "and", "or", "not")
#: Kinds of expressions that commute with remainders.
_RING = ("+", "-", "*", "negative")


def function(
    name: str,
    of: Attribute | Sequence[Attribute] | RuleSet | Cascade,
    fn: Callable[..., Any] | str,
    domain: Iterable[Hashable] | None = None,
) -> Cascade:
    """Return the rules of an attribute that is a function of others.

    Its distribution is ``pi(t) = max {min_i pi_i(u_i) : fn(u_1, ..., u_k) = t}``, exactly.

    Parameters
    ----------
    name : the name of the new attribute
    of : what it is a function of: an attribute, a list of attributes, or rules with one output
        (which become part of the result); a product attribute counts as its factors
    fn : a Python function of the values, or a text in the language of conditions, such as
        ``"left + right"``, over the attributes' names
    domain : the values of the new attribute; by default the results, sorted if they can be

    Examples
    --------
    >>> from pinesy import Attribute, function, joint
    >>> left, right = Attribute("left", range(10)), Attribute("right", range(10))
    >>> addition = function("total", joint("pair", left, right), "left + right")
    >>> addition
    Cascade(2 rule sets, 39 rules: left, right -> total)
    >>> addition["total"].rules[7].premise
    pair where left + right == 7
    >>> addition.infer({"left": {3: 1, 8: 0.4}, "right": {4: 1}})["total"].possibility({12})
    0.4
    """
    if not isinstance(name, str):
        raise DomainError(f"the name of a function's attribute is a text; got {name!r:.60}")
    attributes, rule_sets = _arguments(of)
    steps = FunctionSteps(rule_sets)
    if callable(fn):
        steps.apply(name, attributes, fn, domain=domain)
    elif isinstance(fn, str):
        values = None if domain is None else Attribute(name, domain).domain
        _add_expression(steps, name, attributes, fn, values)
    else:
        raise DomainError(f"the function {name!r} is {fn!r:.60}; give a Python function or a text")
    return Cascade(*steps.rule_sets, attributes=attributes)


def joint(name: str, *attributes: Attribute) -> RuleSet:
    """Return the pairing rules, which conclude on the product attribute `name` from its factors.

    They are ``iff a in {v} then pair where a == v`` for each factor `a` and each of its values
    (for the first of two values only: its rule covers both), so that the pair has the distribution
    ``pi(u_1, ..., u_k) = min_i pi_i(u_i)``.

    Examples
    --------
    >>> from pinesy import Attribute, joint
    >>> pairing = joint("pair", Attribute("left", range(10)), Attribute("right", range(10)))
    >>> pairing
    RuleSet(20 rules: left, right -> pair)
    >>> pairing.infer({"left": {3: 1, 8: 0.4}, "right": {4: 1, 9: 0.2}}).possibility({(8, 4)})
    0.4
    """
    sizes = tuple(len(a.domain) for a in attributes if isinstance(a, Attribute))
    if prod(sizes) <= MAX_PRODUCT:  # else the product raises
        _check_subset_size(name, sum(sizes), prod(sizes))
    pair = Attribute.product(name, *attributes)
    masks = (_shared_masks if len(pair.domain) <= MAX_SHARED else _factor_masks)(sizes)
    rules = []
    for a, with_value in zip(attributes, masks, strict=True):
        for i, mask in enumerate(with_value):
            condition = condition_text(format_name(a.name), "==", a.domain[i])
            rules.append(equivalence([Proposition(a, 1 << i)], Proposition(pair, mask, condition)))
    return RuleSet(rules)


def _arguments(of: Any) -> tuple[list[Attribute], tuple[RuleSet, ...]]:
    """Return the arguments of a function, and the rules that conclude on them, if any."""
    if isinstance(of, RuleSet | Cascade):
        rules = as_cascade(of)
        if len(rules.outputs) != 1:
            outputs = listed([a.name for a in rules.outputs])
            raise DomainError(
                f"a function is of rules with one output; these have {outputs}: give the list of "
                "attributes, and put the rules beside the function's in one Cascade"
            )
        return list(rules.outputs), rules.rule_sets
    return distinct_attributes([of] if isinstance(of, Attribute) else of, "a function"), ()


# --- rules of one function ---


def _check_subset_size(name: str, count: int, size: int) -> None:
    """Raise `DomainError` if `count` subsets of `size` values are too large."""
    if count * size > MAX_SUBSET_BITS:
        raise DomainError(
            f"the rules of {name!r} would have {count:,} subsets of {size:,} values, "
            f"{count * size / 8e9:.1f} GB; take fewer values, or digits or classes of them"
        )
    take_steps(count * size // BITS + 3 * size)


def _factor_masks(sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return, for each factor and value, the mask of the tuples with it; one if there are two."""
    masks = []
    for factor, size in enumerate(sizes):
        tuples = product(*map(range, sizes))
        of_values = group_masks((t[factor] for t in tuples), prod(sizes))
        masks.append(tuple(of_values[d] for d in range(size if size != 2 else 1)))
    return tuple(masks)


_shared_masks = lru_cache(maxsize=64)(_factor_masks)


def distinct_attributes(attributes: Any, subject: str) -> list[Attribute]:
    """Return attributes as a list, or raise `DomainError` if it is empty or has duplicates."""
    is_single = isinstance(attributes, str) or not is_iterable(attributes)
    known = [attributes] if is_single else list(attributes)
    wrong = [a for a in known if not isinstance(a, Attribute)]
    if wrong or not known:
        refused = repr(wrong[0] if wrong else attributes)
        raise DomainError(f"{subject} is of a list of attributes; got {refused:.60}")
    twice = first_duplicate(a.name for a in known)
    if twice is not None:
        raise DomainError(
            f"{subject} is given the attribute {twice!r} twice; give it once (as often as you like "
            "in the text of a function)"
        )
    return known


class FunctionSteps:
    """Collects the rule sets of composed functions, one step after the other."""

    def __init__(self, rule_sets: Iterable[RuleSet] = ()) -> None:
        self.rule_sets = list(rule_sets)
        self._preimages: dict[object, dict[Hashable, int]] = {}

    def source(self, name: str, parts: Sequence[Attribute]) -> Attribute:
        """Return the product of some attributes, with its pairing rules; a single one as it is."""
        if len(parts) == 1:
            return parts[0]
        pairing = joint(f"{name}.pair", *parts)
        self.rule_sets.append(pairing)
        return pairing.output

    def apply(
        self,
        name: str,
        parts: Sequence[Attribute],
        fn: Callable[..., Hashable],
        text: ConditionText = lambda _value: None,
        domain: Iterable[Hashable] | None = None,
    ) -> Attribute:
        """Add the rules of the attribute `name`, a function of others, and return it.

        The preimages of one function on equal domains are computed once.
        """
        source = self.source(name, parts)
        masks = self._cached_preimages(name, source, fn)
        if domain is None:
            domain = list(masks)
            with suppress(TypeError):  # values that cannot be sorted keep their order
                domain.sort()  # type: ignore[call-arg]
        output = Attribute(name, domain)
        for value in masks:
            if value not in output:
                arguments = call_text(source, source.domain[positions(masks[value])[0]])
                raise DomainError(
                    f"the function {name!r} gives {value!r:.60} for {arguments}, which is not in "
                    "its domain; add it there, or leave the domain out"
                )
        premises = dict.fromkeys(output.domain, Proposition(source, 0))
        for value, mask in masks.items():
            condition = text(value)
            take_steps(2 * len(condition or ""))
            premises[value] = Proposition(source, mask, condition)
        # Of two values, the rule on the last one covers both.
        values = output.domain[len(output.domain) == 2 :]
        rules = [equivalence([premises[v]], output.isin({v})) for v in values]
        self.rule_sets.append(RuleSet(rules))
        return output

    def _cached_preimages(
        self, name: str, source: Attribute, fn: Callable[..., Hashable]
    ) -> dict[Hashable, int]:
        """Return the preimage of each result of a function, as a mask of values of `source`."""
        if len(source.domain) > MAX_SHARED:
            return preimages(name, source, fn)
        key = (fn, source.domain, repr(source.domain))  # as (0, 1) == (False, True)
        if key not in self._preimages:
            self._preimages[key] = preimages(name, source, fn)
        return self._preimages[key]


def preimages(name: str, source: Attribute, fn: Callable[..., Any]) -> dict[Hashable, int]:
    """Return the preimage of each result of a function, as a mask of values of `source`."""
    results = list(function_values(name, source, fn))
    _check_subset_size(name, len(set(results)), len(results))
    return group_masks(results, len(results))


def function_values(name: str, source: Attribute, fn: Callable[..., Any]) -> Iterable[Hashable]:
    """Yield the results of a function for all values of an attribute."""
    take_steps(10 * len(source.domain))
    for values in source.domain:
        try:
            result = fn(*argument_tuple(source, values))
            result = result.item() if isinstance(result, np.generic) else result
            hash(result)
        except Exception as error:
            problem = f"the function {name!r} fails for {call_text(source, values)}"
            raise DomainError(f"{problem}: {type(error).__name__}: {error}") from error
        yield result


def argument_tuple(source: Attribute, values: Any) -> Sequence[Any]:
    """Return the arguments of a function: the components of a value, or the value alone."""
    return values if source.factors else (values,)


def call_text(source: Attribute, values: Any) -> str:
    """Return the arguments of a call as text."""
    pairs = zip(source.factors or [source], argument_tuple(source, values), strict=True)
    return ", ".join(f"{a.name} = {v!r:.60}" for a, v in pairs)


def equivalence(premise: Iterable[Proposition], conclusion: Proposition) -> Rule:
    """Return the rule ``iff premise then conclusion``."""
    return Rule(Premise(tuple(premise)), conclusion, 0.0, 0.0)


def condition_text(text: str, sign: str, value: Hashable) -> str | None:
    """Return the text of a comparison with a value; None if the value has no written form."""
    try:
        return f"{text} {sign} {value_text(value)}"
    except DomainError:
        return None


# --- rules of an expression, part by part ---


def _add_expression(
    steps: FunctionSteps,
    name: str,
    attributes: Sequence[Attribute],
    text: str,
    domain: Sequence[Hashable] | None,
) -> None:
    """Add the rules of an expression, part by part unless it is of a product attribute.

    A part may fail on values for which `and` and `or` would not evaluate it. Then the expression is
    evaluated on the product of the attributes, if that is small; an error names their values.
    """
    pair = attributes[0] if len(attributes) == 1 and attributes[0].factors else None
    names = pair.condition_names if pair else tuple(a.name for a in attributes)
    node = parse_condition(text, names).expression
    if not list(node.names()):
        raise DomainError(f"the function {name!r} is '{text:.60}', which uses no attribute")
    if domain is None and node.kind in TRUTHS:
        domain = (False, True)
    if pair is None:
        parts = ExpressionRules(name, attributes)
        try:
            parts.add(node, domain)
        except DomainError:
            if prod(len(a.domain) for a in attributes) > MAX_TRIED:
                raise
        else:
            steps.rule_sets += parts.steps.rule_sets
            return
    compute = evaluator(node)
    steps.apply(
        name,
        attributes,
        lambda *values: compute((*values, values)),
        lambda value: value_condition(node, names, value),
        domain,
    )


class ExpressionRules:
    """Collects the rules of an expression; its names are indices of attributes."""

    def __init__(self, name: str, attributes: Sequence[Attribute]) -> None:
        self.steps = FunctionSteps()
        self.name = name
        #: The given attributes, followed by inner attributes.
        self.attributes = list(attributes)
        self._inner = 0

    def _next_name(self) -> str:
        self._inner += 1
        return f"{self.name}.{self._inner}"

    def add(self, node: Expression, domain: Sequence[Hashable] | None) -> None:
        """Add the rules of an expression, the function `name`."""
        self._add(self._with_remainders(node), self.name, domain=domain)

    def _add(
        self,
        node: Expression,
        name: str | None = None,
        limits: Limits | None = None,
        domain: Sequence[Hashable] | None = None,
    ) -> Attribute:
        """Add the rules of an expression; return its attribute, by default an inner one."""
        take_steps(NODE * _count_nodes(node))
        groups = _independent_groups(node)
        if len(groups) > 1 and (domain is None or len(domain) == 2):
            return self._add_logical(node.kind, groups, name, domain)
        node = self._factor_out_parts(node, limits)
        name = name or self._next_name()
        parts, compute = self._function(node)
        fn = _Clipped(compute, limits)
        names = [a.name for a in self.attributes]

        def text(value: Hashable) -> str | None:
            if limits is not None and value in limits:
                sign = "<=" if value == limits[0] else ">="
                return condition_text(expression_text(node, names, "+"), sign, value)
            return value_condition(node, names, value)

        return self.steps.apply(name, parts, fn, text, domain)

    def _function(self, node: Expression) -> tuple[list[Attribute], Callable[..., Any]]:
        """Return the attributes of an expression, and the expression as a function of them."""
        numbers = list(dict.fromkeys(node.names()))
        values = evaluator(_renumber_names(node, numbers))
        attributes = [self.attributes[i] for i in numbers]
        take_steps(4 * _count_nodes(node) * prod(len(a.domain) for a in attributes))
        return attributes, lambda *u: values(u)

    def _factor_out_parts(self, node: Expression, limits: Limits | None) -> Expression:
        """Replace parts that share no attribute with the others by inner attributes."""
        occurrences = Counter(node.names())
        if len(occurrences) < 2:
            return node
        parts = list(node.parts)
        varying = [i for i, part in enumerate(parts) if list(part.names())]
        for i in varying:
            within = self._part_limits(node, parts, i, limits)
            if len(varying) == 1 and len(_independent_groups(parts[i])) == 1:  # as in (x + y) % 10
                parts[i] = self._factor_out_parts(parts[i], within)
            else:
                parts[i] = self._replace_part(parts[i], occurrences, within)
        return node._replace(parts=tuple(parts))

    def _replace_part(
        self, part: Expression, occurrences: Counter[int], limits: Limits | None
    ) -> Expression:
        """Replace a part, or its parts, by inner attributes where no other part uses theirs."""
        counts = Counter(part.names())
        if part.kind == "name" or not counts:
            return part
        if all(occurrences[i] == times for i, times in counts.items()):
            if len(counts) == 1 and not self._is_shorter(part, limits):
                return part
            self.attributes.append(self._add(part, limits=limits))
            return Expression("name", content=len(self.attributes) - 1)
        parts = list(part.parts)
        for i, inner in enumerate(parts):
            parts[i] = self._replace_part(inner, occurrences, None)
        return part._replace(parts=tuple(parts))

    def _is_shorter(self, part: Expression, limits: Limits | None) -> bool:
        """Return whether an expression of one attribute has fewer values than the attribute."""
        (attribute,), compute = self._function(part)
        results = function_values(self.name, attribute, _Clipped(compute, limits))
        return len(set(results)) < len(attribute.domain)

    # --- and, or ---------------------------------------------------------------------------

    def _add_logical(
        self,
        kind: str,
        groups: Sequence[tuple[Expression, ...]],
        name: str | None,
        domain: Sequence[Hashable] | None,
    ) -> Attribute:
        """Add the rule of ``x and y`` or ``x or y``, whose operands share no attribute.

        ``iff x and y then b in {true}``, and ``iff not x and not y then b in {false}``.
        """
        truth = kind == "and"
        premise = [self._proposition(Expression(kind, group), truth) for group in groups]
        output = Attribute(name or self._next_name(), domain or (False, True))
        self.steps.rule_sets.append(RuleSet([equivalence(premise, output.isin({truth}))]))
        return output

    def _proposition(self, node: Expression, truth: bool) -> Proposition:
        """Return the proposition that an expression has a truth value."""
        lone = node.parts[0] if len(node.parts) == 1 else None
        if lone is None:
            node = self._factor_out_parts(node, None)
        elif len(_independent_groups(lone)) > 1:
            return self._add(lone).isin({truth})
        else:
            lone = self._factor_out_parts(lone, None)
            node = node._replace(parts=(lone,))
        parts, compute = self._function(node)
        source = parts[0] if len(parts) == 1 else self.steps.source(self._next_name(), parts)
        masks = preimages(self.name, source, compute)
        text = value_condition(lone or node, [a.name for a in self.attributes], truth)
        return Proposition(source, masks.get(truth, 0), text)

    # --- integers: remainders and limits --------------------------------------------------

    def _with_remainders(self, node: Expression) -> Expression:
        """Move remainders of sums and products to their operands."""
        parts = tuple([self._with_remainders(part) for part in node.parts])
        node = node._replace(parts=parts)
        is_integer_remainder = (
            node.kind == "%" and self._bounds(parts[0]) and _is_integer_constant(parts[1])
        )
        if is_integer_remainder and parts[1].content and parts[0].kind in _RING:
            return self._remainder(parts[0], parts[1])
        return node

    def _remainder(self, node: Expression, modulo: Expression) -> Expression:
        """Return the remainder of an expression, computed from those of its operands."""
        m = modulo.content
        if node.kind == "constant":
            return node._replace(content=node.content % m)
        if node.kind in _RING:
            parts = tuple([self._remainder(part, modulo) for part in node.parts])
            return Expression("%", (node._replace(parts=parts), modulo))
        low, high = self._bounds(node) or (-1, 0)
        return node if low >= 0 and high < m else Expression("%", (node, modulo))

    def _bounds(self, node: Expression) -> Limits | None:
        """Return the bounds of an integer expression; None for any other."""
        if node.kind == "name":
            attribute = self.attributes[node.content]
            column, values = attribute.column, attribute.domain
            if column is not None and column.kind is int:
                return column.low, column.high
            take_steps(len(values))
            is_integer = all(isinstance(v, int) for v in values)
            return (int(min(values)), int(max(values))) if is_integer else None
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
        """Return the limits to which a part may be clipped, given those of the expression."""
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
        """Return limits beyond which the results of all tests are constant."""
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
            elif not _is_integer_constant(constant):
                return None
            else:
                below, above = _EDGES[_MIRRORED[test] if after else test]
                edges += [constant.content + below, constant.content + above]
        return (min(edges), max(edges)) if edges else None


#: Offsets from a constant between which the truth of a comparison changes.
_EDGES = {"<": (-1, 0), ">=": (-1, 0), "<=": (0, 1), ">": (0, 1), "==": (-1, 1), "!=": (-1, 1)}
#: The comparison with its sides exchanged.
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, eq=False)
class _Clipped:
    """A function whose results are clipped to limits."""

    compute: Callable[..., Any]
    limits: Limits | None

    def __call__(self, *values: Any) -> Any:
        result = self.compute(*values)
        return result if self.limits is None else min(max(result, self.limits[0]), self.limits[1])


def value_condition(node: Expression, names: Sequence[str], value: Hashable) -> str | None:
    """Return the text of ``expression == value``; for booleans, the expression or its negation.

    Examples
    --------
    >>> a, b = Expression("name", content=0), Expression("name", content=1)
    >>> value_condition(Expression("+", (a, b)), ["left", "right"], 7)
    'left + right == 7'
    >>> value_condition(Expression("compare", (a, b), ("<",)), ["left", "right"], True)
    'left < right'
    """
    if node.kind not in TRUTHS:
        return condition_text(expression_text(node, names, "+"), "==", value)
    truth = node if bool(value) else Expression("not", (node,))
    return expression_text(truth, names, "compare")


def _count_nodes(node: Expression) -> int:
    """Return the number of nodes of an expression."""
    return 1 + sum(map(_count_nodes, node.parts))


def _is_integer_constant(node: Expression) -> bool:
    """Return whether an expression is an integer constant."""
    return node.kind == "constant" and type(node.content) is int


def _renumber_names(node: Expression, numbers: Sequence[int]) -> Expression:
    """Replace each name by its index in `numbers`."""
    if node.kind == "name":
        return node._replace(content=numbers.index(node.content))
    return node._replace(parts=tuple([_renumber_names(part, numbers) for part in node.parts]))


def _independent_groups(node: Expression) -> list[tuple[Expression, ...]]:
    """Return the operands of an `and` or `or` in groups that share no attribute."""
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
