"""Possibilistic neuro-symbolic reasoning by min and max: fast and explained.

Rules with uncertainty parameters (s, r) reason on possibility distributions by min and max, and
say how possible and how certain each conclusion is.

A name is imported from its module when it is first used, so that `import pinesy` is quick.
"""

from importlib import import_module as _import_module

from pinesy._version import __version__ as __version__

#: The public names by module; `__init__.pyi` has them for type checkers.
_NAMES = {
    "pinesy.calibration": "CalibratedRules ConformalTransform PredictionSets calibrate",
    "pinesy.concepts": "Shortcuts check_concepts shortcuts",
    "pinesy.emitters": "to_c to_sql",
    "pinesy.engine.program": "Inference PremiseDegrees Program Trace",
    "pinesy.exact": "ExactInference",
    "pinesy.exceptions": (
        "CascadeError DataError DegreeError DomainError InconsistentSystemError "
        "LearningError PinesyError RuleSetError RulesTextError ShapeError "
        "UnknownAttributeError UnreachableError"
    ),
    "pinesy.exchange": (
        "read_decision_table to_dimacs to_onnx to_page to_problog write_decision_table"
    ),
    "pinesy.explanations": (
        "Change Explanation Formula Label WhyNot conditions explain margin smallest_change why_not"
    ),
    "pinesy.guarantees": "SelectiveRules consistent_sets decide",
    "pinesy.induction": "induce",
    "pinesy.inverse": "Backpropagation BestWorld Posterior backpropagate best_world posterior",
    "pinesy.learning": ("Audit LearnedRules LearningResult ParameterEstimate audit evaluate learn"),
    "pinesy.equations": "MaxMinSystem MinMaxSystem minmax_product",
    "pinesy.model": "Combined NeuroSymbolic Predictions load save",
    "pinesy.relations": "Graph KnownGraph RelationalRules",
    "pinesy.relations.mining": "MinedRules mine",
    "pinesy.rulebase.aggregates": "all_different count_of max_of min_of parity_of sum_of",
    "pinesy.rulebase.cascade": "Cascade",
    "pinesy.rulebase.check_report": "Report",
    "pinesy.rulebase.sample_equations": "EquationSystem MatrixRelation",
    "pinesy.rulebase.functions": "function joint",
    "pinesy.rulebase.rule_set": "RuleSet",
    "pinesy.rulebase.parse": "parse parse_rule",
    "pinesy.evidence.targets": "Target",
    "pinesy.rulebase.semantics_comparison": "compare_semantics",
    "pinesy.rules": (
        "Attribute Compound If Iff Premise Proposition Rule all_of any_of at_least at_most exactly"
    ),
    "pinesy.rules.partition": "Partition",
    "pinesy.rules.possibility": "Possibility",
    "pinesy.semantics": "WorldInference WorldWeights",
    "pinesy.verdicts": "Verdict verdict",
    "pinesy.transforms": "antipignistic antipignistic_inverse minimum_specificity",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
_PACKAGES = {module.split(".")[1] for module in _NAMES}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name, or a package, when it is first used (PEP 562)."""
    if name in _MODULES:
        globals()[name] = getattr(_import_module(_MODULES[name]), name)
        return globals()[name]
    if name in _PACKAGES:
        return _import_module(f"pinesy.{name}")
    raise AttributeError(f"module 'pinesy' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names of the module, imported or not."""
    return sorted({*globals(), *_MODULES, *_PACKAGES})
