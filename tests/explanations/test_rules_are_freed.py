"""What is stored for explanations lives on the rules, and no longer than they do."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.explanations import (
    conditions,
    explain,
    input_margins,
    is_coherent,
    margin,
    smallest_change,
    why_not,
)

A, B, C = (Attribute(name, (0, 1)) for name in "abc")
EVIDENCE = {"a": [1.0, 0.2]}


def rule_set(one: Attribute, other: Attribute) -> RuleSet:
    """Return rules by which two attributes are equal."""
    return RuleSet([Iff(one.isin({v})).then(other.isin({v})) for v in one.domain])


def rules_of(kind: type) -> Any:
    return rule_set(A, C) if kind is RuleSet else Cascade(rule_set(A, B), rule_set(B, C))


def explained(rules: Any) -> list[Any]:
    """Use all of an explanation."""
    found = explain(rules, EVIDENCE)
    return [found.text(), found.to_json(), found.to_svg(), found.values[0].children, found]


def met(rules: Any) -> Any:
    return conditions(rules, 1, ">", 0.5).holds(EVIDENCE)


USES: dict[str, Callable[[Any], Any]] = {
    "explain": explained,
    "conditions": met,
    "why_not": lambda rules: why_not(rules, EVIDENCE, 1),
    "smallest_change": lambda rules: smallest_change(rules, EVIDENCE, 1),
    "margin": lambda rules: margin(rules, EVIDENCE),
    "input_margins": lambda rules: input_margins(rules, EVIDENCE),
    "is_coherent": is_coherent,
}


@pytest.mark.parametrize("kind", [RuleSet, Cascade])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_rules_are_freed(use: Callable[[Any], Any], kind: type) -> None:
    rules = rules_of(kind)
    result = use(rules)
    references = [weakref.ref(rules), *map(weakref.ref, getattr(rules, "rule_sets", ()))]
    del rules, result
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)
