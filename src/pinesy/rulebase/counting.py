"""How many propositions hold, and whether an odd number of them does (docs/functions.md)."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from operator import inv
from typing import Any

import numpy as np

from pinesy._common.masks import contains, mask_of, mask_table
from pinesy._common.validation import BoolArray, check_integer, is_iterable
from pinesy.exceptions import DomainError
from pinesy.rulebase.aggregates import capped, check_numbers, full_sum, modular
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.function_steps import (
    MAX_SHARED,
    FunctionSteps,
    distinct_attributes,
    equivalence,
)
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import Defined, normal_form, premise_of, propositions_of
from pinesy.rules.propositions import Compound, Premise, Proposition, Statement
from pinesy.rules.rule import Rule
from pinesy.semantics.factors import tied_rules

#: Propositions from which on a full count is made by sorting.
SORTED_FROM = 24


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
    known = _stated(steps, name, propositions)
    if most is None and len({p.attribute.name for p in known}) == len(known) >= SORTED_FROM:
        return Cascade(*steps.rule_sets, *_sorted(name, known))
    terms = _counted(steps, name, known)
    if most is not None:
        capped(steps, name, terms, check_integer(most, "most", 1))
    else:
        full_sum(steps, name, terms)
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
    check_numbers(numbers, whole=True)
    steps = FunctionSteps()
    modular(steps, name, [*numbers, *_counted(steps, name, stated)], 2)
    return Cascade(*steps.rule_sets)


def _stated(steps: FunctionSteps, name: str, statements: Any) -> list[Proposition]:
    """Return statements as propositions, on inner attributes if they are of several attributes."""
    known = list(statements) if is_iterable(statements) else [statements]
    wrong = [p for p in known if not isinstance(p, Proposition | Premise | Compound)]
    if wrong or not known:
        shown = repr(wrong[0] if wrong else statements)
        raise DomainError(
            f"a count is of a list of propositions such as attribute.isin({{...}}); got {shown:.60}"
        )
    forms = list(map(_simplified, known))
    attributes = [dict.fromkeys(p.attribute for p in propositions_of(form)) for form in forms]
    stated: dict[int, Proposition] = {}
    for group in tied_rules([[a.name for a in each] for each in attributes]):
        shared = list(dict.fromkeys(a for i in group for a in attributes[i]))
        is_joint = len(group) > 1 < len(shared)
        if is_joint and prod(len(a.domain) for a in shared) <= MAX_SHARED:
            source = steps.source(f"{name}.group{group[0] + 1}", shared)
            for i in group:
                holds = _truth_table(forms[i], shared).ravel()
                stated[i] = Proposition(source, mask_of(np.flatnonzero(holds).tolist()))
        else:
            stated |= {i: _single(steps, f"{name}.holds{i + 1}", forms[i]) for i in group}
    return [stated[i] for i in range(len(forms))]


def _simplified(statement: Statement) -> Statement:
    """Return a statement in normal form; one that is always or never true on one attribute."""
    form = normal_form(statement)
    if not isinstance(form, bool):
        return form
    attribute = next(propositions_of(statement)).attribute
    return Proposition(attribute, attribute.full * form)


def _single(steps: FunctionSteps, name: str, form: Statement) -> Proposition:
    """Return a formula as a proposition, on an inner attribute if it is of several attributes."""
    if isinstance(form, Proposition) and not isinstance(form.attribute, Defined):
        return form
    holds = Attribute(name, (0, 1)).isin({1})
    steps.rule_sets.append(RuleSet([Rule(premise_of(form), holds, 0.0, 0.0)]))
    return holds


def _truth_table(statement: Statement, attributes: Sequence[Attribute]) -> BoolArray:
    """Return for which values of some attributes, an axis each, a statement holds."""
    if isinstance(statement, Proposition):
        axis = attributes.index(statement.attribute)
        shape = np.where(np.arange(len(attributes)) == axis, -1, 1)
        inside = mask_table(len(statement.attribute.domain), [statement.mask]).reshape(shape)
        return np.broadcast_to(inside, [len(a.domain) for a in attributes])
    assert isinstance(statement, Compound)  # a normal form has no premises
    count = np.sum([_truth_table(part, attributes) for part in statement.parts], axis=0)
    return np.asarray((statement.least <= count) & (count <= statement.most))


def _counted(
    steps: FunctionSteps, name: str, propositions: Sequence[Proposition]
) -> list[Attribute]:
    """Add, for each attribute, how many of the propositions on it hold."""
    by_attribute: dict[Attribute, list[Proposition]] = {}
    for proposition in propositions:
        by_attribute.setdefault(proposition.attribute, []).append(proposition)
    terms = []
    for i, (attribute, stated) in enumerate(by_attribute.items(), 1):
        if attribute.domain == (0, 1) and [p.mask for p in stated] == [0b10]:
            term = attribute  # it says so itself
        elif len(stated) == 1:
            term = Attribute(f"{name}.term{i}", (0, 1))
            steps.rule_sets.append(RuleSet([equivalence(stated, term.isin({1}))]))
        else:
            count = _Holding(attribute, tuple(p.mask for p in stated))
            term = steps.apply(f"{name}.term{i}", [attribute], count)
        terms.append(term)
    return terms


@dataclass(frozen=True)
class _Holding:
    """How many propositions on an attribute hold for a value."""

    attribute: Attribute
    masks: tuple[int, ...]

    def __call__(self, *values: Hashable) -> int:
        place = self.attribute.position(values if self.attribute.factors else values[0])
        return sum(contains(mask, place) for mask in self.masks)


def _sorted(name: str, propositions: Sequence[Proposition]) -> Iterator[RuleSet]:
    """Sort the propositions, those that hold first, and read the count off.

    Where ``x`` and ``y`` are compared, ``x or y`` takes the earlier place and ``x and y`` the
    later one: monotone in each proposition, and exact for two-valued attributes.
    """
    places = list(propositions)
    for number, (i, j) in enumerate(_comparisons(len(places)), 1):
        x, y = places[i], places[j]
        either, both = (Attribute(f"{name}.{number}.{w}", (0, 1)) for w in ("or", "and"))
        yield RuleSet([equivalence([~x, ~y], either.isin({0}))])
        yield RuleSet([equivalence([x, y], both.isin({1}))])
        places[i], places[j] = either.isin({1}), both.isin({1})
    total = Attribute(name, range(len(places) + 1))
    rules = []
    for k in range(len(places) + 1):
        premise = Premise((*places[max(k - 1, 0) : k], *map(inv, places[k : k + 1])))
        # With r = 1 a rule bounds its own count alone, and the program stays short.
        rules.append(Rule(premise, total.isin({k}), 0.0, 1.0))
    yield RuleSet(rules)


def _comparisons(n: int) -> Iterator[tuple[int, int]]:
    """Go through the places that Batcher's merge exchange compares (Knuth, 5.2.2, Algorithm M)."""
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
