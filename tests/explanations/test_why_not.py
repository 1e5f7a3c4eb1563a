"""Why not: the rules that attain the degree of a value, all of them, and those behind them."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from explanations.attempts import leaders
from explanations.small_functions import DIGITS, functions, questions
from inverse.conditioning_problems import trees
from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import CascadeError, DataError, DomainError
from pinesy.explanations import why_not
from pinesy.explanations.restraints import MAX_RESTRAINTS, Restraint
from pinesy.problems import addition, sudoku
from strategies import shaped_cascades

A, B = Attribute("a", range(2)), Attribute("b", range(3))


def bounds(outcome: oracles.Outcome, cascade: Cascade, name: str, value: Any) -> list[Any]:
    """For each rule of a set the degree of its premise or negation, and the parameter."""
    found = []
    for rule, (lambda_, rho) in zip(cascade[name].rules, outcome.degrees[name], strict=True):
        inside = value in rule.conclusion.values
        found.append((lambda_ if inside else rho, Fraction(rule.s if inside else rule.r)))
    return found


def check_hold(hold: Restraint, outcome: oracles.Outcome, cascade: Cascade) -> None:
    """The rule attains the degree, by what it says; so do its reasons."""
    name = hold.attribute.name
    pi = outcome.distributions[name]
    assert Fraction(hold.degree) == pi[hold.value] < 1
    index = hold.number - cascade.rule_number(name, 0)
    d, z = bounds(outcome, cascade, name, hold.value)[index]
    assert hold.rule == cascade[name].rules[index]
    inside = hold.value in hold.rule.conclusion.values
    assert hold.by == ("premise" if d >= z else "s" if inside else "r")
    assert max(d, z) == pi[hold.value]
    expected = set()
    for p in hold.rule.premise.propositions if d >= z else ():
        known = outcome.distributions[p.attribute.name]
        side = [u for u in p.attribute.domain if (u in p.values) == inside]
        if len(side) == len(known):  # a constant: possible at 1, whatever is known
            continue
        if oracles.possibility(known, side) == d:
            expected |= {(p.attribute.name, u) for u in side if known[u] == d}
    assert {(r.attribute.name, r.value) for r in hold.reasons} == expected
    assert all(r.degree == hold.degree for r in hold.reasons)


@given(questions(trees() | shaped_cascades() | functions()), st.data())
@settings(max_examples=80)
def test_every_rule_that_holds_a_value(question: Any, data: st.DataObject) -> None:
    cascade, evidence, output = question
    before = cascade.infer(evidence, [output])[output.name]
    value = data.draw(st.sampled_from(output.domain))
    if leaders(before) == [value]:
        return
    found = why_not(cascade, evidence, value, output, effort=50)
    known = {
        a.name: dict(zip(a.domain, map(Fraction, evidence[a.name]), strict=True))
        for a in cascade.inputs
    }
    outcome = oracles.infer(cascade.rule_sets, known)
    pi = outcome.distributions[output.name]
    assert Fraction(found.degree) == pi[value]
    assert found.winners == tuple(u for u, d in pi.items() if d == max(pi.values()))
    numbers = [
        cascade.rule_number(output.name, index)
        for index, b in enumerate(bounds(outcome, cascade, output.name, value))
        if max(b) == pi[value] < 1
    ]
    assert [hold.number for hold in found.rules] == numbers
    for hold in found.restraints:
        check_hold(hold, outcome, cascade)
    followed = {(h.attribute.name, h.value) for h in found.restraints}
    reasons = {(r.attribute.name, r.value) for h in found.restraints for r in h.reasons}
    inferred = {(n, u) for n, u in reasons if n not in known and outcome.distributions[n][u] < 1}
    assert inferred <= followed
    assert {(r.attribute.name, r.value) for r in found.bottlenecks} == {
        (n, u) for n, u in reasons if n in known
    }
    assert (found.change is None) == bool(found.obstacle)
    assert str(found).splitlines()[-1] == str(found.change or found.obstacle)


def test_a_sum_of_two_digits() -> None:
    rules = addition(1)
    found = why_not(rules, DIGITS, 2, "y_1")
    two, seven = rules.rule_number("y_1", 2), rules.rule_number("y_1", 7)
    assert [(h.number, h.by) for h in found.rules] == [(two, "premise"), (seven, "premise")]
    assert [str(b) for b in found.bottlenecks] == ["a_1 = 8 has possibility 0.4"]
    assert repr(found) == f"WhyNot(y_1 = 2: {len(found.restraints)} rules)"
    assert str(found) == (
        "y_1 = 2 has possibility 0.4; the highest is 1, of 7\n"
        f"  y_1 = 2 is possible at 0.4 at most, because of rule {two} "
        "(iff c_1 where (a_1 + a_2) % 10 == 2 then y_1 in {2}): "
        "its premise has possibility 0.4\n"
        f"  y_1 = 2 is possible at 0.4 at most, because of rule {seven} "
        "(iff c_1 where (a_1 + a_2) % 10 == 7 then y_1 in {7}): "
        "the negation of its premise has possibility 0.4\n"
        "  a_1 = 8 has possibility 0.4\n"
        "if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2"
    )


def test_a_parameter_that_holds() -> None:
    rules = Cascade(RuleSet([Iff(A.isin({0})).then(B.isin({0}), s=0.1, r=0.3)]))
    found = why_not(rules, {"a": [1.0, 0.2]}, 1)
    assert [(h.number, h.by, h.degree, h.reasons) for h in found.rules] == [(1, "r", 0.3, ())]
    assert "b = 1 is possible at 0.3 at most, because of rule 1" in str(found)
    assert "its parameter r is 0.3" in str(found)
    assert found.change is None
    assert "no rule distinguishes it from 2" in found.obstacle
    found = why_not(rules, {"a": [1.0, 0.5]}, 1)
    assert "the negation of its premise has possibility 0.5" in str(found)


def test_only_the_lowest_propositions_are_reasons() -> None:
    two = Attribute("two", range(2))
    rules = Cascade(RuleSet([Iff(A.isin({0, 1}), two.isin({1})).then(B.isin({1}))]))
    [hold] = why_not(rules, {"a": [1.0, 0.4], "two": [1.0, 0.4]}, 1).rules
    assert [(r.attribute.name, r.value) for r in hold.reasons] == [("two", 1)]


def test_a_tie_is_not_held_by_rules() -> None:
    tie = {"a_1": {3: 1.0, 8: 1.0}, "a_2": {4: 1.0}}
    found = why_not(addition(1), tie, 2, "y_1")
    assert (found.degree, found.winners, found.restraints) == (1.0, (2, 7), ())
    assert str(found).startswith("y_1 = 2 has possibility 1; the highest is 1, of 2 and 7\nif a_1")


def test_degrees_that_differ_are_not_written_alike() -> None:
    nearly = {"a_1": {3: 1.0, 8: 0.99999999}, "a_2": {4: 1.0}}
    found = str(why_not(addition(1), nearly, 2, "y_1"))
    assert found.startswith("y_1 = 2 has possibility more than 0.999; the highest is 1, of 7\n")
    assert "y_1 = 2 is possible at more than 0.999 at most, because of rule 24" in found
    assert "  a_1 = 8 has possibility more than 0.999\n" in found
    assert "possibility 1 " not in found
    never = RuleSet(
        [
            Iff(A.isin({0, 1})).then(B.isin({0}), r=0.50001),
            Iff(A.isin({0, 1})).then(B.isin({1}), r=0.50002),
        ]
    )
    text = str(why_not(never, {"a": [1.0, 0.0]}, 1))
    assert text.startswith("b = 1 has possibility 0.50001; the highest is 0.50002, of 0\n")


def nine_by_nine() -> dict[str, Any]:
    """A valid grid of 81 cells."""
    return {f"a_{i + 1}_{j + 1}": np.eye(9)[(3 * i + i // 3 + j) % 9] for i, j in np.ndindex(9, 9)}


def test_a_search_that_is_cut_says_so() -> None:
    found = why_not(sudoku(9), nine_by_nine(), 0)
    assert found.cut
    assert len(found.restraints) == MAX_RESTRAINTS
    assert "\n  and perhaps others: the search was cut after 1000 rules\nif " in str(found)
    assert repr(found) == "WhyNot(c = 0: 1000 rules, cut)"
    whole = why_not(addition(1), DIGITS, 2, "y_1")
    assert not whole.cut
    assert "cut" not in str(whole)


def test_what_is_left_out_of_a_long_rule_is_counted() -> None:
    [hold] = why_not(sudoku(9), nine_by_nine(), 0).rules
    assert " and 807 more propositions then c in {1}): the negation" in str(hold)
    long = Attribute("long", [f"value {i}" for i in range(100)])
    rules = RuleSet([Iff(long.isin(long.domain[::2])).then(B.isin({0}))])
    [hold] = why_not(rules, {"long": np.eye(100)[1]}, 0).rules
    more = len(" ".join(str(hold.rule).split())) - 160
    assert f"... and {more} more characters): its premise has possibility 0" in str(hold)


def test_large_rules_and_many_of_them_are_cut() -> None:
    grid = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]])
    sees = {f"a_{i + 1}_{j + 1}": np.eye(4)[grid[i, j]] for i, j in np.ndindex(4, 4)}
    found = why_not(sudoku(4), sees, 0)
    assert found.degree == 0.0
    assert len(found.restraints) <= MAX_RESTRAINTS
    assert max(map(len, str(found).splitlines())) < 400
    assert "more" in str(found)


def test_bad_input() -> None:
    with raises_saying(DomainError, "'y_1' has no value 'x'"):
        why_not(addition(1), DIGITS, "x", "y_1")
    with raises_saying(DomainError, "wins already"):
        why_not(addition(1), DIGITS, 7, "y_1")
    with raises_saying(CascadeError, "have 2 outputs"):
        why_not(addition(1), DIGITS, 7)
    with raises_saying(DataError, "one sample"):
        why_not(addition(1), {"a_1": np.eye(10), "a_2": np.eye(10)}, 2, "y_1")


def test_as_plain_data() -> None:
    rules = RuleSet([Iff(A.isin({1})).then(B.isin({2})), Iff(A.isin({0})).then(B.isin({0, 1}))])
    answer = why_not(rules, {"a": 1}, 1)
    content = answer.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert (content["attribute"], content["value"], content["possibility"]) == ("b", 1, 0.0)
    assert [r["rule"] for r in content["restraints"]] == [r.number for r in answer.restraints]
    assert len(answer.restraints) == 2
    short = answer.to_dict(limit=1)
    assert (len(short["restraints"]), short["restraints_omitted"]) == (1, 1)
    assert answer.change is None
    assert content["obstacle"] == answer.obstacle
    assert content["winners"] == [2]
    changed = why_not(RuleSet(rules.rules[:1]), {"a": 0}, 2)
    assert changed.change is not None
    assert changed.to_dict()["change"] == changed.change.to_dict()
    assert changed.change.to_dict()["inputs"]["a"]["values"] == [1]
