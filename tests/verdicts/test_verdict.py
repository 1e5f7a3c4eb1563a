"""Verdicts: the facts named are enough and needed, and the words say what was inferred."""

import json
from itertools import product

import pytest
from hypothesis import given, settings

from json_schema import problems
from pinesy import Attribute, Cascade, antipignistic, load, parse
from pinesy.problems import addition, sudoku
from pinesy.verdicts import Verdict, short_degree, verdict, verdict_schema
from strategies import Case, cases

LOAN = """
    number debt_ratio
    attribute history in {good, mixed, bad}
    attribute job in {employed, unemployed}
    attribute risk in {low, medium, high}
    attribute decision in {approve, review, reject}
    if debt_ratio < 0.3 and history == good then risk == low [certainty=0.9]
    if debt_ratio >= 0.45 and (history == bad or job == unemployed)
    then risk == high [certainty=0.8]
    if debt_ratio >= 0.3 and history != bad then risk == medium
    if risk == low then decision == approve
    if risk == medium then decision in {review, reject}
    if risk == high then decision == reject [certainty=0.9]
"""


def only(cascade: Cascade, found: Verdict, names: set[str]) -> Verdict:
    """Return the verdict with only some inputs known."""
    known = found.decision.distributions()
    evidence = {
        a.name: known[a.name].to_dict() if a.name in names else dict.fromkeys(a.domain, 1.0)
        for a in found.decision.program.inputs
    }
    return verdict(cascade, evidence, found.attribute)


def says(found: Verdict) -> tuple[object, ...]:
    return found.outcome, found.values, found.certainty, found.distribution.contradiction


def assert_enough_and_needed(cascade: Cascade, found: Verdict) -> None:
    names = {fact.attribute for fact in found.facts}
    assert says(only(cascade, found, names)) == says(found)
    for name in names:  # smaller sets say no more than these, because inference is monotone
        assert says(only(cascade, found, names - {name})) != says(found)


@given(cases())
@settings(max_examples=150)
def test_facts_are_enough_and_needed(case: Case) -> None:
    for output in case.cascade.outputs:
        found = verdict(case.cascade, case.evidence, output)
        assert_enough_and_needed(case.cascade, found)
        rested_on = {name for rules in found.chain for name in rules.inputs}
        inputs = {a.name for a in case.cascade.inputs}
        assert rested_on & inputs <= set(found.deciding_inputs)
        if found.outcome in ("decided", "several"):
            assert rested_on & inputs == set(found.deciding_inputs)
        assert found.answer
        assert found.because


@pytest.mark.parametrize(
    ("debt_ratio", "history", "job"),
    list(product([0.1, 0.4, 0.639, None], ["good", "mixed", "bad", None], ["employed", None])),
)
def test_facts_of_formulas_and_numbers(
    debt_ratio: float | None, history: str | None, job: str | None
) -> None:
    rules = parse(LOAN)
    found = verdict(rules, {"debt_ratio": debt_ratio, "history": history, "job": job})
    assert_enough_and_needed(rules, found)


def test_every_sentence_of_a_decision() -> None:
    found = verdict(parse(LOAN), {"debt_ratio": 0.639, "history": "bad", "job": "employed"})
    assert found.answer == "reject, certain 0.80"
    assert [fact.text for fact in found.facts] == ["debt_ratio is 0.639", "history is bad"]
    assert [(r.attribute, r.rules) for r in found.reasons] == [("risk", (2,)), ("decision", (6,))]
    assert "risk is high (rule 2), and that means reject (rule 6)" in found.because
    assert "approve, certain 0.90" in found.what_would_change_it
    assert found.firmness is not None
    assert (found.firmness.weakest, found.firmness.least) == ("debt_ratio", 0.45)
    assert (found.firmness.limited_by, found.firmness.rule) == ("risk", 2)
    assert str(found).splitlines()[0] == found.answer


def test_undecided_and_contradictory_samples_say_so() -> None:
    rules = parse(LOAN)
    several = verdict(rules, {"debt_ratio": 0.4, "history": "mixed", "job": None})
    assert several.answer == "undecided: review or reject remain"
    nothing = verdict(rules, {"debt_ratio": 0.2, "history": "bad", "job": None})
    assert nothing.answer == "undecided: no rule decides"
    assert "history is good" in nothing.because
    clash = verdict(rules, {"debt_ratio": 0.6, "history": "good", "job": "unemployed"})
    assert clash.answer == "contradiction: rules 2 and 3"
    assert "rule 2 says that risk is high" in clash.because
    assert clash.firmness is None


def test_readings_have_their_certainty() -> None:
    sees = {"a_1": antipignistic({7: 0.95, 1: 0.05}), "a_2": antipignistic({1: 0.9, 9: 0.1})}
    found = verdict(addition(1), sees, "y_1")
    number = addition(1).rule_number("y_1", 8)
    assert found.because == (
        f"a_1 is 7 (certain 0.90) and a_2 is 1 (certain 0.80), so y_1 is 8 (rule {number})."
    )
    assert found.firmness is not None
    assert found.firmness.limited_by == "a_2"
    assert found.change is not None
    assert found.change.readings == {"a_2": 9}
    assert_enough_and_needed(addition(1), found)


def test_large_sets_name_few_facts_and_count_the_others() -> None:
    rules = sudoku(4)
    board = {a.name: Attribute(a.name, a.domain).domain[0] for a in rules.inputs}
    found = verdict(rules, board, rules.outputs[0])
    assert_enough_and_needed(rules, found)
    assert len(found.because) < 600


@pytest.mark.parametrize("history", ["good", "bad", None])
def test_plain_data_fits_its_schema_and_is_short(history: str | None) -> None:
    found = verdict(parse(LOAN), {"debt_ratio": 0.5, "history": history, "job": "unemployed"})
    content = found.to_dict()
    assert problems(content, verdict_schema(), verdict_schema()) == []
    assert json.loads(found.to_json()) == content
    assert len(found.to_json()) < 5_000


def test_a_three_level_cascade_names_what_is_between() -> None:
    found = verdict(load("examples/weather.rules"), {"sky": "dark", "pressure": None})
    assert found.because == (
        "sky is dark, so rain is light or heavy (rule 1), and that means wet (rule 3)."
    )


def test_degrees_read_as_people_write_them() -> None:
    texts = [short_degree(d) for d in (0.0, 0.0001, 0.2, 0.805, 0.9999, 1.0)]
    assert texts == ["0", "<0.01", "0.20", "0.81", ">0.99", "1"]
