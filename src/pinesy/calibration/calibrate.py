"""Calibrate rules on samples whose true values are known."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from pinesy._common.names import by_name
from pinesy._common.validation import check_number
from pinesy.calibration.calibrated_answers import CalibratedAnswers
from pinesy.calibration.calibrated_inputs import CalibratedInputs
from pinesy.calibration.calibrated_rules import CalibratedRules, named_targets
from pinesy.calibration.conformal_transform import ConformalTransform, Unit
from pinesy.calibration.score_counts import ScoreCounts
from pinesy.engine.evidence import Evidence, Transform
from pinesy.exceptions import DataError
from pinesy.learning.estimates import ParameterEstimate
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.transforms import transform_name


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
    weights : of the samples, for a shift of the inputs; see `ConformalTransform.fit`
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
    named = named_targets(cascade, targets)
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
        name = None if transform is None else transform_name(transform)
        answers = CalibratedAnswers(
            cascade, ConformalTransform(**options), learned, tuple(named), name
        )
        return answers.calibrate_more(evidence, named, weights)
    if transform is not None:
        raise DataError(
            "inputs are calibrated by their scores in the place of a transformation; leave "
            "transform out, or choose score='antipignistic'"
        )
    found = CalibratedInputs(cascade, ConformalTransform(score, **options), learned)
    found = found.calibrate_more(evidence, named, weights)
    return found if exceptions is None else replace(found, exceptions=_rate(exceptions))


def _rules(given: Any) -> tuple[Cascade, LearnedRules | None]:
    """Return rules, and how they were learned if they come with that."""
    if isinstance(given, LearningResult | ParameterEstimate):
        given = LearnedRules(given, {})
    if isinstance(given, LearnedRules):
        return given.cascade, given
    return as_cascade(given), None


def _rate(exceptions: float) -> ScoreCounts:
    rate = check_number(exceptions, "exceptions", most=1.0)
    return ScoreCounts.of([0.0, 1.0], [1.0 - rate, rate])
