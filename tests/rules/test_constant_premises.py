"""Premises that are always or never true, where attributes on the way are not normalised."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import oracles
from pinesy import Attribute, Cascade, If, Iff, Premise, Proposition, RuleSet, parse
from pinesy.explanations import conditions, explain
from pinesy.rules.propositions import Compound, all_of, any_of, at_least, exactly

CONTRADICTION = """
    attribute a in {0, 1}
    attribute b in {0, 1}
    attribute c in {0, 1}
    if a in {0, 1} then b == 1
    if a in {0, 1} then b == 0
"""
SOURCE = Attribute("source", [0, 1])
INNER = [Attribute("b", range(2)), Attribute("d", range(3)), Attribute("e", range(2))]
OUT = Attribute("out", ["no", "yes"])
GRID = [0.0, 0.25, 0.5, 0.75, 1.0]


def distribution_rules(attribute: Attribute, degrees: list[float]) -> RuleSet:
    """Rules that give the values of an attribute these degrees, whatever the source is."""
    always = SOURCE.isin({0, 1})
    values = zip(attribute.domain, degrees, strict=True)
    return RuleSet([If(always).then(~attribute.isin({v}), r=degree) for v, degree in values])


@st.composite
def propositions(draw: st.DrawFn) -> Proposition:
    attribute = draw(st.sampled_from([SOURCE, *INNER]))
    return Proposition(attribute, draw(st.integers(0, attribute.full)))


def compounds(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(parts, min_size=2, max_size=3)
    return st.one_of(
        parts.map(lambda p: ~p),
        lists.map(lambda ps: all_of(*ps)),
        lists.map(lambda ps: any_of(*ps)),
        lists.map(lambda ps: at_least(2, *ps)),
        lists.map(lambda ps: exactly(1, *ps)),
    )


FORMULAS = st.recursive(propositions(), compounds, max_leaves=7)
HEIGHTS = st.fixed_dictionaries(
    {
        a.name: st.lists(st.sampled_from(GRID), min_size=len(a.domain), max_size=len(a.domain))
        for a in INNER
    }
)


def parts_of(statement: Any) -> tuple[Any, ...]:
    if isinstance(statement, Proposition):
        return ()
    return statement.propositions if isinstance(statement, Premise) else statement.parts


def with_parts(statement: Any, parts: tuple[Any, ...]) -> Any:
    if isinstance(statement, Premise):
        return Premise(parts)
    return Compound(parts, statement.least, statement.most)


def orders(statement: Any) -> Iterator[Any]:
    """Yield a formula with the parts of its top in any order, and all of them turned around."""
    for parts in permutations(parts_of(statement)):
        yield with_parts(statement, parts) if parts else statement
    yield turned(statement)


def turned(statement: Any) -> Any:
    parts = parts_of(statement)
    return with_parts(statement, tuple(map(turned, parts))[::-1]) if parts else statement


def is_true(statement: Any, values: dict[str, int]) -> bool:
    if isinstance(statement, Proposition):
        return bool(statement.mask >> values[statement.attribute.name] & 1)
    n_true = sum(is_true(part, values) for part in parts_of(statement))
    if isinstance(statement, Premise):
        return n_true == len(statement.propositions)
    return bool(statement.least <= n_true <= statement.most)


def constant(statement: Any) -> bool | None:
    """The truth of a formula that is the same for all values of the attributes."""
    attributes = [SOURCE, *INNER]
    truths = {
        is_true(statement, dict(zip((a.name for a in attributes), values, strict=True)))
        for values in product(*(range(len(a.domain)) for a in attributes))
    }
    return truths.pop() if len(truths) == 1 else None


def is_plain(statement: Any) -> bool:
    """Whether a formula is a conjunction of propositions, which stays as in the paper."""
    return isinstance(all_of(statement), Premise)


def rules_of(statement: Any, heights: dict[str, list[float]]) -> Cascade:
    own = [distribution_rules(a, heights[a.name]) for a in INNER]
    return Cascade(*own, RuleSet([Iff(statement).then(OUT.isin({"yes"}))]))


@pytest.mark.parametrize(
    "premise",
    [
        "b == 0 and not (a == 0 or a == 1)",
        "not (a == 0 or a == 1) and b == 0",
        "b in {}",
        "b in {} and a == 0",
        "a == 0 and b in {}",
        "not (b in {0, 1} or a == 1)",
        "(b == 0 or a == 0) and (b == 0 or a == 1) and b == 1",
    ],
)
def test_a_premise_that_is_never_true(premise: str) -> None:
    rules = parse(f"{CONTRADICTION}\niff {premise} then c == 1")
    assert rules.infer({"a": 0}, ["b"])["b"].to_dict() == {0: 0.0, 1: 0.0}
    assert rules.infer({"a": 0}, ["c"])["c"].to_dict() == {0: 1.0, 1: 0.0}
    assert parse(str(rules)).infer({"a": 0}, ["c"])["c"].to_dict() == {0: 1.0, 1: 0.0}
    assert not rules.infer({"a": 0}, ["c"])["c"].normalised  # the contradiction is behind it


@pytest.mark.parametrize(
    "premise",
    [
        "b in {0, 1}",
        "b == 0 or b == 1",
        "(a == 0 or a == 1) or b == 0",
        "b == 0 or (a == 0 or a == 1)",
        "(b == 0 and a == 0) or (b == 0 and a == 1) or b == 1",
    ],
)
def test_a_premise_that_is_always_true(premise: str) -> None:
    rules = parse(f"{CONTRADICTION}\niff {premise} then c == 1")
    assert rules.infer({"a": 0}, ["c"])["c"].to_dict() == {0: 0.0, 1: 1.0}


@settings(max_examples=150)
@given(FORMULAS, HEIGHTS)
def test_the_order_of_parts_does_not_matter(
    statement: Any, heights: dict[str, list[float]]
) -> None:
    results = [
        rules_of(one, heights).infer({"source": 0}, ["out"])["out"] for one in orders(statement)
    ]
    assert len({tuple(result.degrees) for result in results}) == 1
    assert len({result.normalised for result in results}) == 1
    truth = constant(statement)
    if truth is not None and not is_plain(statement):
        assert results[0].to_dict() == {"no": 1.0 - truth, "yes": float(truth)}


@settings(max_examples=150)
@given(FORMULAS, HEIGHTS, st.sampled_from(GRID))
def test_every_way_to_a_degree(
    statement: Any, heights: dict[str, list[float]], level: float
) -> None:
    """The engine, fractions, explanations and conditions agree on rules with formulas."""
    rules = rules_of(statement, heights)
    result = rules.infer({"source": 0}, ["out"])["out"]
    outcome = oracles.infer(rules.order, {"source": {0: Fraction(1), 1: Fraction(0)}})
    assert result.to_dict() == {k: float(d) for k, d in outcome.distributions["out"].items()}
    explanation = explain(rules, {"source": 0}, "out")
    for value in OUT.domain:
        node = explanation.node("out", value)
        assert node.possibility == result[value]
        assert node.justification is not None
        assert node.justification.degree == result[value]
        for triplet in node.justification.triplets:
            assert all(part.reduced.mask for part in triplet.reduced if part.proposition.mask)
        formula = conditions(rules, OUT.isin({value}), ">=", level)
        assert formula.holds({"source": 0}) == (result[value] >= level)
