"""Justification, reduction and unexpectedness against their definitions, on random cascades."""

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import strategies as make
from explanations import explaining_oracle as oracle
from explanations.small_rule_sets import ADDITION, SAMPLE, every_sample, small_rule_sets
from pinesy import Attribute, Cascade, Iff, RuleSet, parse
from pinesy.explanations import Explanation, ExplanationNode, TripletProposition, explain
from pinesy.explanations import sample as sample_module
from pinesy.explanations.sample import Sample, plan_for

ETAS = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 0.01]


def decimals(case: make.Case) -> oracles.Known:
    domains = {a.name: a.domain for a in case.cascade.inputs}
    return {
        name: dict(zip(domains[name], map(oracles.decimal, pi), strict=True))
        for name, pi in case.evidence.items()
    }


def in_decimals(cascade: Cascade, known: oracles.Known) -> dict[str, oracles.Distribution]:
    """Infer in decimals, with decimal parameters."""
    found = dict(known)
    for rule_set in oracles.in_order(cascade.rule_sets, known):
        pairs = [(oracles.decimal(r.s), oracles.decimal(r.r)) for r in rule_set.rules]
        found[rule_set.output.name] = oracles.infer_rules(rule_set.rules, found, pairs)
    return found


class Decimal:
    """A rule with parameters as the decimals that they were written as."""

    def __init__(self, rule: Any) -> None:
        self.premise, self.conclusion = rule.premise, rule.conclusion
        self.s, self.r = oracles.decimal(rule.s), oracles.decimal(rule.r)


def near(found: float, exact: Fraction) -> bool:
    """Certainties are differences of floats: equal to the last digit or two."""
    return abs(found - float(exact)) < 1e-15


def check_node(node: ExplanationNode, rules: RuleSet, known: oracles.Known, eta: float) -> None:
    tau = known[node.attribute.name][node.value]
    assert node.possibility == float(tau)
    justification = node.justification
    assert justification is not None
    decimal_rules: Any = [Decimal(rule) for rule in rules.rules]
    expected = oracle.justify(decimal_rules, known, node.value, tau)
    found = {(t.index + 1, t.semantics) for t in justification.triplets}
    assert found == {(number, semantics) for number, semantics, _ in expected.triplets}
    assert {(p.index + 1, p.name) for p in justification.parameters} == expected.parameters
    assert bool(expected.parameters) == justification.by_parameters
    for triplet in justification.triplets:
        exact = tau if triplet.semantics == "P" else 1 - tau
        assert near(triplet.degree, exact)
        kept, unexpected = oracle.reduce_premise(
            triplet.premise, known, triplet.semantics, oracles.decimal(eta)
        )
        assert triplet.holds == (not unexpected and exact >= oracles.decimal(eta))
        for parts, wanted in ((triplet.reduced, kept), (triplet.unexpected, unexpected)):
            shown = {(p.number, frozenset(p.reduced.values)) for p in parts}
            assert shown == {(place, values) for place, values, _ in wanted}
            degrees = {place: d for place, _, d in wanted}
            assert all(near(p.degree, degrees[p.number]) for p in parts)


def check_parts(node: ExplanationNode, known: oracles.Known) -> None:
    """What a node rests on has its very degree, and lies on the right side."""
    for triplet in node.justification.triplets if node.justification else ():
        deciding = [p for p in triplet.reduced if p.decides]
        assert deciding == list(triplet.first_propositions(triplet.n_deciding)[0])
        for part in deciding:
            pi = known[part.proposition.attribute.name]
            for value in part.values:
                assert pi[value] == oracles.decimal(node.possibility)
                assert (value in part.proposition.values) == (triplet.semantics == "P")
            assert [n.value for n in node.children_of(part)] == list(part.values)


