"""The language of rules: attributes, propositions, premises, rules, distributions, partitions."""

from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.partition import Partition
from pinesy.rules.possibility import Possibility
from pinesy.rules.rule import If, Rule

__all__ = ["Attribute", "If", "Partition", "Possibility", "Premise", "Proposition", "Rule"]
