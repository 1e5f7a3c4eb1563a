"""Probabilities, or any degrees, to calibrated possibilities: conformal p-values."""

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_known
from pinesy.calibration.score_counts import (
    FITS,
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
#: By input, arrays ``(n, ..., values)``, and the columns of their true values ``(n, ...)``.
Parts = Mapping[Any, FloatArray]
Labels = Mapping[Any, npt.NDArray[np.int64]]

#: The name of the only part, where degrees come as one array.
ALL = "inputs"


class ConformalTransform:
    """A transformation of degrees into conformal p-values, which are possibilities.

    The score of a value says how badly it fits: ``sigma_j(v) = 1 - p_j(v)``. Calibration samples,
    whose true values are known, tell how bad the scores of true values get; the possibility of a
    value is the share of them that are at least as bad, ``f(sigma_j(v))`` (`ScoreCounts`), and the
    best value of each input gets 1. See docs/guarantees.md for what that guarantees, and
    docs/guarantees-proof.md for why.

    Parameters
    ----------
    score : ``"complement"``, 1 minus the degree; of probabilities also ``"antipignistic"``, 1
        minus the possibility, and ``"cumulated"``, the probability of all values that are more
        probable
    unit : what is counted. ``"sample"``: a sample with all its inputs, by its worst true value;
        all true values are then in their sets together. ``"input"``: every input by itself, which
        gives smaller sets and a guarantee for each input alone.
    class_conditional : count the samples of each value apart, so that the guarantee holds for each
        value by itself; for single inputs only
    classes : the values that the columns are of; by default their numbers
    kinds : of inputs given by name, which are of one kind, such as ``{"left": "digit", "right":
        "digit", "op": "sign"}``. Scores of different kinds are made comparable: the first half of
        the calibration samples ranks each kind by itself, and the others are counted.

    Attributes
    ----------
    counts_ : of the scores of true values: one `ScoreCounts`, or one for each class
    doubt_ : of margin scores, 1 minus how far the best value of the least sure input is ahead,
        which need no labels; those of new data of the same kind are alike (`DriftMonitor`)
    ranks_ : by kind, the scores that `kinds` are ranked by

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
        check_known(score, FITS, f"there is no score {score!r:.60}", DomainError)
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
        weights : for new samples whose inputs are distributed differently: how much more frequent
            samples like each are among those (the ratio of densities, up to a constant factor).
            New samples then need weights too; see `__call__`.
        """
        parts, truth = self._read(degrees, labels)
        checked = _calibration_weights(weights, _n(parts))
        self.ranks_ = {}
        first = self._rank(parts, truth) if self.kinds else 0
        self.counts_, self.doubt_ = self._counted(
            {key: part[first:] for key, part in parts.items()},
            {key: columns[first:] for key, columns in truth.items()},
            None if checked is None else checked[first:],
        )
        return self

    def partial_fit(self, degrees: Any, labels: Any, weights: npt.ArrayLike | None = None) -> Self:
        """Count more calibration samples; as `fit` with all of them, if nothing is ranked.

        Sums of weights may differ in their last bits, as floats that add in another order do.
        """
        if not hasattr(self, "counts_"):
            return self.fit(degrees, labels, weights)
        parts, truth = self._read(degrees, labels)
        return self._add(*self._counted(parts, truth, _calibration_weights(weights, _n(parts))))

    def __add__(self, other: "ConformalTransform") -> "ConformalTransform":
        """Return the calibration by the samples of both: counts add, and so do weights."""
        if self._form != other._form or self.ranks_ != other.ranks_:
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
    def _form(self) -> tuple[object, ...]:
        classes = None if self.classes is None else tuple(self.classes)
        return self.score, self.unit, self.class_conditional, classes, self.kinds

    @property
    def n(self) -> int:
        """The number of units that were counted (the least of any class), whatever they weigh."""
        return min(counts.samples for counts in self.counts_)

    @property
    def is_weighted(self) -> bool:
        """Whether the calibration samples have weights, so that new ones need theirs."""
        return self.doubt_.is_weighted

    def new_weights(
        self, weights: npt.ArrayLike | None, n: int, name: str = "weights"
    ) -> FloatArray | None:
        """Return the weights of `n` new samples, or raise an error that calls them by a name."""
        return new_weights(weights, n, self.is_weighted, name)

    def _read(self, degrees: Any, labels: Any) -> tuple[dict[Any, FloatArray], Labels]:
        """Return degrees and the columns of the true values, by input."""
        parts = as_parts(degrees)
        values = labels if isinstance(labels, Mapping) else {ALL: labels}
        missing = [key for key in parts if key not in values]
        if missing:
            raise DataError(
                f"there are no labels for {missing[0]!r}; calibration needs those of every input"
            )
        if not parts or not _n(parts):
            raise DataError("there are no calibration samples")
        return parts, {
            key: label_columns(values[key], part.shape, self.classes) for key, part in parts.items()
        }

    def _rank(self, parts: Parts, truth: Labels) -> int:
        """Rank each kind by the first half of the samples; return how many these are."""
        kinds = self.kinds or {}
        missing = [key for key in parts if key not in kinds]
        if missing:
            raise DataError(f"kinds says nothing of {missing[0]!r}; name the kind of every input")
        half = _n(parts) // 2
        for kind in dict.fromkeys(kinds[key] for key in parts):
            keys = [key for key in parts if kinds[key] == kind]
            scores = {k: 1.0 - self._fits(k, parts[k][:half], ranked=False) for k in keys}
            true = true_scores(scores, {key: truth[key][:half] for key in keys})
            self.ranks_[kind] = ScoreCounts.of(true)
        return half

    def _counted(
        self, parts: Parts, truth: Labels, weights: FloatArray | None
    ) -> tuple[tuple[ScoreCounts, ...], ScoreCounts]:
        """Return the counts of the scores of true values, and of margin scores."""
        scores = self.scores(parts)
        true = true_scores(scores, truth)
        repeated = None if weights is None else np.repeat(weights, true.shape[1])
        if self.class_conditional:
            counts = self._by_class(parts, truth, true, repeated)
        elif self.unit == "sample":
            counts = (ScoreCounts.of(true.max(axis=1), weights),)
        else:
            counts = (ScoreCounts.of(true, repeated),)
        return counts, ScoreCounts.of(worst_margin_scores(scores), weights)

    def _by_class(
        self, parts: Parts, truth: Labels, true: FloatArray, weights: FloatArray | None
    ) -> tuple[ScoreCounts, ...]:
        """Return the counts of each value by itself."""
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
            one for each. A sample of weight `w` keeps all its values at levels above
            ``W / (W + w)``, where `W` is the sum of the weights of calibration.
        """
        return self._conformed(degrees, weights, raised=True)[0]

    def p_values(self, degrees: Any, weights: npt.ArrayLike | None = None) -> Any:
        """Return the p-values alone: where even the best value's is small, a sample is novel."""
        return self._conformed(degrees, weights, raised=False)[0]

    def conformed(
        self, degrees: Any, weights: npt.ArrayLike | None = None
    ) -> tuple[Any, FloatArray]:
        """Return what a call returns, and the conformity of each sample.

        That is the p-value of the best value of its least conforming input.
        """
        p_values, tops = self._conformed(degrees, weights, raised=True)
        least = [top.min(axis=tuple(range(1, top.ndim))) for top in tops]
        return p_values, np.min(least, axis=0)

    def doubt(self, degrees: Any, weights: npt.ArrayLike | None = None) -> FloatArray:
        """Return the p-value of each sample's margin score (see `doubt_`): uniform, up to ties."""
        margin = worst_margin_scores(self.scores(degrees))
        return self.doubt_.p_values(margin, self.new_weights(weights, len(margin)))

    def scores(self, degrees: Any) -> dict[Any, FloatArray]:
        """Return how badly each value fits, by input: the scores that are counted."""
        return {key: 1.0 - self._fits(key, part) for key, part in as_parts(degrees).items()}

    def _conformed(
        self, degrees: Any, weights: npt.ArrayLike | None, raised: bool
    ) -> tuple[Any, list[FloatArray]]:
        """Return p-values in the form of the degrees, and those of each distribution's best."""
        if not hasattr(self, "counts_"):
            raise DataError("nothing was calibrated yet; call fit with samples and true values")
        parts = as_parts(degrees)
        n = 1 if next(iter(parts.values())).ndim == 1 else _n(parts)
        checked = self.new_weights(weights, n)
        p_values, tops = {}, []
        for key, part in parts.items():
            weight = None if checked is None else checked.reshape(-1, *[1] * (part.ndim - 1))
            scores = 1.0 - self._fits(key, part)
            p_values[key] = self._p_values(scores, weight)
            tops.append(p_values[key].max(axis=-1))
            if raised:
                p_values[key][scores == scores.min(axis=-1, keepdims=True)] = 1.0
        return p_values if isinstance(degrees, Mapping) else p_values[ALL], tops

    def _p_values(self, scores: FloatArray, weight: FloatArray | None) -> FloatArray:
        if not self.class_conditional:
            return self.counts_[0].p_values(scores, weight)
        if len(self.counts_) != scores.shape[-1]:
            raise ShapeError(f"{scores.shape[-1]} values; {len(self.counts_)} were calibrated")
        columns = enumerate(self.counts_)
        p_values = [counts.p_values(scores[..., [c]], weight) for c, counts in columns]
        return np.concatenate(p_values, axis=-1)

    def _fits(self, key: Any, part: FloatArray, ranked: bool = True) -> FloatArray:
        """Return how well each value fits; inputs of several kinds by their ranks."""
        try:
            fits = FITS[self.score](part)
        except DegreeError as error:
            error.args = (f"{key!r}, {error}" if key != ALL else str(error), *error.args[1:])
            raise
        if not (self.kinds and ranked):
            return fits
        return self.ranks_[self.kinds[key]].p_values(1.0 - fits)

    # --- words ---------------------------------------------------------------------------------

    @property
    def guarantee(self) -> str:
        """What is guaranteed, in words."""
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
        """Return in words what is assumed of new samples: exchangeable, or the shift of weights."""
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
    """Return the weights of calibration samples, not all of them 0; None if there are none."""
    if weights is None:
        return None
    checked = checked_weights(weights, n)
    if not checked.any():
        raise DataError("weights are all 0; samples of weight 0 do not count")
    return checked


def _n(parts: Parts) -> int:
    return len(next(iter(parts.values())))


def as_parts(degrees: Any) -> dict[Any, FloatArray]:
    """Return degrees by input as arrays ``(n, ..., values)``; one array is one part."""
    contents = degrees if isinstance(degrees, Mapping) else {ALL: degrees}
    parts = {key: np.asarray(content, dtype=np.float64) for key, content in contents.items()}
    for key, part in parts.items():
        if part.ndim < 1 or part.shape[-1] < 1:
            raise ShapeError(f"{key!r}: degrees have shape (n, values); got {part.shape}")
    return parts