@given(make.cases(), st.sampled_from(ETAS), st.data())
def test_every_node_against_the_definition(
    case: make.Case, eta: float, data: st.DataObject
) -> None:
    known = in_decimals(case.cascade, decimals(case))
    rule_set = data.draw(st.sampled_from(case.cascade.rule_sets))
    found = explain(case.cascade, case.evidence, rule_set.output, eta=eta)
    for node, _ in found.walk():
        if node.is_perceived:
            assert node.distribution.to_dict() == {
                v: float(d) for v, d in known[node.attribute.name].items()
            }
        else:
            check_node(node, case.cascade[node.attribute], known, eta)
            check_parts(node, known)


@given(make.cases(), st.data())
def test_arrays_and_programs_infer_the_same(case: make.Case, data: st.DataObject) -> None:
    """A single rule set is inferred from its arrays, a very large one by a program."""
    rule_set = data.draw(st.sampled_from(case.cascade.rule_sets))
    cascade = Cascade(rule_set)
    rows = {a.name: case.evidence.get(a.name, [1.0] * len(a.domain)) for a in cascade.inputs}
    plan = plan_for(cascade, rule_set.output)
    by_arrays = Sample(plan, plan.row(rows))
    with patch.object(sample_module, "MAX_BOUNDS", 0):
        by_program = Sample(plan, plan.row(rows))
    inferred = cascade.infer(rows)[rule_set.output]
    name = rule_set.output.name
    for sample in (by_arrays, by_program):
        assert sample.result.degrees.tobytes() == inferred.degrees.tobytes()
        assert min(sample.result.coherence, sample.result.degrees.max()) == min(
            inferred.coherence, inferred.degrees.max()
        )
        assert not sample.result.degrees.flags.writeable
    assert by_arrays.measures[name].tobytes() == by_program.measures[name].tobytes()


def check_clashes(cascade: Cascade, found: Explanation, known: Mapping[str, Any]) -> None:
    """Clashes are told where they begin, and each value has the rules that bound it."""
    assert found.clashes
    for clash in found.clashes:
        pi, rule_set = known[clash.attribute.name], cascade[clash.attribute]
        assert all(max(known[a.name].values()) == 1 for a in rule_set.inputs)
        assert near(clash.contradiction, 1 - max(pi.values()))
        assert clash.contradiction > 0.0
        bounded = {v: b for b in clash.bounds for v in b.values}
        assert {v: b.degree for v, b in bounded.items()} == {v: float(d) for v, d in pi.items()}
        for group in clash.groups:
            alone = RuleSet([clash.rules[number] for number in group])
            sees = {a.name: [float(d) for d in known[a.name].values()] for a in alone.inputs}
            assert not alone.infer(sees).normalised


@given(make.cases(), st.data())
def test_measures_of_a_proposition(case: make.Case, data: st.DataObject) -> None:
    known = in_decimals(case.cascade, decimals(case))
    output = data.draw(st.sampled_from(case.cascade.rule_sets)).output
    asked = data.draw(make.propositions(output, empty=False))
    found = explain(case.cascade, case.evidence, asked)
    pi = known[output.name]
    assert found.possibility == float(oracles.possibility(pi, asked.values))
    if found.normalised:
        assert near(found.certainty, oracles.necessity(pi, asked.values))
        assert found.clashes == ()
    else:
        assert math.isnan(found.certainty)
        check_clashes(case.cascade, found, known)
    assert {n.value for n in found.values} == {
        v for v in asked.values if pi[v] == oracles.possibility(pi, asked.values)
    }
    rest = [v for v in output.domain if v not in asked.values]
    assert {n.value for n in found.rivals} == {
        v for v in rest if pi[v] == oracles.possibility(pi, rest)
    }
    trace = case.cascade.trace(case.evidence)[output.name]
    assert found.distribution.to_dict() == trace.to_dict()
    assert (found.outcome, found.normalised) == (trace.outcome, trace.normalised)


# --- sufficiency -------------------------------------------------------------------------------


