"""Files of calibrated rules, as commands with ``--level`` take them."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pinesy.calibration import CalibratedAnswers, CalibratedRules
from pinesy.calibration.level_explanations import LevelExplanation, LevelWhyNot
from pinesy.cli import options
from pinesy.exceptions import DataError
from pinesy.explanations.json_form import json_text
from pinesy.model.storage import load

Level = Annotated[
    float | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        help="Of rules that pinesy calibrate has seen: the values that are not excluded at this "
        "level, such as 0.95.",
    ),
]


def calibrated_rules(
    path: Path, transform: options.TransformName, levels: list[float]
) -> CalibratedRules:
    """Return calibrated rules that take evidence as it is read from files: possibilities."""
    found = load(path) if path.suffix == ".json" else None
    if not isinstance(found, CalibratedRules):
        raise DataError(
            f"{path}: is not calibrated, so nothing is guaranteed at any level; calibrate on other "
            f"samples first: pinesy calibrate {path} DATA -o CALIBRATED.json"
        )
    for level in levels:
        found.transform.check_level(level)
    if isinstance(found, CalibratedAnswers) and found.probabilities is not None:
        wanted = found.probabilities.replace("_", "-")
        if transform != wanted:
            raise DataError(f"{path}: was calibrated with --transform {wanted}; give the same")
        return replace(found, probabilities=None)
    return found


def level_text(
    found: LevelExplanation, rival: LevelWhyNot | None, form: str, limit: int | None
) -> str:
    """Return the explanation of one sample by levels, in a format."""
    if form == "json":
        content = found.to_dict(limit=limit) | {"why_not": rival and rival.to_dict()}
        return json_text(content, indent=1) + "\n"
    return "\n\n".join([found.text(limit=limit), *([str(rival)] if rival else [])]) + "\n"
