"""A rule set may stand where a cascade is asked for; anything else is refused in our words."""

from collections.abc import Callable
from typing import Any

import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import CascadeError
from pinesy.explanations import (
    input_margins,
    is_coherent,
    margin,
    smallest_change,
    why_not,
)
from pinesy.inverse import posterior

A, B = Attribute("a", ["x", "y"]), Attribute("b", range(2))
RULES = RuleSet([Iff(A.isin({"x"})).then(B.isin({0})), Iff(A.isin({"y"})).then(B.isin({1}), s=0.2)])
SEES = {"a": {"x": 1.0, "y": 0.4}}
ASKED: dict[str, Callable[[Any], Any]] = {
    "why_not": lambda rules: str(why_not(rules, SEES, 1)),
    "smallest_change": lambda rules: str(smallest_change(rules, SEES, 1)),
    "margin": lambda rules: margin(rules, SEES),
    "input_margins": lambda rules: input_margins(rules, SEES),
    "is_coherent": is_coherent,
    "condition": lambda rules: posterior(rules, SEES, {"b": 1})["a"].to_dict(),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_rule_set_is_a_cascade_of_one(name: str) -> None:
    found = ASKED[name](RULES)
    assert found == ASKED[name](Cascade(RULES))
    assert found == ASKED[name](RULES)  # again, from what is kept


@pytest.mark.parametrize("name", ASKED)
def test_what_is_neither_is_refused(name: str) -> None:
    with raises_saying(CascadeError, "rules are a RuleSet or a Cascade; got 'x'"):
        ASKED[name]("x")
