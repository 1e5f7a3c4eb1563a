"""The page's outcomes are those of Python, as codes and in words."""

from itertools import compress
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from playwright.sync_api import Page

from explanations.small_functions import questions
from pinesy import Cascade, Explanation, explain, parse
from pinesy.exchange.page import bundle
from pinesy.exchange.page_data import rules_data
from pinesy.rules.outcomes import rule_numbers_text, verdict_text
from pinesy.samples import value_texts
from strategies import cascades, shaped_cascades

ASKED = """
globalThis.outcomes = (data, inputs) => {
  const state = infer(readRules(data), inputs);
  return state.rules.sets.map(({ output }) => [
    output.name,
    outcomeOf(state.degrees[output.number], state.heights[output.number]),
    verdictText(state, output),
  ]);
};
"""


@pytest.fixture
def page(tab: Page) -> Page:
    """A page with the functions of outcomes, and nothing else."""
    tab.set_content("<!doctype html>")
    tab.add_script_tag(content=bundle("outcomes.js") + ASKED, type="module")
    tab.wait_for_function("'outcomes' in globalThis")
    return tab


def expected(cascade: Cascade, evidence: Any) -> list[list[str]]:
    return [_expected(explain(cascade, evidence, s.output)) for s in cascade.order]


def _expected(explanation: Explanation) -> list[str]:
    """What Python says, with the names that the page has."""
    attribute, pi = explanation.attribute, explanation.distribution
    values = [*compress(value_texts(attribute), pi.is_best)]
    rules = ""
    if explanation.clashes:
        rules = rule_numbers_text(explanation.clashes[0].groups[0])
    verdict = verdict_text(pi.outcome, values, pi.certainty, rules=rules)
    return [attribute.name, explanation.outcome, verdict]


def asked(page: Page, cascade: Cascade, inputs: Any) -> Any:
    return page.evaluate("([d, i]) => outcomes(d, i)", [rules_data(cascade), inputs])


@given(questions(cascades() | shaped_cascades()))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_rules_have_the_same_outcomes(page: Page, question: Any) -> None:
    cascade, evidence, _ = question
    known = {a.name: np.asarray(evidence[a.name], float) for a in cascade.inputs}
    wanted = expected(cascade, known)
    for _, outcome, _ in wanted:
        event(outcome)
    assert asked(page, cascade, [rows.tolist() for rows in known.values()]) == wanted


def test_every_outcome_has_the_words_of_python(page: Page) -> None:
    cascade = parse("""
        attribute a in {0, 1}
        attribute b in 0..7
        attribute c in {0, 1}
        if a in {1} then b in {2, 3, 4, 5, 6, 7}
        if a in {0} then b in {1} [certainty=0.3125]
        if b in {1} then c in {1}
        if a in {0} and b in {1} then c in {0} [certainty=0.5]
        if a in {0} then c in {0}
        if b in {2} then c in {1}
    """)
    seen: dict[str, str] = {}
    for degrees in ([1, 0], [0, 1], [1, 1], [1, 0.5], [0.9999, 1]):
        wanted = expected(cascade, {"a": degrees})
        assert asked(page, cascade, [degrees]) == wanted
        seen |= {outcome: verdict for _, outcome, verdict in wanted}
    assert set(seen) >= {"decided", "several", "no_rule"}


def test_clashing_rules_are_named_wherever_they_are(page: Page) -> None:
    cascade = parse("""
        attribute a in {0, 1}
        attribute b in {0, 1, 2}
        attribute c in {0, 1}
        if a in {1} then b in {0, 1}
        if a in {1} then b in {1, 2}
        if a in {1} then b in {0, 2}
        if b in {0} then c in {0}
    """)
    wanted = expected(cascade, {"a": [0, 1]})
    assert [verdict for *_, verdict in wanted] == [
        "contradiction: rules 1, 2 and 3",
        "contradiction: rules 1, 2 and 3",
    ]
    assert asked(page, cascade, [[0, 1]]) == wanted
