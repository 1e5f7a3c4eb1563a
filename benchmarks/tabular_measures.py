"""What a method's chances on a test table are worth."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: Chances below are raised to this before the logarithm, and the others divided by the new sum.
#: Leaves of trees give 0 to classes that they have not seen: with a smaller clip the log loss of
#: forests measures the clip.
CLIP, SMALL_CLIP = 1e-3, 1e-6
#: Bins of equal width for the calibration error.
BINS = 10


def measures(chances: Floats, labels: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return the measures of one test table.

    Returns
    -------
    ``accuracy``, and ``at_80``, ``at_50`` on the surest cases (the first in the table first where
    they tie); ``risk_area`` under risk by coverage; ``auc``, one class against the others, mean
    over the classes that have rows in and outside; ``log_loss`` with a clip of 0.001, and
    ``log_loss_6`` of 1e-6; ``rows``; ``gap``, the mean confidence less the accuracy, and
    ``squares``, the mean square of confidence less 1 or 0, so that folds can be pooled; ``bins`` of
    confidence that have rows: index, number of rows, sum of confidence, number right
    """
    confidence = chances.max(axis=1)
    right = chances.argmax(axis=1) == labels
    n = len(labels)
    ordered = right[np.argsort(-confidence, kind="stable")]
    shares = {"accuracy": 1.0, "at_80": 0.8, "at_50": 0.5}
    accuracies = {name: ordered[: int(np.ceil(s * n))].mean() for name, s in shares.items()}
    risks = np.cumsum(~ordered) / np.arange(1, n + 1)
    values = {
        **accuracies,
        "risk_area": risks.mean(),
        "auc": auc(chances, labels),
        "log_loss": log_loss(chances, labels, CLIP),
        "log_loss_6": log_loss(chances, labels, SMALL_CLIP),
        "gap": (confidence - right).mean(),
        "squares": ((confidence - right) ** 2).mean(),
    }
    rounded = {name: round(float(value), 6) for name, value in values.items()}
    return {**rounded, "rows": n, "bins": _bins(confidence, right)}


def auc(chances: Floats, labels: npt.NDArray[np.int64]) -> float:
    """Return the mean area under ROC curves, one class against the others; NaN if there is none."""
    score = import_module("sklearn.metrics").roc_auc_score
    classes = [c for c in np.unique(labels) if not (labels == c).all()]
    areas = [score(labels == c, chances[:, c]) for c in classes]
    return float(np.mean(areas)) if areas else float("nan")


def log_loss(chances: Floats, labels: npt.NDArray[np.int64], clip: float) -> float:
    """Return the mean of -log of the chance of the label, after chances were clipped from below."""
    clipped = np.maximum(chances, clip)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return float(-np.log(clipped[np.arange(len(labels)), labels]).mean())


def _bins(confidence: Floats, right: npt.NDArray[np.bool_]) -> list[list[float]]:
    index = np.minimum((confidence * BINS).astype(int), BINS - 1)
    counts, sums, hits = (
        np.bincount(index, weights, minlength=BINS) for weights in (None, confidence, right)
    )
    return [
        [int(i), int(counts[i]), round(float(sums[i]), 4), int(hits[i])]
        for i in np.flatnonzero(counts)
    ]


def calibration_error(bins: Sequence[Sequence[Sequence[float]]]) -> float:
    """Return the expected calibration error of folds together, from their bins.

    It is of all rows of the folds: the error of one small fold is mostly chance.
    """
    rows = np.array([row for fold in bins for row in fold])
    index = rows[:, 0].astype(int)
    n, confidence, right = (np.bincount(index, rows[:, column]) for column in (1, 2, 3))
    return float(np.abs(confidence - right).sum() / n.sum())
