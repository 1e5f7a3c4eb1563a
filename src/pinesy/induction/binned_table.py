"""A table as rules are induced from it: steps of features, labels, and how much rows count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.induction.candidate_rules import BLANK, Box, Steps, pack_boxes
from pinesy.induction.training_table import IntArray

KERNELS = "pinesy.induction.selection_kernels"
RealArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class BinnedTable:
    """Binned features with labels.

    Attributes
    ----------
    bins : the steps of features, shape ``(n_features, n_rows)``
    shares : of each feature the share of known rows up to each step, shape ``(n_features, 256)``
    labels : the index of each row's class
    sizes : how much each row counts
    n_classes : how many there are, seen or not
    signs : features that may act in one direction only
    """

    bins: npt.NDArray[np.uint8]
    shares: RealArray
    labels: IntArray
    sizes: FloatArray
    n_classes: int
    signs: Mapping[int, int]

    @classmethod
    def of(
        cls,
        steps: Steps,
        labels: IntArray,
        sizes: FloatArray,
        n_classes: int,
        signs: Mapping[int, int],
    ) -> "BinnedTable":
        """Return a table of steps."""
        bins = np.ascontiguousarray(steps.T)
        shares = np.zeros((len(bins), BLANK + 1), dtype=np.float32)
        for f, column in enumerate(bins):
            counts = np.bincount(column, weights=sizes, minlength=BLANK + 1)[:BLANK]
            if counts.sum() > 0.0:
                shares[f, :BLANK] = np.cumsum(counts / counts.sum())
            shares[f, BLANK] = 1.0
        return cls(bins, shares, labels, sizes, n_classes, signs)

    @property
    def n_steps(self) -> int:
        """Return a number above all steps that are known."""
        known = self.bins[self.bins != BLANK]
        return int(known.max(initial=0)) + 1

    def take(self, rows: Any) -> "BinnedTable":
        """Return some of the rows."""
        return replace(
            self,
            bins=np.ascontiguousarray(self.bins[:, rows]),
            labels=self.labels[rows],
            sizes=self.sizes[rows],
        )

    def satisfaction(
        self, boxes: Sequence[Box], rows: IntArray | None = None
    ) -> tuple[RealArray, RealArray]:
        """Return how far boxes are satisfied in rows, and how far where that is not known.

        The first has the shape ``(n_boxes, n_rows)``: 1, 0, or the second, one number a box.
        """
        rows = np.arange(len(self.labels)) if rows is None else rows
        starts, bounds = pack_boxes(boxes)
        satisfaction = np.empty((len(boxes), len(rows)), dtype=np.float32)
        undetermined = np.empty(len(boxes), dtype=np.float32)
        kernels = load_kernels(KERNELS)
        kernels.satisfy(self.bins, rows, starts, bounds, self.shares, undetermined, satisfaction)
        return satisfaction, undetermined

    def expected_shares(self, boxes: Sequence[Box]) -> FloatArray:
        """Return how far boxes are satisfied on average where that depends on what is unknown.

        If that is nowhere so, it is the mean share of one of its conditions.
        """
        shares = np.empty(len(boxes))
        for i, box in enumerate(boxes):
            satisfaction, undetermined = self.satisfaction([box])
            ranges = [
                self.shares[f, min(high, BLANK)] - (self.shares[f, low] if low >= 0 else 0.0)
                for f, low, high in box
            ]
            is_open = ((satisfaction > 0.0) & (satisfaction < 1.0)).any()
            shares[i] = undetermined[0] if is_open else np.mean(ranges)
        return shares
