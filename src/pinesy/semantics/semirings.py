"""Semirings of weights of worlds, and their operations on arrays.

The weight of a world is the product of its factors, that of several worlds the sum of theirs;
product and sum are those of the semiring (docs/semantics.md).
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
    """A semiring: its sum is ``+`` or max, its product is ``*`` or min.

    Attributes
    ----------
    adds : whether the sum is ``+``, else max
    multiplies : whether the product is ``*``, else min
    """

    adds: bool
    multiplies: bool


@dataclass(frozen=True, eq=False)
class Grouping:
    """Values grouped into classes that are not empty.

    Attributes
    ----------
    of : the class of each value
    order : the values sorted by class
    starts : the start of each class in `order`
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
    """The operations of a semiring on NumPy arrays (samples, ...); a single sample broadcasts."""

    def __init__(self, semiring: Semiring) -> None:
        self.semiring = semiring

    def constant(self, array: FloatArray) -> FloatArray:
        """Return a table that does not depend on samples."""
        return array

    def times(self, x: Any, y: Any) -> Any:
        """Return the product."""
        return x * y if self.semiring.multiplies else np.minimum(x, y)

    def total(self, x: Any) -> Any:
        """Return the sum along axis 1."""
        return x.sum(axis=1) if self.semiring.adds else x.max(axis=1)

    def take(self, x: Any, index: Indices, axis: int) -> Any:
        """Return the entries at indices along an axis."""
        return np.take(x, index, axis=axis)

    def group(self, x: Any, grouping: Grouping) -> Any:
        """Return the sums (n, classes) of the values (n, values) of each class."""
        add = np.add if self.semiring.adds else np.maximum
        return add.reduceat(x[:, grouping.order], grouping.starts, axis=1)

    def permute(self, x: Any, axes: Sequence[int]) -> Any:
        """Return an array with permuted axes."""
        return x.transpose(axes)

    def rescale(self, x: Any) -> tuple[Any, Any]:
        """Return weights divided by the largest of each sample, and its logarithm."""
        top = x.reshape(len(x), -1).max(axis=1)
        top = np.where(top > 0.0, top, 1.0)
        return x / top.reshape(-1, *[1] * (x.ndim - 1)), np.log(top)

    def rescale_to_one(self, x: Any) -> Any:
        """Return weights (n, values) divided by the largest of each sample, unless that is 0."""
        top = x.max(axis=1, keepdims=True)
        return x / np.where(top > 0.0, top, 1.0)
