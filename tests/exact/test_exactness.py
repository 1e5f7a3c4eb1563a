"""Where inference is exact: against the joint distribution, listed value by value."""

from collections.abc import Mapping
from itertools import chain, combinations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from pinesy import Attribute, Cascade, If, Iff, RuleSet, parse, posterior
from pinesy.exact.exactness import upper_bounds
from pinesy.problems import addition, sudoku
from pinesy.rulebase import function, joint, max_of, parity_of, sum_of
from strategies import attributes, distributions, rule_sets, shaped_cascades

MOST = 3000
A, B, C, D = (Attribute(name, range(n)) for name, n in (("a", 3), ("b", 2), ("c", 2), ("d", 2)))


def crisp(rule_set: RuleSet, values: Mapping[str, Any], value: Any) -> float:
    """What a rule set says of a value for crisp inputs [eq:pistarbxu]."""
    degree = 1.0
    for rule in rule_set.rules:
        holds = all(values[p.attribute.name] in p.values for p in rule.premise.propositions)
        inside = value in rule.conclusion.values
        degree = min(degree, max(rule.s, holds) if inside else max(rule.r, not holds))
    return degree


def projection(cascade: Cascade, evidence: Mapping[str, Any], output: Attribute) -> list[float]:
    """The largest degree of the joint distribution for each value of an output."""
    sets = cascade.needed([output.name])
    used = {a.name: a for s in sets for a in (*s.inputs, s.output)}
    degrees = dict.fromkeys(range(len(output.domain)), 0.0)
    for values in product(*(range(len(a.domain)) for a in used.values())):
        at = dict(zip(used, values, strict=True))
        named = {name: used[name].domain[i] for name, i in at.items()}
        degree = min(float(pi[at[name]]) for name, pi in evidence.items() if name in at)
        for rule_set in sets:
            degree = min(degree, crisp(rule_set, named, named[rule_set.output.name]))
        place = at[output.name]
        degrees[place] = max(degrees[place], degree)
    return list(degrees.values())


def check_exact(cascade: Cascade, evidence: Mapping[str, Any], output: Attribute) -> bool:
    """Compare; where nothing is noted they must be equal. Return whether something is noted."""
    sets = cascade.needed([output.name])
    assume(prod(len(a.domain) for a in {a for s in sets for a in (*s.inputs, s.output)}) <= MOST)
    noted = {
        name for name, _reason in upper_bounds([s.unit for s in cascade.order], cascade.rule_number)
    }
    found = cascade.infer(evidence, [output])[output.name].degrees.tolist()
    exact = projection(cascade, evidence, output)
    trace = cascade.trace(evidence)
    inner = [s.output for s in sets if s.output != output]
    if all(trace[a].degrees.max() == 1.0 for a in inner):
        assert all(d >= e for d, e in zip(found, exact, strict=True))
        if noted.isdisjoint(s.output.name for s in sets):
            assert found == exact
    return not noted.isdisjoint(s.output.name for s in sets)


@given(shaped_cascades(), st.data())
def test_what_is_not_noted_is_exact(cascade: Cascade, data: st.DataObject) -> None:
    evidence = {a.name: data.draw(distributions(len(a.domain))) for a in cascade.inputs}
    output = data.draw(st.sampled_from(cascade.outputs))
    event(f"noted: {check_exact(cascade, evidence, output)}")


@given(st.data())
@settings(max_examples=85)
def test_rules_on_the_same_attributes(data: st.DataObject) -> None:
    """Few attributes and many rules, so that they overlap."""
    known = [data.draw(attributes(f"x{i}", odd=False)) for i in range(data.draw(st.integers(1, 2)))]
    rules = data.draw(rule_sets(known, data.draw(attributes("y", odd=False))))
    evidence = {a.name: data.draw(distributions(len(a.domain))) for a in rules.inputs}
    event(f"noted: {check_exact(Cascade(rules), evidence, rules.output)}")


@given(st.data())
def test_a_note_on_one_attribute_is_right(data: st.DataObject) -> None:
    """Of rules with one input it is known when they are exact: if not, some input shows it."""
    known = [data.draw(attributes("x", odd=False))]
    rules = data.draw(rule_sets(known, data.draw(attributes("y", odd=False))))
    n = len(known[0].domain)
    assume(n <= 5)
    places = chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1))
    sets = np.array([[float(i in chosen) for i in range(n)] for chosen in places])
    found = rules.infer({"x": sets}).degrees.tolist()
    cascade = Cascade(rules)
    exact = [projection(cascade, {"x": pi}, rules.output) for pi in sets]
    noted = bool(list(upper_bounds([rules.unit], cascade.rule_number)))
    event(f"noted: {noted}")
    assert noted == (found != exact)


