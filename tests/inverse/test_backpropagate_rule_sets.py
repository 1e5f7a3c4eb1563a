"""Backpropagation of one rule set against all inputs there are."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from inverse import backpropagation_oracle as oracle
from pinesy import Attribute, Iff, RuleSet
from pinesy.inverse import Backpropagation, backpropagate, premise_equations
from strategies import Draw, distributions, propositions

#: Few degrees, so that everything can be tried.
FEW = st.sampled_from([0.0, 0.0, 0.0, 0.3, 0.6, 1.0])
A, B = Attribute("a", (0, 1)), Attribute("b", ["x", "y", "z"])


@st.composite
def small_sets(draw: Draw, conjunctions: bool) -> RuleSet:
    """Rules from two small attributes to a third."""
    output = Attribute("out", range(draw(st.integers(1, 3))))
    rules = []
    for _ in range(draw(st.integers(1, 4))):
        parts = draw(st.lists(st.sampled_from([A, B]), min_size=1, max_size=3))
        premise = [draw(propositions(a)) for a in (parts if conjunctions else parts[:1])]
        conclusion = draw(propositions(output, empty=False))
        rules.append(Iff(*premise).then(conclusion, draw(FEW), draw(FEW)))
    return RuleSet(rules)


@st.composite
def few_degrees(draw: Draw, size: int) -> list[float]:
    pi = draw(st.lists(FEW, min_size=size, max_size=size))
    pi[draw(st.integers(0, size - 1))] = 1.0
    return pi


@st.composite
def problems(draw: Draw, conjunctions: bool) -> tuple[RuleSet, Any]:
    """A rule set with a target: any, or one that some inputs give."""
    rules = draw(small_sets(conjunctions))
    if draw(st.booleans()):
        given_ = {a.name: draw(few_degrees(len(a.domain))) for a in rules.inputs}
        inferred = rules.infer(given_)
        if inferred.normalised:
            return rules, inferred
    return rules, draw(few_degrees(len(rules.output.domain)))


def target_of(found: Backpropagation) -> oracle.Pi:
    return oracle.fractions(found.targets["out"])


def inputs_of(found: Backpropagation) -> dict[str, oracle.Pi]:
    return {name: oracle.fractions(pi) for name, pi in found.inputs.items()}


@given(small_sets(True), st.data())
def test_premise_systems_are_the_definition(rules: RuleSet, data: st.DataObject) -> None:
    target = data.draw(distributions(len(rules.output.domain)))
    system = premise_equations(rules, target)
    pi = dict(zip(rules.output.domain, map(Fraction, target), strict=True))
    expected = oracle.premises(rules, pi)
    assert system.target.tolist() == expected.target
    assert system.lowest_solution.tolist() == expected.down
    assert system.greatest_solution.tolist() == expected.up
    assert system.reached.tolist() == expected.reached
    assert system.is_consistent == (expected.reached == expected.target)
    assert (system.distance == 0.0) == system.is_consistent
    assert np.array_equal(system.matrix, rules.relation.matrix)
    assert system.symbolic == rules.relation.symbolic


@given(problems(conjunctions=False))
def test_single_propositions_give_the_greatest_solution(problem: tuple[RuleSet, Any]) -> None:
    """And the inputs below it that give the target are all the solutions there are."""
    rules, target = problem
    found = backpropagate(rules, None, target)
    expected = oracle.solutions(rules, target_of(found))
    inputs = inputs_of(found)
    every = oracle.solutions(rules, target_of(found), within=False)
    assert found.solved == bool(every)
    assert not found.solved or inputs in every
    system = oracle.premises(rules, target_of(found))
    used = oracle.spread(system, system.reached)
    assert oracle.fractions(found.repaired["out"]) == used
    assert found.reproduced == (bool(every) and system.reached == system.target)
    for name in inputs if expected else ():
        top = {v: max(one[name][v] for one in expected) for v in inputs[name]}
        assert inputs[name] == top
    if expected:
        below = [
            known
            for known in oracle.inputs_on(system.grid, rules.inputs)
            if all(known[n][v] <= inputs[n][v] for n in known for v in known[n])
            and oracles.infer_rules(rules.rules, known) == used
        ]
        assert below == expected


@given(problems(conjunctions=True))
def test_choices_find_a_solution_if_there_is_one(problem: tuple[RuleSet, Any]) -> None:
    """Within the bounds or not."""
    rules, target = problem
    found = backpropagate(rules, None, target, limit=10_000)
    every = oracle.solutions(rules, target_of(found), within=False)
    assert not found.exhausted
    assert found.solved == bool(every)
    assert not found.solved or inputs_of(found) in every


@given(problems(conjunctions=True), st.data())
def test_what_inputs_give_is_reproduced(problem: tuple[RuleSet, Any], data: st.DataObject) -> None:
    """In a batch, with actual inputs and without."""
    rules = problem[0]
    x = {a.name: [data.draw(few_degrees(len(a.domain))) for _ in "ab"] for a in rules.inputs}
    degrees = rules.infer({n: np.array(rows) for n, rows in x.items()}).degrees
    if degrees.max(axis=1).min() < 1.0:
        return
    other = {n: np.array(rows[::-1]) for n, rows in x.items()}
    for actual in (None, other):
        assert backpropagate(rules, actual, degrees).reproduced.all()


@given(problems(conjunctions=True), st.booleans(), st.data())
def test_most_specific_solutions_are_minimal(
    problem: tuple[RuleSet, Any], with_inputs: bool, data: st.DataObject
) -> None:
    rules, target = problem
    s, r = (np.minimum(z, 0.6) for z in (rules.s, rules.r))
    rules = rules.with_parameters(s, r)
    actual = {a.name: data.draw(few_degrees(len(a.domain))) for a in rules.inputs}
    found = backpropagate(rules, actual if with_inputs else None, target)
    if not found.solved:
        return
    lowest = {name: oracle.fractions(pi) for name, pi in found.most_specific().items()}
    every = oracle.solutions(rules, target_of(found), within=False)
    assert lowest in every
    below = [x for x in every if all(x[n][v] <= lowest[n][v] for n in x for v in x[n])]
    assert below == [lowest]


@given(problems(conjunctions=False), st.data())
def test_matching_inputs_are_the_solutions(
    problem: tuple[RuleSet, Any], data: st.DataObject
) -> None:
    rules, target = problem
    actual = {a.name: data.draw(few_degrees(len(a.domain))) for a in rules.inputs}
    found = backpropagate(rules, actual, target)
    system = oracle.premises(rules, target_of(found))
    known = {
        a.name: dict(zip(a.domain, map(Fraction, actual[a.name]), strict=True))
        for a in rules.inputs
    }
    degrees = [oracles.premise_degrees(rule.premise, known) for rule in rules.rules]
    x = [d for pair in degrees for d in pair]
    within = all(lo <= d <= up for lo, d, up in zip(system.down, x, system.bounds, strict=True))
    given_ = oracles.infer_rules(rules.rules, known)
    if oracle.solutions(rules, target_of(found)):
        assert found.matches == (within and system.reached == system.target)
    else:
        below = all(known[n][v] <= pi[v] for n, pi in inputs_of(found).items() for v in pi)
        same = all(
            oracles.possibility(given_, cell) == y
            for cell, y in zip(system.cells, system.target, strict=True)
        )
        assert found.matches == (below and same)
    gaps = [
        abs(oracles.possibility(given_, cell) - y)
        for cell, y in zip(system.cells, system.target, strict=True)
    ]
    assert found.output_distance == pytest.approx(float(max(gaps)), abs=1e-15)
    for name, pi in inputs_of(found).items():
        gap = [known[name][v] - pi[v] for v in pi]
        assert found.input_distance[name] == pytest.approx(float(max(map(abs, gap))), abs=1e-15)
        assert found.input_excess[name] == pytest.approx(float(max([Fraction(0), *gap])), abs=1e-15)


def test_inputs_are_often_found() -> None:
    """The properties above are not about nothing."""
    rng = np.random.default_rng(0)
    solved = 0
    rules = RuleSet(
        [Iff(A.isin([0]), B.isin(["x", "y"])).then(Attribute("out", (0, 1)).isin([0]), 0.3, 0.1)]
    )
    for _ in range(50):
        pi = rng.choice([0.3, 0.6, 1.0], 2)
        pi[rng.integers(2)] = 1.0
        solved += backpropagate(rules, None, pi).solved
    assert solved == 50
