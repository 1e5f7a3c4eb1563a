"""The page's verdicts have Python's texts, in a real browser."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from playwright.sync_api import Page

from browser import SAILING
from explanations.small_functions import functions, questions
from loans import LOAN
from pinesy import Attribute, Cascade, Possibility, antipignistic, load, parity_of, parse
from pinesy.exchange.page import bundle
from pinesy.exchange.page_data import input_content, rules_data
from pinesy.problems import addition, sudoku
from pinesy.rules.outcomes import plain_text
from pinesy.samples import value_texts
from pinesy.studio.reason_chain import reason_chain
from pinesy.verdicts import Verdict, verdict
from strategies import cascades, shaped_cascades

ASKED = """
globalThis.verdicts = (data, settings, place) => {
  const rules = readRules(data);
  rules.card = data.card ? readCard(data.card, rules.attributes) : null;
  const degrees = rules.inputs.map((input, i) => degreesOf(input, settings[i]));
  return rules.questions.map(({ attribute }) => {
    const asked = place < attribute.values.length ? place : null;
    const { state, ...content } = answerTo(rules, settings, degrees, attribute.name, asked);
    return content;
  });
};
"""
BLURRED_LOAN = (
    LOAN.replace("number debt_ratio", "number age\nnumber debt_ratio [blur=0.02]")
    + "if age <= 21 then decision != approve\n"
)
APPLICANTS: list[dict[str, Any]] = [
    {"debt_ratio": 0.639, "history": "bad", "job": "employed", "age": 40},
    {"debt_ratio": 0.2, "history": "good", "job": "employed", "age": 40},
    {"debt_ratio": 0.29, "history": "good", "job": "employed", "age": 22.5},
    {"debt_ratio": 0.4, "history": "mixed", "job": "unemployed", "age": None},
    {"debt_ratio": 0.1, "history": "good", "job": "employed", "age": 19},
    {"debt_ratio": None, "history": None, "job": None, "age": None},
    {"debt_ratio": 0.6, "history": {"bad": 1.0, "mixed": 0.4}, "job": "employed", "age": 50},
]
DAYS: list[dict[str, Any]] = [
    {"sky": "dark", "wind": 12},
    {"sky": "clear", "wind": 27.5},
    {"sky": {"clear": 1.0, "cloudy": 0.5}, "wind": 31.5},
    {"sky": "clear", "wind": None},
    {"sky": {"clear": 1.0, "dark": 0.3}, "wind": "<10"},
]


@pytest.fixture
def page(tab: Page) -> Page:
    """A page with the functions of verdicts, and nothing else."""
    tab.set_content("<!doctype html>")
    script = bundle("page.js").replace(
        "globalThis.page = new Page", "const unused = () => new Page"
    )
    tab.add_script_tag(content=script + ASKED, type="module")
    tab.wait_for_function("'verdicts' in globalThis")
    return tab


def as_possibility(attribute: Any, content: Any) -> Any:
    if isinstance(content, dict):
        return Possibility(attribute, np.array([content.get(v, 0.0) for v in attribute.domain]))
    return float(content) if isinstance(content, int) and attribute.scale else content


def wanted(found: Verdict, index: int | None) -> dict[str, Any]:
    """What the studio would say."""
    content = found.to_dict()
    keys = ("answer", "because", "what_would_change_it", "how_firm", "outcome", "certainty")
    said = {key: content[key] for key in keys}
    exclusion = None
    if index is not None and index < len(found.attribute.domain):
        value = found.attribute.domain[index]
        exclusion = None if (value,) == found.values else found.why_not(value)
    return said | {
        "text": found.text(),
        "degrees": found.distribution.degrees.tolist(),
        "deciding": list(found.deciding_inputs),
        "chain": reason_chain(found if exclusion is None else exclusion),
        "whyNot": None
        if exclusion is None
        else (exclusion.because, exclusion.what_would_change_it),
    }


def said(content: dict[str, Any]) -> dict[str, Any]:
    """What the page says, in the same form."""
    why_not = content["whyNot"]
    keys = ("text", "degrees", "deciding", "chain")
    told = {key: content["verdict"][key] for key in (
        "answer", "because", "what_would_change_it", "how_firm", "outcome", "certainty"
    )}  # fmt: skip
    return (
        told
        | {key: content[key] for key in keys}
        | {"whyNot": why_not and (why_not["because"], why_not["change"])}
    )


def assert_same(page: Page, cascade: Cascade, sample: dict[str, Any], index: int | None) -> None:
    sample = {a.name: as_possibility(a, sample[a.name]) for a in cascade.inputs}
    contents = [input_content(a, sample[a.name]) for a in cascade.inputs]
    answers = page.evaluate(
        "([data, settings, place]) => verdicts(data, settings, place)",
        [rules_data(cascade), contents, index],
    )
    for content in answers:
        output = content["verdict"]["attribute"]
        known = {a.name: sample[a.name] for a in cascade.compile([output]).inputs}
        found = verdict(cascade, known, output)
        place = index if index is not None and index < len(found.attribute.domain) else None
        assert said(content) == wanted(found, place)


@pytest.mark.parametrize("sample", APPLICANTS, ids=str)
def test_hand_written_rules(page: Page, sample: dict[str, Any]) -> None:
    for index in (None, 0, 1):
        assert_same(page, parse(BLURRED_LOAN), sample, index)


@pytest.mark.parametrize("sample", DAYS, ids=str)
def test_formulas_and_blurred_numbers(page: Page, sample: dict[str, Any]) -> None:
    for index in (None, 0, 1):
        assert_same(page, parse(SAILING), sample, index)


def test_sums(page: Page) -> None:
    rules = parse("attribute left in 0..9 attribute right in 0..9 function sum = left + right")
    sees = {
        "left": antipignistic({7: 0.99, 1: 0.008, 2: 0.002}),
        "right": antipignistic({1: 0.98, 8: 0.02}),
    }
    for index in (None, 15, 3):
        assert_same(page, rules, sees, index)
    assert_same(page, rules, {"left": 7, "right": None}, 3)
    contents = [input_content(a, as_possibility(a, sees[a.name])) for a in rules.inputs]
    [content] = page.evaluate("(asked) => verdicts(...asked)", [rules_data(rules), contents, None])
    assert content["prefix"] == "7 + 1 ="
    assert content["verdict"]["answer"] == "8, certain 0.96"


def test_additions_and_sudoku(page: Page) -> None:
    sees = {f"a_{i}": antipignistic({7: 0.9, 1: 0.06, 2: 0.04}) for i in range(1, 5)}
    assert_same(page, addition(2), sees, 2)
    grid = {a.name: (i % 4 + i // 4 * 2 + i // 8) % 4 for i, a in enumerate(sudoku(4).inputs)}
    assert_same(page, sudoku(4), grid, None)


def test_parts_of_functions_contradictions_and_near_misses(page: Page) -> None:
    bits = {f"bit{i}": i % 2 for i in range(4)}
    rules = parity_of("odd", [Attribute(name, (0, 1)) for name in bits])
    assert_same(page, rules, bits, 1)
    assert_same(page, rules, bits | {"bit1": None}, None)
    loans = load("examples/loan.rules")
    person = {"income": 15000.0, "debt_ratio": 0.3, "history": "mixed", "job": "unemployed"}
    for change in ({"age": 30}, {"age": 19, "job": "permanent"}, {"age": None, "history": None}):
        assert_same(page, loans, person | change, None)


def test_score_cards(page: Page) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    from pinesy.estimators import RuleClassifier

    x, y = datasets.load_iris(return_X_y=True, as_frame=True)
    rules = RuleClassifier().fit(x, y).rules_
    for row in (0, 70, 133):
        sample = {a.name: float(x.iloc[row][a.name]) for a in rules.inputs}
        assert_same(page, rules, sample, 1)
        assert_same(page, rules, sample | {rules.inputs[0].name: None}, 2)


def assume_plain_names(cascade: Cascade) -> None:
    """Pass over domains such as {1, "1"}, whose values the page names with their types."""
    for attribute in cascade.attributes.values():
        assume(value_texts(attribute) == [plain_text(value) for value in attribute.domain])


@given(questions(cascades() | shaped_cascades() | functions()))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_rules(page: Page, question: Any) -> None:
    cascade, evidence, _ = question
    assume_plain_names(cascade)
    sample = {
        a.name: dict(zip(a.domain, np.asarray(evidence[a.name], float).tolist(), strict=True))
        for a in cascade.inputs
    }
    assert_same(page, cascade, sample, 0)


@given(questions(cascades() | shaped_cascades()))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_rules_on_plain_values(page: Page, question: Any) -> None:
    cascade, evidence, _ = question
    assume_plain_names(cascade)
    sample = {a.name: a.domain[int(np.argmax(evidence[a.name]))] for a in cascade.inputs}
    assert_same(page, cascade, sample, 1)