CURE = "; infer(evidence, exact=True) gives the exact ones"


def bound(name: str) -> str:
    return (
        f"the degrees of {name}, and those inferred from them, may exceed the exact ones (they are "
        "upper bounds), as"
    )


def notes(*sets: RuleSet) -> list[str]:
    found = Cascade(*sets).check().findings
    messages = [f.message for f in found if f.kind == "upper bound"]
    assert all(message.endswith(CURE) for message in messages)
    return [message.removesuffix(CURE) for message in messages]


def test_overlapping_premises_of_one_set() -> None:
    rules = RuleSet([Iff(A.isin({0, 1})).then(B.isin({0})), Iff(A.isin({1, 2})).then(B.isin({0}))])
    assert notes(rules) == [
        f"{bound('b')} rules 1 and 2 use 'a' along several paths, as if it were several"
    ]
    sees = {"a": [1.0, 0.0, 1.0]}
    assert rules.infer(sees)[0] == 1.0
    assert projection(Cascade(rules), sees, B) == [0.0, 0.0]
    exact = posterior(rules, sees, {}, ["b"])
    assert exact.exact
    assert exact.joint["b"].degrees.tolist() == [0.0, 0.0]


def test_one_premise_that_names_an_attribute_twice() -> None:
    [note] = notes(RuleSet([Iff(A.isin({0, 1}), A.isin({1, 2})).then(B.isin({0}))]))
    assert "rule 1 uses 'a' along several paths" in note


def test_nested_premises_are_exact_whatever_the_parameters() -> None:
    nested = [If(A.isin(range(k))).then(B.isin({0}), s=0.1 * k, r=0.3 / k) for k in (1, 2)]
    assert notes(RuleSet(nested)) == []


def test_paths_along_several_sets() -> None:
    found = notes(
        RuleSet([Iff(A.isin({0})).then(B.isin({0}))]),
        RuleSet([Iff(A.isin({1})).then(C.isin({0}))]),
        RuleSet([If(B.isin({0})).then(D.isin({0})), If(C.isin({0})).then(D.isin({0}))]),
    )
    assert found == [
        f"{bound('d')} 'a' leads to it along several paths, a -> b -> d and a -> c -> d"
    ]


def test_paths_that_nested_subsets_meet_on_are_exact() -> None:
    """A premise and its negation: each value rests on subsets of a and of b that are nested."""
    rules = parse(
        "attribute a in {0, 1} attribute b in {0, 1} attribute c in {low, high}"
        " if a in {1} or b in {1} then c in {high} if not (a in {1} or b in {1}) then c in {low}"
    )
    assert list(upper_bounds([s.unit for s in rules.order], rules.rule_number)) == []


X, Y, Z = (Attribute(name, range(4)) for name in "xyz")


@pytest.mark.parametrize(
    "cascade",
    [
        addition(1),
        addition(4),
        Cascade(joint("pair", X, Y)),
        function("total", [X, Y], lambda x, y: x + y),
        function("total", [X, Y, Z], "x + y + z"),
        sum_of("total", [X, Y, Z]),
        parity_of("odd", [X.isin({1}), Y.isin({2, 3}), Z.isin({0})]),
        max_of("most", [X, Y, Z]),
    ],
)
def test_pairing_and_function_rules_are_exact(cascade: Cascade) -> None:
    assert list(upper_bounds([s.unit for s in cascade.order], cascade.rule_number)) == []


def test_sudoku_uses_cells_along_several_paths() -> None:
    rules = sudoku(4)
    [(name, reason)] = upper_bounds([s.unit for s in rules.order], rules.rule_number)
    assert name == "c"
    assert "'a_4_4' leads to it along several paths, a_4_4 -> b_" in reason
    assert "(and 15 more attributes do)" in reason


def test_what_is_too_large_is_not_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinesy.exact.exactness.LOOK_LIMIT", 3)
    rules = Cascade(RuleSet([Iff(A.isin({i})).then(B.isin({0})) for i in range(3)]))
    [(_name, reason)] = upper_bounds([s.unit for s in rules.order], rules.rule_number)
    assert "too many cells and rules" in reason