@given(small_rule_sets(), st.data())
def test_each_triplet_suffices(rules: RuleSet, data: st.DataObject) -> None:
    """With the degree of its premise held, nothing raises the value above its degree."""
    samples = every_sample(rules)
    trace = Cascade(rules).trace(samples)
    row = data.draw(st.integers(0, len(samples) - 1))
    premises, outputs = trace.premises["c"], trace["c"].degrees
    for u, value in enumerate(rules.output.domain):
        [node] = explain(rules, samples[row], rules.output.isin({value})).values
        assert node.justification is not None
        for triplet in node.justification.triplets:
            side = premises.lambdas if triplet.semantics == "P" else premises.rhos
            held = side[:, triplet.index] == triplet.possibility
            assert held[row]
            assert outputs[held, u].max() == node.possibility
        for parameter in node.justification.parameters:
            limit = max(parameter.degree, float(outputs[row, u]))
            assert limit == node.possibility


@given(make.batches(sizes=[300]), st.data())
def test_each_triplet_of_a_cascade_suffices(case: make.BatchCase, data: st.DataObject) -> None:
    """Of 300 samples, those that agree in the premise's degree have no more of the value."""
    trace = case.cascade.trace(case.evidence)
    rule_set = data.draw(st.sampled_from(case.cascade.rule_sets))
    row = data.draw(st.integers(0, case.n - 1))
    premises, outputs = trace.premises[rule_set.output.name], trace[rule_set.output.name].degrees
    for u, value in enumerate(rule_set.output.domain):
        [node] = explain(case.cascade, case.row(row), rule_set.output.isin({value})).values
        for triplet in node.justification.triplets if node.justification else ():
            side = premises.lambdas if triplet.semantics == "P" else premises.rhos
            held = side[:, triplet.index] == triplet.possibility
            assert held[row]
            assert outputs[held, u].max() == outputs[row, u] == node.possibility


def test_a_degree_between_premises_is_not_a_reason() -> None:
    """The test above can fail: another rule's premise, held, does not keep the value down."""
    a, c = Attribute("a", (0, 1)), Attribute("c", (0, 1))
    rules = RuleSet([Iff(a.isin({0})).then(c.isin({0})), Iff(a.isin({0, 1})).then(c.isin({0}))])
    [node] = explain(rules, {"a": [0.3, 1.0]}, c.isin({0})).values
    assert node.justification is not None
    assert [t.number for t in node.justification.triplets] == [1]


def test_a_parameter_that_a_premise_outdoes_sets_nothing() -> None:
    """Both parameters equal the degree, but the second rule's premise leaves its bound at 1."""
    a, c = Attribute("a", (0, 1)), Attribute("c", (0, 1))
    rules = RuleSet(
        [Iff(a.isin({0})).then(c.isin({0}), s=0.5), Iff(a.isin({1})).then(c.isin({0}), s=0.5)]
    )
    [node] = explain(rules, {"a": {1: 1.0}}, c.isin({0})).values
    assert node.justification is not None
    assert (node.possibility, node.justification.by_parameters) == (0.5, True)
    assert [(p.number, p.name) for p in node.justification.parameters] == [(1, "s")]


def test_decimal_thresholds_do_not_flip() -> None:
    """``1 - rho`` is rounded, yet counts as reaching eta if it does in decimals."""
    a, c = Attribute("a", (0, 1)), Attribute("c", (0, 1))
    rules = RuleSet([Iff(a.isin({0})).then(c.isin({0}))])
    for i in range(1, 100):
        evidence, other = {"a": {0: 1.0, 1: i / 100}}, c.isin({1})
        for eta, reached in (((100 - i) / 100, True), (min(1.0, (101 - i) / 100), i == 0)):
            [node] = explain(rules, evidence, other, eta=eta).values
            [triplet] = node.justification.triplets if node.justification else ()
            assert (triplet.semantics, triplet.holds) == ("C", reached)


# --- the tree ----------------------------------------------------------------------------------


