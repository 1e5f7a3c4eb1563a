"""Candidates for rules: columns in steps, and ranges of steps from small random forests.

Each number becomes the count of cuts that it reaches. All candidates share these cuts, at most
`MAX_CUTS` a column, so that rules speak of few and short numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray, check_integer
from pinesy.exceptions import needing
from pinesy.induction.training_table import IntArray, TableColumn

#: The most cuts of a column.
MAX_CUTS = 31
#: The bounds of a range of steps that has none.
LOWEST, HIGHEST = -1, 1_000_000
#: Cells, candidates times rows, that fit in memory; more candidates are ignored.
MAX_CELLS = 30_000_000
#: Trees after which an interruption can end a forest; they are the same as those grown at once.
TREES_AT_ONCE = 10
#: What scikit-learn takes.
MAX_SEED = 2**32 - 1

#: A conjunction of ranges of steps: ``(feature, low, high)`` for ``low < step <= high``.
Box = tuple[tuple[int, int, int], ...]
Steps = npt.NDArray[np.float32]


@dataclass(frozen=True)
class InductionSettings:
    """How candidates are grown, and rules chosen among them.

    Attributes
    ----------
    depths : of the trees of each forest
    trees : of each forest
    least_rows : where a rule must hold, and where it must not
    max_conditions : of a rule
    max_rules : the most rules
    cost : of a condition, in log-likelihood
    ridge : pulls weights to 0
    seed : of the forests
    """

    depths: tuple[int, ...]
    trees: int
    least_rows: int
    max_conditions: int
    max_rules: int
    cost: float
    ridge: float
    seed: int

    @classmethod
    def of(
        cls, n_rows: int, n_classes: int, max_rules: int | None, max_conditions: int, seed: int
    ) -> "InductionSettings":
        """Return the settings for a table: few short rules for two classes."""
        conditions = check_integer(max_conditions, "max_conditions", 1)
        check_integer(seed, "seed", 0, most=MAX_SEED)
        two = n_classes == 2
        least = max(1, min(5, n_rows // 10))
        depths = tuple(dict.fromkeys(min(depth, conditions) for depth in (3, 4 if two else 6)))
        rules = 15 * n_classes + n_rows // 50 if max_rules is None else max_rules
        check_integer(rules, "max_rules", 1)
        costs = (0.5, 4.0) if two else (0.1, 1.0)
        return cls(depths, 40 if two else 75, least, conditions, rules, *costs, seed)


@dataclass(frozen=True)
class Feature:
    """A column of steps: a column of numbers, an ordinal one, or one category of a column.

    Attributes
    ----------
    column : the index of the column
    cuts : of numbers; step ``k`` is that of the numbers from ``cuts[k - 1]`` on
    value : the index of the category that has step 1; None for numbers and ordinal columns
    """

    column: int
    cuts: tuple[float, ...] = ()
    value: int | None = None


def features_of(columns: tuple[TableColumn, ...], least: int) -> tuple[Feature, ...]:
    """Return the features of columns; constant ones have none, nor categories that are rare.

    Parameters
    ----------
    least : rows that a category needs, and leaves to the others
    """
    features: list[Feature] = []
    for i, column in enumerate(columns):
        known = column.values[~np.isnan(column.values)]
        if column.domain and not column.ordered:
            counts = np.bincount(known.astype(np.int64), minlength=len(column.domain))
            usable = (counts >= least) & (len(known) - counts >= least)
            features += [Feature(i, value=int(v)) for v in np.flatnonzero(usable)]
        elif column.domain:
            features += [Feature(i, tuple(np.arange(1.0, len(column.domain))))]
        elif cuts := quantile_cuts(known):
            features += [Feature(i, cuts)]
    return tuple(features)


def quantile_cuts(values: FloatArray, most: int = MAX_CUTS) -> tuple[float, ...]:
    """Return cuts at quantiles, or between all values if they are few; short numbers.

    Examples
    --------
    >>> quantile_cuts(np.array([1.0, 2.0, 2.0, 40.0]))
    (2.0, 20.0)
    """
    distinct = np.unique(values)
    after = np.arange(1, len(distinct))
    if len(distinct) > most + 1:
        quantiles = np.quantile(values, np.arange(1, most + 1) / (most + 1), method="inverted_cdf")
        after = np.unique(np.searchsorted(distinct, quantiles, side="right"))
        after = after[after < len(distinct)]
    return tuple(short_between(float(distinct[i - 1]), float(distinct[i])) for i in after)


def short_between(low: float, high: float) -> float:
    """Return a number with few digits that is above `low`, at most `high`, and near their middle.

    Examples
    --------
    >>> short_between(1.0, 2.0), short_between(0.123456, 0.23), short_between(117.0, 140.5)
    (2.0, 0.2, 130.0)
    """
    middle = low + (high - low) / 2
    digits = -floor(log10(high - low)) if high - low > 0 else 17
    for decimals in range(digits, digits + 18):
        number = round(middle, decimals)
        if low < number <= high:
            return float(number)
    return high


def steps_of(columns: tuple[TableColumn, ...], features: tuple[Feature, ...]) -> Steps:
    """Return the steps of each row, shape ``(n_rows, n_features)``; NaN where unknown."""
    n = len(columns[0].values)
    steps = np.empty((n, len(features)), dtype=np.float32)
    for j, feature in enumerate(features):
        values = columns[feature.column].values
        if feature.value is None:
            step = np.searchsorted(np.array(feature.cuts), values, side="right")
        else:
            step = values == feature.value
        steps[:, j] = np.where(np.isnan(values), np.nan, step)
    return steps


def held(steps: Steps, boxes: list[Box]) -> tuple[BoolArray, BoolArray]:
    """Return which boxes certainly, and which possibly, hold in which rows.

    Unknown steps may be any, so that a range of them is possible, and certain in no row.
    Both of shape ``(n_boxes, n_rows)``; costs one comparison a bound and row.
    """
    certain = np.ones((len(boxes), len(steps)), dtype=np.bool_)
    possible = certain.copy()
    unknown = np.isnan(steps)
    has_unknown = unknown.any()
    for i, box in enumerate(boxes):
        for feature, low, high in box:
            column = steps[:, feature]
            inside = (column > low) & (column <= high)
            certain[i] &= inside
            possible[i] &= (inside | unknown[:, feature]) if has_unknown else inside
    return certain, possible


def n_conditions(box: Box) -> int:
    """Return the number of bounds of a box."""
    return sum((low > LOWEST) + (high < HIGHEST) for _, low, high in box)


def grow_candidates(
    steps: Steps,
    labels: IntArray,
    sizes: FloatArray,
    settings: InductionSettings,
    signs: Mapping[int, int],
) -> tuple[list[Box], BoolArray]:
    """Return the inner nodes and leaves of random forests as boxes, each set of rows once.

    With them comes in which rows they certainly hold, of shape ``(n_boxes, n_rows)``.

    Parameters
    ----------
    sizes : how much each row counts
    signs : features that may act in one direction only; there are boxes without either bound, too
    """
    trees = _trees(steps, labels, sizes, settings) if steps.shape[1] and sizes.any() else ()
    nodes = {box for tree in trees for box in _nodes(tree)}
    if signs:
        nodes |= {b for box in nodes for b in _one_sided(box, signs)}
    boxes = sorted(b for b in nodes if 0 < n_conditions(b) <= settings.max_conditions)
    boxes.sort(key=n_conditions)  # of boxes with the same rows the shortest stays
    boxes = boxes[: max(1, MAX_CELLS // max(1, len(labels)))]
    holds, _ = held(steps, boxes)
    _, first = np.unique(np.packbits(holds, axis=1), axis=0, return_index=True)
    support, least = holds.sum(axis=1), settings.least_rows
    enough = (support >= least) & (holds.shape[1] - support >= least)
    distinct = np.sort(first[enough[first]])
    return [boxes[i] for i in distinct], holds[distinct]


def _trees(
    steps: Steps, labels: IntArray, sizes: FloatArray, settings: InductionSettings
) -> list[Any]:
    """Return the trees of all forests; of those that Ctrl-C does not let grow, the ones so far."""
    with needing("sklearn", "induce needs"):
        from sklearn.ensemble import RandomForestClassifier
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
    """Yield a box without the lower, and without the upper bounds of the features with a sign."""
    if any(feature in signs for feature, _, _ in box):
        no_low = [(f, LOWEST if f in signs else low, high) for f, low, high in box]
        no_high = [(f, low, HIGHEST if f in signs else high) for f, low, high in box]
        for ranges in (no_low, no_high):
            yield tuple(bound for bound in ranges if bound[1:] != (LOWEST, HIGHEST))


def allowed(boxes: list[Box], signs: Mapping[int, int], n_classes: int) -> BoolArray:
    """Return for which classes each box may speak, shape ``(n_boxes, n_classes)``.

    A feature with sign 1 may only speak for the last class by lower bounds, and for the first by
    upper bounds (with sign -1 the other way round): then no difference of the scores of a later
    and an earlier class falls where the feature rises.
    """
    may = np.ones((len(boxes), n_classes), dtype=np.bool_)
    for i, box in enumerate(boxes):
        for feature, low, high in box:
            if feature in signs:
                rising, falling = high == HIGHEST, low == LOWEST
                may[i, 1:-1] = False
                may[i, -1] &= rising if signs[feature] > 0 else falling
                may[i, 0] &= falling if signs[feature] > 0 else rising
    return may
