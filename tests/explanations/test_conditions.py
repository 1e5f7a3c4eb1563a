"""Conditions are necessary and sufficient: all evidence on small grids is tried."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as make
from explanations.small_rule_sets import GRID, every_sample, small_rule_sets
from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DegreeError,
    DomainError,
    Iff,
    RuleSet,
    UnknownAttributeError,
    antipignistic,
)
from pinesy.explanations import AllOf, AnyOf, Atom, conditions
from pinesy.problems import addition

COMPARISONS: dict[Any, Any] = {
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
}
LEVELS = sorted({*GRID, 0.1, 0.45, 0.9})


@given(small_rule_sets(), st.data())
def test_of_rule_sets_on_all_evidence(rules: RuleSet, data: st.DataObject) -> None:
    samples = every_sample(rules)
    found = rules.infer(samples)
    asked = data.draw(make.propositions(rules.output))
    for (comparison, truth), level in itertools.product(COMPARISONS.items(), LEVELS):
        formula = conditions(rules, asked, comparison, level)
        expected = truth(found.possibility(asked), level)
        assert formula.holds(samples).tolist() == expected.tolist()
        if formula.always or formula.never:
            assert len(formula.clauses) == 1


@given(make.batches(sizes=[40]), st.data())
def test_of_cascades(case: make.BatchCase, data: st.DataObject) -> None:
    output = data.draw(st.sampled_from(case.cascade.rule_sets)).output
    asked = data.draw(make.propositions(output))
    comparison = data.draw(st.sampled_from(list(COMPARISONS)))
    level = data.draw(make.DEGREES)
    formula = conditions(case.cascade, asked, comparison, level)
    degrees = case.cascade.trace(case.evidence)[output.name].possibility(asked)
    expected = COMPARISONS[comparison](degrees, level)
    assert formula.holds(case.evidence).tolist() == expected.tolist()
    assert formula.holds(case.row(7)) is bool(expected[7])
    assert all(a.comparison == comparison and a.level == level for a in formula.atoms)


def small_cascade() -> Cascade:
    """Two levels, parameters, and an input that both use."""
    a, b = Attribute("a", (0, 1)), Attribute("b", (0, 1, 2))
    c, d = Attribute("c", (0, 1)), Attribute("d", (0, 1, 2))
    first = RuleSet(
        [
            Iff(a.isin({0}), b.isin({0, 1})).then(c.isin({0}), 0.3, 0.0),
            Iff(b.isin({2})).then(c.isin({1})),
        ]
    )
    second = RuleSet(
        [
            Iff(c.isin({1}), a.isin({1})).then(d.isin({0, 1}), 0.0, 0.6),
            Iff(c.isin({0})).then(d.isin({1}), 0.6, 0.3),
        ]
    )
    return Cascade(first, second)


def test_of_a_cascade_on_all_evidence() -> None:
    cascade = small_cascade()
    parts = [
        [pi for pi in itertools.product(GRID, repeat=len(a.domain)) if max(pi) == 1.0]
        for a in cascade.inputs
    ]
    samples = np.array([sum(row, ()) for row in itertools.product(*parts)])
    found = cascade.infer(samples)["d"]
    for value, comparison, level in itertools.product((0, 1, 2), COMPARISONS, LEVELS):
        formula = conditions(cascade, value, comparison, level)
        expected = COMPARISONS[comparison](found[value], level)
        assert formula.holds(samples).tolist() == expected.tolist()


@given(st.data())
def test_probabilities(data: st.DataObject) -> None:
    rules = data.draw(small_rule_sets())
    asked = data.draw(make.propositions(rules.output))
    formula = conditions(rules, asked, data.draw(st.sampled_from(list(COMPARISONS))), 0.6)
    p = {}
    for a in rules.inputs:
        counts = data.draw(st.lists(st.integers(1, 9), min_size=2, max_size=2))
        p[a.name] = [c / sum(counts) for c in counts]
    possible = {name: antipignistic(np.array(row)) for name, row in p.items()}
    assert formula.for_probabilities().holds(p) == formula.holds(possible)


def test_addition_is_simplified_to_what_one_would_write() -> None:
    rules = addition(1)
    seven = conditions(rules, rules["y_1"].output.isin({7}), ">", 0.5)
    pairs = [(u, (7 - u) % 10) for u in range(10)]
    assert isinstance(seven.root, AnyOf)
    found = [
        tuple(a.proposition.values[0] for a in part.parts if isinstance(a, Atom))
        for part in seven.root.parts
        if isinstance(part, AllOf)
    ]
    assert found == pairs
    carry = conditions(rules, rules["y_0"].output.isin({1}), "<", 0.5)
    assert str(carry).startswith(
        "(Pi(a_1 in {1}) < 0.5 or Pi(a_2 in {9}) < 0.5) and "
        "(Pi(a_1 in {2}) < 0.5 or Pi(a_2 in {8, 9}) < 0.5) and "
    )


def test_a_long_chain_is_no_problem() -> None:
    rules = addition(30)
    formula = conditions(rules, rules["y_0"].output.isin({1}), ">=", 0.5)
    rng = np.random.default_rng(0)
    samples = make.random_batch(rng, 60 * 50, 10).reshape(50, -1)
    expected = rules.infer(samples)["y_0"][1] >= 0.5
    assert formula.holds(samples).tolist() == expected.tolist()
    assert len(str(formula)) < 10_000
    assert "conditions of several parts" in str(formula)


# --- texts and data ----------------------------------------------------------------------------

A, B = Attribute("a", range(12)), Attribute("b", ("no", "yes"))
ONE = RuleSet([Iff(A.isin({3})).then(B.isin({"yes"}), s=0.3)])
MANY = RuleSet(
    [
        Iff(A.isin({i}), Attribute(f"x_{i}", (0, 1)).isin({0})).then(B.isin({"yes"}))
        for i in range(12)
    ]
)


def test_texts() -> None:
    assert str(conditions(ONE, "yes", ">", 0.5)) == "Pi(a in {3}) > 0.5"
    assert str(conditions(ONE, "yes", ">", 0.2)) == "always"
    assert str(conditions(ONE, "yes", "<", 0.2)) == "never"
    assert str(conditions(ONE, "no", "<=", 0.5)) == "Pi(a in {0..2, 4..11}) <= 0.5"
    assert repr(conditions(ONE, "yes", ">", 0.5)) == (
        "Formula(Pi(b in {yes}) > 0.5: 1 clauses, 1 atoms)"
    )


def test_levels_are_written_in_full() -> None:
    nearly = conditions(ONE, "yes", ">", 0.99999)
    assert str(nearly) == "Pi(a in {3}) > 0.99999"
    assert nearly.about == "Pi(b in {yes}) > 0.99999"
    assert str(nearly.for_probabilities()).endswith(" > 0.99999")
    assert str(conditions(ONE, "yes", ">=", 1)) == "Pi(a in {3}) >= 1"


def test_texts_of_probabilities() -> None:
    yes = conditions(ONE, "yes", ">", 0.5).for_probabilities()
    assert str(yes) == "sum_w min(p(a = 3), p(a = w)) > 0.5"
    no = conditions(ONE, "no", ">", 0.5).for_probabilities()
    assert str(no) == "[sum_w min(p(a = v), p(a = w)) > 0.5 for some v in {0..2, 4..11}]"
    no = conditions(ONE, "no", "<", 0.5).for_probabilities()
    assert "for every v in" in str(no)


def test_long_texts_are_cut_and_say_so() -> None:
    formula = conditions(MANY, "no", "<", 0.5)
    assert isinstance(formula.root, AnyOf)
    assert len(formula.root.parts) == 12
    assert formula.text(limit=3).endswith(" or 9 more conditions")
    assert formula.text(depth=1) == "12 conditions of several parts"
    assert "more conditions" not in formula.text(limit=None, depth=None)


def test_data() -> None:
    content = conditions(small_cascade(), 0, ">", 0.5).to_dict()
    assert content["format"] == "pinesy conditions"
    last = content["clauses"][-1]
    assert {"kind", "parts"} == set(last)
    for number, clause in enumerate(content["clauses"]):
        assert all(part < number for part in clause.get("parts", ()))


# --- bad input ---------------------------------------------------------------------------------


def test_bad_questions() -> None:
    with raises_saying(DomainError, "comparison is '=='", "one of >, >=, <, <="):
        conditions(ONE, "yes", "==", 0.5)  # type: ignore[arg-type]
    with raises_saying(DegreeError, "the level is 1.5", "[0, 1]"):
        conditions(ONE, "yes", ">", 1.5)
    with raises_saying(DomainError, "attribute 'b' has no value 'maybe'"):
        conditions(ONE, "maybe", ">", 0.5)
    with raises_saying(UnknownAttributeError, "no rule set concludes on 'c'"):
        conditions(ONE, Attribute("c", (0, 1)).isin({0}), ">", 0.5)
    with raises_saying(DomainError, "'b' has another domain"):
        conditions(ONE, Attribute("b", (0, 1)).isin({0}), ">", 0.5)
    rules = addition(1)
    with raises_saying(DomainError, "7 is no proposition", "2 outputs", "attribute.isin"):
        conditions(rules, 7, ">", 0.5)
    with raises_saying(CascadeError, "more than 20 parts", "raise max_size"):
        conditions(rules, rules["y_1"].output.isin({7}), ">", 0.5, max_size=20)
    with raises_saying(CascadeError, "rules are a RuleSet or a Cascade"):
        conditions("rules", 7, ">", 0.5)  # type: ignore[arg-type]


def test_bad_evidence() -> None:
    formula = conditions(ONE, "yes", ">", 0.5)
    with raises_saying(DegreeError, "attribute 'a'", "not normalised"):
        formula.holds({"a": {3: 0.5}})
    with raises_saying(DegreeError, "attribute 'a', row 1", "not normalised"):
        formula.holds({"a": [[1.0] * 12, [0.5] * 12]})
    with raises_saying(CascadeError, "no distribution is given for a"):
        formula.holds({})
    spoken = formula.for_probabilities()
    with raises_saying(DegreeError, "attribute 'a': the probabilities sum to 0.5"):
        spoken.holds({"a": {3: 0.5}})
    with raises_saying(DegreeError, "attribute 'a', row 1: the probabilities sum to 0.5"):
        spoken.holds({"a": np.eye(12)[:2] * [[1.0], [0.5]]})
    with raises_saying(CascadeError, "speak of probabilities already"):
        formula.for_probabilities().for_probabilities()


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_of_an_input(comparison: Any) -> None:
    formula = conditions(ONE, A.isin({1, 2}), comparison, 0.5)
    assert str(formula) == f"Pi(a in {{1, 2}}) {comparison} 0.5"
