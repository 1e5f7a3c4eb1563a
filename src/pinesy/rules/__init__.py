"""The language of rules: attributes, propositions, premises, rules, distributions, partitions."""

from pinesy.rules.attributes import Attribute
from pinesy.rules.partition import Partition
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import (
    Compound,
    Premise,
    Proposition,
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
)
from pinesy.rules.rule import Rule
from pinesy.rules.statements import If, Iff

__all__ = [
    "Attribute",
    "Compound",
    "If",
    "Iff",
    "Partition",
    "Possibility",
    "Premise",
    "Proposition",
    "Rule",
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "exactly",
]
