"""Rules in JSON, with what was learned and calibrated, if anything was."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinesy._common.files import read_text, writing
from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.calibration.calibration_file import calibration_content, read_calibration
from pinesy.exceptions import DataError, PinesyError, placed
from pinesy.learning.model_file import LearnedRules, model_content, read_model
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rules_json import from_content, read_content, to_content

#: What is wrong with a part of a file that is not as it was written.
DAMAGES = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


def write_json(
    thing: Cascade | LearnedRules,
    path: Path,
    calibration: CalibratedRules | None = None,
) -> None:
    """Write rules, with what was learned and calibrated, to a ``.json`` file."""
    if path.suffix != ".json":
        what = "learned" if calibration is None else "calibrated"
        raise DataError(f"{path}: {what} models are saved as .json files, not {path.suffix!r}")
    content = to_content(thing.cascade if isinstance(thing, LearnedRules) else thing)
    if isinstance(thing, LearnedRules):
        content["learning"] = model_content(thing.result, thing.provenance)
    if calibration is not None:
        content["calibration"] = calibration_content(calibration)
    try:
        text = json.dumps(content, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise DataError(f"the provenance cannot be written as JSON: {error}") from None
    with writing(path) as file:
        file.write(text + "\n")


def read_json(
    path: Path, max_values: int | None = None
) -> Cascade | LearnedRules | CalibratedRules:
    """Read a ``.json`` file: rules, or how they were learned too, or calibrated."""
    text = read_text(path)
    with placed(str(path)):
        content = read_content(text)
        cascade = from_content(content, max_values)
        learned = None
        if "learning" in content:
            learned = _part(content, "learning", lambda part: read_model(cascade, part))
        if "calibration" in content:
            return _part(  # type: ignore[no-any-return]
                content, "calibration", lambda part: read_calibration(cascade, part, learned)
            )
        return learned or cascade


def _part(content: Mapping[str, Any], key: str, read: Any) -> Any:
    """Read a part of a file; whatever is wrong with its form is a `DataError`."""
    try:
        return read(content[key])
    except DAMAGES as error:
        if isinstance(error, PinesyError):  # some are errors of Python too
            raise
        raise DataError(f'"{key}" is not of the form it must have: {error!r}') from None
