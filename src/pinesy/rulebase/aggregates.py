"""Sums, extremes and differences of many attributes, one step after the other.

A sum of `n` attributes is `n - 1` functions of two: mostly a chain, of the sum so far, an inner
attribute such as ``total.3``, and the next attribute. No product of all attributes is made
(docs/functions.md).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, Protocol

from pinesy._common.validation import check_integer
from pinesy.exceptions import DomainError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.function_steps import (
    MAX_SUBSET_BITS,
    FunctionSteps,
    compared,
    distinct_attributes,
    equivalence,
)
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import format_name

#: Tuples up to which `all_different` goes through the sets of values that are used.
MAX_USED = 20_000


class Aggregation(Protocol):
    """A function of one or two values; equal ones are computed once."""

    def __call__(self, *terms: Any) -> Hashable:
        """Return the value of the function."""

    def text(self, names: Sequence[str], value: Hashable) -> str | None:
        """Return the condition that the function has a value, as text."""


def sum_of(
    name: str,
    attributes: Iterable[Attribute],
    modulo: int | None = None,
    most: int | None = None,
) -> Cascade:
    """Return the rules of the sum of attributes.

    ``pi(t) = max {min_i pi_i(u_i) : u_1 + ... + u_n = t}``, exactly. With `modulo` or `most` the
    rules are linear in the number of attributes. Without, sums of sums are taken, two by two:
    nearly as few rules, but on products that grow with the square of the number: 40 digits compile
    in about a second.

    Parameters
    ----------
    name : the name of the new attribute; those of the sums so far are ``name.1``, ``name.2``, ...
    attributes : at least one, with numbers for values; whole numbers for `modulo` and `most`
    modulo : take the remainder of the sum
    most : a larger sum counts as this one, so that it means "so much or more"

    Examples
    --------
    >>> from pinesy import Attribute, sum_of
    >>> dice = [Attribute(f"die_{i}", range(1, 7)) for i in range(3)]
    >>> last_digit = sum_of("last", dice, modulo=10)
    >>> last_digit["last"].rules[3].premise
    `last.pair` where (`last.1` + die_2) % 10 == 3
    >>> seen = {"die_0": {6: 1}, "die_1": {6: 1, 1: 0.3}, "die_2": {1: 1}}
    >>> last_digit.infer(seen)["last"].possibility({8})
    0.3
    """
    terms = distinct_attributes(attributes, "a sum")
    check_numbers(terms, whole=modulo is not None or most is not None)
    if modulo is not None and most is not None:
        raise DomainError(f"the sum {name!r} has a modulo and a most; give one of them")
    steps = FunctionSteps()
    if modulo is not None:
        modular(steps, name, terms, check_integer(modulo, "modulo", 1))
    elif most is not None:
        capped(steps, name, terms, check_integer(most, "most", 1))
    else:
        full_sum(steps, name, terms)
    return Cascade(*steps.rule_sets)


def max_of(name: str, attributes: Iterable[Attribute]) -> Cascade:
    """Return the rules of the largest of the values of attributes, linear in their number.

    ``pi(t) = max {min_i pi_i(u_i) : max_i u_i = t}``, exactly.

    Examples
    --------
    >>> from pinesy import Attribute, max_of
    >>> best = max_of("best", [Attribute("a", range(3)), Attribute("b", range(3))])
    >>> best.infer({"a": {0: 1, 2: 0.4}, "b": {1: 1}})["best"]
    Possibility(best, {1: 1, 2: 0.4, 0: 0})
    """
    return _extreme(name, attributes, Extreme(largest=True))


def min_of(name: str, attributes: Iterable[Attribute]) -> Cascade:
    """Return the rules of the smallest of the values of attributes, linear in their number.

    ``pi(t) = max {min_i pi_i(u_i) : min_i u_i = t}``, exactly.
    """
    return _extreme(name, attributes, Extreme(largest=False))


def all_different(name: str, attributes: Iterable[Attribute]) -> Cascade:
    """Return the rules of whether the values of attributes are all different: true or false.

    For few values (up to 10 in all) a chain goes through the sets of values that are used,
    and is exact. For more, every two attributes are compared: the possibility of `false` is
    exact, that of `true` is an upper bound, the min over the pairs of the possibility that they
    differ.

    Examples
    --------
    >>> from pinesy import Attribute, all_different
    >>> cells = [Attribute(f"cell_{i}", range(2)) for i in range(3)]
    >>> unknown = {cell: [1, 1] for cell in cells}
    >>> all_different("ok", cells).infer(unknown)["ok"]  # two values for three cells
    Possibility(ok, {false: 1, true: 0})
    """
    terms = distinct_attributes(attributes, "all_different")
    steps = FunctionSteps()
    values = tuple(dict.fromkeys(v for a in terms for v in a.domain))
    used = sum(comb(len(values), j) * len(a.domain) for j, a in enumerate(terms))
    if used <= MAX_USED or len(terms) < 3:
        last = len(terms) - 1
        functions = [Used(values, first=i < 2, last=i == last) for i in range(len(terms))]
        chain(steps, name, terms, functions, domain=(False, True))
    else:
        _pairwise(steps, name, terms)
    return Cascade(*steps.rule_sets)


@dataclass(frozen=True)
class Sum:
    """The sum of terms, modulo a number or at most one."""

    modulo: int | None = None
    most: int | None = None

    def __call__(self, *terms: Any) -> Hashable:
        """Return the sum."""
        total: int = sum(terms)
        if self.modulo is not None:
            return total % self.modulo
        return total if self.most is None else min(total, self.most)

    def text(self, names: Sequence[str], value: Hashable) -> str | None:
        """Return the condition that the sum is `value`."""
        total = " + ".join(names)
        if self.modulo is not None:
            inner = f"({total})" if len(names) > 1 else total
            return compared(f"{inner} % {self.modulo}", "==", value)
        return compared(total, "==" if value != self.most else ">=", value)


@dataclass(frozen=True)
class Extreme:
    """The largest or the smallest of values."""

    largest: bool

    def __call__(self, *terms: Any) -> Hashable:
        """Return the extreme value."""
        extreme: Hashable = (max if self.largest else min)(terms)
        return extreme

    def text(self, names: Sequence[str], value: Hashable) -> str | None:
        """Return the condition that all are within `value` and one is equal to it."""
        sign = "<=" if self.largest else ">="
        equal = [compared(name, "==", value) for name in names]
        within = [compared(name, sign, value) for name in names]
        if None in equal or len(names) == 1:
            return equal[0]
        return f"({' and '.join(map(str, within))} and ({' or '.join(map(str, equal))}))"


@dataclass(frozen=True)
class Used:
    """The values used so far, in the order of `values`; None if one was used twice."""

    values: tuple[Hashable, ...]
    #: Whether the first term is a value, not the tuple of those used.
    first: bool
    #: Whether the result is only that no value was used twice.
    last: bool

    def __call__(self, *terms: Any) -> Hashable:
        """Return the values used after this step."""
        used = terms[:1] if self.first else terms[0]
        if len(terms) > 1:
            used = None if used is None or terms[1] in used else (*used, terms[1])
        if self.last:
            return used is not None
        return None if used is None else tuple(sorted(used, key=self.values.index))

    def text(self, _names: Sequence[str], _value: Hashable) -> None:
        """Return None: the subset is written."""


def chain(
    steps: FunctionSteps,
    name: str,
    terms: Sequence[Attribute],
    functions: Sequence[Aggregation],
    domain: Iterable[Hashable] | None = None,
) -> None:
    """Add functions of the terms so far and the next, one for each place; the last is `name`."""
    so_far = terms[:1]
    for i in range(min(1, len(terms) - 1), len(terms)):
        last = i == len(terms) - 1
        parts = [*so_far, terms[i]] if i else so_far
        step_name, values = (name, domain) if last else (f"{name}.{i}", None)
        so_far = [_apply(steps, step_name, parts, functions[i], values)]


def _apply(
    steps: FunctionSteps,
    name: str,
    parts: Sequence[Attribute],
    function: Aggregation,
    domain: Iterable[Hashable] | None = None,
) -> Attribute:
    text = partial(function.text, [format_name(a.name) for a in parts])
    return steps.apply(name, parts, function, text, domain)


def tree(
    steps: FunctionSteps, name: str, terms: Sequence[Attribute], function: Aggregation
) -> None:
    """Add functions of two terms each, then of two of these, and so on; the last is `name`.

    Terms of equal domains make steps of equal structure, which are compiled once.
    """
    level, number = list(terms), 0
    while len(level) > 2:
        halved = []
        for i in range(0, len(level) - 1, 2):
            number += 1
            halved.append(_apply(steps, f"{name}.{number}", level[i : i + 2], function))
        level = halved + level[len(level) - len(level) % 2 :]
    _apply(steps, name, level, function)


def modular(steps: FunctionSteps, name: str, terms: Sequence[Attribute], modulo: int) -> None:
    """Add the sum of the terms, each reduced first if it has fewer remainders than values."""
    total = Sum(modulo=modulo)
    reduced = list(terms)
    for i, term in enumerate(terms if len(terms) > 1 else ()):
        if len({v % modulo for v in term.domain}) < len(term.domain):  # type: ignore[operator]
            reduced[i] = _apply(steps, f"{name}.mod{i + 1}", [term], total)
    chain(steps, name, reduced, [total] * len(terms), range(modulo))


def capped(steps: FunctionSteps, name: str, terms: Sequence[Attribute], most: int) -> None:
    """Add the sum of the terms up to `most`.

    What the sum so far may reach beyond ``most`` less the least that is to come does not matter.
    """
    caps = [most]
    for term in reversed(terms[1:]):
        caps.append(caps[-1] - min(term.domain))  # type: ignore[type-var, operator]
    chain(steps, name, terms, [Sum(most=cap) for cap in reversed(caps)])


def full_sum(steps: FunctionSteps, name: str, terms: Sequence[Attribute]) -> None:
    """Add the sum of the terms; decimals are added from left to right, as Python does."""
    if all(isinstance(v, int) for a in terms for v in a.domain):
        values = 1 + sum(max(a.domain) - min(a.domain) for a in terms)  # type: ignore[type-var,operator]
        if values**3 // 2 > MAX_SUBSET_BITS:  # of the last step, on two halves of the values
            raise DomainError(
                f"the sum {name!r} would have {values:,} values, too many for its rules; bound it "
                "(most=...), take its remainder (modulo=...), or add fewer or smaller numbers"
            )
        tree(steps, name, terms, Sum())
    else:
        chain(steps, name, terms, [Sum()] * len(terms))


def _extreme(name: str, attributes: Iterable[Attribute], extreme: Extreme) -> Cascade:
    what = "max_of" if extreme.largest else "min_of"
    terms = distinct_attributes(attributes, what)
    check_numbers(terms, whole=False, what=what)
    steps = FunctionSteps()
    chain(steps, name, terms, [extreme] * len(terms))
    return Cascade(*steps.rule_sets)


def _pairwise(steps: FunctionSteps, name: str, terms: Sequence[Attribute]) -> None:
    """Add that every two of the terms differ."""
    different = []
    for (i, one), (j, two) in combinations(enumerate(terms, 1), 2):
        pair = steps.source(f"{name}.{i}_{j}", [one, two])
        condition = f"{format_name(one.name)} != {format_name(two.name)}"
        mask = pair.mask([t for t in pair.domain if t[0] != t[1]])  # type: ignore[index]
        different.append(Proposition(pair, mask, condition))
    output = Attribute(name, (False, True))
    steps.rule_sets.append(RuleSet([equivalence(different, output.isin({True}))]))


def check_numbers(attributes: Sequence[Attribute], whole: bool, what: str = "a sum") -> None:
    """Raise `DomainError` unless all values are numbers, or whole ones."""
    kinds = int if whole else int | float
    for attribute in attributes:
        for value in attribute.domain:
            if not isinstance(value, kinds):
                raise DomainError(
                    f"attribute {attribute.name!r} has the value {value!r:.60}; the values of "
                    f"{what} are {'whole numbers' if whole else 'numbers'}: take a function of it"
                )
