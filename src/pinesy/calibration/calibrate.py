"""`calibrate`: conformal calibration of rules, on samples whose true values are known.

Either inputs or answers are calibrated. The nonconformity scores of the true values are counted
(`CalibratedRules.calibrate_more`); the p-value of a new value is the share of counted scores that
are at least as large (`ConformalTransform`).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from pinesy._common.names import by_name
from pinesy._common.validation import check_number
from pinesy.calibration.calibrated_points import CalibratedPoints
from pinesy.calibration.calibrated_rules import (
    CalibratedAnswers,
    CalibratedInputs,
    CalibratedRules,
    true_values,
)
from pinesy.calibration.conformal_transform import ConformalTransform, Unit
from pinesy.evidence.evidence_form import Evidence, Transform
from pinesy.exceptions import DataError
from pinesy.induction.points_cascade import card_of
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.transforms import as_transform


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
) -> CalibratedRules:
    """Calibrate rules on samples whose true values are known, so that their answers are guaranteed.

    The samples must not have been used to train the model that gives the evidence. With the true
    values of all inputs as targets, inputs are calibrated; the guarantee extends to the answers
    where the rules hold. With true answers, the answers are calibrated: that guarantee holds for
    any rules, even wrong ones. docs/guarantees.md compares both. Answers of induced rules are
    scored by their points before these were rounded (`CalibratedPoints`).

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`, or what `learn` returns
    evidence : possibilities or probabilities of the calibration samples (probabilities with
        ``transform``, if answers are calibrated)
    targets : by input, or by output, the true values. With both, inputs are calibrated, and the
        true answers estimate how often the rules fail.
    score, unit, class_conditional, kinds : as `ConformalTransform` takes them
    weights : sample weights, for a covariate shift; see `ConformalTransform.fit`. New samples then
        need weights, too.
    exceptions : the share of cases in which the rules do not hold, if it is known
    transform : of probabilities into possibilities, if answers are calibrated

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
    if isinstance(rules, LearningResult | ParameterEstimate):
        rules = LearnedRules(rules, {})
    learned = rules if isinstance(rules, LearnedRules) else None
    cascade = rules.cascade if isinstance(rules, LearnedRules) else as_cascade(rules)
    truth = true_values(cascade, targets)
    options: dict[str, Any] = {
        "unit": unit,
        "class_conditional": class_conditional,
        "kinds": None if kinds is None else by_name(kinds, "input"),
    }
    if truth.keys().isdisjoint(a.name for a in cascade.inputs):
        if score != "complement":
            raise DataError(
                f"score is {score!r:.60}; answers are scored by 1 - pi ('complement') alone"
            )
        transform_name = None if transform is None else as_transform(transform).name
        card = card_of(cascade)
        has_points = card is not None and [*truth] == [card.output.name] and transform is None
        calibrated = CalibratedPoints if has_points else CalibratedAnswers
        answers = calibrated(
            cascade, ConformalTransform(**options), learned, tuple(truth), transform_name
        )
        return answers.calibrate_more(evidence, truth, weights)
    if transform is not None:
        raise DataError(
            "inputs are calibrated by their scores in the place of a transformation; leave "
            "transform out, or choose score='antipignistic'"
        )
    inputs = CalibratedInputs(cascade, ConformalTransform(score, **options), learned)
    inputs = inputs.calibrate_more(evidence, truth, weights)
    if exceptions is None:
        return inputs
    return replace(inputs, exceptions=check_number(exceptions, "exceptions", most=1.0))
