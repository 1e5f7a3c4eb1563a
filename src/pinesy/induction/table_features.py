"""The features of a table, and their bins in the rows that rules are chosen on."""

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.induction.candidate_rules import MAX_CUTS, Bins, Feature, bin_columns, quantile_cuts
from pinesy.induction.grouped_levels import bins_in_folds, grouped_features, is_grouped
from pinesy.induction.training_table import TableColumn, TrainingTable


def features_of(table: TrainingTable, sample_weight: FloatArray, least: int) -> tuple[Feature, ...]:
    """Return the features of columns; constant ones have none, nor categories that are rare.

    Numbers and ordinal columns are one feature, others one for each category, or, if these are
    many, groups of them.

    Parameters
    ----------
    sample_weight : how much each row counts
    least : rows that a category needs, and leaves to the others
    """
    features: list[Feature] = []
    for i, column in enumerate(table.columns):
        if is_grouped(column):
            n_classes = len(table.classes)
            features += grouped_features(i, column, table.labels, sample_weight, n_classes)
        elif column.domain:
            features += _category_features(i, column, least)
        elif cuts := quantile_cuts(column.values[~np.isnan(column.values)]):
            features += [Feature(i, cuts)]
    return tuple(features)


def _category_features(index: int, column: TableColumn, least: int) -> list[Feature]:
    n_levels = len(column.domain)
    if column.ordered:
        bins = np.arange(n_levels) * min(n_levels, MAX_CUTS + 1) // n_levels
        return [Feature(index, groups=tuple(bins.tolist()))]
    levels = column.values[~np.isnan(column.values)].astype(np.int64)
    counts = np.bincount(levels, minlength=n_levels)
    usable = np.flatnonzero((counts >= least) & (len(levels) - counts >= least))
    groups = np.eye(n_levels, dtype=np.int64)[usable].tolist()
    return [Feature(index, groups=tuple(bins)) for bins in groups]


def training_bins(
    table: TrainingTable, features: tuple[Feature, ...], sample_weight: FloatArray, seed: int
) -> Bins:
    """Return the bins to choose rules on: of groups of levels those that other rows give."""
    bins = bin_columns(table.columns, features)
    for j, feature in enumerate(features):
        if feature.label is not None:
            column = table.columns[feature.column]
            bins[:, j] = bins_in_folds(column, feature, table.labels, sample_weight, seed)
    return bins
