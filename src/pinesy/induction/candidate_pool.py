"""Candidates for rules: boxes that trees on the residuals of the rules so far give.

A tree is grown on ``label - probability`` of each class, so that its nodes are where the rules so
far are wrong. All nodes join the pool; of too many those stay that gain most.
"""

from collections.abc import Iterator

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy.induction.binned_table import BinnedTable, RealArray
from pinesy.induction.candidate_rules import (
    HIGHEST,
    LOWEST,
    Box,
    allowed,
    n_conditions,
    one_sided,
)
from pinesy.induction.induction_settings import InductionSettings
from pinesy.induction.training_table import IntArray

KERNELS = "pinesy.induction.selection_kernels"
#: Trees that are grown at once, for two classes and for more.
TREES, TREES_OF_MANY = 6, 3
#: The rows that a tree may use, and the share of the features that a node may.
TREE_ROWS, TREE_FEATURES = 2_000, 0.5
#: Candidates up to which all stay, and how many stay of more.
MAX_POOL, POOL = 600, 300
#: Rows on which gains are measured.
GAIN_ROWS = 6_000


class CandidatePool:
    """Boxes, how far each is satisfied in which rows, and what each would gain.

    Attributes
    ----------
    boxes : the candidates
    rows : on which gains are measured
    """

    def __init__(self, table: BinnedTable, settings: InductionSettings) -> None:
        self._table, self._settings = table, settings
        self._random = np.random.default_rng(settings.seed)
        self.rows = self._draw(GAIN_ROWS)
        self._sizes = table.sample_weight.astype(np.float32)
        self._measured = table.take(self.rows)
        # Gains are extrapolated from these rows to all.
        self._share = np.float32(len(table.labels) / len(self.rows))
        self.boxes: list[Box] = []
        self._satisfaction = np.zeros((0, len(self.rows)), dtype=np.float32)
        self._costs = np.zeros((0, 1), dtype=np.float32)
        self._may = np.zeros((0, table.n_classes), dtype=np.bool_)
        self._taken: set[tuple[Box, int]] = set()

    def _draw(self, most: int) -> IntArray:
        n = len(self._table.labels)
        if n <= most:
            return np.arange(n)
        return np.sort(self._random.choice(n, most, replace=False))

    def grow(self, residuals: RealArray) -> None:
        """Add the nodes of trees on residuals, shape ``(n_rows, n_classes)``, that are new."""
        table, settings = self._table, self._settings
        n_trees = TREES if table.n_classes == 2 else TREES_OF_MANY
        nodes = {box for _ in range(n_trees) for box in self._nodes(residuals)}
        if table.signs:
            nodes |= {b for box in nodes for b in one_sided(box, table.signs)}
        nodes -= {*self.boxes}
        boxes = sorted(b for b in nodes if 0 < n_conditions(b) <= settings.max_conditions)
        satisfaction, _ = self._measured.satisfaction(boxes)
        sample_weight = self._measured.sample_weight.astype(np.float32)
        support, total = satisfaction @ sample_weight, sample_weight.sum()
        enough = np.minimum(support, total - support) >= settings.least_rows
        boxes = [box for box, is_large in zip(boxes, enough, strict=True) if is_large]
        may = allowed(boxes, table.signs, table.n_classes)
        for i, box in enumerate(boxes):
            may[i] &= [(box, label) not in self._taken for label in range(table.n_classes)]
        costs = settings.cost * np.array([*map(n_conditions, boxes)], dtype=np.float32)
        self.boxes += boxes
        self._satisfaction = np.concatenate([self._satisfaction, satisfaction[enough]])
        self._costs = np.concatenate([self._costs, costs[:, None].astype(np.float32)])
        self._may = np.concatenate([self._may, may])

    def gains(self, residuals: RealArray, curvatures: RealArray) -> RealArray:
        """Return what a Newton step in each candidate's weight gains for each class, less its cost.

        Parameters
        ----------
        residuals, curvatures : of the pool's rows; shape ``(n_rows, n_classes)``, or with one
            column, that of the second of two classes
        """
        slopes = self._satisfaction @ residuals * self._share
        curvature = self._satisfaction @ curvatures * self._share + np.float32(self._settings.ridge)
        if residuals.shape[1] < self._may.shape[1]:
            slopes = np.concatenate([-slopes, slopes], axis=1)
        gains = 0.5 * np.maximum(slopes, 0.0) ** 2 / curvature - self._costs
        return np.where(self._may, gains, np.float32(-1.0))

    def take(self, index: int, label: int) -> Box:
        """Return a candidate that becomes a rule for a class, and do not offer it again for it."""
        box = self.boxes[index]
        # Of two classes, for one is against the other.
        labels = (0, 1) if self._may.shape[1] == 2 else (label,)
        self._may[index, labels] = False
        self._taken |= {(box, c) for c in labels}
        return box

    def retain_best(self, gains: RealArray) -> RealArray:
        """Drop the candidates that gain least, if there are too many; return the gains left."""
        if len(self.boxes) > MAX_POOL:
            stay = np.sort(np.argsort(-gains.max(axis=1), kind="stable")[:POOL])
            self.boxes = [self.boxes[i] for i in stay]
            self._satisfaction = self._satisfaction[stay]
            self._costs, self._may, gains = self._costs[stay], self._may[stay], gains[stay]
        return gains

    def _nodes(self, residuals: RealArray) -> Iterator[Box]:
        """Yield all nodes of a tree on some rows and features as boxes, the root too."""
        table, settings = self._table, self._settings
        n_features = len(table.bins)
        n_used = max(1, round(TREE_FEATURES * n_features))
        split_features = np.full(2**settings.max_conditions - 1, -1)
        keys = self._random.random((len(split_features), n_features))
        features = np.argpartition(keys, n_used - 1, axis=1)[:, :n_used]
        split_bins = np.zeros_like(split_features)
        load_kernels(KERNELS).grow_tree(
            table.bins,
            self._draw(TREE_ROWS),
            np.ascontiguousarray(features),
            residuals,
            self._sizes,
            table.n_bins,
            settings.least_rows,
            split_features,
            split_bins,
        )
        boxes: dict[int, dict[int, tuple[int, int]]] = {0: {}}
        splits = zip(split_features.tolist(), split_bins.tolist(), strict=True)
        for node, (feature, bin_index) in enumerate(splits):
            if feature >= 0:
                ranges = boxes[node]
                low, high = ranges.get(feature, (LOWEST, HIGHEST))
                boxes[2 * node + 1] = {**ranges, feature: (low, min(high, bin_index))}
                boxes[2 * node + 2] = {**ranges, feature: (max(low, bin_index), high)}
        for ranges in boxes.values():
            yield tuple(sorted((f, low, high) for f, (low, high) in ranges.items()))
