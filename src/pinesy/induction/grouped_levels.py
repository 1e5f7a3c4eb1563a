"""Categories with many levels: levels in groups, by how frequent a class is among their rows.

The share of a class among the rows of a level is pulled to that among all rows,

    ``(count of the class + m share) / (count + m)``

and the levels are cut into groups of about as many rows. A condition is then a set of levels: "zip
where yes is frequent (87 values)". Rules are chosen on shares that are computed without the row
itself (in folds): else a level of few rows would seem to know their labels.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.induction.candidate_rules import BLANK, HIGHEST, LOWEST, Bins, Box, Feature
from pinesy.induction.training_table import IntArray, TableColumn
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import format_name, show_value

#: Levels up to which each is a condition of its own.
MAX_LEVELS = 20
#: Rows of the overall share that are added to those of a level.
SMOOTHING = 20.0
#: Groups of levels, and folds of rows.
MAX_GROUPS, FOLDS = 64, 10


def is_grouped(column: TableColumn) -> bool:
    """Return whether the levels of a column are put in groups."""
    return len(column.domain) > MAX_LEVELS and not column.ordered


def grouped_features(
    index: int, column: TableColumn, labels: IntArray, sample_weight: FloatArray, n_classes: int
) -> list[Feature]:
    """Return the levels of a column in groups: by the second of two classes, or by each of more."""
    known = ~np.isnan(column.values)
    levels, features = column.values[known].astype(np.int64), []
    for label in range(n_classes) if n_classes > 2 else (1,):
        shares = _shares(levels, labels[known] == label, sample_weight[known], len(column.domain))
        cuts = _cuts(shares[levels], sample_weight[known])
        if len(cuts):
            groups = np.searchsorted(cuts, shares, side="right")
            features.append(Feature(index, groups=tuple(groups.tolist()), label=label))
    return features


def bins_in_folds(
    column: TableColumn, feature: Feature, labels: IntArray, sample_weight: FloatArray, seed: int
) -> Bins:
    """Return the bins of rows by shares of a class that other rows give; `BLANK` if unknown."""
    known = np.flatnonzero(~np.isnan(column.values))
    levels, n_levels = column.values[known].astype(np.int64), len(column.domain)
    is_class, sample_weight = labels[known] == feature.label, sample_weight[known]
    cuts = _cuts(_shares(levels, is_class, sample_weight, n_levels)[levels], sample_weight)
    folds = np.random.default_rng(seed).permutation(len(known)) % FOLDS
    bins = np.full(len(column.values), BLANK, dtype=np.uint8)
    for fold in range(FOLDS):
        others = folds != fold
        shares = _shares(levels[others], is_class[others], sample_weight[others], n_levels)
        bins[known[~others]] = np.searchsorted(cuts, shares[levels[~others]], side="right")
    return bins


def _shares(
    levels: IntArray, is_class: FloatArray, sample_weight: FloatArray, n: int
) -> FloatArray:
    """Return the smoothed share of a class among the rows of each level."""
    counts = np.bincount(levels, weights=sample_weight, minlength=n)
    of_class = np.bincount(levels, weights=sample_weight * is_class, minlength=n)
    share = of_class.sum() / max(float(counts.sum()), 1e-9)
    return np.asarray((of_class + SMOOTHING * share) / (counts + SMOOTHING))


def _cuts(shares: FloatArray, sample_weight: FloatArray) -> FloatArray:
    """Return cuts between the shares of rows, for groups of about as many rows."""
    order = np.argsort(shares, kind="stable")
    below = (
        np.cumsum(sample_weight[order]) / sample_weight.sum()
        if sample_weight.sum() > 0.0
        else np.zeros(len(sample_weight))
    )
    first = np.searchsorted(below, np.arange(1, MAX_GROUPS) / MAX_GROUPS)
    cuts = np.unique(shares[order][np.minimum(first, len(shares) - 1)]) if len(shares) else shares
    return np.asarray(cuts[cuts > shares.min(initial=np.inf)])


def premise_text(
    box: Box,
    features: Sequence[Feature],
    premise: Sequence[Proposition],
    classes: Sequence[Hashable],
) -> str:
    """Return the text of a box, whose propositions are given; groups of levels by their names."""
    texts = []
    columns = sorted({features[f].column for f, _, _ in box})
    for column, proposition in zip(columns, premise, strict=True):
        names = [
            f"{show_value(classes[label])} is {_frequency(low, high)}"
            for f, low, high in box
            if features[f].column == column and (label := features[f].label) is not None
        ]
        count = proposition.mask.bit_count()
        name = f"{format_name(proposition.attribute.name)} where {' and '.join(names)}"
        values = "1 value" if count == 1 else f"{count} values"
        texts.append(f"{name} ({values})" if names else str(proposition))
    return " and ".join(texts)


def _frequency(low: int, high: int) -> str:
    if low > LOWEST and high < HIGHEST:
        return "neither rare nor frequent"
    return "frequent" if low > LOWEST else "rare"
