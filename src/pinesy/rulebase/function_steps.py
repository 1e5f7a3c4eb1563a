"""Attributes that are functions of others: the rules that say so, exactly.

A function `f` of attributes takes two rule sets. The pairing rules give the product attribute its
distribution, ``pi(u_1, ..., u_k) = min_i pi_i(u_i)``, and the rules ``iff pair where f == t then
total in {t}`` that of the results, ``pi(t) = max {pi(u) : f(u) = t}`` (docs/functions.md).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from pinesy._common.budgets import BITS, take_steps
from pinesy._common.masks import class_masks, positions
from pinesy._common.names import repeated
from pinesy._common.validation import is_iterable
from pinesy.exceptions import DomainError
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import MAX_PRODUCT, Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.expressions import value_text
from pinesy.rules.syntax.writer import format_name

#: From a value of a function to the text of the condition for it; None if there is no text.
ConditionText = Callable[[Hashable], str | None]
#: Bits of the subsets in the rules of one function; half a gigabyte, more is refused.
MAX_SUBSET_BITS = 4 * 10**9
#: Values of a source up to which steps with one function share the work.
MAX_SHARED = 10_000


def joint(name: str, *attributes: Attribute) -> RuleSet:
    """Return the pairing rules, which conclude on the product attribute `name` from its factors.

    They are ``iff a in {v} then pair where a == v`` for each factor `a` and each of its values
    (for the first of two values: the one rule says both), so that the pair has the distribution
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
    if prod(sizes) <= MAX_PRODUCT:  # else the product says so
        _check_subsets(name, sum(sizes), prod(sizes))
    pair = Attribute.product(name, *attributes)
    masks = (_shared_masks if len(pair.domain) <= MAX_SHARED else _factor_masks)(sizes)
    rules = []
    for a, with_value in zip(attributes, masks, strict=True):
        for i, mask in enumerate(with_value):
            condition = compared(format_name(a.name), "==", a.domain[i])
            rules.append(equivalence([Proposition(a, 1 << i)], Proposition(pair, mask, condition)))
    return RuleSet(rules)


def _check_subsets(name: str, count: int, size: int) -> None:
    if count * size > MAX_SUBSET_BITS:
        raise DomainError(
            f"the rules of {name!r} would have {count:,} subsets of {size:,} values, "
            f"{count * size / 8e9:.1f} GB; take fewer values, or digits or classes of them"
        )
    take_steps(count * size // BITS + 3 * size)


def _factor_masks(sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return, for each factor and value, the tuples of a product that have it; one of two."""
    masks = []
    for place, size in enumerate(sizes):
        tuples = product(*map(range, sizes))
        of_values = class_masks((t[place] for t in tuples), prod(sizes))
        masks.append(tuple(of_values[d] for d in range(size if size != 2 else 1)))
    return tuple(masks)


_shared_masks = lru_cache(maxsize=64)(_factor_masks)


def distinct_attributes(attributes: Any, what: str) -> list[Attribute]:
    """Return attributes as a list: one at least, with different names."""
    alone = isinstance(attributes, str) or not is_iterable(attributes)
    known = [attributes] if alone else list(attributes)
    wrong = [a for a in known if not isinstance(a, Attribute)]
    if wrong or not known:
        shown = repr(wrong[0] if wrong else attributes)
        raise DomainError(f"{what} is of a list of attributes; got {shown:.60}")
    twice = repeated(a.name for a in known)
    if twice is not None:
        raise DomainError(
            f"{what} is given the attribute {twice!r} twice; give it once (as often as you like in "
            "the text of a function)"
        )
    return known


class FunctionSteps:
    """Rule sets of functions of functions, collected one step after the other."""

    def __init__(self, rule_sets: Iterable[RuleSet] = ()) -> None:
        self.rule_sets = list(rule_sets)
        self._classes: dict[object, dict[Hashable, int]] = {}

    def source(self, name: str, parts: Sequence[Attribute]) -> Attribute:
        """Return the attribute of all the parts: the one there is, or their product, paired."""
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

        Steps with one function and equal domains share the work.
        """
        source = self.source(name, parts)
        masks = self._subsets(name, source, fn)
        output = Attribute(name, _sorted(masks) if domain is None else domain)
        self._check_domain(output, source, masks)
        premises = dict.fromkeys(output.domain, Proposition(source, 0))
        for value, mask in masks.items():
            condition = text(value)
            take_steps(2 * len(condition or ""))
            premises[value] = Proposition(source, mask, condition)
        # Of two values the rule on the last one says both.
        values = output.domain[len(output.domain) == 2 :]
        rules = [equivalence([premises[v]], output.isin({v})) for v in values]
        self.rule_sets.append(RuleSet(rules))
        return output

    def _subsets(
        self, name: str, source: Attribute, fn: Callable[..., Hashable]
    ) -> dict[Hashable, int]:
        """Return the subset of the values of `source` for each result of a function."""
        if len(source.domain) > MAX_SHARED:
            return subsets(name, source, fn)
        key = (fn, source.domain, repr(source.domain))  # as (0, 1) == (False, True)
        if key not in self._classes:
            self._classes[key] = subsets(name, source, fn)
        return self._classes[key]

    def _check_domain(
        self, output: Attribute, source: Attribute, masks: dict[Hashable, int]
    ) -> None:
        for value in masks:
            if value not in output:
                arguments = called(source, source.domain[positions(masks[value])[0]])
                raise DomainError(
                    f"the function {output.name!r} gives {value!r:.60} for {arguments}, which is "
                    "not in its domain; add it there, or leave the domain out"
                )


def subsets(name: str, source: Attribute, fn: Callable[..., Any]) -> dict[Hashable, int]:
    """Return the subset of the values of `source` for each result of a function."""
    results = list(images(name, source, fn))
    _check_subsets(name, len(set(results)), len(results))
    return class_masks(results, len(results))


def images(name: str, source: Attribute, fn: Callable[..., Any]) -> Iterable[Hashable]:
    """Go through the results of a function for the values of an attribute."""
    take_steps(10 * len(source.domain))
    for values in source.domain:
        try:
            result = fn(*parts_of(source, values))
            result = result.item() if isinstance(result, np.generic) else result
            hash(result)
        except Exception as error:
            problem = f"the function {name!r} fails for {called(source, values)}"
            raise DomainError(f"{problem}: {type(error).__name__}: {error}") from error
        yield result


def parts_of(source: Attribute, values: Any) -> Sequence[Any]:
    """Return a value of a product in parts, another value alone."""
    return values if source.factors else (values,)


def called(source: Attribute, values: Any) -> str:
    """Say which values a function was called with."""
    pairs = zip(source.factors or [source], parts_of(source, values), strict=True)
    return ", ".join(f"{a.name} = {v!r:.60}" for a, v in pairs)


def _sorted(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def equivalence(premise: Iterable[Proposition], conclusion: Proposition) -> Rule:
    """Return the rule that the premise holds if and only if the conclusion does."""
    return Rule(Premise(tuple(premise)), conclusion, 0.0, 0.0)


def compared(text: str, sign: str, value: Hashable) -> str | None:
    """Return the text of the comparison of an expression with a value; None if it has no text."""
    try:
        return f"{text} {sign} {value_text(value)}"
    except DomainError:
        return None
