"""Possibilistic neuro-symbolic reasoning: exact, fast and explained.

Rules with uncertainty parameters (s, r) reason on possibility distributions by min and max, and
say how possible and how certain each conclusion is.
"""

from pinesy._version import __version__ as __version__
from pinesy.cascade import Cascade
from pinesy.check import Report
from pinesy.equations import EquationSystem
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    InconsistentSystemError,
    LearningError,
    PinesyError,
    RuleSetError,
    RulesTextError,
    ShapeError,
    UnknownAttributeError,
)
from pinesy.inference import Inference, PremiseDegrees, Program, Trace
from pinesy.io import load, save
from pinesy.learning import LearningResult, audit, learn
from pinesy.minmax import MaxMinSystem, MinMaxSystem, minmax_product
from pinesy.neurosymbolic import NeuroSymbolic, Predictions
from pinesy.partition import Partition
from pinesy.possibility import Possibility
from pinesy.relation import MatrixRelation
from pinesy.rule_set import RuleSet
from pinesy.rules import Attribute, If, Premise, Proposition, Rule
from pinesy.targets import Target
from pinesy.text import parse, parse_rule
from pinesy.transforms import antipignistic, antipignistic_inverse, minimum_specificity

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
    "LearningError",
    "LearningResult",
    "MatrixRelation",
    "MaxMinSystem",
    "MinMaxSystem",
    "NeuroSymbolic",
    "Partition",
    "PinesyError",
    "Possibility",
    "Predictions",
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
    "Target",
    "Trace",
    "UnknownAttributeError",
    "antipignistic",
    "antipignistic_inverse",
    "audit",
    "learn",
    "load",
    "minimum_specificity",
    "minmax_product",
    "parse",
    "parse_rule",
    "save",
]
