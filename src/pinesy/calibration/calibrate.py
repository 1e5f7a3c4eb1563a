"""Calibrate rules on samples whose true values are known, and calibrations in files.

In a file there are counts of scores, and no data. A file of rules in JSON, learned or not, has one
more key::

    "calibration": {"version": 2, "of": "inputs", "score": "complement", "unit": "sample",
                    "class_conditional": false, "kinds": null, "ranks": [],
                    "counts": [{"scores": [...], "counts": [...]}], "doubt": {...},
                    "exceptions": null}

Counts are numbers of samples; if these have weights, ``"weights": [...]`` has their sums.
Exceptions are null, a share, or counts. Of answers there is ``"outputs": [...]`` and
``"probabilities": "antipignistic"`` (or null) in the place of the exceptions.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from pinesy._common.names import by_name
from pinesy._common.validation import check_flag, check_number
from pinesy.calibration.calibrated_inputs import CalibratedInputs
from pinesy.calibration.calibrated_rules import CalibratedAnswers, CalibratedRules, true_values
from pinesy.calibration.conformal_transform import ConformalTransform, Unit
from pinesy.calibration.score_counts import ScoreCounts
from pinesy.evidence.evidence_form import Evidence, Transform
from pinesy.exceptions import DataError
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.transforms import as_transform

VERSION = 2
#: The parameters of the transformation, as they stand in a file.
FORM = ("score", "unit", "class_conditional", "kinds")


def calibrate(
    rules: Cascade | RuleSet | LearnedRules | LearningResult | ParameterEstimate,
    evidence: Evidence,
    targets: Mapping[Any, Any],
    *,
    score: str = "complement",
    unit: Unit = "sample",
    class_conditional: bool = False,
    kinds: Mapping[Any, Any] | None = None,
    weights: npt.ArrayLike | None = None,
    exceptions: float | None = None,
    transform: Transform = None,
) -> "CalibratedRules":
    """Calibrate rules on samples whose true values are known, so that their answers are guaranteed.

    The samples must not have been used to train what the evidence comes from. With the true values
    of all inputs as targets, inputs are calibrated and the rules carry the guarantee to their
    answers, which is right where the rules are. With true answers, the answers are calibrated:
    that holds for any rules, even wrong ones. docs/guarantees.md says which to take.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`, or what `learn` returns
    evidence : of the calibration samples: possibilities, or probabilities (then with
        ``transform``, if answers are calibrated)
    targets : by input, or by output, the true values. With both, inputs are calibrated, and the
        answers tell how often the rules fail.
    score, unit, class_conditional, kinds : as `ConformalTransform` takes them
    weights : of the samples, for a shift of the inputs; see `ConformalTransform.fit`. New samples
        then need weights, too.
    exceptions : the share of cases in which the rules do not hold, where it is known
    transform : if answers are calibrated and the evidence holds probabilities, their transformation

    Examples
    --------
    >>> import numpy as np
    >>> from pinesy import Attribute, function, joint
    >>> left, right = Attribute("left", range(3)), Attribute("right", range(3))
    >>> rules = function("total", joint("pair", left, right), "left + right")
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=(200, 2))
    >>> noisy = np.eye(3)[truth] + rng.gamma(0.2, size=(200, 2, 3))
    >>> p = noisy / noisy.sum(axis=2, keepdims=True)
    >>> evidence = {"left": p[:, 0], "right": p[:, 1]}
    >>> sure = calibrate(rules, evidence, {"left": truth[:, 0], "right": truth[:, 1]})
    >>> sure.predict_set({"left": [0.9, 0.1, 0.0], "right": [0.0, 0.6, 0.4]}, level=0.95)
    PredictionSets(total in {1, 2} at 0.95)
    """
    cascade, learned = _rules(rules)
    named = true_values(cascade, targets)
    options: dict[str, Any] = {
        "unit": unit,
        "class_conditional": class_conditional,
        "kinds": None if kinds is None else by_name(kinds, "input"),
    }
    if not any(name in named for name in (a.name for a in cascade.inputs)):
        if score != "complement":
            raise DataError(
                f"score is {score!r:.60}; answers are scored by 1 - pi ('complement') alone"
            )
        name = None if transform is None else as_transform(transform).name
        answers = CalibratedAnswers(
            cascade, ConformalTransform(**options), learned, tuple(named), name
        )
        return answers.calibrate_more(evidence, named, weights)
    if transform is not None:
        raise DataError(
            "inputs are calibrated by their scores in the place of a transformation; leave "
            "transform out, or choose score='antipignistic'"
        )
    calibrated = CalibratedInputs(cascade, ConformalTransform(score, **options), learned)
    calibrated = calibrated.calibrate_more(evidence, named, weights)
    if exceptions is None:
        return calibrated
    return replace(calibrated, exceptions=check_number(exceptions, "exceptions", most=1.0))


def _rules(given: Any) -> tuple[Cascade, LearnedRules | None]:
    """Return rules, and how they were learned if they come with that."""
    if isinstance(given, LearningResult | ParameterEstimate):
        given = LearnedRules(given, {})
    if isinstance(given, LearnedRules):
        return given.cascade, given
    return as_cascade(given), None


def calibration_content(calibrated: CalibratedRules) -> dict[str, Any]:
    """Return a calibration, without its rules, as JSON holds it."""
    transform = calibrated.transform
    kinds = set((transform.kinds or {}).values())
    odd = next((kind for kind in kinds if not isinstance(kind, str | int)), None)
    if odd is not None:
        raise DataError(f"kinds of inputs are saved if they are texts or numbers; got {odd!r:.60}")
    return {
        "version": VERSION,
        **{name: getattr(transform, name) for name in FORM},
        "ranks": [[kind, counts.content] for kind, counts in transform.ranks_.items()],
        "counts": [counts.content for counts in transform.counts_],
        "doubt": transform.doubt_.content,
        **_own_content(calibrated),
    }


def _own_content(calibrated: CalibratedRules) -> dict[str, Any]:
    if isinstance(calibrated, CalibratedAnswers):
        answers = {"outputs": list(calibrated.outputs), "probabilities": calibrated.probabilities}
        return {"of": "answers", **answers}
    assert isinstance(calibrated, CalibratedInputs)
    exceptions = calibrated.exceptions
    content = exceptions.content if isinstance(exceptions, ScoreCounts) else exceptions
    return {"of": "inputs", "exceptions": content}


def read_calibration(
    cascade: Cascade, content: Mapping[str, Any], learned: LearnedRules | None = None
) -> CalibratedRules:
    """Return what `calibration_content` was made of, for the rules of the same file.

    Raises `DataError`, or `KeyError`, `TypeError`, `ValueError` and such if something is missing
    or confused.
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
    if content["of"] == "answers":
        return _read_answers(cascade, transform, content, learned)
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
    """Return counts of scores, which are 1 minus degrees."""
    counts = ScoreCounts.read(content)
    if len(counts.scores) and not (counts.scores[0] >= 0.0 and counts.scores[-1] <= 1.0):
        raise DataError('"scores" of a calibration must lie in [0, 1]')
    return counts


def _read_answers(
    cascade: Cascade,
    transform: ConformalTransform,
    content: Mapping[str, Any],
    learned: LearnedRules | None,
) -> CalibratedAnswers:
    outputs = tuple(content["outputs"])
    name = content["probabilities"] and as_transform(content["probabilities"]).name
    _check_counts(transform, {len(cascade[o].output.domain) for o in outputs}, outputs)
    return CalibratedAnswers(cascade, transform, learned, outputs, name)


def _check_counts(transform: ConformalTransform, sizes: set[int], names: Any) -> None:
    """Raise `DataError` unless the counts are those of attributes of such sizes."""
    wanted = max(sizes) if transform.class_conditional else 1
    kinds = transform.kinds or {}
    fits = {*kinds} == {*names} and {*kinds.values()} == {*transform.ranks_} if kinds else True
    if len(transform.counts_) != wanted or not fits or not sizes:
        raise DataError('"calibration" is not of these rules; the file was changed')
    counted = [*transform.counts_, transform.doubt_]
    units = transform.doubt_.samples * (len(names) if transform.unit == "input" else 1)
    is_same = all(counts.is_weighted == transform.is_weighted for counts in counted)
    if not is_same or sum(counts.samples for counts in transform.counts_) != units:
        raise DataError('the parts of "calibration" count other samples; the file was changed')
