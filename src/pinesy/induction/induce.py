"""Rules from a table."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.console import progress
from pinesy._common.validation import FloatArray, check_integer, check_known
from pinesy.exceptions import DataError
from pinesy.induction.binary_features import Feature, Steps, features_of, steps_of
from pinesy.induction.candidate_rules import ForestSettings, KeptRules, allowed, grow_candidates
from pinesy.induction.point_model import PointModel, rounded
from pinesy.induction.points_cascade import ScoreCard, write_cascade
from pinesy.induction.rule_selection import RuleSelector, SelectionSettings
from pinesy.induction.training_table import (
    TableColumn,
    TrainingTable,
    batches_of,
    read_training_table,
)
from pinesy.rulebase.cascade import Cascade

#: Rows that rules are induced from, if a table has more.
SAMPLE = 20_000
#: What scikit-learn takes.
MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class InducedRules:
    """Rules that were induced from a table, before they are written as a cascade.

    Attributes
    ----------
    model : the rules, on steps of the features
    features : what the steps say of the columns
    table : what they were induced from
    """

    model: PointModel
    features: tuple[Feature, ...]
    table: TrainingTable

    def possibility(self, columns: tuple[TableColumn, ...]) -> FloatArray:
        """Return the possibility of each class in each row of columns as the table's."""
        return self.model.possibility(steps_of(columns, self.features))


def induce(
    table: Any,
    target: Any,
    *,
    max_rules: int | None = None,
    max_conditions: int = 4,
    monotone: Mapping[str, int] | None = None,
    ordinal: Mapping[str, Sequence[Hashable]] | None = None,
    keep: Any = None,
    sample: int | None = SAMPLE,
    weights: Any = None,
    seed: int = 0,
) -> Cascade:
    """Return rules that tell the target from the other columns of a table.

    Rules of a few conditions give points to the classes, and a lead in points says how certain a
    class is (docs/induction.md). The result is an ordinary cascade: `infer` on a table with the
    same columns gives the possibility of each class. Needs scikit-learn. Interrupted by Ctrl-C it
    returns the best rules so far.

    Parameters
    ----------
    table : a DataFrame of pandas or polars, a dict of columns, or a list of dicts. Columns of
        numbers are cut, others are categories; None and NaN are unknown. `id` is passed over.
        Or an iterator of such tables, or a DataFrame of Dask's: rules are induced from a uniform
        sample of their rows, drawn in one pass
    target : the name of the column of labels, or the labels
    max_rules : that give points; by default 15 for each class and one for each 50 rows
    max_conditions : of a rule
    monotone : columns of numbers or ordered categories that, where they rise, may only speak for
        later classes (1), or for earlier ones (-1), in the order of the classes
    ordinal : the values of ordinal columns, from the lowest on (ordered categories of pandas
        are known to be ordinal)
    keep : rules of your own on the same target; where they hold, they win
    sample : the most rows to induce from, drawn by the seed; None for all
    weights : how much each row counts, numbers > 0; by default all count once
    seed : the same seed gives the same rules

    Examples
    --------
    >>> from pinesy import induce
    >>> ages = [25, 33, 41, 52, 60, 68] * 4
    >>> risk = ["high" if age > 50 else "low" for age in ages]
    >>> rules = induce({"age": ages, "risk": risk}, "risk")
    >>> rules.infer({"age": 70})["risk"].best
    'high'
    """
    return induce_card(
        table,
        target,
        ordinal=ordinal,
        keep=keep,
        sample=sample,
        weights=weights,
        seed=seed,
        max_rules=max_rules,
        max_conditions=max_conditions,
        monotone=monotone,
    )[0]


def induce_card(
    table: Any,
    target: Any,
    *,
    ordinal: Mapping[str, Sequence[Hashable]] | None = None,
    keep: Any = None,
    sample: int | None = SAMPLE,
    weights: Any = None,
    seed: int = 0,
    **options: Any,
) -> tuple[Cascade, ScoreCard]:
    """Do as `induce`; return the score card too."""
    if weights is not None and batches_of(table) is not None:
        raise DataError("rows of a table that comes in batches count once; leave the weights out")
    read = read_training_table(table, target, ordinal, sample, seed)
    kept = KeptRules(keep, read)
    found = induce_points(
        read,
        **options,
        sizes=kept.undecided(read.columns) * _sizes(weights, read),
        seed=seed,
    )
    goal = (read.target, read.classes)
    return write_cascade(found.model, read.columns, found.features, goal, kept)


