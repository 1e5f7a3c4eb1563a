"""Guarantees for those who automate: decisions, consistent sets, groups."""

from pinesy.guarantees.calibrated_tuples import CalibratedTuples, calibrate_tuples
from pinesy.guarantees.consistent_sets import ConsistentSets, consistent_sets
from pinesy.guarantees.decide import SelectiveClasses, SelectiveRules, decide, decide_classes
from pinesy.guarantees.decision_threshold import (
    DecisionThreshold,
    TestedThreshold,
    read_threshold,
    threshold_of,
)
from pinesy.guarantees.decisions import SelectiveDecisions
from pinesy.guarantees.exclusion_reason import ExclusionReason, NeededValues
from pinesy.guarantees.grouped_rules import GroupedRules, calibrate_groups
from pinesy.guarantees.risk_bounds import cost_bound, decisions_needed, error_bound
from pinesy.guarantees.selective_report import DecidedRow, SelectiveReport, selective_report

__all__ = [
    "CalibratedTuples",
    "ConsistentSets",
    "DecidedRow",
    "DecisionThreshold",
    "ExclusionReason",
    "GroupedRules",
    "NeededValues",
    "SelectiveClasses",
    "SelectiveDecisions",
    "SelectiveReport",
    "SelectiveRules",
    "TestedThreshold",
    "calibrate_groups",
    "calibrate_tuples",
    "consistent_sets",
    "cost_bound",
    "decide",
    "decide_classes",
    "decisions_needed",
    "error_bound",
    "read_threshold",
    "selective_report",
    "threshold_of",
]
