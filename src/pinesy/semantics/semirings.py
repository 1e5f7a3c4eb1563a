"""Semirings of weights of worlds, and their operations on arrays.

A world weighs the product of its parts, and several worlds together their sum; product and sum are
those of the semiring (docs/semantics.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Semiring:
    """How weights are added and multiplied.

    Attributes
    ----------
    adds : whether weights are added, or else the largest of them is taken
    multiplies : whether weights are multiplied, or else the smallest of them is taken
    """

    adds: bool
    multiplies: bool


@dataclass(frozen=True, eq=False)
class Grouping:
    """Values grouped in classes that are not empty.

    Attributes
    ----------
    of : the class of each value
    order : the values, those of a class one after the other
    starts : where each class begins among them
    """

    of: Indices
    order: Indices
    starts: Indices

    @classmethod
    def by(cls, classes: Sequence[int]) -> "Grouping":
        """Return the grouping of values by their classes."""
        of = np.array(classes, dtype=np.intp)
        order = np.argsort(of, kind="stable")
        return cls(of, order, np.searchsorted(of[order], np.arange(of.max() + 1)))


class NumpyWeights:
    """The operations of a semiring on arrays (samples, ...) of NumPy; 1 sample stands for all."""

    def __init__(self, semiring: Semiring) -> None:
        self.semiring = semiring

    def constant(self, array: FloatArray) -> FloatArray:
        """Return a table that does not depend on samples."""
        return array

    def times(self, x: Any, y: Any) -> Any:
        """Return the products."""
        return x * y if self.semiring.multiplies else np.minimum(x, y)

    def total(self, x: Any) -> Any:
        """Return the sum along axis 1."""
        return x.sum(axis=1) if self.semiring.adds else x.max(axis=1)

    def take(self, x: Any, index: Indices, axis: int) -> Any:
        """Return the entries at indices along an axis."""
        return np.take(x, index, axis=axis)

    def group(self, x: Any, grouping: Grouping) -> Any:
        """Return the sums (n, classes) of values (n, values)."""
        add = np.add if self.semiring.adds else np.maximum
        return add.reduceat(x[:, grouping.order], grouping.starts, axis=1)

    def permuted(self, x: Any, axes: Sequence[int]) -> Any:
        """Return an array with its axes in another order."""
        return x.transpose(axes)

    def scaled(self, x: Any) -> tuple[Any, Any]:
        """Return weights divided by the largest one of each sample, and its logarithm."""
        top = x.reshape(len(x), -1).max(axis=1)
        top = np.where(top > 0.0, top, 1.0)
        return x / top.reshape(-1, *[1] * (x.ndim - 1)), np.log(top)

    def at_most_one(self, x: Any) -> Any:
        """Return weights (n, values) divided by the largest one of each sample, if there is one."""
        top = x.max(axis=1, keepdims=True)
        return x / np.where(top > 0.0, top, 1.0)
