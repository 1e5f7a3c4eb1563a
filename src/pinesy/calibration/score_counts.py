"""Scores, how badly values fit; conformal p-values, how many calibration samples fit no better."""

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

#: Digits of ``1 - level``: 1 - 0.9 is 0.1 here, and not a little less.
DIGITS = 12
#: Floats count no further one by one.
MOST_SAMPLES = 2**53


def cumulated(probability: FloatArray) -> FloatArray:
    """Return 1 minus the probability of all values that are more probable."""
    return np.asarray(minimum_specificity(probability, ties="equal"))


def complement(degrees: FloatArray) -> FloatArray:
    """Return degrees as they are: probabilities or possibilities."""
    good = (degrees >= 0.0) & (degrees <= 1.0)
    if not good.all():
        index = tuple(map(int, np.argwhere(~good)[0]))
        row = f"row {index[0]}: " * (degrees.ndim > 1)
        of = f" (input {index[1]})" * (degrees.ndim > 2)
        raise DegreeError(
            f"{row}the degree of value {index[-1]}{of} is {degrees[index]}; degrees lie in [0, 1]"
        )
    return degrees


#: How well a value fits, by the word for the score that is 1 minus it.
FITS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "complement": complement,
    "antipignistic": antipignistic,
    "cumulated": cumulated,
}


