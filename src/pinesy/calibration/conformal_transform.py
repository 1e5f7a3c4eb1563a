"""Conformal p-values: calibrated possibilities from probabilities or any degrees."""

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_known
from pinesy.calibration.score_counts import (
    CONFORMITIES,
    ScoreCounts,
    checked_weights,
    label_columns,
    new_weights,
    significance,
    true_scores,
    worst_margin_scores,
)
from pinesy.exceptions import DataError, DegreeError, DomainError, ShapeError

Unit = Literal["sample", "input"]
#: By input, arrays ``(n, ..., values)``, and arrays ``(n, ...)`` of the columns of true values.
Parts = Mapping[Any, FloatArray]
Labels = Mapping[Any, npt.NDArray[np.int64]]

#: The name of the only part, if degrees are a single array.
ALL = "inputs"


class ConformalTransform:
    """A transformation of degrees into conformal p-values, which are possibilities.

    The nonconformity score of a value is ``sigma_j(v) = 1 - p_j(v)``. The scores of the true values
    of calibration samples are counted; the possibility of a value is the share of them that are at
    least as large, ``f(sigma_j(v))`` (`ScoreCounts`), and the best value of each input gets 1. The
    guarantee and its proof are in docs/guarantees.md.

    Parameters
    ----------
    score : ``"complement"``, 1 minus the degree; of probabilities also ``"antipignistic"``, 1
        minus the possibility, and ``"cumulated"``, the probability of all values that are more
        probable
    unit : the unit that is counted. ``"sample"``: a sample with all its inputs, by its worst true
        value; all true values are then in their sets together. ``"input"``: every input separately,
        which gives smaller sets and a guarantee for each input only.
    class_conditional : count the samples of each value separately, so that the guarantee holds for
        each value; for single inputs only
    classes : the values of the columns; by default their indices
    kinds : by input, the kind that it belongs to, such as ``{"left": "digit", "right": "digit",
        "op": "sign"}``. Scores of different kinds are made comparable: the first half of the
        calibration samples ranks the scores of each kind, and the second half is counted.

    Attributes
    ----------
    counts_ : the counts of the scores of true values: one `ScoreCounts`, or one for each class
    doubt_ : the counts of margin scores: 1 minus the margin between the two best values of the
        least certain input, which need no labels; `DriftMonitor` compares new data with them
    ranks_ : by kind, the counts of scores that rank the kind

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]])
    >>> transform = ConformalTransform().fit(p, [0, 1, 0, 0])
    >>> transform(np.array([[0.75, 0.25], [0.95, 0.05]]))
    array([[1. , 0.2],
           [1. , 0.2]])
    """

    counts_: tuple[ScoreCounts, ...]
    doubt_: ScoreCounts
    ranks_: dict[Hashable, ScoreCounts]

    def __init__(
        self,
        score: str = "complement",
        *,
        unit: Unit = "sample",
        class_conditional: bool = False,
        classes: Sequence[Hashable] | None = None,
        kinds: Mapping[Any, Hashable] | None = None,
    ) -> None:
        check_known(score, CONFORMITIES, f"there is no score {score!r:.60}", DomainError)
        if unit not in ("sample", "input"):
            raise DomainError(f"unit is {unit!r:.60}; choose 'sample' or 'input'")
        self.score, self.unit, self.class_conditional = score, unit, class_conditional
        self.classes, self.kinds = classes, kinds

    def __repr__(self) -> str:
        fitted = f", {self.n} calibrated" if hasattr(self, "counts_") else ""
        fitted += " with weights" if fitted and self.is_weighted else ""
        return f"ConformalTransform({self.score!r}, unit={self.unit!r}{fitted})"

    # --- calibration ---------------------------------------------------------------------------

    def fit(self, degrees: Any, labels: Any, weights: npt.ArrayLike | None = None) -> Self:
        """Count the scores of the true values of calibration samples.

        Parameters
        ----------
        degrees : of samples that were not used in training: an array ``(n, values)``, for several
            inputs ``(n, inputs, values)``, or by input a dict of arrays ``(n, values)``
        labels : the true values: ``(n,)``, ``(n, inputs)``, or a dict
        weights : for a covariate shift, where new inputs have another distribution: the ratio of
            the densities of new and calibration inputs, up to a constant factor. New samples then
            need weights too; see `__call__`.
        """
        parts, truth = self._read(degrees, labels)
        checked = _calibration_weights(weights, _n_samples(parts))
        self.ranks_ = {}
        first = self._rank(parts, truth) if self.kinds else 0
        self.counts_, self.doubt_ = self._count_scores(
            {key: part[first:] for key, part in parts.items()},
            {key: columns[first:] for key, columns in truth.items()},
            None if checked is None else checked[first:],
        )
        return self

    def partial_fit(self, degrees: Any, labels: Any, weights: npt.ArrayLike | None = None) -> Self:
        """Count more calibration samples; the same as `fit` with all of them, without `kinds`.

        Sums of weights may differ in their last bits: floats are added in another order.
        """
        if not hasattr(self, "counts_"):
            return self.fit(degrees, labels, weights)
        parts, truth = self._read(degrees, labels)
        return self._add(
            *self._count_scores(parts, truth, _calibration_weights(weights, _n_samples(parts)))
        )

    def __add__(self, other: "ConformalTransform") -> "ConformalTransform":
        """Return the calibration by the samples of both: counts and weights are added."""
        if self._settings != other._settings or self.ranks_ != other.ranks_:
            raise DataError(
                "calibrations add if they have the same score, unit, classes and ranks; "
                f"{self!r} and {other!r} differ"
            )
        return copy(self)._add(other.counts_, other.doubt_)

    def _add(self, counts: Sequence[ScoreCounts], margin_counts: ScoreCounts) -> Self:
        """Add counts to those of earlier samples."""
        self.counts_ = tuple(a + b for a, b in zip(self.counts_, counts, strict=True))
        self.doubt_ += margin_counts
        return self

    @property
    def _settings(self) -> tuple[object, ...]:
        classes = None if self.classes is None else tuple(self.classes)
        return self.score, self.unit, self.class_conditional, classes, self.kinds

    def unfitted(self) -> "ConformalTransform":
        """Return a transformation of the same settings that has counted no samples."""
        return ConformalTransform(
            self.score,
            unit=self.unit,
            class_conditional=self.class_conditional,
            classes=self.classes,
            kinds=self.kinds,
        )

    @property
    def group_sizes(self) -> dict[str, int]:
        """By group of samples with a guarantee of its own, the units that were counted."""
        return {}

    @property
    def n(self) -> int:
        """The number of units that were counted (the least of any class), regardless of weights."""
        return min(counts.samples for counts in self.counts_)

    @property
    def is_weighted(self) -> bool:
        """Whether the calibration samples have weights; new samples then need weights too."""
        return self.doubt_.is_weighted

    def new_weights(
        self, weights: npt.ArrayLike | None, n: int, name: str = "weights"
    ) -> FloatArray | None:
        """Return the checked weights of `n` new samples; errors call the argument `name`."""
        return new_weights(weights, n, self.is_weighted, name)

    def _read(self, degrees: Any, labels: Any) -> tuple[dict[Any, FloatArray], Labels]:
        """Return the degrees, and the columns of the true values, both by input."""
        parts = as_parts(degrees)
        values = labels if isinstance(labels, Mapping) else {ALL: labels}
        missing = [key for key in parts if key not in values]
        if missing:
            raise DataError(
                f"there are no labels for {missing[0]!r}; calibration needs those of every input"
            )
        if not parts or not _n_samples(parts):
            raise DataError("there are no calibration samples")
        return parts, {
            key: label_columns(values[key], part.shape, self.classes) for key, part in parts.items()
        }

    def _rank(self, parts: Parts, truth: Labels) -> int:
        """Set `ranks_` from the first half of the samples; return the size of that half."""
        kinds = self.kinds or {}
        missing = [key for key in parts if key not in kinds]
        if missing:
            raise DataError(f"kinds says nothing of {missing[0]!r}; name the kind of every input")
        half = _n_samples(parts) // 2
        for kind in dict.fromkeys(kinds[key] for key in parts):
            keys = [key for key in parts if kinds[key] == kind]
            scores = {k: 1.0 - self._conformities(k, parts[k][:half], ranked=False) for k in keys}
            true = true_scores(scores, {key: truth[key][:half] for key in keys})
            self.ranks_[kind] = ScoreCounts.of(true)
        return half

    def _count_scores(
        self, parts: Parts, truth: Labels, weights: FloatArray | None
    ) -> tuple[tuple[ScoreCounts, ...], ScoreCounts]:
        """Return the counts of the scores of true values, and of margin scores."""
        scores = self.scores(parts)
        true = true_scores(scores, truth)
        repeated = None if weights is None else np.repeat(weights, true.shape[1])
        if self.class_conditional:
            counts = self._count_classes(parts, truth, true, repeated)
        elif self.unit == "sample":
            counts = (ScoreCounts.of(true.max(axis=1), weights),)
        else:
            counts = (ScoreCounts.of(true, repeated),)
        return counts, ScoreCounts.of(worst_margin_scores(scores), weights)

    def _count_classes(
        self, parts: Parts, truth: Labels, true: FloatArray, weights: FloatArray | None
    ) -> tuple[ScoreCounts, ...]:
        """Return the class-conditional counts: those of each value."""
        sizes = {part.shape[-1] for part in parts.values()}
        if len(sizes) > 1 or (self.unit == "sample" and true.shape[1] > 1):
            raise DataError(
                "class_conditional counts the samples of each value apart, which is for samples "
                "of one input; with several inputs of the same values give unit='input'"
            )
        columns = np.concatenate([truth[key].reshape(len(true), -1) for key in parts], axis=1)
        masks = [(columns == c).ravel() for c in range(sizes.pop())]
        scores = true.ravel()
        return tuple(
            ScoreCounts.of(scores[mask], None if weights is None else weights[mask])
            for mask in masks
        )

    # --- new samples ---------------------------------------------------------------------------

    def __call__(self, degrees: Any, weights: npt.ArrayLike | None = None) -> Any:
        """Return calibrated possibilities, in the form of the degrees; the best value has 1.

        Parameters
        ----------
        degrees : as in `fit`; also of one sample or input, an array ``(values,)``
        weights : of the new samples, on the scale of those of calibration, if these have weights:
            an entry for each sample. One of weight `w` keeps all its values at levels above
            ``W / (W + w)``, where `W` is the sum of the weights of calibration.
        """
        return self._p_values_and_maxima(degrees, weights, raised=True)[0]

    def p_values(self, degrees: Any, weights: npt.ArrayLike | None = None) -> Any:
        """Return the p-values; a sample is novel if even the p-value of its best value is small."""
        return self._p_values_and_maxima(degrees, weights, raised=False)[0]

    def with_conformity(
        self, degrees: Any, weights: npt.ArrayLike | None = None
    ) -> tuple[Any, FloatArray]:
        """Return the calibrated possibilities, as a call does, and the conformity of each sample.

        The conformity is the p-value of the best value of the least conforming input.
        """
        possibilities, maxima = self._p_values_and_maxima(degrees, weights, raised=True)
        least = [maximum.min(axis=tuple(range(1, maximum.ndim))) for maximum in maxima]
        return possibilities, np.min(least, axis=0)

    def doubt(self, degrees: Any, weights: npt.ArrayLike | None = None) -> FloatArray:
        """Return the p-value of each sample's margin score (see `doubt_`), uniform up to ties."""
        margin = worst_margin_scores(self.scores(degrees))
        return self.doubt_.p_values(margin, self.new_weights(weights, len(margin)))

    def scores(self, degrees: Any) -> dict[Any, FloatArray]:
        """Return the nonconformity scores of all values, by input."""
        return {key: 1.0 - self._conformities(key, part) for key, part in as_parts(degrees).items()}

    def _p_values_and_maxima(
        self, degrees: Any, weights: npt.ArrayLike | None, raised: bool
    ) -> tuple[Any, list[FloatArray]]:
        """Return p-values in the form of the degrees, and by input the maxima of distributions.

        If `raised`, the p-values of best values are set to 1; the maxima are those before.
        """
        if not hasattr(self, "counts_"):
            raise DataError("nothing was calibrated yet; call fit with samples and true values")
        parts = as_parts(degrees)
        n = 1 if next(iter(parts.values())).ndim == 1 else _n_samples(parts)
        checked = self.new_weights(weights, n)
        p_values, maxima = {}, []
        for key, part in parts.items():
            weight = None if checked is None else checked.reshape(-1, *[1] * (part.ndim - 1))
            scores = 1.0 - self._conformities(key, part)
            p_values[key] = self._p_values(scores, weight)
            maxima.append(p_values[key].max(axis=-1))
            if raised:
                p_values[key][scores == scores.min(axis=-1, keepdims=True)] = 1.0
        return p_values if isinstance(degrees, Mapping) else p_values[ALL], maxima

    def _p_values(self, scores: FloatArray, weight: FloatArray | None) -> FloatArray:
        if not self.class_conditional:
            return self.counts_[0].p_values(scores, weight)
        if len(self.counts_) != scores.shape[-1]:
            raise ShapeError(f"{scores.shape[-1]} values; {len(self.counts_)} were calibrated")
        columns = enumerate(self.counts_)
        p_values = [counts.p_values(scores[..., [c]], weight) for c, counts in columns]
        return np.concatenate(p_values, axis=-1)

    def _conformities(self, key: Any, part: FloatArray, ranked: bool = True) -> FloatArray:
        """Return the conformity of each value, 1 minus its score; with `kinds`, by its rank."""
        try:
            conformities = CONFORMITIES[self.score](part)
        except DegreeError as error:
            error.args = (f"{key!r}, {error}" if key != ALL else str(error), *error.args[1:])
            raise
        if not (self.kinds and ranked):
            return conformities
        return self.ranks_[self.kinds[key]].p_values(1.0 - conformities)

    # --- words ---------------------------------------------------------------------------------

    @property
    def guarantee(self) -> str:
        """The guarantee as a sentence."""
        of = f"calibrated on {self.n} " + ("samples" if self.unit == "sample" else "inputs")
        of += " of the rarest class, or more" * self.class_conditional
        event = {
            "sample": "the true values of all inputs of a sample are in their sets at the same "
            "time",
            "input": "the true value of an input is in its set; this is said of each input alone, "
            "so that of m inputs all are right in at least 1 - m (1 - L)",
        }[self.unit]
        by_class = ", for the inputs of each class by themselves" * self.class_conditional
        return (
            f"For any level L, in at least a share L of new cases {event}{by_class} ({of}; "
            f"{self.assumption('training')})."
        )

    def assumption(self, uses: str) -> str:
        """Return the assumption on new samples as text: exchangeability, or the covariate shift."""
        if not self.is_weighted:
            return (
                "new samples must be exchangeable with these, which must not have been used for "
                f"{uses}"
            )
        return (
            "new samples may have other inputs if the weights are the ratio of the densities of "
            "new and calibration inputs, up to a constant factor, and if true values, given their "
            "inputs, are distributed as before; the calibration samples must not have been used "
            f"for {uses}"
        )

    def check_level(self, level: float) -> float:
        """Return ``alpha = 1 - level``; raise an error if there are too few samples for it."""
        for counts in self.counts_:
            counts.check_enough(level)
        return significance(level)


def _calibration_weights(weights: npt.ArrayLike | None, n: int) -> FloatArray | None:
    """Return the checked weights of calibration samples, not all 0; None without weights."""
    if weights is None:
        return None
    checked = checked_weights(weights, n)
    if not checked.any():
        raise DataError("weights are all 0; samples of weight 0 do not count")
    return checked


def _n_samples(parts: Parts) -> int:
    return len(next(iter(parts.values())))


def as_parts(degrees: Any) -> dict[Any, FloatArray]:
    """Return degrees by input as arrays ``(n, ..., values)``; a single array is named `ALL`."""
    contents = degrees if isinstance(degrees, Mapping) else {ALL: degrees}
    parts = {key: np.asarray(content, dtype=np.float64) for key, content in contents.items()}
    for key, part in parts.items():
        if part.ndim < 1 or part.shape[-1] < 1:
            raise ShapeError(f"{key!r}: degrees have shape (n, values); got {part.shape}")
    return parts
