"""The rules of the paper on blood glucose."""

from typing import Any

from golden import PAPER
from pinesy import Attribute, Iff, RuleSet

EXAMPLE: dict[str, Any] = PAPER["blood_glucose"]
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in EXAMPLE["attributes"].items()}
FUTURE = ATTRIBUTES["future-blood-glucose"]
RULES = RuleSet(
    Iff(*(ATTRIBUTES[a].isin(values) for a, values in rule["if"].items())).then(
        FUTURE.isin(rule["then"]), s=rule["s"], r=rule["r"]
    )
    for rule in EXAMPLE["rules"]
)
