"""The language of rules: attributes, propositions, premises, rules."""

from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import If, Rule

__all__ = ["Attribute", "If", "Premise", "Proposition", "Rule"]
