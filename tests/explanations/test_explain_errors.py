"""Questions that have no answer say why."""

from typing import Any

import numpy as np
import pytest

from explanations.small_rule_sets import ADDITION, SAMPLE
from messages import raises_saying
from pinesy import (
    Attribute,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    Iff,
    PinesyError,
    RuleSet,
    UnknownAttributeError,
)
from pinesy.explanations import Label, explain

A, B = Attribute("a", range(3)), Attribute("b", ("no", "yes"))
RULES = RuleSet([Iff(A.isin({1})).then(B.isin({"yes"}))])
GOOD = {"a": [0.0, 1.0, 0.2]}
Y1 = ADDITION["y_1"].output

CASES: list[tuple[Any, Any, Any, dict[str, Any], type[PinesyError], list[str]]] = [
    ("x", GOOD, None, {}, CascadeError, ["rules are a RuleSet or a Cascade; got 'x'"]),
    (RULES, GOOD, 7, {}, DomainError, ["cannot explain 7", "attribute.isin({value})"]),
    (RULES, GOOD, B.isin([]), {}, DomainError, ["has no values", "nothing to explain"]),
    (RULES, GOOD, A.isin({1}), {}, CascadeError, ["'a' is an input", "perceived", "such as 'b'"]),
    (RULES, GOOD, "a", {}, CascadeError, ["'a' is an input"]),
    (RULES, GOOD, "c", {}, UnknownAttributeError, ["no rule set concludes on 'c'"]),
    (
        RULES,
        GOOD,
        Attribute("c", (0, 1)).isin({0}),
        {},
        UnknownAttributeError,
        ["no rule set concludes on 'c'"],
    ),
    (
        RULES,
        GOOD,
        Attribute("b", (0, 1)).isin({0}),
        {},
        UnknownAttributeError,
        ["the cascade's attribute 'b' has another domain"],
    ),
    (ADDITION, SAMPLE, None, {}, CascadeError, ["3 outputs (y_1, y_2, y_0)", "say which"]),
    (RULES, {"a": [[1.0, 0.0, 0.0]] * 4}, None, {}, DataError, ["a batch of 4", "Pick one"]),
    (RULES, np.ones((2, 3)), None, {}, DataError, ["a batch of 2", "evidence[i]"]),
    (RULES, np.ones(4), None, {}, DegreeError, ["has 3 columns", "(4,)"]),
    (RULES, {"a": {1: 0.5}}, None, {}, DegreeError, ["attribute 'a'", "not normalised"]),
    (RULES, {"a": {5: 1.0}}, None, {}, DomainError, ["attribute 'a' has no value 5"]),
    (RULES, {}, None, {}, CascadeError, ["no distribution is given for a"]),
    (RULES, {"a": {1: 1.0}, "b": {}}, None, {}, CascadeError, ["'b' takes no evidence"]),
    (RULES, {"z": {1: 1.0}}, None, {}, UnknownAttributeError, ["there is no input 'z'"]),
    (RULES, GOOD, None, {"eta": 0}, DegreeError, ["the threshold eta is 0", "above 0"]),
    (RULES, GOOD, None, {"eta": 2}, DegreeError, ["the threshold eta is 2"]),
    (RULES, GOOD, None, {"depth": 0}, DomainError, ["depth is 0", "from 1 on, or None"]),
    (RULES, GOOD, None, {"depth": True}, DomainError, ["depth is True"]),
    (
        RULES,
        GOOD,
        None,
        {"labels": {"grass": "x"}},
        UnknownAttributeError,
        ["a label is given for 'grass'", "known: a, b"],
    ),
    (RULES, GOOD, None, {"labels": {"a": 5}}, DomainError, ["the label of 'a' is 5"]),
    (
        RULES,
        GOOD,
        None,
        {"labels": {"a": Label(values={9: "nine"})}},
        DomainError,
        ["attribute 'a' has no value 9"],
    ),
]


@pytest.mark.parametrize(
    ("rules", "evidence", "proposition", "options", "error", "parts"),
    CASES,
    ids=[" ".join(c[-1])[:50] for c in CASES],
)
def test_bad_questions(
    rules: Any,
    evidence: Any,
    proposition: Any,
    options: dict[str, Any],
    error: type[PinesyError],
    parts: list[str],
) -> None:
    with raises_saying(error, *parts):
        explain(rules, evidence, proposition, **options)


def test_bad_limits() -> None:
    found = explain(RULES, GOOD)
    with raises_saying(DomainError, "limit is 0"):
        found.text(limit=0)
    with raises_saying(DomainError, "nodes is -1"):
        found.to_dict(nodes=-1)
    with raises_saying(DomainError, "depth is 1.5"):
        found.to_dict(depth=1.5)  # type: ignore[arg-type]


def test_bad_nodes() -> None:
    found = explain(ADDITION, SAMPLE, Y1)
    with raises_saying(UnknownAttributeError, "'y_1' does not depend on 'y_2'"):
        found.node("y_2", 1)
    with raises_saying(DomainError, "attribute 'w_2' has no value 7"):
        found.node("w_2", 7)


def test_evidence_of_inputs_that_do_not_matter_may_be_left_out() -> None:
    some = {name: SAMPLE[name] for name in ("a_2", "a_4")}
    y2 = explain(ADDITION, some, "y_2")
    assert y2.to_dict() == explain(ADDITION, SAMPLE, "y_2").to_dict()
