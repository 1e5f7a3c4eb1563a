"""What the rule bases of the problems should infer, worked out from the true digits."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import ShapeError
from pinesy.problems.sudoku import constraints

Ints = npt.NDArray[np.int64]


def addition_labels(digits: npt.ArrayLike, base: int = 10) -> dict[str, Ints]:
    """Return the right value of every attribute that `addition` concludes on, for each sample.

    Parameters
    ----------
    digits : integer array (n_samples, 2k)
        The digits ``a_1, ..., a_2k`` of both numbers, as the inputs of the rules.

    Examples
    --------
    >>> {name: v.tolist() for name, v in addition_labels([[7, 5]]).items()}
    {'c_1': [[7, 5]], 'w_1': [1], 'y_1': [2], 'y_0': [1]}
    """
    array = _integers(digits, "digits", 2)
    if array.shape[1] % 2 or not array.shape[1]:
        raise ShapeError(f"digits have shape (n_samples, 2k); got {array.shape}")
    k = array.shape[1] // 2
    labels: dict[str, Ints] = {}
    carry: list[Ints] = []
    for i in range(k, 0, -1):
        labels[f"c_{i}"] = np.stack([array[:, i - 1], array[:, k + i - 1], *carry], axis=1)
        total = labels[f"c_{i}"].sum(axis=1)
        labels[f"w_{i}"] = (total >= base).astype(np.int64)
        labels[f"y_{i}"] = total % base
        carry = [labels[f"w_{i}"]]
    return {**labels, "y_0": labels["w_1"]}


def sudoku_labels(grids: npt.ArrayLike) -> dict[str, Ints]:
    """Return the right value of every attribute that `sudoku` concludes on, for each grid.

    Parameters
    ----------
    grids : integer array (n_samples, dim, dim)
        The digits, from 0 on, row by row.

    Examples
    --------
    >>> labels = sudoku_labels([[[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]]])
    >>> labels["b_1_1_1_2"].tolist(), labels["c"].tolist()
    ([[0, 1]], [1])
    """
    array = _integers(grids, "grids", 3)
    labels: dict[str, Ints] = {}
    valid = np.ones(len(array), dtype=bool)
    for (i, j), (k, m) in constraints(array.shape[1]):
        one, two = array[:, i - 1, j - 1], array[:, k - 1, m - 1]
        labels[f"b_{i}_{j}_{k}_{m}"] = np.stack([one, two], axis=1)
        valid &= one != two
    return {**labels, "c": valid.astype(np.int64)}


def _integers(content: npt.ArrayLike, what: str, ndim: int) -> npt.NDArray[Any]:
    array = np.asarray(content)
    square = ndim < 3 or array.ndim < 3 or array.shape[1] == array.shape[2]
    if array.ndim != ndim or array.dtype.kind not in "iu" or not square:
        shape = "(n_samples, 2k)" if ndim == 2 else "(n_samples, dim, dim)"
        raise ShapeError(
            f"{what} are integers of shape {shape}; got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64)
