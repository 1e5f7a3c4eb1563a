"""Sums, extremes, differences and counts of many attributes, one step after the other.

A sum of `n` attributes is `n - 1` functions of two: mostly a chain, of the sum so far, an inner
attribute such as ``total.3``, and the next attribute. No product of all attributes is made
(docs/functions.md).
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, prod
from operator import inv
from typing import Any, Protocol

import numpy as np

from pinesy._common.masks import contains, mask_of, mask_table
from pinesy._common.validation import BoolArray, check_integer, is_iterable
from pinesy.exceptions import DomainError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.functions import (
    MAX_SHARED,
    MAX_SUBSET_BITS,
    FunctionSteps,
    condition_text,
    distinct_attributes,
    equivalence,
)
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import Defined, normal_form, premise_of, propositions_of
from pinesy.rules.propositions import Compound, Premise, Proposition, Statement
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name
from pinesy.semantics.factors import tied_rules

#: Tuples up to which `all_different` goes through the sets of values that are used.
MAX_USED = 20_000
#: Propositions from which on a full count is made by sorting.
SORTED_FROM = 24


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
    attributes : at least one, with numbers for values; integers for `modulo` and `most`
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
    check_numbers(terms, integers=modulo is not None or most is not None)
    if modulo is not None and most is not None:
        raise DomainError(f"the sum {name!r} has a modulo and a most; give one of them")
    steps = FunctionSteps()
    if modulo is not None:
        add_modular_sum(steps, name, terms, check_integer(modulo, "modulo", 1))
    elif most is not None:
        add_capped_sum(steps, name, terms, check_integer(most, "most", 1))
    else:
        add_full_sum(steps, name, terms)
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
    return _extreme_of(name, attributes, Extreme(largest=True))


def min_of(name: str, attributes: Iterable[Attribute]) -> Cascade:
    """Return the rules of the smallest of the values of attributes, linear in their number.

    ``pi(t) = max {min_i pi_i(u_i) : min_i u_i = t}``, exactly.
    """
    return _extreme_of(name, attributes, Extreme(largest=False))


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
    n_tuples = sum(comb(len(values), j) * len(a.domain) for j, a in enumerate(terms))
    if n_tuples <= MAX_USED or len(terms) < 3:
        last = len(terms) - 1
        functions = [UsedValues(values, first=i < 2, last=i == last) for i in range(len(terms))]
        add_chain(steps, name, terms, functions, domain=(False, True))
    else:
        _add_pairwise_differences(steps, name, terms)
    return Cascade(*steps.rule_sets)


def count_of(name: str, propositions: Iterable[Statement], most: int | None = None) -> Cascade:
    """Return the rules of how many propositions hold.

    ``pi(k)`` is the max over the sets of `k` propositions of the min of the possibilities that
    these hold and the others do not, exactly. With `most` the rules are linear in the number `n`
    of propositions. Without, there are ``n + 1`` values: up to 23 propositions are summed two by
    two, which is quadratic. More are sorted by a network of about ``n log2(n)^2 / 4`` pairs of an
    `or` and an `and`; then ``pi(k) = min(Pi(at least k), Pi(at most k))``, where ``Pi(at least k)``
    is the k-th largest possibility of a proposition. (Where rules contradict each other, so that
    an attribute's distribution is not normalised, this one is an upper bound.)

    Parameters
    ----------
    name : the name of the new attribute
    propositions : at least one, such as ``digit.isin({7})``; also premises and formulas, such as
        ``shape.isin({"circle"}) & colour.isin({"red"})``. Those that share attributes are counted
        on the product of these. If that has more than 10,000 values, they are counted one by one,
        and the count is an upper bound.
    most : a larger count counts as this one, so that it means "so many or more"

    Examples
    --------
    >>> from pinesy import Attribute, count_of
    >>> digits = [Attribute(f"digit_{i}", range(10)) for i in range(4)]
    >>> sevens = count_of("sevens", [d.isin({7}) for d in digits])
    >>> crisp = {"digit_0": {7: 1}, "digit_1": {7: 1}, "digit_2": {3: 1}}
    >>> sevens.infer({**crisp, "digit_3": {7: 1, 1: 0.5}})["sevens"]
    Possibility(sevens, {3: 1, 2: 0.5, 0: 0, 1: 0, 4: 0})
    """
    steps = FunctionSteps()
    known = _as_propositions(steps, name, propositions)
    if most is None and len({p.attribute.name for p in known}) == len(known) >= SORTED_FROM:
        return Cascade(*steps.rule_sets, *_sorting_network(name, known))
    terms = _count_terms(steps, name, known)
    if most is not None:
        add_capped_sum(steps, name, terms, check_integer(most, "most", 1))
    else:
        add_full_sum(steps, name, terms)
    return Cascade(*steps.rule_sets)


def parity_of(name: str, terms: Iterable[Attribute | Proposition]) -> Cascade:
    """Return the rules of the parity, 0 or 1, of a sum, or of how many propositions hold.

    They are those of the sum modulo 2, linear in the number of terms.

    Examples
    --------
    >>> from pinesy import Attribute, parity_of
    >>> bits = [Attribute(f"bit_{i}", [0, 1]) for i in range(3)]
    >>> evidence = {"bit_0": {1: 1}, "bit_1": {1: 1}, "bit_2": {0: 1, 1: 0.2}}
    >>> parity_of("odd", bits).infer(evidence)["odd"]
    Possibility(odd, {0: 1, 1: 0.2})
    """
    known: list[Any] = list(terms) if is_iterable(terms) else [terms]
    stated = [t for t in known if isinstance(t, Proposition)]
    numbers = [t for t in known if not isinstance(t, Proposition)]
    distinct_attributes([*numbers, *{p.attribute: None for p in stated}], "a parity")
    check_numbers(numbers, integers=True)
    steps = FunctionSteps()
    add_modular_sum(steps, name, [*numbers, *_count_terms(steps, name, stated)], 2)
    return Cascade(*steps.rule_sets)


# --- sums, extremes, differences ---


class Aggregation(Protocol):
    """Protocol of a function of one or two values; equal ones are computed once."""

    def __call__(self, *terms: Any) -> Hashable:
        """Return the value of the function."""

    def text(self, names: Sequence[str], value: Hashable) -> str | None:
        """Return the text of the condition that the function has a value."""


@dataclass(frozen=True)
class Sum:
    """The sum of terms, perhaps modulo a number or clipped at a maximum."""

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
            return condition_text(f"{inner} % {self.modulo}", "==", value)
        return condition_text(total, "==" if value != self.most else ">=", value)


@dataclass(frozen=True)
class Extreme:
    """The maximum or the minimum of values."""

    largest: bool

    def __call__(self, *terms: Any) -> Hashable:
        """Return the extreme value."""
        extreme: Hashable = (max if self.largest else min)(terms)
        return extreme

    def text(self, names: Sequence[str], value: Hashable) -> str | None:
        """Return the text: no value is beyond `value`, and one is equal to it."""
        sign = "<=" if self.largest else ">="
        equal = [condition_text(name, "==", value) for name in names]
        within = [condition_text(name, sign, value) for name in names]
        if None in equal or len(names) == 1:
            return equal[0]
        return f"({' and '.join(map(str, within))} and ({' or '.join(map(str, equal))}))"


@dataclass(frozen=True)
class UsedValues:
    """The set of values used so far, as a tuple in the order of `values`; None if not distinct."""

    values: tuple[Hashable, ...]
    #: Whether the first term is a value, not the tuple of used values.
    first: bool
    #: Whether the result is whether all values are distinct.
    last: bool

    def __call__(self, *terms: Any) -> Hashable:
        """Return the values used after this step."""
        values = terms[:1] if self.first else terms[0]
        if len(terms) > 1:
            values = None if values is None or terms[1] in values else (*values, terms[1])
        if self.last:
            return values is not None
        return None if values is None else tuple(sorted(values, key=self.values.index))

    def text(self, _names: Sequence[str], _value: Hashable) -> None:
        """Return None: the rules list subsets."""


def add_chain(
    steps: FunctionSteps,
    name: str,
    terms: Sequence[Attribute],
    functions: Sequence[Aggregation],
    domain: Iterable[Hashable] | None = None,
) -> None:
    """Fold terms from the left: add a function for each; the last is the attribute `name`."""
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
    """Add the rules of a function of one or two attributes, and return its attribute."""
    text = partial(function.text, [format_name(a.name) for a in parts])
    return steps.apply(name, parts, function, text, domain)


def add_tree(
    steps: FunctionSteps, name: str, terms: Sequence[Attribute], function: Aggregation
) -> None:
    """Reduce terms by a balanced binary tree; the root is the attribute `name`.

    Equal domains give rule sets of equal structure, which are compiled once.
    """
    level, number = list(terms), 0
    while len(level) > 2:
        halved = []
        for i in range(0, len(level) - 1, 2):
            number += 1
            halved.append(_apply(steps, f"{name}.{number}", level[i : i + 2], function))
        level = halved + level[len(level) - len(level) % 2 :]
    _apply(steps, name, level, function)


def add_modular_sum(
    steps: FunctionSteps, name: str, terms: Sequence[Attribute], modulo: int
) -> None:
    """Add the sum modulo a number; terms with fewer remainders than values are reduced first."""
    total = Sum(modulo=modulo)
    reduced = list(terms)
    for i, term in enumerate(terms if len(terms) > 1 else ()):
        if len({v % modulo for v in term.domain}) < len(term.domain):  # type: ignore[operator]
            reduced[i] = _apply(steps, f"{name}.mod{i + 1}", [term], total)
    add_chain(steps, name, reduced, [total] * len(terms), range(modulo))


def add_capped_sum(steps: FunctionSteps, name: str, terms: Sequence[Attribute], most: int) -> None:
    """Add the sum of the terms, clipped at `most`.

    A partial sum is clipped at `most` minus the least sum of the remaining terms.
    """
    caps = [most]
    for term in reversed(terms[1:]):
        caps.append(caps[-1] - min(term.domain))  # type: ignore[type-var, operator]
    add_chain(steps, name, terms, [Sum(most=cap) for cap in reversed(caps)])


def add_full_sum(steps: FunctionSteps, name: str, terms: Sequence[Attribute]) -> None:
    """Add the sum of the terms; floats are added from left to right, as Python does."""
    if all(isinstance(v, int) for a in terms for v in a.domain):
        values = 1 + sum(max(a.domain) - min(a.domain) for a in terms)  # type: ignore[type-var,operator]
        if values**3 // 2 > MAX_SUBSET_BITS:  # of the last step, on two halves of the values
            raise DomainError(
                f"the sum {name!r} would have {values:,} values, too many for its rules; bound it "
                "(most=...), take its remainder (modulo=...), or add fewer or smaller numbers"
            )
        add_tree(steps, name, terms, Sum())
    else:
        add_chain(steps, name, terms, [Sum()] * len(terms))


def _extreme_of(name: str, attributes: Iterable[Attribute], extreme: Extreme) -> Cascade:
    """Return the rules of the maximum or minimum of attributes."""
    subject = "max_of" if extreme.largest else "min_of"
    terms = distinct_attributes(attributes, subject)
    check_numbers(terms, integers=False, subject=subject)
    steps = FunctionSteps()
    add_chain(steps, name, terms, [extreme] * len(terms))
    return Cascade(*steps.rule_sets)


def _add_pairwise_differences(steps: FunctionSteps, name: str, terms: Sequence[Attribute]) -> None:
    """Add the rule that all pairs of terms differ."""
    different = []
    for (i, first), (j, second) in combinations(enumerate(terms, 1), 2):
        pair = steps.source(f"{name}.{i}_{j}", [first, second])
        condition = f"{format_name(first.name)} != {format_name(second.name)}"
        mask = pair.mask([t for t in pair.domain if t[0] != t[1]])  # type: ignore[index]
        different.append(Proposition(pair, mask, condition))
    output = Attribute(name, (False, True))
    steps.rule_sets.append(RuleSet([equivalence(different, output.isin({True}))]))


def check_numbers(attributes: Sequence[Attribute], integers: bool, subject: str = "a sum") -> None:
    """Raise `DomainError` unless all values are numbers, or all integers."""
    kinds, name = (int, "integers") if integers else (int | float, "numbers")
    for attribute in attributes:
        for value in attribute.domain:
            if not isinstance(value, kinds):
                raise DomainError(
                    f"attribute {attribute.name!r} has the value {value!r:.60}; the values of "
                    f"{subject} are {name}: take a function of it"
                )


# --- counts ---


def _as_propositions(steps: FunctionSteps, name: str, statements: Any) -> list[Proposition]:
    """Return statements as propositions, on inner attributes for several attributes."""
    listed = list(statements) if is_iterable(statements) else [statements]
    wrong = [p for p in listed if not isinstance(p, Proposition | Premise | Compound)]
    if wrong or not listed:
        first = repr(wrong[0] if wrong else statements)
        raise DomainError(
            f"a count is of a list of propositions such as attribute.isin({{...}}); got {first:.60}"
        )
    forms = list(map(_normalise, listed))
    attributes = [dict.fromkeys(p.attribute for p in propositions_of(form)) for form in forms]
    stated: dict[int, Proposition] = {}
    for group in tied_rules([[a.name for a in mentioned] for mentioned in attributes]):
        shared = list(dict.fromkeys(a for i in group for a in attributes[i]))
        is_joint = len(group) > 1 < len(shared)
        if is_joint and prod(len(a.domain) for a in shared) <= MAX_SHARED:
            source = steps.source(f"{name}.group{group[0] + 1}", shared)
            for i in group:
                holds = _truth_table(forms[i], shared).ravel()
                stated[i] = Proposition(source, mask_of(np.flatnonzero(holds).tolist()))
        else:
            stated |= {
                i: _as_single_proposition(steps, f"{name}.holds{i + 1}", forms[i]) for i in group
            }
    return [stated[i] for i in range(len(forms))]


def _normalise(statement: Statement) -> Statement:
    """Return the normal form of a statement; a trivial one as a proposition."""
    form = normal_form(statement)
    if not isinstance(form, bool):
        return form
    attribute = next(propositions_of(statement)).attribute
    return Proposition(attribute, attribute.full * form)


def _as_single_proposition(steps: FunctionSteps, name: str, form: Statement) -> Proposition:
    """Return a formula as a proposition, on an inner attribute for several attributes."""
    if isinstance(form, Proposition) and not isinstance(form.attribute, Defined):
        return form
    holds = Attribute(name, (0, 1)).isin({1})
    steps.rule_sets.append(RuleSet([Rule(premise_of(form), holds, 0.0, 0.0)]))
    return holds


def _truth_table(statement: Statement, attributes: Sequence[Attribute]) -> BoolArray:
    """Return the truth table of a statement, with an axis for each attribute."""
    if isinstance(statement, Proposition):
        axis = attributes.index(statement.attribute)
        shape = np.where(np.arange(len(attributes)) == axis, -1, 1)
        inside = mask_table(len(statement.attribute.domain), [statement.mask]).reshape(shape)
        return np.broadcast_to(inside, [len(a.domain) for a in attributes])
    assert isinstance(statement, Compound)  # a normal form has no premises
    count = np.sum([_truth_table(part, attributes) for part in statement.parts], axis=0)
    return np.asarray((statement.least <= count) & (count <= statement.most))


def _count_terms(
    steps: FunctionSteps, name: str, propositions: Sequence[Proposition]
) -> list[Attribute]:
    """Add, for each attribute, the number of its propositions that hold."""
    by_attribute: dict[Attribute, list[Proposition]] = {}
    for proposition in propositions:
        by_attribute.setdefault(proposition.attribute, []).append(proposition)
    terms = []
    for i, (attribute, stated) in enumerate(by_attribute.items(), 1):
        if attribute.domain == (0, 1) and [p.mask for p in stated] == [0b10]:
            term = attribute  # its values are 0 and 1 already
        elif len(stated) == 1:
            term = Attribute(f"{name}.term{i}", (0, 1))
            steps.rule_sets.append(RuleSet([equivalence(stated, term.isin({1}))]))
        else:
            count = _CountHolding(attribute, tuple(p.mask for p in stated))
            term = steps.apply(f"{name}.term{i}", [attribute], count)
        terms.append(term)
    return terms


@dataclass(frozen=True)
class _CountHolding:
    """The number of propositions on an attribute that hold for a value."""

    attribute: Attribute
    masks: tuple[int, ...]

    def __call__(self, *values: Hashable) -> int:
        index = self.attribute.position(values if self.attribute.factors else values[0])
        return sum(contains(mask, index) for mask in self.masks)


def _sorting_network(name: str, propositions: Sequence[Proposition]) -> Iterator[RuleSet]:
    """Yield the rules of a count by a sorting network: true propositions come first.

    A comparator of ``x`` and ``y`` gives ``x or y`` and ``x and y``: monotone in each proposition,
    and exact for two-valued attributes.
    """
    ordered = list(propositions)
    for number, (i, j) in enumerate(_comparisons(len(ordered)), 1):
        x, y = ordered[i], ordered[j]
        disjunction, conjunction = (
            Attribute(f"{name}.{number}.{w}", (0, 1)) for w in ("or", "and")
        )
        yield RuleSet([equivalence([~x, ~y], disjunction.isin({0}))])
        yield RuleSet([equivalence([x, y], conjunction.isin({1}))])
        ordered[i], ordered[j] = disjunction.isin({1}), conjunction.isin({1})
    total = Attribute(name, range(len(ordered) + 1))
    rules = []
    for k in range(len(ordered) + 1):
        premise = Premise((*ordered[max(k - 1, 0) : k], *map(inv, ordered[k : k + 1])))
        # With r = 1 a rule bounds its own count alone, and the program stays short.
        rules.append(Rule(premise, total.isin({k}), 0.0, 1.0))
    yield RuleSet(rules)


def _comparisons(n: int) -> Iterator[tuple[int, int]]:
    """Yield the comparators of Batcher's merge exchange (Knuth, 5.2.2, Algorithm M)."""
    top = 1 << ((n - 1).bit_length() - 1)
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            yield from ((i, i + d) for i in range(n - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
