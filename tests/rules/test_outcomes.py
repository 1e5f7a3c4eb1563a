"""Outcomes: a result decides on a value only where one is the only most possible one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, Possibility, explain, parse
from pinesy.exceptions import DomainError
from pinesy.rules.outcomes import OUTCOMES, verdict_text

DECISION = Attribute("decision", ["approve", "review", "reject"])
LOANS = parse("""
    attribute income in {low, high}
    attribute debt in {no, yes}
    attribute decision in {approve, review, reject}
    if income in {high} then decision in {approve, review}
    if debt in {yes} then decision in {reject} [certainty=0.5]
    if income in {low} and debt in {no} then decision in {review}
""")


def loan(income: Any, debt: Any) -> Possibility:
    return LOANS.infer({"income": income, "debt": debt})["decision"]


def test_where_no_rule_says_anything_no_value_is_the_best() -> None:
    silent = loan(None, None)
    assert silent.best is None
    assert silent.best_values == ("approve", "review", "reject")
    assert (silent.outcome, silent.verdict) == ("no_rule", "undecided: no rule decides")


def test_values_that_remain_are_named() -> None:
    several = loan("high", "no")
    assert (several.best, several.best_values) == (None, ("approve", "review"))
    assert (several.outcome, several.verdict) == (
        "several",
        "undecided: approve or review remain",
    )


def test_one_value_that_is_the_only_most_possible_one_is_decided_on() -> None:
    decided = loan("low", "yes")
    assert (decided.best, decided.best_values, decided.outcome) == (
        "reject",
        ("reject",),
        "decided",
    )
    assert decided.verdict == "reject, certain at 0.5"


def test_a_contradiction_names_its_rules() -> None:
    clash = loan("high", "yes")
    assert (clash.best, clash.outcome, clash.verdict) == (
        None,
        "contradiction",
        "contradiction 0.5",
    )
    explained = explain(LOANS, {"income": "high", "debt": "yes"})
    assert explained.outcome == "contradiction"
    assert explained.verdict == "contradiction: rules 1 and 2"


def test_a_contradiction_has_no_best_value_even_if_one_is_ahead() -> None:
    ahead = Possibility(DECISION, np.array([0.5, 0.2, 0.0]))
    assert (ahead.best, ahead.best_values, ahead.outcome) == (
        None,
        ("approve",),
        "contradiction",
    )
    nothing = Possibility(DECISION, np.zeros(3))
    assert (nothing.best, nothing.best_values) == (None, ())
    behind = Possibility(DECISION, np.array([1.0, 0.0, 0.0]), coherence=0.5)
    assert (behind.best, behind.outcome) == (None, "contradiction")


def test_a_single_value_is_decided() -> None:
    only = Possibility(Attribute("only", ["x"]), np.array([1.0]))
    assert (only.best, only.outcome) == ("x", "decided")


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=1))
def test_a_batch_has_the_outcomes_of_its_samples(rows: list[list[float]]) -> None:
    batch = Possibility(DECISION, np.array(rows))
    samples = [batch.sample(i) for i in range(len(rows))]
    assert batch.outcome.tolist() == [one.outcome for one in samples]
    assert batch.best_values.tolist() == [one.best_values for one in samples]
    assert batch.best.tolist() == [one.best for one in samples]
    for one in samples:
        assert (one.best is None) == (one.outcome != "decided")
        assert one.decided is (one.outcome == "decided")
    with raises_saying(DomainError, "sample(row)"):
        _ = batch.verdict


def test_codes_are_texts() -> None:
    assert type(loan("low", "no").outcome) is str
    batch = Possibility(DECISION, np.eye(3))
    assert batch.outcome.dtype.kind == "U"
    assert set(batch.outcome.tolist()) <= set(OUTCOMES)


@pytest.mark.parametrize("number", [5, 6, 9])
def test_of_many_values_the_first_are_named(number: int) -> None:
    words = verdict_text("several", [f"v{i}" for i in range(number)])
    rest = "v0, v1, v2, v3 or v4" if number == 5 else f"v0, v1, v2, v3, v4 or {number - 5} more"
    assert words == f"undecided: {rest} remain"


def test_what_is_printed_says_the_same() -> None:
    batch = LOANS.infer({"income": ["high", "low", None], "debt": ["no", "no", None]})
    html = batch._repr_html_()
    assert html is not None
    for words in ("undecided: approve or review remain", "undecided: no rule decides", "review"):
        assert words in html
    assert "ambiguous" not in html
    assert repr(LOANS.infer({"income": None, "debt": None})) == (
        "Inference(decision: undecided: no rule decides)"
    )
    assert repr(batch["decision"]) == "Possibility(decision, 3 samples, 1 several, 1 no_rule)"
    silent = loan(None, None)
    assert "undecided: no rule decides" in silent._repr_html_()
