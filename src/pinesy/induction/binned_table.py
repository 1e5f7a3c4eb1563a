"""A table as rules are induced from it: bins of features, labels, and how much rows count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.induction.candidate_rules import BLANK, Bins, Box, pack_boxes
from pinesy.induction.training_table import IntArray

KERNELS = "pinesy.induction.selection_kernels"
RealArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class BinnedTable:
    """Binned features with labels.

    Attributes
    ----------
    bins : the bins of features, shape ``(n_features, n_rows)``
    shares : of each feature the share of known rows up to each bin, shape ``(n_features, 256)``
    labels : the index of each row's class
    sample_weight : how much each row counts
    n_classes : how many there are, seen or not
    signs : features that may act in one direction only
    """

    bins: npt.NDArray[np.uint8]
    shares: RealArray
    labels: IntArray
    sample_weight: FloatArray
    n_classes: int
    signs: Mapping[int, int]

    @classmethod
    def of(
        cls,
        bins: Bins,
        labels: IntArray,
        sample_weight: FloatArray,
        n_classes: int,
        signs: Mapping[int, int],
    ) -> "BinnedTable":
        """Return a table of bins."""
        bins = np.ascontiguousarray(bins.T)
        shares = np.zeros((len(bins), BLANK + 1), dtype=np.float32)
        for f, column in enumerate(bins):
            counts = np.bincount(column, weights=sample_weight, minlength=BLANK + 1)[:BLANK]
            if counts.sum() > 0.0:
                shares[f, :BLANK] = np.cumsum(counts / counts.sum())
            shares[f, BLANK] = 1.0
        return cls(bins, shares, labels, sample_weight, n_classes, signs)

    @cached_property
    def n_bins(self) -> int:
        """A number above all bins that are known."""
        return int(self.bins[self.bins != BLANK].max(initial=0)) + 1

    @cached_property
    def has_blanks(self) -> BoolArray:
        """Whether features are unknown in some row."""
        return np.asarray((self.bins == BLANK).any(axis=1))

    def take(self, rows: Any) -> "BinnedTable":
        """Return some of the rows."""
        return replace(
            self,
            bins=np.ascontiguousarray(self.bins[:, rows]),
            labels=self.labels[rows],
            sample_weight=self.sample_weight[rows],
        )

    def satisfaction(self, boxes: Sequence[Box]) -> tuple[RealArray, RealArray]:
        """Return how far boxes are satisfied in rows, and how far where that is not known.

        The first has the shape ``(n_boxes, n_rows)``: 1, 0, or the second, one number a box; NaN
        if it is known everywhere.
        """
        starts, bounds = pack_boxes(boxes)
        satisfaction = np.empty((len(boxes), len(self.labels)), dtype=np.float32)
        undetermined = np.empty(len(boxes), dtype=np.float32)
        load_kernels(KERNELS).satisfy(
            self.bins,
            self.has_blanks,
            starts,
            bounds,
            self._shares(bounds),
            undetermined,
            satisfaction,
        )
        return satisfaction, undetermined

    def _shares(self, bounds: IntArray) -> RealArray:
        """Return the share of known rows within each of some bounds."""
        features, lows, highs = bounds.T
        below = np.where(lows >= 0, self.shares[features, np.maximum(lows, 0)], np.float32(0.0))
        return np.asarray(self.shares[features, np.minimum(highs, BLANK)] - below)

    def expected_shares(self, boxes: Sequence[Box]) -> FloatArray:
        """Return how far boxes are satisfied on average where that depends on what is unknown.

        If that is nowhere so, it is the mean share of one of its conditions.
        """
        shares = np.empty(len(boxes))
        for i, box in enumerate(boxes):
            _, undetermined = self.satisfaction([box])
            mean = self._shares(pack_boxes([box])[1]).mean()
            shares[i] = mean if np.isnan(undetermined[0]) else undetermined[0]
        return shares
