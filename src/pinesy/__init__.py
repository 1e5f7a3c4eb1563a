"""Possibilistic neuro-symbolic reasoning: exact, fast and explained.

Rules with uncertainty parameters (s, r) reason on possibility distributions by min and max, and
say how possible and how certain each conclusion is.
"""

from pinesy.cascade import Cascade
from pinesy.check import Report
from pinesy.equations import EquationSystem
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    InconsistentSystemError,
    PinesyError,
    RuleSetError,
    RulesTextError,
    ShapeError,
    UnknownAttributeError,
)
from pinesy.inference import Inference, PremiseDegrees, Program, Trace
from pinesy.io import load, save
from pinesy.minmax import MaxMinSystem, MinMaxSystem, minmax_product
from pinesy.partition import Partition
from pinesy.possibility import Possibility
from pinesy.relation import MatrixRelation
from pinesy.rule_set import RuleSet
from pinesy.rules import Attribute, If, Premise, Proposition, Rule
from pinesy.text import parse, parse_rule
from pinesy.transforms import antipignistic, antipignistic_inverse, minimum_specificity

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "Cascade",
    "CascadeError",
    "DataError",
    "DegreeError",
    "DomainError",
    "EquationSystem",
    "If",
    "InconsistentSystemError",
    "Inference",
    "MatrixRelation",
    "MaxMinSystem",
    "MinMaxSystem",
    "Partition",
    "PinesyError",
    "Possibility",
    "Premise",
    "PremiseDegrees",
    "Program",
    "Proposition",
    "Report",
    "Rule",
    "RuleSet",
    "RuleSetError",
    "RulesTextError",
    "ShapeError",
    "Trace",
    "UnknownAttributeError",
    "antipignistic",
    "antipignistic_inverse",
    "load",
    "minimum_specificity",
    "minmax_product",
    "parse",
    "parse_rule",
    "save",
]
