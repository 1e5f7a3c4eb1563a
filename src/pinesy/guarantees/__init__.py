"""Guarantees for those who automate: decisions, consistent sets, groups."""

from pinesy.guarantees.decide import SelectiveClasses, SelectiveRules, decide, decide_classes
from pinesy.guarantees.decision_threshold import DecisionThreshold, TestedThreshold, threshold_of
from pinesy.guarantees.decisions import Decisions
from pinesy.guarantees.risk_bounds import cost_bound, decisions_needed, error_bound

__all__ = [
    "DecisionThreshold",
    "Decisions",
    "SelectiveClasses",
    "SelectiveRules",
    "TestedThreshold",
    "cost_bound",
    "decide",
    "decide_classes",
    "decisions_needed",
    "error_bound",
    "threshold_of",
]
