"""Files of rules that are calibrated, or that have a threshold from which they decide."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pinesy.calibration import CalibratedAnswers, CalibratedRules
from pinesy.exceptions import DataError, placed
from pinesy.guarantees import GroupedRules, SelectiveRules
from pinesy.model.storage import load
from pinesy.samples import Batch


def without_threshold(model: Any) -> Any:
    """Return a model without the threshold from which it decides, and without groups."""
    model = model.model if isinstance(model, SelectiveRules) else model
    return model.base if isinstance(model, GroupedRules) else model


def selective_rules(path: Path, transform: str) -> SelectiveRules:
    """Load rules with the threshold from which they decide, for possibilities read from files."""
    selective = load(path) if path.suffix == ".json" else None
    if not isinstance(selective, SelectiveRules):
        raise DataError(
            f"{path}: has no threshold from which cases are decided; test one on other samples "
            f"first: pinesy calibrate {path} DATA -o MODEL.json --error 0.01"
        )
    with placed(str(path)):
        return selective.for_possibilities(transform)


def calibration_of(
    path: Path, transform: str, levels: list[float]
) -> CalibratedRules | GroupedRules:
    """Load calibrated rules, also of groups in a column of data files."""
    model = load(path) if path.suffix == ".json" else None
    model = model.model if isinstance(model, SelectiveRules) else model
    if not isinstance(model, GroupedRules):
        return _calibrated_on_files(model, path, transform, levels)
    if model.column is None:
        raise DataError(
            f"{path}: was calibrated in Python for every group, so its groups have no column; use "
            f"pinesy.load({path.name!r}).predict_set(evidence, level, groups=...), or calibrate "
            "with pinesy calibrate --group COLUMN"
        )
    return replace(model, base=_calibrated_on_files(model.base, path, transform, levels))


def calibrated_rules(path: Path, transform: str, levels: list[float]) -> CalibratedRules:
    """Load calibrated rules whose evidence is possibilities, as read from files."""
    calibrated = calibration_of(path, transform, levels)
    if isinstance(calibrated, GroupedRules):
        raise DataError(
            f"{path}: was calibrated for every group, which this command does not take; use pinesy "
            "infer --level or evaluate --level, or calibrate without --group"
        )
    return calibrated


def group_column(calibrated: object) -> str | None:
    """Return the column with the groups of calibrated rules; None if they have none."""
    return calibrated.column if isinstance(calibrated, GroupedRules) else None


def calibrated_for(calibrated: CalibratedRules | GroupedRules, samples: Batch) -> CalibratedRules:
    """Return calibrated rules for the groups of a batch."""
    if isinstance(calibrated, CalibratedRules):
        return calibrated
    assert calibrated.column is not None
    return calibrated.for_groups(samples.ids[calibrated.column], len(samples))


def _calibrated_on_files(
    calibrated: Any, path: Path, transform: str, levels: list[float]
) -> CalibratedRules:
    """Return calibrated rules for evidence read from files, or raise `DataError`."""
    if not isinstance(calibrated, CalibratedRules):
        raise DataError(
            f"{path}: is not calibrated, so nothing is guaranteed at any level; calibrate on other "
            f"samples first: pinesy calibrate {path} DATA -o CALIBRATED.json"
        )
    if calibrated.transform.is_weighted:
        raise DataError(
            f"{path}: was calibrated with weights, so new samples need theirs, which commands do "
            f"not take; use Python: pinesy.load({path.name!r}).predict_set(evidence, level, "
            "weights=...), or calibrate_more(..., weights)"
        )
    for level in levels:
        calibrated.transform.check_level(level)
    if isinstance(calibrated, CalibratedAnswers) and calibrated.probabilities is not None:
        expected = calibrated.probabilities.replace("_", "-")
        if transform != expected:
            raise DataError(f"{path}: was calibrated with --transform {expected}; give the same")
        return replace(calibrated, probabilities=None)
    return calibrated
