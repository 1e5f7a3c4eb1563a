"""Conditions of rules: columns in bins, and boxes, which are ranges of bins.

Each number becomes the count of cuts that it reaches. All rules share these cuts, at most
`MAX_CUTS` a column, so that they speak of few and short numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.induction.training_table import IntArray, TableColumn

#: The most cuts of a column.
MAX_CUTS = 31
#: The bounds of a range of bins that has none.
LOWEST, HIGHEST = -1, 1_000_000
#: The bin of an unknown value.
BLANK = 255

#: A conjunction of ranges of bins: ``(feature, low, high)`` for ``low < bin <= high``.
Box = tuple[tuple[int, int, int], ...]
#: The bins of each row, shape ``(n_rows, n_features)``.
Bins = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Feature:
    """A column in bins.

    Attributes
    ----------
    column : the index of the column
    cuts : of numbers; bin ``k`` is that of the numbers from ``cuts[k - 1]`` on
    groups : of categories; the bin of each
    label : the index of the class by which categories with many levels are in groups
    """

    column: int
    cuts: tuple[float, ...] = ()
    groups: tuple[int, ...] = ()
    label: int | None = None


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


def bin_columns(columns: tuple[TableColumn, ...], features: tuple[Feature, ...]) -> Bins:
    """Return the bins of each row, shape ``(n_rows, n_features)``; `BLANK` where unknown."""
    n = len(columns[0].values)
    bins = np.empty((n, len(features)), dtype=np.uint8, order="F")
    for j, feature in enumerate(features):
        values = columns[feature.column].values
        unknown = np.isnan(values)
        if feature.groups:
            levels = np.where(unknown, 0, values).astype(np.int64)
            bin_index = np.array(feature.groups, dtype=np.uint8)[levels]
        else:
            bin_index = np.searchsorted(np.array(feature.cuts), values, side="right").astype(
                np.uint8
            )
        bins[:, j] = np.where(unknown, BLANK, bin_index)
    return bins


def evaluate_boxes(bins: Bins, boxes: list[Box]) -> tuple[BoolArray, BoolArray]:
    """Return which boxes certainly, and which possibly, hold in which rows.

    Unknown bins may be any, so that a range of them is possible, and certain in no row.
    Both of shape ``(n_boxes, n_rows)``; costs one comparison a bound and row.
    """
    certain = np.ones((len(boxes), len(bins)), dtype=np.bool_)
    possible = certain.copy()
    unknown = bins == BLANK
    has_unknown = unknown.any()
    for i, box in enumerate(boxes):
        for feature, low, high in box:
            column = bins[:, feature]
            inside = ~unknown[:, feature] & (column > low) & (column <= high)
            certain[i] &= inside
            possible[i] &= (inside | unknown[:, feature]) if has_unknown else inside
    return certain, possible


def pack_boxes(boxes: Sequence[Box]) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """Return the bounds of boxes as rows ``feature, low, high``, and where those of a box start."""
    starts = np.concatenate([[0], np.cumsum([len(box) for box in boxes])]).astype(np.int64)
    bounds = [bound for box in boxes for bound in box]
    return starts, np.array(bounds, dtype=np.int64).reshape(-1, 3)


def n_conditions(box: Box) -> int:
    """Return the number of bounds of a box."""
    return sum((low > LOWEST) + (high < HIGHEST) for _, low, high in box)


def one_sided(box: Box, signs: Mapping[int, int]) -> Iterator[Box]:
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