def test_the_tree_goes_down_to_the_inputs() -> None:
    found = explain(ADDITION, SAMPLE, "y_1")
    names = {node.attribute.name for node, _ in found.walk()}
    assert names == {"y_1", "c_1", "w_2", "c_2", "a_1", "a_2", "a_3", "a_4"}
    [best] = found.values
    [rival] = found.rivals
    assert (best.value, rival.value, rival.possibility) == (8, 7, 0.8)
    path = [rival]
    while path[-1].children:
        path.append(path[-1].children[0])
    assert [(n.attribute.name, n.value, n.possibility) for n in path] == [
        ("y_1", 7, 0.8),
        ("c_1", (3, 4, 0), 0.8),
        ("w_2", 0, 0.8),
        ("c_2", (5, 1), 0.8),
        ("a_4", 1, 0.8),
    ]


def test_nodes_are_shared() -> None:
    found = explain(ADDITION, SAMPLE, "y_1")
    keys = [(node.attribute.name, node.value) for node, _ in found.walk()]
    assert len(set(keys)) == len(keys)
    assert found.node("w_2", 1) is found.node(ADDITION.attributes["w_2"], 1)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth(depth: int) -> None:
    levels = [level for _, level in explain(ADDITION, SAMPLE, "y_1", depth=depth).walk()]
    assert max(levels) == depth


def test_an_enormous_tree_is_not_built() -> None:
    """Sixty levels with two values each at the top: 2^60 paths, 120 nodes."""
    chain = [Attribute(f"a_{i}", (0, 1)) for i in range(61)]
    rules = [
        RuleSet([Iff(a.isin({0})).then(b.isin({0})), Iff(a.isin({1})).then(b.isin({1}))])
        for a, b in itertools.pairwise(chain)
    ]
    found = explain(Cascade(*rules), {"a_0": [1.0, 1.0]})
    assert len(list(found.walk())) == 122
    assert found.outcome == "no_rule"
    assert found.text(depth=60).count("\n") < 500


@given(make.cases())
def test_forms_of_evidence_agree(case: make.Case) -> None:
    whole = np.concatenate([case.evidence[a.name] for a in case.cascade.compile().inputs])
    for output in case.cascade.outputs:
        one, two = (explain(case.cascade, e, output) for e in (case.evidence, whole))
        assert one.to_dict() == two.to_dict()
        assert str(one) == str(two)


def test_degrees_of_numbers_behind_a_result_are_no_measurements() -> None:
    rules = parse(
        "number x cuts {10}\nattribute s in {yes, no}\n"
        "attribute a in {0, 1}\nattribute b in {0, 1}\nattribute c in {0, 1}\n"
        "iff x >= 10 then a in {1} [s=0.2, r=0.1]\n"
        "iff s in {yes} and a in {1} then b in {1} [s=0.1, r=0.3]\n"
        "iff b in {1} then c in {1} [s=0, r=0]"
    )
    evidence = {"x": 12, "s": {"yes": 1.0, "no": 0.4}}
    inferred, plan = rules.infer(evidence, ["a", "b", "c"]), plan_for(rules, rules.attributes["c"])
    for name in ("a", "b", "c"):  # b is computed with all that is behind c
        degrees = Sample(plan, plan.row(evidence)).degrees[name]
        np.testing.assert_array_equal(degrees, inferred[name].degrees)


def test_evidence_may_change_after_it_was_explained() -> None:
    row = np.concatenate([make.random_batch(np.random.default_rng(0), 1, 10)[0] for _ in range(4)])
    expected = explain(ADDITION, row, "y_1").to_dict()
    late = explain(ADDITION, row, "y_1")
    row[:] = 1.0
    assert late.to_dict() == expected


def test_explanations_are_lazy() -> None:
    found: Explanation = explain(ADDITION, SAMPLE, "y_0")
    assert "justification" not in vars(found.values[0])
    assert isinstance(found.values[0].children[0], ExplanationNode)
    [triplet] = found.rivals[0].justification.triplets if found.rivals[0].justification else ()
    assert isinstance(triplet.reduced[0], TripletProposition)
