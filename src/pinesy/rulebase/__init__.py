"""Rule bases: rule sets, cascades, their equations, their checks, their written forms."""

from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.check import Report
from pinesy.rulebase.equations import EquationSystem, MatrixRelation
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.rules_text import parse, parse_rule
from pinesy.rulebase.targets import Target

__all__ = [
    "Cascade",
    "EquationSystem",
    "MatrixRelation",
    "Report",
    "RuleSet",
    "Target",
    "parse",
    "parse_rule",
]
