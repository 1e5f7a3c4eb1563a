"""Formulas in premises, against all assignments of values."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    Compound,
    If,
    Iff,
    Premise,
    Proposition,
    RuleSet,
    RuleSetError,
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
    parse,
)
from pinesy.rulebase.rules_json import from_content, to_content
from pinesy.rules.definitions import is_satisfiable, normal_form

INPUTS = [Attribute(name, range(size)) for name, size in zip("abcd", (2, 3, 3, 2), strict=True)]
OUT = Attribute("out", ["no", "yes"])
GRID = [round(0.1 * i, 1) for i in range(11)]
DISTRIBUTIONS = {
    a.name: st.tuples(
        st.lists(st.sampled_from(GRID), min_size=len(a.domain), max_size=len(a.domain)),
        st.integers(0, len(a.domain) - 1),
    ).map(lambda pair: [1.0 if i == pair[1] else d for i, d in enumerate(pair[0])])
    for a in INPUTS
}


@st.composite
def propositions(draw: st.DrawFn) -> Proposition:
    attribute = draw(st.sampled_from(INPUTS))
    return Proposition(attribute, draw(st.integers(0, attribute.full)))


def compounds(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(parts, min_size=1, max_size=4)
    counts = st.tuples(st.integers(0, 4), lists)
    return st.one_of(
        parts.map(lambda p: ~p),
        lists.map(lambda ps: all_of(*ps)),
        lists.map(lambda ps: any_of(*ps)),
        counts.map(lambda c: at_least(c[0], *c[1])),
        counts.map(lambda c: at_most(c[0], *c[1])),
        counts.map(lambda c: exactly(c[0], *c[1])),
    )


FORMULAS = st.recursive(propositions(), compounds, max_leaves=8)


def holds(statement: Any, values: dict[str, int]) -> bool:
    """Tell whether a statement is true of values, by its definition."""
    if isinstance(statement, Proposition):
        return bool(statement.mask >> values[statement.attribute.name] & 1)
    if isinstance(statement, Premise):
        return all(holds(p, values) for p in statement.propositions)
    assert isinstance(statement, Compound)
    return statement.least <= sum(holds(p, values) for p in statement.parts) <= statement.most


def brute_force(statement: Any, pi: dict[str, list[float]]) -> tuple[float, float]:
    """Return the possibilities that a statement holds and that it does not."""
    best = {True: 0.0, False: 0.0}
    for values in product(*(range(len(a.domain)) for a in INPUTS)):
        named = dict(zip((a.name for a in INPUTS), values, strict=True))
        degree = min(pi[name][v] for name, v in named.items())
        truth = holds(statement, named)
        best[truth] = max(best[truth], degree)
    return best[True], best[False]


def repeats(formula: Any) -> bool:
    """Tell whether an attribute repeats in a plain conjunction, which stays as in the paper."""
    premise = all_of(formula)
    if not isinstance(premise, Premise):
        return False
    names = [p.attribute.name for p in premise.propositions]
    return len(set(names)) < len(names)


def evidence_of(cascade: Cascade, pi: dict[str, list[float]]) -> dict[str, list[float]]:
    return {a.name: pi[a.name] for a in cascade.inputs}


@settings(max_examples=85)
@given(FORMULAS, st.fixed_dictionaries(DISTRIBUTIONS))
def test_formulas_agree_with_brute_force(formula: Any, pi: dict[str, list[float]]) -> None:
    assume(not repeats(formula))
    cascade = Cascade(RuleSet([Iff(formula).then(OUT.isin({"yes"}))]))
    result = cascade.infer(evidence_of(cascade, pi))["out"]
    assert (result["yes"], result["no"]) == brute_force(formula, pi)


@settings(max_examples=30)
@given(st.lists(FORMULAS, min_size=1, max_size=3), st.fixed_dictionaries(DISTRIBUTIONS))
def test_de_morgan(parts: list[Any], pi: dict[str, list[float]]) -> None:
    assume(not any(map(repeats, parts)))
    for one, two in (
        (~Compound(tuple(parts), len(parts), len(parts)), any_of(*(~p for p in parts))),
        (~any_of(*parts), Compound(tuple(~p for p in parts), len(parts), len(parts))),
    ):
        assume(not repeats(one) and not repeats(two))
        results = []
        for formula in (one, two):
            cascade = Cascade(RuleSet([Iff(formula).then(OUT.isin({"yes"}))]))
            results.append(cascade.infer(evidence_of(cascade, pi))["out"].degrees.tolist())
        assert results[0] == results[1]
        assert results[0] == list(brute_force(one, pi))[::-1]


@settings(max_examples=30)
@given(FORMULAS)
def test_json_keeps_formulas(formula: Any) -> None:
    cascade = Cascade(RuleSet([If(formula).then(OUT.isin({"yes"}), certainty=0.8)]))
    assert from_content(json.loads(json.dumps(to_content(cascade)))) == cascade


P, Q, R = (Attribute(name, [0, 1]).isin({1}) for name in "pqr")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (P | Q, "p in {1} or q in {1}"),
        (P & (Q | R), "p in {1} and (q in {1} or r in {1})"),
        ((P & Q) | R, "(p in {1} and q in {1}) or r in {1}"),
        (~(P & Q), "p in {0} or q in {0}"),
        (at_least(2, P, Q, R), "at least 2 of (p in {1}, q in {1}, r in {1})"),
        (at_most(1, P, Q, R), "at least 2 of (p in {0}, q in {0}, r in {0})"),
        (exactly(2, P, Q, R), "exactly 2 of (p in {1}, q in {1}, r in {1})"),
        (~exactly(2, P, Q, R), "not (exactly 2 of (p in {1}, q in {1}, r in {1}))"),
        (P | Q | R, "p in {1} or q in {1} or r in {1}"),
        (P | P, "p in {1}"),
    ],
)
def test_the_printed_form_folds_inner_attributes_back(formula: Any, text: str) -> None:
    rules = RuleSet([If(formula).then(OUT.isin({"yes"}))])
    assert str(rules) == f"if {text} then out in {{yes}}"
    printed = str(Cascade(rules))
    assert printed.count("iff") == 0
    assert "attribute out" in printed


def test_rules_with_formulas_infer_alone_too() -> None:
    rules = RuleSet([If(P | Q).then(OUT.isin({"yes"}), certainty=0.9)])
    result = rules.infer({"p": [1.0, 0.0], "q": [0.0, 1.0]})
    assert result.to_dict() == {"no": 0.1, "yes": 1.0}
    assert Cascade(rules).inputs == (P.attribute, Q.attribute)


def test_a_formula_that_always_or_never_holds() -> None:
    for formula, degrees in ((P | ~P, [0.0, 1.0]), (any_of(P, Q) & ~P & ~Q, [1.0, 0.0])):
        cascade = Cascade(RuleSet([Iff(formula).then(OUT.isin({"yes"}))]))
        free = {a.name: [1.0, 1.0] for a in cascade.inputs}
        assert cascade.infer(free)["out"].degrees.tolist() == degrees


def test_counts_of_many_parts_grow_with_parts_times_count() -> None:
    parts = [Attribute(f"x_{i}", [0, 1]).isin({1}) for i in range(60)]
    cascade = Cascade(RuleSet([Iff(at_least(3, *parts)).then(OUT.isin({"yes"}))]))
    assert len(cascade.rule_sets) < 2 * 3 * 60
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (50, 60)) * (rng.random((50, 60)) < 0.1)
    degrees = np.stack([1.0 - truth, truth], axis=-1)
    result = cascade.infer({f"x_{i}": degrees[:, i] for i in range(60)})["out"]
    assert (result["yes"] == (truth.sum(axis=1) >= 3)).all()


def test_normal_forms_of_constants() -> None:
    assert normal_form(at_least(0, P, Q)) is True
    assert normal_form(at_least(3, P, Q)) is False
    assert normal_form(exactly(1, P | ~P, Q & ~Q)) is True
    assert normal_form(~exactly(5, P, Q)) is True


def test_formulas_of_something_else() -> None:
    with raises_saying(RuleSetError, "propositions such as attribute.isin", "got 5"):
        any_of(P, 5)  # type: ignore[arg-type]
    with raises_saying(RuleSetError, "at least one proposition"):
        any_of()
    deep: Any = P
    with raises_saying(RuleSetError, "nests more than 50 deep"):
        for i in range(60):
            deep = deep & Q if i % 2 else deep | R


def test_formulas_have_no_parameters_of_their_own() -> None:
    cascade = Cascade(RuleSet([If(P | Q).then(OUT.isin({"yes"}))]))
    name = cascade.order[0].output.name
    with raises_saying(CascadeError, "the rules of the formula", "no parameters"):
        cascade.with_parameters({name: ([0.5], [0.5])})


@given(st.lists(FORMULAS, min_size=1, max_size=3))
def test_what_can_hold_together(parts: list[Any]) -> None:
    all_values = product(*(range(len(a.domain)) for a in INPUTS))
    named = (dict(zip((a.name for a in INPUTS), values, strict=True)) for values in all_values)
    assert is_satisfiable(*parts) == any(all(holds(p, v) for p in parts) for v in named)


def test_an_attribute_that_rules_can_do_without_is_declared() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1, 2])
    formula = ~at_least(3, a.isin({0}), b.isin({0}), b.isin({0}), b.isin({0, 1}))
    cascade = Cascade(RuleSet([If(formula).then(OUT.isin({"yes"}))]))
    assert parse(str(cascade)) == cascade
    assert from_content(json.loads(json.dumps(to_content(cascade)))) == cascade
