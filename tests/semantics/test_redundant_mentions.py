"""Formulas that mention attributes without need, against all worlds listed in fractions."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pinesy import Attribute, Cascade, If, Iff, Premise, Proposition, Rule, RuleSet, parse
from pinesy.rules.propositions import all_of, any_of, at_least
from semantics.worlds_oracle import OPERATIONS, left

A, B, C = Attribute("a", range(3)), Attribute("b", range(2)), Attribute("c", range(3))
TENTHS = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)


def some(attribute: Attribute) -> st.SearchStrategy[Proposition]:
    return st.integers(1, attribute.full - 1).map(lambda mask: Proposition(attribute, mask))


@st.composite
def rules_on_b(draw: st.DrawFn) -> RuleSet:
    """Rules on b that may contradict each other for some values of a."""
    rules = []
    for _ in range(draw(st.integers(1, 3))):
        make = draw(st.sampled_from([If, Iff]))
        rules.append(make(draw(some(A))).then(draw(some(B))))
    return RuleSet(rules)


FORMULAS = st.recursive(
    some(A) | some(B),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(lambda ps: all_of(*ps)),
        st.tuples(parts, parts).map(lambda ps: any_of(*ps)),
        parts.map(lambda p: ~p),
    ),
    max_leaves=5,
)


def is_true(statement: Any, world: dict[str, int]) -> bool:
    if isinstance(statement, Proposition):
        return world[statement.attribute.name] in statement.values
    if isinstance(statement, Premise):
        return all(is_true(p, world) for p in statement.propositions)
    n_true = sum(is_true(p, world) for p in statement.parts)
    return bool(statement.least <= n_true <= statement.most)


def expected(formula: Any, on_b: RuleSet, then: Rule, weights: list[Any], semantics: str) -> Any:
    """The weights of c over all worlds of a and b, which the rules on c are after."""
    add, _ = OPERATIONS[semantics]
    totals: list[Any] = [Fraction(0)] * 3
    for a, weight in enumerate(weights):
        for b, shared in shares(left(on_b, {"a": a}), weight, semantics):
            inside = is_true(formula, {"a": a, "b": b})
            values = [
                c
                for c in C.domain
                if (c in then.conclusion.values or not inside or then.r == 1.0)
                and (c not in then.conclusion.values or inside or then.s == 1.0)
            ]
            for c, total in shares(values, shared, semantics):
                totals[c] = add(totals[c], total)
    return totals


def shares(values: list[Any], weight: Any, semantics: str) -> Iterator[tuple[Any, Any]]:
    for value in values:
        yield value, weight / len(values) if semantics == "probabilistic" else weight


def with_mentions(formula: Any) -> list[Any]:
    """The same formula, with mentions of a and b that it does not need."""
    always = any_of(B.isin({0}), B.isin({1})), any_of(A.isin({0}), A.isin({1, 2}))
    never = all_of(B.isin({0}), B.isin({1})), all_of(A.isin({0}), ~A.isin({0}), B.isin({0}))
    return [
        all_of(formula, *always),
        all_of(*always, formula),
        any_of(all_of(formula, always[0]), never[1]),
        any_of(never[0], formula, never[1]),
        at_least(3, *always, formula),
        ~any_of(~all_of(formula, *always), never[0]),
    ]


@pytest.mark.parametrize("semantics", OPERATIONS)
@settings(max_examples=40)
@given(FORMULAS, rules_on_b(), some(C), st.booleans(), TENTHS)
def test_mentions_without_need(
    semantics: Any, formula: Any, on_b: RuleSet, then: Proposition, both: bool, counts: list[int]
) -> None:
    make = Iff if both else If
    weights = [Fraction(n, sum(counts)) for n in counts]
    p = {"a": [n / sum(counts) for n in counts]}
    for statement in with_mentions(formula):
        cascade = Cascade(on_b, RuleSet([make(statement).then(then)]))
        totals = expected(formula, on_b, cascade["c"].rules[0], weights, semantics)
        if semantics == "most probable explanation" and max(totals):
            totals = [total / max(totals) for total in totals]
        inferred = cascade.infer(p, ["c"], semantics=semantics)["c"]
        assert inferred.weights == pytest.approx([float(total) for total in totals])


@pytest.mark.parametrize("semantics", OPERATIONS)
@pytest.mark.parametrize("formula", ["(a == 1 and b == 1)", "(a == 2 and b == 1)"])
def test_a_contradiction_is_lost_for_all_that_mention_it(semantics: Any, formula: str) -> None:
    rules = parse(f"""
        attribute a in 0..2
        attribute b in 0..1
        attribute c in 0..2
        iff a == 2 then b == 1
        iff a in {{0, 2}} then b == 0
        iff a in {{0, 1}} or {formula} then c == 0
    """)
    c = rules.infer({"a": {1: 0.5, 2: 0.5}}, ["c"], semantics=semantics)["c"]
    assert c.weights.tolist() == [0.0, 0.0, 0.0]
    assert parse(str(rules)) == rules
