"""What speaks against a value: the inputs that are named limit it as all inputs do."""

from typing import Any

import pytest
from hypothesis import given

from pinesy import parse
from pinesy.exceptions import DomainError
from strategies import Case, cases
from verdicts.valid_verdicts import verdict

RULES = parse("""
    number debt
    attribute history in {good, bad}
    attribute risk in {low, high}
    attribute decision in {approve, review, reject}
    if debt >= 0.45 and history == bad then risk == high [certainty=0.8]
    if risk == high then decision == reject [certainty=0.9]
    if risk == high then decision != review
""")
SAMPLE: dict[str, Any] = {"debt": 0.6, "history": "bad"}


def test_a_value_that_rules_speak_against() -> None:
    found = verdict(RULES, SAMPLE).why_not("approve")
    assert found.possible == pytest.approx(0.2)
    assert [fact.text for fact in found.facts] == ["debt is 0.6", "history is bad"]
    assert found.because.startswith(
        "Approve is possible 0.20 only: the debt is 0.6 and the history is bad"
    )
    assert found.change is None  # no rule concludes on it
    assert "No change" in found.what_would_change_it


def test_values_that_nothing_rules_out_and_that_are_unknown() -> None:
    assert "Nothing rules out reject" in verdict(RULES, SAMPLE).why_not("reject").because
    with pytest.raises(DomainError):
        verdict(RULES, SAMPLE).why_not("perhaps")


@given(cases())
def test_the_named_inputs_limit_the_value_as_all_do(case: Case) -> None:
    for output in case.cascade.outputs:
        found = verdict(case.cascade, case.evidence, output)
        known = found.decision.distributions()
        for value in output.domain:
            exclusion = found.why_not(value)
            names = {fact.attribute for fact in exclusion.facts}
            evidence = {
                name: pi.to_dict() if name in names else dict.fromkeys(pi.attribute.domain, 1.0)
                for name, pi in known.items()
            }
            limited = verdict(case.cascade, evidence, output).why_not(value)
            assert limited.possible == exclusion.possible
            assert exclusion.because
