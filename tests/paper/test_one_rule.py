"""The paper's example of a single rule with parameters s and r."""

from typing import Any

import pytest

from golden import PAPER
from pinesy import Attribute, Cascade, Iff, RuleSet

CASES = [
    (example["s"], example["r"], case) for example in PAPER["one_rule"] for case in example["cases"]
]


@pytest.mark.parametrize(("s", "r", "case"), CASES)
def test_one_rule(s: float, r: float, case: dict[str, Any]) -> None:
    p, q = Attribute("p", (True, False)), Attribute("q", (True, False))
    rule_set = RuleSet([Iff(p.isin({True})).then(q.isin({True}), s=s, r=r)])
    assert rule_set.infer({"p": case["premise"]}).degrees.tolist() == case["conclusion"]
    premises = Cascade(rule_set).trace({"p": case["premise"]}).premises["q"]
    assert [premises.lambdas[0], premises.rhos[0]] == case["premise"]


def test_the_certainty_of_the_rule_and_of_its_converse() -> None:
    p, q = Attribute("p", (True, False)), Attribute("q", (True, False))
    rule_set = RuleSet([Iff(p.isin({True})).then(q.isin({True}), s=0.3, r=0.5)])
    assert rule_set.infer({"p": [1, 0]}).necessity({True}) == 0.5
    assert rule_set.infer({"p": [0, 1]}).necessity({False}) == 0.7
