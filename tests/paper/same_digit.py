"""The rules of the paper on two images of the same digit."""

from typing import Any

from golden import PAPER
from pinesy import Attribute, Iff, RuleSet

EXAMPLE: dict[str, Any] = PAPER["same_digit"]


def tuples(values: list[Any]) -> list[Any]:
    return [tuple(v) if isinstance(v, list) else v for v in values]


A1, A2, C = (Attribute(name, (0, 1)) for name in ("a1", "a2", "c"))
B = Attribute.product("b", A1, A2)
BY_NAME = {a.name: a for a in (A1, A2, B, C)}


def rule_set(rules: list[dict[str, Any]], output: str) -> RuleSet:
    return RuleSet(
        Iff(*(BY_NAME[a].isin(tuples(values)) for a, values in rule["if"].items())).then(
            BY_NAME[output].isin(tuples(rule[f"then_{output}"]))
        )
        for rule in rules
    )


FIRST = rule_set(EXAMPLE["rules_b"], "b")
