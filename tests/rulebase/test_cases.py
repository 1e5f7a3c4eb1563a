"""Cases that show contradictions and gaps, against every value of every input."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from pinesy import Attribute, Cascade, If, RuleSet, parse, verdict
from pinesy.problems import addition
from pinesy.rulebase import cases
from pinesy.rulebase.cases import number_between
from pinesy.rulebase.check_report import Finding
from strategies import cascades


def all_cases(rules: Cascade) -> list[dict[str, Any]]:
    """Every combination of values, one by one."""
    inputs = rules.inputs
    return [
        dict(zip((a.name for a in inputs), values, strict=True))
        for values in product(*(a.domain for a in inputs))
    ]


def found(rules: Cascade, kind: str) -> list[Finding]:
    return [f for f in rules.check().findings if f.kind == kind]


def outcome(rules: Cascade, case: Mapping[str, Any], output: str) -> str:
    return str(rules.infer(case, [output])[output].outcome)


@given(st.data())
def test_contradictions_and_gaps_are_found_iff_some_case_shows_them(data: st.DataObject) -> None:
    rules = data.draw(cascades())
    every = all_cases(rules)
    assume(len(every) <= 300)
    outcomes = {a.name: [outcome(rules, c, a.name) for c in every] for a in rules.outputs}
    contradictions, gaps = found(rules, "contradiction"), found(rules, "gap")
    event(f"contradictions: {min(len(contradictions), 3)}, gaps: {len(gaps)}")
    assert bool(contradictions) == any("contradiction" in told for told in outcomes.values())
    for name, told in outcomes.items():
        assert ("no_rule" in told) == any(f.attribute == name for f in gaps)
    for finding in contradictions:
        assert finding.case is not None
        told = [outcome(rules, finding.case, a.name) for a in rules.outputs]
        assert "contradiction" in told
    for finding in gaps:
        assert finding.case is not None
        assert outcome(rules, finding.case, finding.attribute) == "no_rule"
        for case, told_outcome in zip(every, outcomes[finding.attribute], strict=True):
            if all(case[p.attribute.name] in p.values for p in finding.propositions):
                assert told_outcome == "no_rule"  # the sentence is true of every such case


LOAN = parse("""
    number income
    number debt [blur=0.05]
    attribute history in {good, mixed, bad}
    attribute job in {employed, unemployed}
    attribute risk in {low, medium, high}
    attribute decision in {approve, review, reject}
    if income >= 60000 and debt < 0.3 and history == good then risk == low [certainty=0.9]
    if debt >= 0.45 or history == bad then risk == high [certainty=0.8]
    if job == unemployed then risk in {medium, high} [certainty=0.95]
    if risk == low then decision == approve
    if risk == medium then decision == review
    if risk in {medium, high} then decision in {review, reject}
""")


def test_a_case_shows_the_contradiction_that_the_verdict_names() -> None:
    [finding] = found(LOAN, "contradiction")
    assert finding.rules == (1, 3)
    assert finding.text == (
        "Rules 1 and 3 can contradict each other: when debt is below 0.3, history is good, income "
        "is at least 60000 and job is unemployed."
    )
    assert finding.case is not None
    shown = verdict(LOAN, finding.case)
    assert shown.outcome == "contradiction"
    assert shown.clash is not None
    assert shown.clash.groups == (finding.rules,)


def test_a_case_shows_the_gap() -> None:
    first = found(LOAN, "gap")[0]
    assert first.case is not None
    assert verdict(LOAN, first.case).outcome == "no_rule"
    assert first.text.startswith("No rule decides when debt is below 0.45, history is good")


def test_a_rule_whose_premise_is_never_certain_never_decides() -> None:
    [finding] = found(LOAN, "never decides")
    assert (finding.rules, finding.case) == ((5,), None)
    assert finding.text == "Rule 5 never decides: it is never certain that risk is medium."


@pytest.mark.parametrize(("limit", "value"), [("MAX_CASES", 20), ("MAX_STEPS", 1000)])
def test_of_many_cases_some_are_tried(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, limit, value)
    [contradiction], [gap] = found(LOAN, "contradiction"), found(LOAN, "gap")
    assert contradiction.rules == (1, 3)
    assert contradiction.case is not None
    assert verdict(LOAN, contradiction.case).outcome == "contradiction"
    assert gap.text == "No rule decides in some of 36 cases."
    assert gap.case is not None
    assert verdict(LOAN, gap.case).outcome == "no_rule"


def test_pairs_that_rules_before_them_exclude_have_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = parse("""
        attribute a in {0, 1} attribute b in {0, 1} attribute c in {0, 1} attribute d in {0, 1}
        iff a == 1 then b == 1
        iff a == 1 then c == 0
        if b == 1 then d == 1
        if c == 1 then d == 0
    """)
    assert found(rules, "contradiction") == []
    monkeypatch.setattr(cases, "MAX_CASES", 1)
    [finding] = found(rules, "contradiction")
    assert finding.case is None
    assert finding.text.startswith("Rules 3 and 4 may contradict each other")


def test_sums_have_neither_contradictions_nor_gaps() -> None:
    rules = addition(4)  # 10^8 cases
    assert found(rules, "contradiction") == found(rules, "gap") == []


def test_names_of_intervals_where_blur_leaves_no_number() -> None:
    age = Attribute.number("age", [30, 31], blur=2)
    ill = Attribute("ill", ["no", "yes"])
    rules = Cascade(
        RuleSet([If(age < 30).then(ill.isin({"no"})), If(age >= 31).then(~ill.isin({"no"}))])
    )
    [gap] = found(rules, "gap")
    assert gap.case == {"age": "[30, 31)"}
    assert outcome(rules, gap.case, "ill") == "no_rule"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_numbers_are_in_their_range(low: float, size: float) -> None:
    for first, last in ((low, low + size), (low, np.inf), (-np.inf, low)):
        assert first <= number_between(first, last) < last
    assert cases.number_between(-np.inf, np.inf) == 0.0
