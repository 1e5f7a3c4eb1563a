"""The page's JavaScript gives what Python gives, bit for bit, in a real browser."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from explanations.small_functions import functions, questions
from inverse.conditioning_problems import trees
from pinesy import Attribute, Cascade, If, Possibility, RuleSet, explain, parse
from pinesy.exchange.page import bundle
from pinesy.exchange.page_data import rules_data
from pinesy.explanations import input_margins, is_coherent, margin
from pinesy.explanations.decision import Decision
from pinesy.explanations.explain import Explanation
from pinesy.explanations.justification import ExplanationNode, Triplet, TripletProposition
from pinesy.explanations.restraints import restraints_on
from pinesy.rules.numbers import Scale
from strategies import cascades, shaped_cascades

#: What a test asks of the page, as plain data.
ANSWERS = """
const named = (list) => list.map((one) => ({ ...one, attribute: one.attribute.name }));
const plainTriplet = ({ attribute, reduced, unexpected, part, ...rest }) =>
  ({ ...rest, reduced: named(reduced.map(part)), unexpected: named(unexpected.map(part)) });
const plainParameter = ({ rule, by, degree }) => ({ rule, by, degree });
const ofValue = (state, attribute, place) => {
  const { triplets, parameters } = justification(state, attribute, place);
  const held = whyNot(state, attribute, place);
  const behind = decidingValues(state, attribute, place);
  return {
    triplets: triplets.map(plainTriplet),
    parameters: parameters.map(plainParameter),
    restraints: named(held.restraints).map((r) => ({ ...r, reasons: named(r.reasons) })),
    bottlenecks: named(held.bottlenecks),
    cut: held.cut,
    deciding: behind.map((one) => [one.attribute.name, one.place]),
  };
};
globalThis.answers = (data, inputs) => {
  const rules = readRules(data);
  const other = inputs.map((pi, i) => (i % 2 ? pi : pi.map(() => 1)));
  const state = infer(rules, inputs, { before: infer(rules, other) });
  return rules.sets.map(({ output }) => ({
    name: output.name,
    degrees: Array.from(state.degrees[output.number]),
    necessities: necessitiesOf(state.degrees[output.number]),
    height: state.heights[output.number],
    margin: margin(state, output),
    alone: inputMargins(state, output).map(({ input, distance }) => [input.name, distance]),
    values: output.values.map((_, place) => ofValue(state, output, place)),
  }));
};
globalThis.degreesOfNumber = (...given) => Array.from(degreesOfNumber(...given));
"""


@pytest.fixture
def engine(tab: Page) -> Page:
    """A page with the page's engine, and nothing else."""
    tab.set_content("<!doctype html>")
    tab.add_script_tag(content=bundle("why.js") + ANSWERS, type="module")
    tab.wait_for_function("'degreesOfNumber' in globalThis")  # modules run after they are there
    return tab


def part_data(part: TripletProposition, triplet: Triplet) -> dict[str, Any]:
    attribute = part.proposition.attribute
    places = {p: i for i, p in enumerate(triplet._table.propositions)}
    return {
        "number": part.number,
        "proposition": places[part.proposition],
        "attribute": attribute.name,
        "degree": part.degree,
        "decides": part.decides,
        "values": [attribute.position(v) for v in part.values],
        "reduced": [attribute.position(v) for v in part.reduced.values],
    }


def triplet_data(triplet: Triplet) -> dict[str, Any]:
    return {
        "rule": triplet.index + 1,
        "by": triplet.semantics,
        "degree": triplet.possibility,
        "holds": triplet.holds,
        "reduced": [part_data(part, triplet) for part in triplet.reduced],
        "unexpected": [part_data(part, triplet) for part in triplet.unexpected],
    }


def value_data(cascade: Cascade, evidence: Any, node: ExplanationNode) -> dict[str, Any]:
    """What Python says of one value, in the form that the page's functions have."""
    assert node.justification is not None
    found = {
        "triplets": [triplet_data(t) for t in node.justification.triplets],
        "parameters": [
            {"rule": p.index + 1, "by": p.name, "degree": p.degree}
            for p in node.justification.parameters
        ],
    }
    restraints, cut = restraints_on(Decision.of(cascade, evidence, node.attribute), node.index)
    reasons = dict.fromkeys(reason for r in restraints for reason in r.reasons)
    return found | {
        "restraints": [
            place_data(r)
            | {
                "rule": [x is r.rule for x in cascade.sets[r.attribute.name].rules].index(True) + 1,
                "by": r.by,
                "reasons": [place_data(x) for x in r.reasons],
            }
            for r in restraints
        ],
        "bottlenecks": [place_data(r) for r in reasons if r.attribute in cascade.inputs],
        "cut": cut,
        "deciding": sorted([n.attribute.name, n.index] for n in nodes_behind(node)),
    }


