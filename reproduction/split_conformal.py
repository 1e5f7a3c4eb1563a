"""Split conformal prediction of sums as classes, by MAPIE: what others would do."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray

Columns = npt.NDArray[np.int64]


def sum_probabilities(digits: FloatArray) -> FloatArray:
    """Return the probabilities of all sums of two numbers, their digits taken as independent.

    Parameters
    ----------
    digits : array (n, 2, k, 10), the most significant digit first

    Examples
    --------
    >>> sum_probabilities(np.full((1, 2, 1, 10), 0.1))[0, :3].round(3).tolist()
    [0.01, 0.02, 0.03]
    """
    numbers = [_number(digits[:, i]) for i in range(2)]
    n, size = numbers[0].shape
    probabilities = np.zeros((n, 2 * size - 1))
    for value in range(size):
        probabilities[:, value : value + size] += numbers[0][:, [value]] * numbers[1]
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def _number(digits: FloatArray) -> FloatArray:
    """Return the probabilities of the numbers that digits (n, k, 10) make."""
    joint_digits = digits[:, 0]
    for column in range(1, digits.shape[1]):
        joint = joint_digits[:, :, None] * digits[:, column, None, :]
        joint_digits = joint.reshape(len(digits), -1)
    return joint_digits


class _Given:
    """A classifier whose features are the probabilities of the classes."""

    def __init__(self, n: int) -> None:
        self.classes_ = np.arange(n)

    def fit(self, _x: FloatArray, _y: Columns) -> "_Given":
        return self

    def predict(self, x: FloatArray) -> Columns:
        return np.asarray(x.argmax(axis=1))

    def predict_proba(self, x: FloatArray) -> FloatArray:
        return x

    def __sklearn_is_fitted__(self) -> bool:
        return True


def sum_sets(
    known: FloatArray, new: FloatArray, sums: Columns, levels: Sequence[float]
) -> list[npt.NDArray[np.bool_]]:
    """Return for each level the sets of sums of new samples.

    The score is 1 minus the probability of the true sum (LAC).

    Parameters
    ----------
    known, new : digits of the samples for calibration and test, as `sum_probabilities` takes them
    sums : the true sums of those for calibration
    levels : for which there are enough of these
    """
    return sum_classes_sets(sum_probabilities(known), sum_probabilities(new), sums, levels)


def sum_classes_sets(
    known: FloatArray,
    new: FloatArray,
    classes: Columns,
    levels: Sequence[float],
    score: str = "lac",
) -> list[npt.NDArray[np.bool_]]:
    """Return for each level the sets of classes, by probabilities and a score of MAPIE."""
    from mapie.classification import SplitConformalClassifier

    method: Any = SplitConformalClassifier(
        _Given(known.shape[1]), confidence_level=list(levels), conformity_score=score, prefit=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = method.conformalize(known, classes).predict_set(new)[1]
    return [np.asarray(sets[:, :, i], dtype=bool) for i in range(len(levels))]
