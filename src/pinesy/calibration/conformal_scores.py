"""Scores: how badly values fit, of the true values and of the best ones."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError, ShapeError
from pinesy.transforms import antipignistic, minimum_specificity

#: The name of the only part, where degrees come as one array.
ALL = "inputs"


def cumulated(probability: FloatArray) -> FloatArray:
    """Return 1 minus the probability of all values that are more probable."""
    return np.asarray(minimum_specificity(probability, ties="equal"))


def complement(degrees: FloatArray) -> FloatArray:
    """Return degrees as they are: probabilities or possibilities."""
    good = (degrees >= 0.0) & (degrees <= 1.0)
    if not good.all():
        place = tuple(map(int, np.argwhere(~good)[0]))
        raise DegreeError(f"the degree at {place} is {degrees[place]}; degrees lie in [0, 1]")
    return degrees


#: How well a value fits, by the word for the score that is 1 minus it.
FITS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "complement": complement,
    "antipignistic": antipignistic,
    "cumulated": cumulated,
}


def as_parts(degrees: Any) -> dict[Any, FloatArray]:
    """Return degrees by input as arrays ``(n, ..., values)``; one array is one part."""
    given = degrees if isinstance(degrees, Mapping) else {ALL: degrees}
    parts = {key: np.asarray(content, dtype=np.float64) for key, content in given.items()}
    for key, part in parts.items():
        if part.ndim < 1 or part.shape[-1] < 1:
            raise ShapeError(f"{key!r}: degrees have shape (n, values); got {part.shape}")
    return parts


def true_scores(scores: FloatArray, places: npt.NDArray[np.int64]) -> FloatArray:
    """Return the scores of the true values, a row for each sample."""
    true = np.take_along_axis(scores, places[..., None], axis=-1)
    return _rows(true)


def all_true_scores(
    scores: Mapping[Any, FloatArray], places: Mapping[Any, npt.NDArray[np.int64]]
) -> FloatArray:
    """Return the scores of the true values of all inputs, a row for each sample."""
    return np.concatenate([true_scores(scores[key], places[key]) for key in scores], axis=1)


def worst_doubt(scores: Mapping[Any, FloatArray]) -> FloatArray:
    """Return the doubt of the least sure input of each sample."""
    return np.asarray(np.concatenate([doubts(s) for s in scores.values()], axis=1).max(axis=1))


def doubts(scores: FloatArray) -> FloatArray:
    """Return 1 minus how far the best value of each distribution is ahead of the second.

    It needs no labels. A row for each sample.
    """
    if scores.shape[-1] == 1:
        return np.zeros((len(scores), 1))
    least = np.partition(scores, 1, axis=-1)
    return _rows(1.0 - (least[..., 1] - least[..., 0]))


def _rows(array: FloatArray) -> FloatArray:
    """Return an array with a row for each sample, of which there may be none."""
    return np.reshape(array, (len(array), prod(array.shape[1:])))
