"""Nonconformity scores of values, and conformal p-values from counts of calibration scores."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray, check_number, suggestion
from pinesy.exceptions import DataError, DegreeError, DomainError, ShapeError
from pinesy.transforms import antipignistic, minimum_specificity

#: Decimals of ``1 - level``: 1 - 0.9 is rounded to 0.1.
DIGITS = 12
#: The largest number of samples that a float64 counts exactly.
MOST_SAMPLES = 2**53


def degrees_in_unit(degrees: FloatArray) -> FloatArray:
    """Return the degrees unchanged, or raise `DegreeError` for the first one outside [0, 1]."""
    good = (degrees >= 0.0) & (degrees <= 1.0)
    if not good.all():
        index = tuple(map(int, np.argwhere(~good)[0]))
        row = f"row {index[0]}: " * (degrees.ndim > 1)
        of = f" (input {index[1]})" * (degrees.ndim > 2)
        raise DegreeError(
            f"{row}the degree of value {index[-1]}{of} is {degrees[index]}; degrees lie in [0, 1]"
        )
    return degrees


#: By the name of a score, the conformity of values: 1 minus the score. The cumulated score is the
#: probability of all values that are more probable.
CONFORMITIES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "complement": degrees_in_unit,
    "antipignistic": antipignistic,
    "cumulated": lambda probability: minimum_specificity(probability, ties="equal"),
}


def margin_scores(scores: FloatArray) -> FloatArray:
    """Return 1 minus the margin between the two best values of each distribution."""
    least = np.partition(scores, 1, axis=-1)
    return np.asarray(1.0 - (least[..., 1] - least[..., 0]))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCounts:
    """Counts of the scores of calibration samples: the function `f` of conformal p-values.

    ``f(t) = (w + sum {w_i : S_i >= t}) / (w + sum w_i)``, where `S_i` and `w_i` are the score and
    the weight of calibration sample `i` and `w` the weight of the new sample; without weights all
    are 1 (docs/guarantees.md). `f` decreases, so that ``min_j f(t_j) = f(max_j t_j)``.
    Samples of weight 0 are not counted.

    Attributes
    ----------
    scores : the distinct scores, in increasing order
    counts : the number of samples of each score
    weights : the sum of the sample weights of each score; None without weights

    Examples
    --------
    >>> counts = ScoreCounts.of([0.1, 0.4, 0.1, 0.9])
    >>> counts.p_values(np.array([0.0, 0.1, 0.4, 0.95]))
    array([1. , 1. , 0.6, 0.2])
    >>> counts + ScoreCounts.of([0.5])
    ScoreCounts(5 samples)
    >>> ScoreCounts.of([0.1, 0.4], weights=[0.5, 2.0])
    ScoreCounts(2 samples of weight 2.5)
    """

    scores: FloatArray
    counts: FloatArray
    weights: FloatArray | None = None

    @classmethod
    def of(cls, scores: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> "ScoreCounts":
        """Count scores, and sum the sample weights of each score if there are weights."""
        values = np.asarray(scores, dtype=np.float64).ravel()
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise DataError(f"the score of row {row} is {values[row]}; scores are finite numbers")
        if weights is None:  # quicker by half
            distinct, sizes = np.unique(values, return_counts=True)
            return cls(distinct, sizes.astype(np.float64))
        checked = checked_weights(weights, len(values))
        values, checked = values[checked > 0.0], checked[checked > 0.0]
        distinct, indices = np.unique(values, return_inverse=True)
        counts = _sum_by_index(indices, np.ones(len(values)), len(distinct))
        return cls(distinct, counts, _sum_by_index(indices, checked, len(distinct)))

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "ScoreCounts":
        """Return the counts from their JSON `content`, or raise `DataError`."""
        scores, counts = (_numbers(content, key) for key in ("scores", "counts"))
        if not (np.diff(scores) > 0.0).all():
            raise DataError('"scores" of a calibration must rise')
        if scores.shape != counts.shape:
            raise DataError(f'{len(scores)} "scores" of a calibration have {len(counts)} "counts"')
        if (counts < 1.0).any() or (counts % 1.0).any() or counts.sum() > MOST_SAMPLES:
            raise DataError('"counts" of a calibration must be numbers of samples, 1 or more')
        if content.get("weights") is None:
            return cls(scores, counts)
        weights = _numbers(content, "weights")
        if weights.shape != scores.shape or (weights <= 0.0).any() or _has_infinite_sum(weights):
            raise DataError(
                '"weights" of a calibration must be numbers above 0 with a finite sum, one for '
                "each score"
            )
        return cls(scores, counts, weights)

    @property
    def content(self) -> dict[str, list[float]]:
        """The counts as a dict for JSON."""
        content = {"scores": self.scores.tolist(), "counts": self.counts.tolist()}
        return content if self.weights is None else content | {"weights": self.weights.tolist()}

    @cached_property
    def samples(self) -> int:
        """The number of samples, regardless of weights."""
        return int(self.counts.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether the samples have weights."""
        return self.weights is not None

    @cached_property
    def total(self) -> float:
        """The sum of the weights; without weights the number of samples."""
        return float(self._at_least[0])

    @cached_property
    def _at_least(self) -> FloatArray:
        """The weight of the samples of at least each score; 0 after the last score."""
        weights = self.counts if self.weights is None else self.weights
        return np.append(np.cumsum(weights[::-1])[::-1], 0.0)

    @cached_property
    def _p_values(self) -> FloatArray:
        """``f`` of each score, and of larger scores than the last, without weights."""
        return np.asarray((1.0 + self._at_least) / (1.0 + self.total))

    def p_values(self, scores: FloatArray, weight: float | FloatArray | None = None) -> FloatArray:
        """Return ``f(t)`` for scores of new samples.

        Cost: a binary search a score.

        Parameters
        ----------
        weight : the weights of the new samples, if those of calibration have weights; it broadcasts
        """
        if (weight is not None) != self.is_weighted:
            raise DataError(_weights_message(self.is_weighted, "weight"))
        indices = np.searchsorted(self.scores, scores, side="left")
        if weight is None:
            return np.asarray(self._p_values[indices])
        if not np.isfinite(weight + self.total).all():
            raise DataError("the weights add up to infinity; divide all of them by a constant")
        return np.asarray((weight + self._at_least[indices]) / (weight + self.total))

    def share_at_least(self, score: float) -> float:
        """Return the (weighted) share of samples whose score is at least `score`."""
        at_least = self._at_least[np.searchsorted(self.scores, score, side="left")]
        return float(at_least / self.total)

    def above_and_equal(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the number of samples above each score, and the number of equal ones."""
        least = self._at_least[np.searchsorted(self.scores, scores, side="left")]
        above = self._at_least[np.searchsorted(self.scores, scores, side="right")]
        return above, least - above

    def __add__(self, other: "ScoreCounts") -> "ScoreCounts":
        """Return the counts of the calibration samples of both.

        They equal the counts of all samples at once; sums of weights are equal up to rounding,
        because floats are added in another order.
        """
        if self.is_weighted != other.is_weighted:
            raise DataError(
                "calibrations add if both have weights, or none has; give weights for all samples"
            )
        scores, indices = np.unique(
            np.concatenate([self.scores, other.scores]), return_inverse=True
        )
        counts = _sum_by_index(indices, np.concatenate([self.counts, other.counts]), len(scores))
        if self.weights is None or other.weights is None:
            return ScoreCounts(scores, counts)
        weights = np.concatenate([self.weights, other.weights])
        return ScoreCounts(scores, counts, _sum_by_index(indices, weights, len(scores)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        pairs = (
            (self.scores, other.scores),
            (self.counts, other.counts),
            (self.weights, other.weights),
        )
        return all(np.array_equal(a, b) for a, b in pairs)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        weight = f" of weight {self.total:g}" * self.is_weighted
        return f"ScoreCounts({self.samples} samples{weight})"

    def check_enough(self, level: float) -> None:
        """Raise `DataError` if there are too few samples for a level: ``n < 1 / alpha - 1``.

        Without weights no value could be excluded. Weights do not stand for samples: as many are
        needed with them, of weights above 0.
        """
        alpha = significance(level)
        if 1.0 / (1.0 + self.samples) > alpha:
            weighted = " (of weights above 0; weights do not stand for samples)" * self.is_weighted
            raise DataError(
                f"{self.samples} calibration samples cannot guarantee anything at level {level:g}: "
                f"at least {samples_needed(level)} are needed{weighted}; the highest level for "
                f"these is {self.samples / (1.0 + self.samples):.6g}"
            )


def _sum_by_index(indices: npt.NDArray[np.intp], amounts: FloatArray, n: int) -> FloatArray:
    """Return for each index below `n` the sum of its amounts."""
    return np.asarray(np.bincount(indices, amounts, n), dtype=np.float64)


def _numbers(content: Mapping[str, Any], key: str) -> FloatArray:
    """Return an entry of a file as an array of finite numbers, or raise `DataError`."""
    numbers = content[key]
    if not isinstance(numbers, list) or not all(type(x) in (int, float) for x in numbers):
        raise DataError(f'"{key}" of a calibration must be a list of numbers')
    array = np.array(numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        raise DataError(f'"{key}" of a calibration must be finite')
    return array


def _has_infinite_sum(weights: FloatArray) -> bool:
    with np.errstate(over="ignore"):
        return not np.isfinite(weights.sum())


def _weights_message(is_weighted: bool, name: str) -> str:
    """Return the error message for weights of new samples that are missing, or not needed."""
    if is_weighted:
        return (
            "the calibration samples have weights, so new samples need theirs, on the same scale: "
            f"give {name}=..., one for each sample"
        )
    return f"the calibration is without weights, so new samples have none; leave {name} out"


def exceeds(degrees: Any, level: float) -> BoolArray:
    """Return which degrees are above ``1 - level``: which values are not excluded at the level.

    Degrees and levels are compared up to `DIGITS` decimals, so that rounding decides nothing.
    """
    return np.asarray(np.asarray(degrees) > significance(level) + 0.5 * 10.0**-DIGITS)


def significance(level: object) -> float:
    """Return ``alpha = 1 - level``, or raise `DomainError` unless the level is inside (0, 1).

    Examples
    --------
    >>> significance(0.9)
    0.1
    """
    number = check_number(level, "level", most=1.0)
    alpha = round(1.0 - number, DIGITS)
    if not 0.0 < alpha < 1.0:
        cure = "; 95 % is 0.95" if number > 0.0 else ""
        raise DomainError(f"level is {level!r:.60}; it must lie between 0 and 1{cure}")
    return alpha


def samples_needed(level: float) -> int:
    """Return the least number of calibration samples that can exclude a value at a level.

    ``n >= 1 / alpha - 1``: with fewer, every value stays in every set.

    Examples
    --------
    >>> samples_needed(0.95), samples_needed(0.9)
    (19, 9)
    """
    return ceil(round(1.0 / significance(level) - 1.0, 6))


def checked_weights(
    weights: npt.ArrayLike, n: int, name: str = "weights", *, positive: bool = False
) -> FloatArray:
    """Return the weights of `n` samples as an array, or raise an error; `positive` excludes 0."""
    try:
        array = np.atleast_1d(np.asarray(weights, dtype=np.float64))
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers; got {weights!r:.60}") from None
    if array.shape != (n,):
        raise ShapeError(f"{name} has shape {array.shape}; give one for each of {n} samples")
    wrong = ~np.isfinite(array) | ~(array > 0.0 if positive else array >= 0.0)
    if wrong.any():
        row, range_text = int(wrong.argmax()), "above 0" if positive else "at least 0"
        raise DataError(f"{name}[{row}] is {array[row]}; weights are numbers {range_text}")
    if not positive and _has_infinite_sum(array):
        raise DataError(f"{name} add up to infinity; divide all of them by a constant")
    return array


def new_weights(
    weights: npt.ArrayLike | None, n: int, is_weighted: bool, name: str = "weights"
) -> FloatArray | None:
    """Return the weights of `n` new samples, for a calibration with weights or without.

    They must be positive: a weight of 0 means that such samples never occur.
    """
    if (weights is not None) != is_weighted:
        raise DataError(_weights_message(is_weighted, name))
    return None if weights is None else checked_weights(weights, n, name, positive=True)


def label_columns(
    labels: Any, shape: tuple[int, ...], classes: Sequence[Hashable] | None
) -> npt.NDArray[np.int64]:
    """Return the column of each true value, for degrees of a shape, or raise an error."""
    array, size = np.asarray(labels), shape[-1]
    if array.shape != shape[:-1] or not array.ndim:
        raise ShapeError(
            f"labels has shape {array.shape}; degrees of shape {shape} have one true "
            f"value for each distribution: {shape[:-1]}"
        )
    if classes is None:
        if array.dtype.kind not in "iu" or ((array < 0) | (array >= size)).any():
            raise DomainError(
                f"labels are the numbers of columns, 0 to {size - 1}, unless classes says which "
                "values the columns are of"
            )
        return array.astype(np.int64)
    if len(classes) != size:
        raise ShapeError(f"there are {len(classes)} classes, and degrees for {size} values")
    columns = {value: column for column, value in enumerate(classes)}
    values = array.ravel().tolist()
    for i, value in enumerate(values):
        if value not in columns:
            raise DomainError(
                f"label {i} is {value!r:.60}, which is none of the classes"
                f"{suggestion(value, classes)}"
            )
    return np.array([columns[value] for value in values]).reshape(array.shape)


def true_scores(
    scores: Mapping[Any, FloatArray], columns: Mapping[Any, npt.NDArray[np.int64]]
) -> FloatArray:
    """Return the scores of the true values (n_samples, inputs), given their columns."""
    parts = [
        np.take_along_axis(scores[key], columns[key][..., None], axis=-1)[..., 0] for key in scores
    ]
    return np.concatenate([_flatten_inputs(part) for part in parts], axis=1)


def worst_margin_scores(scores: Mapping[Any, FloatArray]) -> FloatArray:
    """Return the largest margin score of each sample's inputs, which needs no labels.

    The margin score of a domain with a single value is 0.
    """
    parts = [
        _flatten_inputs(margin_scores(of_input))
        if of_input.shape[-1] > 1
        else np.zeros((len(of_input), 1))
        for of_input in scores.values()
    ]
    return np.asarray(np.concatenate(parts, axis=1).max(axis=1))


def _flatten_inputs(array: FloatArray) -> FloatArray:
    """Return an array (n_samples, inputs) of one (n_samples, ...); there may be no samples."""
    return np.reshape(array, (len(array), prod(array.shape[1:])))
