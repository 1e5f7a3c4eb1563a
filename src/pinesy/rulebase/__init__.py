"""Rule bases: rule sets, cascades, their equations, their checks, their written forms."""

from pinesy.evidence.targets import Target
from pinesy.rulebase.aggregates import all_different, count_of, max_of, min_of, parity_of, sum_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.check_report import Report
from pinesy.rulebase.clashes import DataCheck
from pinesy.rulebase.functions import function, joint
from pinesy.rulebase.parse import parse, parse_rule
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import EquationSystem, MatrixRelation

__all__ = [
    "Cascade",
    "DataCheck",
    "EquationSystem",
    "MatrixRelation",
    "Report",
    "RuleSet",
    "Target",
    "all_different",
    "count_of",
    "function",
    "joint",
    "max_of",
    "min_of",
    "parity_of",
    "parse",
    "parse_rule",
    "sum_of",
]
