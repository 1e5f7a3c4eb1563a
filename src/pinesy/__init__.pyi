# The public API, for type checkers; `__init__.py` has the same names.
from pinesy._version import __version__ as __version__
from pinesy.calibration import CalibratedRules, ConformalTransform, PredictionSets, calibrate
from pinesy.concepts import Shortcuts, check_concepts, shortcuts
from pinesy.emitters import to_c, to_sql
from pinesy.engine.program import Inference, PremiseDegrees, Program, Trace
from pinesy.equations import MaxMinSystem, MinMaxSystem, minmax_product
from pinesy.evidence.targets import Target
from pinesy.exact import ExactInference
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
    UnreachableError,
)
from pinesy.exchange import (
    read_decision_table,
    to_dimacs,
    to_onnx,
    to_page,
    to_problog,
    write_decision_table,
)
from pinesy.explanations import (
    Change,
    Explanation,
    Formula,
    Label,
    WhyNot,
    conditions,
    explain,
    margin,
    smallest_change,
    why_not,
)
from pinesy.guarantees import SelectiveRules, consistent_sets, decide
from pinesy.induction import induce
from pinesy.inverse import (
    Backpropagation,
    BestWorld,
    Posterior,
    backpropagate,
    best_world,
    posterior,
)
from pinesy.learning import (
    Audit,
    LearnedRules,
    LearningResult,
    ParameterEstimate,
    audit,
    evaluate,
    learn,
)
from pinesy.model import Combined, NeuroSymbolic, Predictions, load, save
from pinesy.relations import Graph, KnownGraph, RelationalRules
from pinesy.relations.mining import MinedRules, mine
from pinesy.rulebase.aggregates import all_different, count_of, max_of, min_of, parity_of, sum_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.check_report import Report
from pinesy.rulebase.functions import function, joint
from pinesy.rulebase.parse import parse, parse_rule
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import EquationSystem, MatrixRelation
from pinesy.rulebase.semantics_comparison import compare_semantics
from pinesy.rules import (
    Attribute,
    Compound,
    If,
    Iff,
    Premise,
    Proposition,
    Rule,
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
)
from pinesy.rules.partition import Partition
from pinesy.rules.possibility import Possibility
from pinesy.semantics import WorldInference, WorldWeights
from pinesy.transforms import antipignistic, antipignistic_inverse, minimum_specificity
from pinesy.verdicts import Verdict as Verdict
from pinesy.verdicts import verdict as verdict

__all__ = [
    "Attribute",
    "Audit",
    "Backpropagation",
    "BestWorld",
    "CalibratedRules",
    "Cascade",
    "CascadeError",
    "Change",
    "Combined",
    "Compound",
    "ConformalTransform",
    "DataError",
    "DegreeError",
    "DomainError",
    "EquationSystem",
    "ExactInference",
    "Explanation",
    "Formula",
    "Graph",
    "If",
    "Iff",
    "InconsistentSystemError",
    "Inference",
    "KnownGraph",
    "Label",
    "LearnedRules",
    "LearningError",
    "LearningResult",
    "MatrixRelation",
    "MaxMinSystem",
    "MinMaxSystem",
    "MinedRules",
    "NeuroSymbolic",
    "ParameterEstimate",
    "Partition",
    "PinesyError",
    "Possibility",
    "Posterior",
    "PredictionSets",
    "Predictions",
    "Premise",
    "PremiseDegrees",
    "Program",
    "Proposition",
    "RelationalRules",
    "Report",
    "Rule",
    "RuleSet",
    "RuleSetError",
    "RulesTextError",
    "SelectiveRules",
    "ShapeError",
    "Shortcuts",
    "Target",
    "Trace",
    "UnknownAttributeError",
    "UnreachableError",
    "Verdict",
    "WhyNot",
    "WorldInference",
    "WorldWeights",
    "all_different",
    "all_of",
    "antipignistic",
    "antipignistic_inverse",
    "any_of",
    "at_least",
    "at_most",
    "audit",
    "backpropagate",
    "best_world",
    "calibrate",
    "check_concepts",
    "compare_semantics",
    "conditions",
    "consistent_sets",
    "count_of",
    "decide",
    "evaluate",
    "exactly",
    "explain",
    "function",
    "induce",
    "joint",
    "learn",
    "load",
    "margin",
    "max_of",
    "min_of",
    "mine",
    "minimum_specificity",
    "minmax_product",
    "parity_of",
    "parse",
    "parse_rule",
    "posterior",
    "read_decision_table",
    "save",
    "shortcuts",
    "smallest_change",
    "sum_of",
    "to_c",
    "to_dimacs",
    "to_onnx",
    "to_page",
    "to_problog",
    "to_sql",
    "verdict",
    "why_not",
    "write_decision_table",
]