def _sizes(weights: Any, table: TrainingTable) -> FloatArray:
    """Return how much the rows that were read count."""
    if weights is None:
        return np.ones(len(table.rows))
    try:
        sizes = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the weights are {weights!r:.60}; give a number > 0 a row") from None
    if sizes.ndim != 1 or len(sizes) <= table.rows.max() or not (sizes > 0.0).all():
        raise DataError(
            f"the weights have shape {sizes.shape}; give a number > 0 for each row of the table, "
            "and leave out rows that do not count"
        )
    return np.asarray(sizes[table.rows])


def induce_points(
    table: TrainingTable,
    *,
    max_rules: int | None = None,
    max_conditions: int = 4,
    monotone: Mapping[str, int] | None = None,
    sizes: FloatArray | None = None,
    seed: int = 0,
) -> InducedRules:
    """Return rules on a table that was read; `sizes` says how much each row counts.

    Costs two forests of small trees, and for each rule two products of the matrix of candidates
    and rows with that of rows and classes.
    """
    labels, n_classes = table.labels, len(table.classes)
    forest, choice = settings_for(len(labels), n_classes, max_rules, max_conditions, seed)
    features = features_of(table.columns, forest.least_rows)
    steps = steps_of(table.columns, features)
    signs = _signs({} if monotone is None else monotone, table.columns, features)
    weights = np.ones(len(labels)) if sizes is None else np.ascontiguousarray(sizes, np.float64)
    with progress("inducing rules", choice.max_rules) as bar:
        selector = _selector(table, steps, weights, signs, forest, choice)
        selection = selector.run(bar.advance)
    model = rounded(selection, selector.boxes, steps, labels, weights)
    return InducedRules(model, features, table)


def settings_for(
    n_rows: int, n_classes: int, max_rules: int | None, max_conditions: int, seed: int
) -> tuple[ForestSettings, SelectionSettings]:
    """Return how candidates are grown and chosen: few short rules for two classes."""
    most = check_integer(max_conditions, "max_conditions", 1)
    check_integer(seed, "seed", 0, most=MAX_SEED)
    two = n_classes == 2
    least = max(1, min(5, n_rows // 10))
    depths = tuple(dict.fromkeys(min(depth, most) for depth in (3, 4 if two else 6)))
    forest = ForestSettings(depths, 40 if two else 75, least, most, seed)
    if max_rules is None:
        max_rules = 15 * n_classes + n_rows // 50
    check_integer(max_rules, "max_rules", 1)
    return forest, SelectionSettings(max_rules, 0.5 if two else 0.1, 4.0 if two else 1.0)


def _selector(
    table: TrainingTable,
    steps: Steps,
    sizes: FloatArray,
    signs: Mapping[int, int],
    forest: ForestSettings,
    choice: SelectionSettings,
) -> RuleSelector:
    """Return what chooses among the candidates of a table."""
    candidates = grow_candidates(steps, table.labels, sizes, forest, signs)
    may = allowed(candidates.boxes, signs, len(table.classes))
    return RuleSelector(candidates, table.labels, sizes, may, choice)


def _signs(
    monotone: Mapping[str, int], columns: Sequence[TableColumn], features: Sequence[Feature]
) -> dict[int, int]:
    """Return the directions of features, from those of columns."""
    if not isinstance(monotone, Mapping):
        raise DataError(f"monotone is {monotone!r:.60}; give a mapping from columns to 1 or -1")
    names = [c.name for c in columns]
    for name, sign in monotone.items():
        check_known(name, names, f"monotone names {name!r}, which is no column", DataError)
        column = columns[names.index(name)]
        if sign not in (1, -1) or (column.domain and not column.ordered):
            raise DataError(
                f"monotone has {sign!r} for {name!r}; it is 1 or -1 for a column of numbers, or an "
                "ordinal one"
            )
    found = ((i, monotone.get(names[f.column])) for i, f in enumerate(features))
    return {i: sign for i, sign in found if sign is not None}
