"""Inputs and predictors of answers, calibrated together: the whole tuple is in its set at a level.

The score of a sample is the worst of the scores of its true inputs and true answers. So at one
level all true values are in their sets together (docs/guarantees.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name, column_slices
from pinesy._common.validation import FloatArray
from pinesy.calibration.calibrated_rules import (
    CalibratedAnswers,
    CalibratedInputs,
    CalibratedRules,
    check_sums,
    raise_bad_degree,
    true_indices,
    true_values,
)
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.exceptions import DataError, ShapeError
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet

#: The kind of all inputs, if there are predictors of answers, each of which is a kind of its own.
INPUTS = "inputs"
#: The degrees of new inputs side by side, those of predicted answers, the conformity of each
#: sample, and whether they are a batch.
TupleDegrees = tuple[FloatArray, dict[str, FloatArray], FloatArray, bool]


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedTuples:
    """Rules whose inputs are calibrated together with predictors of their answers.

    Attributes
    ----------
    rules : Cascade
    transform : maps the degrees of inputs and predicted answers to p-values
    predicted : the names of the attributes that have a predictor of their own
    """

    rules: Cascade
    transform: ConformalTransform
    predicted: tuple[str, ...]

    def degrees(
        self, evidence: Evidence, predicted: Mapping[Any, Any] | None, weights: npt.ArrayLike | None
    ) -> TupleDegrees:
        """Return the calibrated degrees of inputs and predicted answers."""
        parts, is_batch = _parts(self.rules, evidence, predicted, self.predicted, self.transform)
        pis, conformity = self.transform.with_conformity(parts, weights)
        inputs = np.hstack([pis[a.name] for a in self.rules.inputs])
        return inputs, {name: pis[name] for name in self.predicted}, conformity, is_batch

    @property
    def guarantee(self) -> str:
        """The guarantee as a sentence."""
        answers = ", ".join(self.predicted)
        return (
            "For any level L, in at least a share L of new samples the true values of all inputs "
            f"and of {answers} are in their sets together, and belong to a tuple that follows the "
            f"rules, where the rules hold (calibrated on {self.transform.n} samples; "
            f"{self.transform.assumption('training')})."
        )

    def __repr__(self) -> str:
        return f"CalibratedTuples({self.transform!r}; {', '.join(self.predicted)}; {self.rules!r})"


def calibrate_tuples(
    rules: Cascade | RuleSet,
    evidence: Evidence,
    predicted: Mapping[Any, Any],
    targets: Mapping[Any, Any],
    *,
    score: str = "complement",
    weights: npt.ArrayLike | None = None,
) -> CalibratedTuples:
    """Calibrate inputs together with predictors of answers, such as a network that reads the sum.

    A predictor is one more input of a kind of its own: the first half of the samples ranks the
    scores of inputs and of each predictor, the second half is counted.

    Parameters
    ----------
    evidence : probabilities or possibilities of the inputs of calibration samples
    predicted : by attribute that rules conclude on, what its predictor gives, ``(n, values)``
    targets : the true values of all inputs and of the predicted attributes
    score, weights : as `pinesy.calibrate` takes them

    Examples
    --------
    >>> from pinesy import Attribute, function, joint
    >>> from pinesy.guarantees import consistent_sets
    >>> left, right = Attribute("left", range(3)), Attribute("right", range(3))
    >>> rules = function("total", joint("pair", left, right), "left + right")
    >>> rng = np.random.default_rng(0)
    >>> digits = rng.integers(3, size=(400, 2))
    >>> read = np.eye(3)[digits] + rng.gamma(0.2, size=(400, 2, 3))
    >>> p = read / read.sum(axis=2, keepdims=True)
    >>> sums = np.eye(5)[digits.sum(axis=1)] + rng.gamma(0.1, size=(400, 5))
    >>> truth = {"left": digits[:, 0], "right": digits[:, 1], "total": digits.sum(axis=1)}
    >>> inputs = {"left": p[:, 0], "right": p[:, 1]}
    >>> predicted = {"total": sums / sums.sum(axis=1, keepdims=True)}
    >>> tuples = calibrate_tuples(rules, inputs, predicted, truth)
    >>> sample = {"left": [0.5, 0.5, 0.0], "right": [0.0, 0.5, 0.5]}
    >>> consistent_sets(tuples, sample, predicted={"total": [0.0, 0.0, 0.0, 1.0, 0.0]})
    ConsistentSets(left in {1}, right in {2}, total in {3} at 0.95)
    """
    cascade = as_cascade(rules)
    names = tuple(by_name(predicted, "prediction"))
    for name in names:
        if name not in cascade.sets:
            raise DataError(f"no rule concludes on {name!r}, so it has no predictor of its own")
    if not names:
        raise DataError("there are no predicted answers; pinesy.calibrate calibrates inputs alone")
    kinds = {a.name: INPUTS for a in cascade.inputs} | {name: f"predicted {name}" for name in names}
    transform = ConformalTransform(score, kinds=kinds)
    parts, _ = _parts(cascade, evidence, predicted, names, transform)
    attributes = [*cascade.inputs, *(cascade[name].output for name in names)]
    n = len(next(iter(parts.values())))
    labels = true_indices(attributes, true_values(cascade, targets), n)
    return CalibratedTuples(cascade, transform.fit(parts, labels, weights), names)


def _parts(
    rules: Cascade,
    evidence: Evidence,
    predicted: Mapping[Any, Any] | None,
    names: tuple[str, ...],
    transform: ConformalTransform,
) -> tuple[dict[str, FloatArray], bool]:
    """Return the degrees of inputs and of predicted answers by name, and if they are a batch."""
    rows = evidence_rows(rules, evidence)
    block = rows.block(0, rows.n)
    arrays = by_name(predicted or {}, "prediction")
    missing = [name for name in names if name not in arrays]
    if missing or len(arrays) > len(names):
        raise DataError(f"give predicted=..., degrees of {', '.join(names)}, as in calibration")
    parts = {name: block[:, span] for name, span in column_slices(rules.inputs).items()}
    for name in names:
        parts[name] = np.atleast_2d(np.asarray(arrays[name], dtype=np.float64))
        shape = rows.n, len(rules[name].output.domain)
        if parts[name].shape != shape:
            raise ShapeError(
                f"the predictions of {name!r} have shape {parts[name].shape}; give {shape}"
            )
    attributes = [*rules.inputs, *(rules[name].output for name in names)]
    joined = np.hstack([*parts.values()])
    if not ((joined >= 0.0) & (joined <= 1.0)).all():
        raise_bad_degree(joined, attributes, rows.is_batch)
    if transform.score != "complement":
        check_sums(joined, attributes, rows.is_batch)
    return parts, rows.is_batch


def tuple_degrees(
    calibrated: CalibratedRules | CalibratedTuples,
    evidence: Evidence,
    predicted: Mapping[Any, Any] | None,
    weights: npt.ArrayLike | None,
) -> TupleDegrees:
    """Return the calibrated degrees of inputs and predicted answers; refuse what has no joint set.

    Raises `DataError` where answers alone, or single inputs, were calibrated.
    """
    if isinstance(calibrated, CalibratedTuples):
        return calibrated.degrees(evidence, predicted, weights)
    if isinstance(calibrated, CalibratedAnswers) or not isinstance(calibrated, CalibratedInputs):
        raise DataError(
            "sets of inputs and answers together need calibrated inputs; calibrate with the true "
            "values of all inputs"
        )
    if calibrated.transform.unit != "sample" and len(calibrated.rules.inputs) > 1:
        raise DataError(
            "unit='input' guarantees each input by itself, not all of them together; calibrate "
            "with unit='sample'"
        )
    if predicted:
        raise DataError("predicted answers are calibrated with the inputs: use calibrate_tuples")
    degrees, conformity = calibrated.degrees_with_conformity(evidence, weights)
    return np.atleast_2d(degrees), {}, np.atleast_1d(conformity), degrees.ndim > 1
