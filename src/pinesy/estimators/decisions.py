"""From possibilities to probabilities and decisions, and why there is none."""

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_degree
from pinesy.transforms import antipignistic_inverse

#: Why no value is predicted, where none is.
ABSTENTIONS = ("", "ambiguous", "contradictory", "unknown")


def probabilities(pi: FloatArray) -> FloatArray:
    """Return the probabilities that possibilities (n, classes) stand for; see `predict_proba`."""
    height = pi.max(axis=1, keepdims=True)
    scaled = np.where(height > 0.0, pi / np.where(height > 0.0, height, 1.0), 1.0)
    return np.asarray(antipignistic_inverse(scaled))


def abstention_kinds(pi: FloatArray, certainty: float) -> npt.NDArray[np.str_]:
    """Return why no class is predicted with a certainty: for each row a word, empty if one is."""
    least = check_degree(certainty, "certainty")
    top = np.sort(pi, axis=1)[:, ::-1]
    sure = (top[:, 0] > top[:, 1]) & (top[:, 0] - top[:, 1] >= least)
    kinds = np.where(top[:, 0] < 1.0, 2, np.where(top[:, -1] == 1.0, 3, 1))
    return np.array(ABSTENTIONS)[np.where(sure, 0, kinds)]
