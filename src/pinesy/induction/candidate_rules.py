"""Candidates for rules: the paths of small random forests, and where they hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.induction.binary_features import (
    HIGHEST,
    LOWEST,
    BoolArray,
    Box,
    Steps,
    conditions,
    held,
)
from pinesy.induction.training_table import IntArray

#: Cells, candidates times rows, that are kept in memory; more candidates are passed over.
MAX_CELLS = 30_000_000
#: Trees after which an interruption can end a forest; they are the same as those grown at once.
TREES_AT_ONCE = 10


@dataclass(frozen=True)
class ForestSettings:
    """How candidates are grown.

    Attributes
    ----------
    depths : of the trees of each forest
    trees : of each forest
    least_rows : where a rule must hold, and where it must not
    max_conditions : of a rule
    seed : of the forests
    """

    depths: tuple[int, ...]
    trees: int
    least_rows: int
    max_conditions: int
    seed: int


@dataclass(frozen=True)
class Candidates:
    """Boxes of steps, the number of their conditions, and the rows where they certainly hold."""

    boxes: list[Box]
    sizes: IntArray
    holds: BoolArray


def grow_candidates(
    steps: Steps,
    labels: IntArray,
    sizes: FloatArray,
    settings: ForestSettings,
    signs: Mapping[int, int],
) -> Candidates:
    """Return the inner nodes and leaves of random forests as boxes, each set of rows once.

    Parameters
    ----------
    sizes : how much each row counts
    signs : features that may act in one direction only; there are boxes without either bound, too
    """
    trees = _trees(steps, labels, sizes, settings) if steps.shape[1] and sizes.any() else ()
    found = {box for tree in trees for box in _nodes(tree)}
    found |= {b for box in found for b in _one_sided(box, signs)}
    boxes = sorted(b for b in found if 0 < conditions(b) <= settings.max_conditions)
    boxes.sort(key=conditions)  # of boxes with the same rows the shortest stays
    boxes = boxes[: max(1, MAX_CELLS // max(1, len(labels)))]
    holds, _ = held(steps, boxes)
    kept = _distinct(holds, settings.least_rows)
    chosen = [boxes[i] for i in kept]
    return Candidates(chosen, np.array([*map(conditions, chosen)], dtype=np.int64), holds[kept])


def _trees(
    steps: Steps, labels: IntArray, sizes: FloatArray, settings: ForestSettings
) -> list[Any]:
    """Return the trees of all forests; of those that Ctrl-C does not let grow, the ones so far."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise DataError(
            "induce needs scikit-learn; install it with: pip install 'pinesy[sklearn]'"
        ) from None
    trees: list[Any] = []
    try:
        for depth in settings.depths:
            forest = RandomForestClassifier(
                max_depth=depth,
                min_samples_leaf=settings.least_rows,
                random_state=settings.seed,
                warm_start=True,
            )
            for start in range(0, settings.trees, TREES_AT_ONCE):
                forest.n_estimators = min(start + TREES_AT_ONCE, settings.trees)
                forest.fit(steps, labels, sample_weight=sizes)
                trees += [e.tree_ for e in forest.estimators_[start:]]
    except KeyboardInterrupt:  # rules are chosen among the candidates so far
        pass
    return trees


def _nodes(tree: Any) -> Iterator[Box]:
    """Yield all nodes of a tree, the root too."""
    waiting: list[tuple[int, dict[int, tuple[int, int]]]] = [(0, {})]
    while waiting:
        node, ranges = waiting.pop()
        yield tuple(sorted((f, low, high) for f, (low, high) in ranges.items()))
        if tree.children_left[node] < 0:
            continue
        feature = int(tree.feature[node])
        low, high = ranges.get(feature, (LOWEST, HIGHEST))
        below = above = {}  # the unknown are divided from the known: that is no condition
        if np.isfinite(tree.threshold[node]):
            step = int(np.floor(tree.threshold[node]))
            below, above = {feature: (low, min(high, step))}, {feature: (max(low, step), high)}
        waiting.append((tree.children_left[node], {**ranges, **below}))
        waiting.append((tree.children_right[node], {**ranges, **above}))


def _one_sided(box: Box, signs: Mapping[int, int]) -> Iterator[Box]:
    """Yield a box without the upper, and without the lower bounds of the features with a sign."""
    if any(f in signs for f, _, _ in box):
        yield _unbounded(box, signs, low=True)
        yield _unbounded(box, signs, low=False)


def _unbounded(box: Box, signs: Mapping[int, int], low: bool) -> Box:
    """Return a box without the lower (or upper) bounds of the features with a sign."""
    free = (
        (f, LOWEST if low and f in signs else a, b if low or f not in signs else HIGHEST)
        for f, a, b in box
    )
    return tuple(bound for bound in free if bound[1:] != (LOWEST, HIGHEST))


def _distinct(holds: BoolArray, least: int) -> IntArray:
    """Return the first of the candidates with the same rows, where they hold in enough rows."""
    n = holds.shape[1]
    support = holds.sum(axis=1)
    _, first = np.unique(np.packbits(holds, axis=1), axis=0, return_index=True)
    enough = (support >= least) & (n - support >= least)
    found: IntArray = np.sort(first[enough[first]])
    return found


def allowed(boxes: list[Box], signs: Mapping[int, int], n_classes: int) -> BoolArray:
    """Return for which classes each box may speak, shape ``(n_boxes, n_classes)``.

    A feature with sign 1 may only speak for the last class by lower bounds, and for the first by
    upper bounds (with sign -1 the other way round): then no difference of the scores of a later
    and an earlier class falls where the feature rises.
    """
    found = np.ones((len(boxes), n_classes), dtype=np.bool_)
    for i, box in enumerate(boxes):
        for feature, low, high in box:
            if feature in signs:
                rising, falling = high == HIGHEST, low == LOWEST
                found[i, 1:-1] = False
                found[i, -1] &= rising if signs[feature] > 0 else falling
                found[i, 0] &= falling if signs[feature] > 0 else rising
    return found
