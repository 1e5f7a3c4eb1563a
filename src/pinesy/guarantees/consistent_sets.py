"""Sets of input values and of answers at one level, in which every value belongs to some tuple.

``C = {(v, w) : pi_j(v_j) > alpha for all j, w follows from v}`` contains the true tuple with
probability at least ``1 - alpha``. The sets are its projections: the cuts of the marginals of
``min_j pi_j(v_j)``, restricted by the rules and by answers that are known or predicted. One pass of
messages forward and one backward (`posterior`) gives all of them, for all levels; exactly on rules
without loops. With loops sets can only be larger.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices, name_of
from pinesy._common.validation import FloatArray, check_sample
from pinesy.calibration.calibrated_rules import CalibratedInputs, CalibratedRules
from pinesy.calibration.prediction_sets import PredictionSets
from pinesy.calibration.score_counts import exceeds
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.targets import Target, named_targets, read_targets
from pinesy.exceptions import DataError
from pinesy.guarantees.calibrated_tuples import CalibratedTuples, tuple_degrees
from pinesy.guarantees.exclusion_reason import ExclusionReason, Restriction, exclusion_reason
from pinesy.inverse.posterior import posterior
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import outcome_indices
from pinesy.rules.possibility import Possibility


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentSets(PredictionSets):
    """For inputs and answers, the values that belong to a consistent tuple at a level.

    At the level, the true values of all inputs and answers are in their sets together, where the
    rules hold; and every value in a set is in a tuple of values of the sets that follows the rules.

    Attributes
    ----------
    compatibility : for each sample, how possible it is that some tuple is consistent
    exact : whether the sets are the projections; if False, rules have loops, and some sets may be
        larger
    rules : Cascade
    restrictions : by attribute, the calibrated degrees of inputs and the degrees of answers that
        are known or predicted, ``(n, values)``; the sets follow from them and the rules
    """

    compatibility: Any = 1.0
    exact: bool = True
    rules: Cascade | None = None
    restrictions: Mapping[str, FloatArray] | None = None

    @property
    def is_empty(self) -> Any:
        """Whether no tuple is consistent at the level: so do at most ``1 - level`` of samples."""
        return ~exceeds(self.compatibility, self.level)

    def outcome_indices(self, key: Any) -> npt.NDArray[np.intp]:
        """Return the indices of `outcomes`; ``"contradiction"`` where no tuple is consistent."""
        degrees = self._possibility(key).degrees
        unrestricted = (degrees == degrees.max(axis=-1, keepdims=True)).all(axis=-1)
        novel = ~exceeds(self.conformity, self.level)
        return outcome_indices(self.members(key), unrestricted, self.is_empty, novel)

    def why_excluded(self, key: Any, value: Hashable, row: int | None = None) -> ExclusionReason:
        """Return why a value is in no consistent tuple: what it would need, and what excludes that.

        Parameters
        ----------
        key : an attribute or its name
        row : of a batch, which sample
        """
        assert self.rules is not None
        assert self.restrictions is not None
        possibility = self._possibility(key)
        if possibility.is_batch == (row is None):
            raise DataError("give a row of a batch, and none for one sample")
        row = 0 if row is None else check_sample(row, len(possibility))
        index = possibility.attribute.position(value)
        degree = float(np.atleast_2d(possibility.degrees)[row, index])
        restrictions = [
            Restriction(self.rules.attributes[name], degrees[row])
            for name, degrees in self.restrictions.items()
        ]
        return exclusion_reason(
            self.rules, possibility.attribute, value, degree, self.level, restrictions
        )

    def __repr__(self) -> str:
        text = super().__repr__().replace("PredictionSets", "ConsistentSets", 1)
        return text if self.exact else f"{text[:-1]}; rules with loops, sets may be larger)"


def consistent_sets(
    calibrated: CalibratedRules | CalibratedTuples,
    evidence: Evidence,
    level: float = 0.95,
    *,
    known: Mapping[Any, Any] | None = None,
    predicted: Mapping[Any, Any] | None = None,
    attributes: Iterable[str | Attribute] | None = None,
    weights: npt.ArrayLike | None = None,
) -> ConsistentSets:
    """Return sets of inputs and answers, each value of which belongs to a consistent tuple.

    Parameters
    ----------
    calibrated : rules with calibrated inputs, or with predictors (`calibrate_tuples`)
    known : by attribute, answers that are known (a verdict, a total on a receipt); they restrict
        the inputs. For a batch a value for each sample.
    predicted : by attribute, what its predictor gives, if it was calibrated with the inputs
    attributes : those of the result; by default all inputs and final outputs
    weights : as `CalibratedRules.predict_set` takes them

    Examples
    --------
    >>> from pinesy import Attribute, calibrate, function, joint
    >>> left, right = Attribute("left", range(3)), Attribute("right", range(3))
    >>> rules = function("total", joint("pair", left, right), "left + right")
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=(200, 2))
    >>> noisy = np.eye(3)[truth] + rng.gamma(0.2, size=(200, 2, 3))
    >>> p = noisy / noisy.sum(axis=2, keepdims=True)
    >>> digits = {"left": truth[:, 0], "right": truth[:, 1]}
    >>> sure = calibrate(rules, {"left": p[:, 0], "right": p[:, 1]}, digits)
    >>> sample = {"left": [0.5, 0.5, 0.0], "right": [0.0, 0.5, 0.5]}
    >>> consistent_sets(sure, sample)
    ConsistentSets(left in {0, 1}, right in {1, 2}, total in {1, 2, 3} at 0.95)
    >>> sets = consistent_sets(sure, sample, known={"total": 3})
    >>> sets
    ConsistentSets(left in {1}, right in {2}, total in {3} at 0.95)
    >>> print(sets.why_excluded("left", 0))
    left = 0 is excluded at 95 %: every tuple that has it needs
      total in {0..2}, but it is 3
    """
    calibrated.transform.check_level(level)
    degrees, answers, conformity, is_batch = tuple_degrees(calibrated, evidence, predicted, weights)
    rules, n = calibrated.rules, len(degrees)
    targets = _known_answers(rules, known, n, is_batch)
    for name, pi in answers.items():
        targets[name] = np.minimum(targets[name], pi) if name in targets else pi
    names = [a.name for a in (*rules.inputs, *rules.outputs)]
    if attributes is not None:
        names = [str(name_of(key)) for key in attributes]
    distributions = {
        name: Target(rules.attributes[name], np.empty(0, np.uint32), pi)
        for name, pi in targets.items()
    }
    projections = posterior(rules, degrees, distributions, names)
    row: Any = slice(None) if is_batch else 0
    possibilities = {
        name: Possibility(pi.attribute, pi.degrees[row]) for name, pi in projections.joint.items()
    }
    inputs = {name: degrees[:, span] for name, span in column_slices(rules.inputs).items()}
    return ConsistentSets(
        level,
        possibilities,
        conformity[row],
        projections.compatibility[row],
        projections.exact,
        rules,
        inputs | targets,
    )


def why_excluded(
    calibrated: CalibratedRules,
    evidence: Evidence,
    level: float,
    attribute: Attribute,
    value: Hashable | None = None,
) -> ExclusionReason | None:
    """Return why a value of one sample is excluded at a level.

    None if it is not excluded, or if inputs were not calibrated together, so that they give no
    reason. By default the value is the most possible of those that are excluded.
    """
    if not isinstance(calibrated, CalibratedInputs) or (
        calibrated.transform.unit != "sample" and len(calibrated.rules.inputs) > 1
    ):
        return None
    sets = consistent_sets(calibrated, evidence, level, attributes=[attribute])
    excluded = ~sets.members(attribute)
    if value is None and excluded.any() and not sets.is_empty:
        degrees = sets.possibilities[attribute.name].degrees
        value = attribute.domain[int(np.where(excluded, degrees, -1.0).argmax())]
    if value is None or not excluded[attribute.position(value)]:
        return None
    return sets.why_excluded(attribute, value)


def _known_answers(
    rules: Cascade, known: Mapping[Any, Any] | None, n: int, is_batch: bool
) -> dict[str, FloatArray]:
    """Return known answers as degrees ``(n, values)``, 1 for the known value."""
    if not known:
        return {}
    attributes = {name: rule_set.output for name, rule_set in rules.sets.items()}
    only = rules.outputs[0] if len(rules.outputs) == 1 else None
    names = by_name(known, "answer") if isinstance(known, Mapping) else known
    targets = read_targets(named_targets(names, attributes, only), attributes, n, is_batch=is_batch)
    return {name: target.distributions for name, target in targets.items()}
