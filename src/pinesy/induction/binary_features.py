"""Columns in steps: each number becomes the count of cuts that it reaches.

All candidate rules share these cuts, at most `MAX_CUTS` a column, so that rules speak of few and
short numbers.
"""

from dataclasses import dataclass
from math import floor, log10

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.induction.training_table import TableColumn

#: The most cuts of a column.
MAX_CUTS = 31
#: The bounds of a range of steps that has none.
LOWEST, HIGHEST = -1, 1_000_000

#: A conjunction of ranges of steps: ``(feature, low, high)`` for ``low < step <= high``.
Box = tuple[tuple[int, int, int], ...]
Steps = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Feature:
    """What one row of steps says of a column.

    Attributes
    ----------
    column : the position of the column
    cuts : of numbers; step ``k`` is that of the numbers from ``cuts[k - 1]`` on
    value : the position of the category that has step 1; None for numbers and ordinal columns
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
    found: list[Feature] = []
    for i, column in enumerate(columns):
        known = column.values[~np.isnan(column.values)]
        if column.domain and not column.ordered:
            counts = np.bincount(known.astype(np.int64), minlength=len(column.domain))
            usable = (counts >= least) & (len(known) - counts >= least)
            found += [Feature(i, value=int(v)) for v in np.flatnonzero(usable)]
        elif column.domain:
            found += [Feature(i, tuple(np.arange(1.0, len(column.domain))))]
        elif cuts := cuts_of(known):
            found += [Feature(i, cuts)]
    return tuple(found)


def cuts_of(values: FloatArray, most: int = MAX_CUTS) -> tuple[float, ...]:
    """Return cuts at quantiles, or between all values if they are few; short numbers.

    Examples
    --------
    >>> cuts_of(np.array([1.0, 2.0, 2.0, 40.0]))
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
    for places in range(digits, digits + 18):
        number = round(middle, places)
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
            found = np.searchsorted(np.array(feature.cuts), values, side="right")
        else:
            found = values == feature.value
        steps[:, j] = np.where(np.isnan(values), np.nan, found)
    return steps


def held(steps: Steps, boxes: list[Box]) -> tuple[BoolArray, BoolArray]:
    """Return which boxes certainly, and which possibly, hold in which rows.

    Unknown steps may be any, so that a range of them is possible, and certain in no row.
    Both of shape ``(n_boxes, n_rows)``; costs one comparison a bound and row.
    """
    certain = np.ones((len(boxes), len(steps)), dtype=np.bool_)
    possible = certain.copy()
    unknown = np.isnan(steps)
    some = unknown.any()
    for i, box in enumerate(boxes):
        for feature, low, high in box:
            column = steps[:, feature]
            inside = (column > low) & (column <= high)
            certain[i] &= inside
            possible[i] &= (inside | unknown[:, feature]) if some else inside
    return certain, possible


def conditions(box: Box) -> int:
    """Return the number of bounds of a box."""
    return sum((low > LOWEST) + (high < HIGHEST) for _, low, high in box)
