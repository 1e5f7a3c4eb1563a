"""Calibrations in files: counts of scores, without data.

A file of rules in JSON, learned or not, has one more key::

    "calibration": {"version": 2, "of": "inputs", "score": "complement", "unit": "sample",
                    "class_conditional": false, "kinds": null, "ranks": [],
                    "counts": [{"scores": [...], "counts": [...]}], "doubt": {...},
                    "exceptions": null}

Counts are numbers of samples; with sample weights, ``"weights": [...]`` has their sums. Exceptions
are null, a share, or counts. Calibrated answers have ``"outputs": [...]`` and ``"probabilities":
"antipignistic"`` (or null) instead of the exceptions; ``"of": "points"`` are the answers of a score
card by its points before they were rounded.
"""

from collections.abc import Mapping
from typing import Any

from pinesy._common.validation import check_flag, check_number
from pinesy.calibration.calibrated_points import CalibratedPoints
from pinesy.calibration.calibrated_rules import CalibratedAnswers, CalibratedInputs, CalibratedRules
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.score_counts import ScoreCounts
from pinesy.exceptions import DataError
from pinesy.learning.model_file import LearnedRules
from pinesy.rulebase.cascade import Cascade
from pinesy.transforms import as_transform

VERSION = 2
#: The parameters of the transformation that a file has.
FORM = ("score", "unit", "class_conditional", "kinds")


def calibration_content(calibrated: CalibratedRules) -> dict[str, Any]:
    """Return a calibration, without its rules, as a dict for JSON."""
    transform = calibrated.transform
    kinds = set((transform.kinds or {}).values())
    for kind in kinds:
        if not isinstance(kind, str | int):
            raise DataError(
                f"kinds of inputs are saved if they are texts or integers; got {kind!r:.60}"
            )
    if isinstance(calibrated, CalibratedAnswers):
        of_rules: dict[str, Any] = {
            "of": "points" if isinstance(calibrated, CalibratedPoints) else "answers",
            "outputs": list(calibrated.outputs),
            "probabilities": calibrated.probabilities,
        }
    else:
        assert isinstance(calibrated, CalibratedInputs)
        exceptions = calibrated.exceptions
        content = exceptions.content if isinstance(exceptions, ScoreCounts) else exceptions
        of_rules = {"of": "inputs", "exceptions": content}
    return {
        "version": VERSION,
        **{name: getattr(transform, name) for name in FORM},
        "ranks": [[kind, counts.content] for kind, counts in transform.ranks_.items()],
        "counts": [counts.content for counts in transform.counts_],
        "doubt": transform.doubt_.content,
        **of_rules,
    }


def read_calibration(
    cascade: Cascade, content: Mapping[str, Any], learned: LearnedRules | None = None
) -> CalibratedRules:
    """Return the calibrated rules, from the rules and the `calibration_content` of a file.

    Raises `DataError`, or `KeyError`, `TypeError`, `ValueError` and such if something is missing
    or has the wrong form.
    """
    if content["version"] == 1:
        raise DataError(
            '"calibration" is of version 1, which did not tell weights from numbers of samples; '
            "calibrate again"
        )
    if content["version"] != VERSION:
        raise DataError(f'"calibration" is not of version {VERSION}, which this pinesy reads')
    transform = ConformalTransform(**{name: content[name] for name in FORM})
    check_flag(transform.class_conditional, '"class_conditional" of a calibration')
    transform.ranks_ = {kind: _read_counts(counts) for kind, counts in content["ranks"]}
    transform.counts_ = tuple(_read_counts(counts) for counts in content["counts"])
    transform.doubt_ = _read_counts(content["doubt"])
    if content["of"] in ("answers", "points"):
        outputs, probabilities = tuple(content["outputs"]), content["probabilities"]
        name = probabilities and as_transform(probabilities).name
        _check_counts(transform, {len(cascade[o].output.domain) for o in outputs}, outputs)
        if content["of"] == "points":
            return CalibratedPoints(cascade, transform, learned, outputs, name)
        return CalibratedAnswers(cascade, transform, learned, outputs, name)
    if content["of"] != "inputs":
        raise ValueError(f'"of" is {content["of"]!r:.60}')
    _check_counts(
        transform, {len(a.domain) for a in cascade.inputs}, [a.name for a in cascade.inputs]
    )
    exceptions = content["exceptions"]
    if isinstance(exceptions, Mapping):
        exceptions = _read_counts(exceptions)
    elif exceptions is not None:
        exceptions = check_number(
            exceptions, '"exceptions" of a calibration', most=1.0, error=DataError
        )
    return CalibratedInputs(cascade, transform, learned, exceptions)


def _read_counts(content: Mapping[str, Any]) -> ScoreCounts:
    """Return counts of scores, or raise `DataError` unless the scores lie in [0, 1]."""
    counts = ScoreCounts.read(content)
    if len(counts.scores) and not (counts.scores[0] >= 0.0 and counts.scores[-1] <= 1.0):
        raise DataError('"scores" of a calibration must lie in [0, 1]')
    return counts


def _check_counts(transform: ConformalTransform, sizes: set[int], names: Any) -> None:
    """Raise `DataError` unless the counts fit attributes of these domain sizes and names."""
    n_counts = max(sizes) if transform.class_conditional else 1
    kinds = transform.kinds or {}
    fits = {*kinds} == {*names} and {*kinds.values()} == {*transform.ranks_} if kinds else True
    if len(transform.counts_) != n_counts or not fits or not sizes:
        raise DataError('"calibration" is not of these rules; the file was changed')
    counted = [*transform.counts_, transform.doubt_]
    units = transform.doubt_.samples * (len(names) if transform.unit == "input" else 1)
    is_same = all(counts.is_weighted == transform.is_weighted for counts in counted)
    if not is_same or sum(counts.samples for counts in transform.counts_) != units:
        raise DataError('the parts of "calibration" count other samples; the file was changed')