def nodes_behind(node: ExplanationNode) -> list[ExplanationNode]:
    """Return a node and those that it rests on, level by level, each once."""
    found = {node: None}
    waiting = [node]
    for one in waiting:
        new = [child for child in one.children if child not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return waiting


def place_data(held: Any) -> dict[str, Any]:
    name, place = held.attribute.name, held.attribute.position(held.value)
    return {"attribute": name, "place": place, "degree": held.degree}


def expected_margins(cascade: Cascade, evidence: Any, output: Attribute) -> dict[str, Any]:
    """Those of pinesy where each set is coherent; else half of the gap, which is no larger."""
    found, alone = margin(cascade, evidence, output), input_margins(cascade, evidence, output)
    exact = all(is_coherent(one) for one in cascade.needed([output.name]))
    if not exact:
        degrees = np.sort(cascade.infer(evidence, [output])[output.name].degrees)
        half = (degrees[-1] - degrees[-2]) / 2 if len(degrees) > 1 else np.inf
        assert half <= found
        inputs = cascade.compile([output]).inputs
        found, alone = half, {a.name: half for a in inputs}
    pairs = [[*pair] for pair in alone.items()]
    return {"margin": {"distance": found, "exact": exact}, "alone": pairs}


def expected(cascade: Cascade, evidence: Any) -> Iterator[dict[str, Any]]:
    for rule_set in cascade.order:
        output = rule_set.output
        found: Explanation = explain(cascade, evidence, output)
        yield {
            "name": output.name,
            "degrees": found.distribution.degrees.tolist(),
            "necessities": [found.distribution.necessity({v}) for v in output.domain],
            "height": min(found.distribution.degrees.max(), found.graph.result.coherence),
            **expected_margins(cascade, evidence, output),
            "values": [value_data(cascade, evidence, found.node(output, v)) for v in output.domain],
        }


def assert_same(page: Page, cascade: Cascade, evidence: Any) -> None:
    inputs = [evidence[a.name] for a in cascade.inputs]
    known = {a.name: Possibility(a, np.array(evidence[a.name])) for a in cascade.inputs}
    answers = page.evaluate(
        "([data, inputs]) => answers(data, inputs)", [rules_data(cascade), inputs]
    )
    for value in (value for answer in answers for value in answer["values"]):
        value["deciding"].sort()
    for answer, wanted in zip(answers, expected(cascade, known), strict=True):
        assert answer == wanted


@given(questions(cascades() | shaped_cascades() | functions() | trees()))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_cascades(engine: Page, question: Any) -> None:
    cascade, evidence, _ = question
    assert_same(engine, cascade, evidence)


@given(
    st.lists(st.integers(-50, 50), min_size=0, max_size=4, unique=True).map(sorted),
    st.sampled_from([0.0, 0.3, 4.0, 7.7]),
    st.integers(-600, 600).map(lambda n: n / 10),
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers(engine: Page, cuts: list[int], blur: float, number: float) -> None:
    texts = [f"<={cut}" if cut % 2 else cut for cut in cuts]
    scale = Scale.of("a", texts, blur=blur)
    attribute = Attribute.number("a", texts, blur=blur)
    output = Attribute("b", [0, 1])
    rules = Cascade(RuleSet([If(attribute.isin({attribute.domain[0]})).then(output.isin({1}))]))
    described = rules_data(rules)["attributes"][0]["scale"]
    for x in (number, *scale.cuts):
        found = engine.evaluate("([scale, x]) => degreesOfNumber(scale, x)", [described, x])
        assert found == scale.degrees(np.array([x]))[0].tolist()


def test_formulas_and_numbers(engine: Page) -> None:
    cascade = parse("""
        attribute sky in {clear, dark}
        number wind cuts {10, 30}
        attribute sailing in {no, yes}
        if wind >= 30 or not (sky in {clear} and wind < 10) then sailing in {no} [s=0.3, r=0.1]
        if at least 1 of (sky in {clear}, wind < 10) then sailing in {yes} [r=0.25]
    """)
    for sky, wind in (([1.0, 0.4], [0.2, 1.0, 0.7]), ([0.0, 1.0], [1.0, 0.0, 0.0])):
        assert_same(engine, cascade, {"sky": sky, "wind": wind})