def margin_scores(scores: FloatArray) -> FloatArray:
    """Return 1 minus how far the best value of each distribution is ahead of the second."""
    least = np.partition(scores, 1, axis=-1)
    return np.asarray(1.0 - (least[..., 1] - least[..., 0]))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCounts:
    """How often each score was seen in calibration: the function `f` of conformal p-values.

    ``f(t) = (w + sum {w_i : S_i >= t}) / (w + sum w_i)``, where `S_i` and `w_i` are the score and
    the weight of calibration sample `i` and `w` that of the new sample; without weights all are
    1 (docs/guarantees-proof.md). `f` falls, so that ``min_j f(t_j) = f(max_j t_j)``. Samples of
    weight 0 are not counted.

    Attributes
    ----------
    scores : rising, each of them once
    counts : how many samples have each score
    weights : the sums of their weights; None if they have none

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
        """Count scores, and add up the weights of their samples if they have some."""
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
        counts = _sums(indices, np.ones(len(values)), len(distinct))
        return cls(distinct, counts, _sums(indices, checked, len(distinct)))

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "ScoreCounts":
        """Return what `content` was made of, or raise `DataError`."""
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
        if weights.shape != scores.shape or (weights <= 0.0).any() or _is_infinite(weights):
            raise DataError(
                '"weights" of a calibration must be numbers above 0 with a finite sum, one for '
                "each score"
            )
        return cls(scores, counts, weights)

    @property
    def content(self) -> dict[str, list[float]]:
        """The counts as JSON holds them."""
        content = {"scores": self.scores.tolist(), "counts": self.counts.tolist()}
        return content if self.weights is None else content | {"weights": self.weights.tolist()}

    @cached_property
    def samples(self) -> int:
        """The number of samples, whatever their weights are."""
        return int(self.counts.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether the samples have weights."""
        return self.weights is not None

    @cached_property
    def total(self) -> float:
        """The sum of the weights; the number of samples if they have none."""
        return float(self._at_least[0])

    @cached_property
    def _at_least(self) -> FloatArray:
        """For each score, and after the last, the weight of the samples with it or a larger one."""
        weights = self.counts if self.weights is None else self.weights
        return np.append(np.cumsum(weights[::-1])[::-1], 0.0)

    @cached_property
    def _p_values(self) -> FloatArray:
        """``f`` of each score, and after the last, without weights."""
        return np.asarray((1.0 + self._at_least) / (1.0 + self.total))

    def p_values(self, scores: FloatArray, weight: float | FloatArray | None = None) -> FloatArray:
        """Return ``f(t)`` for scores of new samples.

        Cost: a binary search a score.

        Parameters
        ----------
        weight : of the new samples, if those of calibration have weights; it broadcasts
        """
        if (weight is not None) != self.is_weighted:
            raise DataError(_weights_problem(self.is_weighted, "weight"))
        if weight is None:
            return self._look_up(scores, self._p_values)
        at_least = self._look_up(scores, self._at_least)
        if not np.isfinite(weight + self.total).all():
            raise DataError("the weights add up to infinity; divide all of them by a constant")
        return np.asarray((weight + at_least) / (weight + self.total))

    def _look_up(self, t: FloatArray, table: FloatArray) -> FloatArray:
        """Return ``table[i]`` for each `t`, where `i` is how many scores are less."""
        return np.asarray(table[np.searchsorted(self.scores, t, side="left")])

    def share_from(self, score: float) -> float:
        """Return the share of samples, by weight if they have some, of a score or a larger one."""
        at_least = self._at_least[np.searchsorted(self.scores, score, side="left")]
        return float(at_least / self.total)

    def above_and_equal(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how many samples have a larger score than each of these, and how many the same."""
        least = self._at_least[np.searchsorted(self.scores, scores, side="left")]
        above = self._at_least[np.searchsorted(self.scores, scores, side="right")]
        return above, least - above

    def __add__(self, other: "ScoreCounts") -> "ScoreCounts":
        """Return the counts of both parts of the calibration samples.

        Counts are the same as of all samples at once. Sums of weights are the same up to rounding:
        floats that are added in another order may differ in their last bits.
        """
        if self.is_weighted != other.is_weighted:
            raise DataError(
                "calibrations add if both have weights, or none has; give weights for all samples"
            )
        scores, indices = np.unique(
            np.concatenate([self.scores, other.scores]), return_inverse=True
        )
        counts = _sums(indices, np.concatenate([self.counts, other.counts]), len(scores))
        if self.weights is None or other.weights is None:
            return ScoreCounts(scores, counts)
        weights = np.concatenate([self.weights, other.weights])
        return ScoreCounts(scores, counts, _sums(indices, weights, len(scores)))

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


def _sums(indices: npt.NDArray[np.intp], amounts: FloatArray, n: int) -> FloatArray:
    """Return the sum of the amounts of each index below `n`."""
    return np.asarray(np.bincount(indices, amounts, n), dtype=np.float64)


def _numbers(content: Mapping[str, Any], key: str) -> FloatArray:
    """Return a list of finite numbers in a file, or raise `DataError`."""
    numbers = content[key]
    if not isinstance(numbers, list) or not all(type(x) in (int, float) for x in numbers):
        raise DataError(f'"{key}" of a calibration must be a list of numbers')
    array = np.array(numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        raise DataError(f'"{key}" of a calibration must be finite')
    return array


def _is_infinite(weights: FloatArray) -> bool:
    with np.errstate(over="ignore"):
        return not np.isfinite(weights.sum())


def _weights_problem(is_weighted: bool, name: str) -> str:
    """Return what is wrong with weights of new samples that are missing, or there for nothing."""
    if is_weighted:
        return (
            "the calibration samples have weights, so new samples need theirs, on the same scale: "
            f"give {name}=..., one for each sample"
        )
    return f"the calibration is without weights, so new samples have none; leave {name} out"


def exceeds(degrees: Any, level: float) -> BoolArray:
    """Return which degrees are above ``1 - level``: of values, which ones are not excluded.

    Degrees are compared as levels are, to `DIGITS`, so that rounding decides about none.
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
    """Return the least number of calibration samples that say something at a level.

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
    """Return the weights of `n` samples, or raise an error; `positive` excludes 0."""
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
    if not positive and _is_infinite(array):
        raise DataError(f"{name} add up to infinity; divide all of them by a constant")
    return array


def new_weights(
    weights: npt.ArrayLike | None, n: int, is_weighted: bool, name: str = "weights"
) -> FloatArray | None:
    """Return the weights of `n` new samples, for a calibration with weights or without.

    A sample that comes has a weight above 0: of weight 0 are those that never come.
    """
    if (weights is not None) != is_weighted:
        raise DataError(_weights_problem(is_weighted, name))
    return None if weights is None else checked_weights(weights, n, name, positive=True)


def label_columns(
    labels: Any, shape: tuple[int, ...], classes: Sequence[Hashable] | None
) -> npt.NDArray[np.int64]:
    """Return the columns of true values, for degrees of a shape, or raise an error."""
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
    """Return the scores of the true values of some inputs, a row for each sample."""
    parts = [
        np.take_along_axis(scores[key], columns[key][..., None], axis=-1)[..., 0] for key in scores
    ]
    return np.concatenate([_rows(part) for part in parts], axis=1)


def worst_margin_scores(scores: Mapping[Any, FloatArray]) -> FloatArray:
    """Return for each sample the largest margin score of its inputs, which needs no labels.

    The margin score of a domain with a single value is 0.
    """
    parts = [
        _rows(margin_scores(of_input)) if of_input.shape[-1] > 1 else np.zeros((len(of_input), 1))
        for of_input in scores.values()
    ]
    return np.asarray(np.concatenate(parts, axis=1).max(axis=1))


def _rows(array: FloatArray) -> FloatArray:
    """Return an array with a row for each sample; there may be no samples."""
    return np.reshape(array, (len(array), prod(array.shape[1:])))
