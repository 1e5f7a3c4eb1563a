"""How well a network reads concepts: accuracy, confusion, collapse and calibration."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import check_integer, shape_of
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, DegreeError
from pinesy.rules.attributes import Attribute, check_attribute
from pinesy.rules.syntax.writer import show_value

#: The most bins of the calibration error.
MAX_BINS = 100_000


@dataclass(frozen=True, eq=False)
class ConceptCheck:
    """How well a network predicts labelled inputs of one attribute.

    Attributes
    ----------
    attribute : the attribute
    confusion : the confusion matrix: true values as rows, predicted values as columns
    calibration_error : the expected calibration error (ECE): the mean difference between
        confidence and accuracy over bins of the confidence
    """

    attribute: Attribute
    confusion: npt.NDArray[np.int64]
    calibration_error: float

    @property
    def n(self) -> int:
        """The number of inputs."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """The share of correct predictions."""
        return float(np.trace(self.confusion) / self.n)

    @cached_property
    def used(self) -> tuple[Hashable, ...]:
        """The values that are predicted."""
        columns = np.flatnonzero(self.confusion.any(axis=0))
        return tuple(self.attribute.domain[i] for i in columns)

    @cached_property
    def present(self) -> tuple[Hashable, ...]:
        """The true values that occur."""
        rows = np.flatnonzero(self.confusion.any(axis=1))
        return tuple(self.attribute.domain[i] for i in rows)

    @property
    def collapse(self) -> float:
        """The concept collapse: ``1 - values predicted / values present``, at least 0.

        It is 0 if as many values are predicted as are present, though they may be wrong.
        """
        return max(0.0, 1.0 - len(self.used) / len(self.present))

    @cached_property
    def read_as(self) -> dict[Hashable, Hashable]:
        """The most frequent prediction for each true value."""
        most = self.confusion.argmax(axis=1)
        rows = np.flatnonzero(self.confusion.any(axis=1))
        domain = self.attribute.domain
        return {domain[i]: domain[most[i]] for i in rows}

    @property
    def kind(self) -> str:
        """``"right"``, ``"permuted"`` or ``"merged"``, by the most frequent predictions.

        ``"permuted"`` if they are a permutation of the values: answers may still be right where
        rules are symmetric. ``"merged"`` if several values have the same prediction.
        """
        if all(value == reading for value, reading in self.read_as.items()):
            return "right"
        return "permuted" if len(set(self.read_as.values())) == len(self.read_as) else "merged"

    @property
    def reading(self) -> str:
        """The kind with the wrong predictions, such as ``"permuted: 0 as 5, 5 as 0"``."""
        wrong = [
            f"{value} as {predicted}"
            for value, predicted in self.read_as.items()
            if value != predicted
        ]
        return f"{self.kind}: {', '.join(wrong)}" if wrong else self.kind

    def __str__(self) -> str:
        """Return the measures, a line each, and the confusion matrix."""
        domain = [show_value(value) for value in self.attribute.domain]
        n_read, n_present = len(self.used), len(self.present)
        width = max(5, *map(len, domain), len(str(self.confusion.max())))
        lines = [
            f"{self.attribute.name}: {self.n} read, {100 * self.accuracy:.1f} % of them correctly",
            self.reading,
            f"collapse {self.collapse:.2f}: {n_read} of {n_present} values are read",
            f"calibration error {self.calibration_error:.3f}",
            " ".join(["true".rjust(width), *(f"as {d}".rjust(width) for d in domain)]),
        ]
        for value, row in zip(domain, self.confusion.tolist(), strict=True):
            if any(row):
                lines.append(" ".join([value.rjust(width), *(str(c).rjust(width) for c in row)]))
        return "\n".join(lines)


def check_concepts(
    attribute: Attribute, probabilities: npt.ArrayLike, values: Any, *, bins: int = 10
) -> ConceptCheck:
    """Return the confusion matrix and calibration error of a network on labelled inputs.

    Parameters
    ----------
    attribute : the attribute that the network predicts
    probabilities : array (n, |domain|), the predicted probabilities
    values : (n,), the true values
    bins : the number of bins of the calibration error, of equal width from 0 to 1

    Examples
    --------
    >>> digit = Attribute("digit", range(3))
    >>> seen = [[0.9, 0.1, 0], [0, 1, 0], [0, 0.8, 0.2]]
    >>> print(check_concepts(digit, seen, [0, 1, 2]))
    digit: 3 read, 66.7 % of them correctly
    merged: 2 as 1
    collapse 0.33: 2 of 3 values are read
    calibration error 0.300
     true  as 0  as 1  as 2
        0     1     0     0
        1     0     1     0
        2     0     1     0
    """
    check_attribute(attribute)
    bins, size = check_integer(bins, "bins", least=1, most=MAX_BINS), len(attribute.domain)
    p = np.empty(0) if shape_of(probabilities) is None else np.asarray(probabilities)
    if p.ndim != 2 or p.shape[1] != size or p.dtype.kind not in "fiub":
        raise DegreeError(
            f"probabilities have shape {p.shape} and type {p.dtype}; {attribute.name!r} "
            f"has {size} values, so they must be numbers of shape (n, {size})"
        )
    if not len(p):
        raise DataError("there are no inputs to check")
    if not (np.isfinite(p).all() and (p >= 0.0).all() and (p <= 1.0 + 1e-6).all()):
        raise DegreeError("probabilities must be numbers from 0 to 1; give a softmax of scores")
    true = Target.of_values(values, attribute, len(p)).labels.astype(np.int64)
    predicted = p.argmax(axis=1)
    confusion = np.bincount(true * size + predicted, minlength=size * size).reshape(size, size)
    # The error is sum_b |sum of (correct - confidence) in bin b| / n, with bins (l, u].
    confidence = p.max(axis=1).astype(np.float64)
    bin_of = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(bin_of, weights=(predicted == true) - confidence, minlength=bins)
    return ConceptCheck(attribute, confusion, float(np.abs(gaps).sum() / len(p)))
