"""Answers with a guarantee: possibilities that are calibrated on data."""

from pinesy.calibration.calibrate import calibrate
from pinesy.calibration.calibrated_points import CalibratedPoints
from pinesy.calibration.calibrated_rules import CalibratedAnswers, CalibratedInputs, CalibratedRules
from pinesy.calibration.conformal_martingale import ConformalMartingale, DriftStatus
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.coverage import coverage, coverage_of
from pinesy.calibration.coverage_report import CoverageReport, CoverageRow
from pinesy.calibration.drift_monitor import DriftMonitor, Novelty, novelty
from pinesy.calibration.prediction_sets import LevelExplanation, LevelWhyNot, PredictionSets
from pinesy.calibration.score_counts import ScoreCounts, samples_needed

__all__ = [
    "CalibratedAnswers",
    "CalibratedInputs",
    "CalibratedPoints",
    "CalibratedRules",
    "ConformalMartingale",
    "ConformalTransform",
    "CoverageReport",
    "CoverageRow",
    "DriftMonitor",
    "DriftStatus",
    "LevelExplanation",
    "LevelWhyNot",
    "Novelty",
    "PredictionSets",
    "ScoreCounts",
    "calibrate",
    "coverage",
    "coverage_of",
    "novelty",
    "samples_needed",
]
