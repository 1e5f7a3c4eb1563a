"""Rules from a table."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.console import progress
from pinesy._common.masks import contains, mask_of, mask_table
from pinesy._common.validation import BoolArray, FloatArray, as_list, check_known
from pinesy.exceptions import DataError, RuleSetError
from pinesy.induction.binned_table import BinnedTable
from pinesy.induction.candidate_rules import Feature, bin_columns
from pinesy.induction.induction_settings import InductionSettings
from pinesy.induction.inner_fits import choose_rules
from pinesy.induction.point_model import PointModel, with_points
from pinesy.induction.points_cascade import CardCascade, input_attributes, score_card
from pinesy.induction.score_card import ScoreCard
from pinesy.induction.table_features import features_of, training_bins
from pinesy.induction.training_table import (
    TableColumn,
    TrainingTable,
    batches_of,
    read_training_table,
)
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

#: Rows that rules are induced from, if a table has more.
SAMPLE = 100_000


@dataclass(frozen=True)
class InducedRules:
    """Rules that were induced from a table, before they are written as a cascade.

    Attributes
    ----------
    model : the rules, on bins of the features
    features : the columns that the bins are of
    table : the rows that they were induced from
    """

    model: PointModel
    features: tuple[Feature, ...]
    table: TrainingTable

    def possibility(self, columns: tuple[TableColumn, ...]) -> FloatArray:
        """Return the cautious possibility of each class in each row of columns as the table's."""
        return self.model.possibility(bin_columns(columns, self.features))

    def expected_possibility(self, columns: tuple[TableColumn, ...]) -> FloatArray:
        """Return the expected possibility of each class in each row of columns as the table's."""
        return self.model.expected_possibility(bin_columns(columns, self.features))


def induce(
    table: Any,
    target: Any,
    *,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    small: bool = False,
    monotone: Mapping[str, int] | None = None,
    ordinal: Mapping[str, Sequence[Hashable]] | None = None,
    keep: Any = None,
    features: Iterable[str] | None = None,
    sample: int | None = SAMPLE,
    weights: Any = None,
    seed: int = 0,
) -> CardCascade:
    """Return rules that tell the target from the other columns of a table.

    Rules of a few conditions give points to the classes, and a lead in points says how certain a
    class is (docs/induction.md). The result is an ordinary cascade: `infer` on a table with the
    same columns gives the possibility of each class. Interrupted by Ctrl-C it returns the best
    rules so far.

    Parameters
    ----------
    table : a DataFrame of pandas or polars, a dict of columns, or a list of dicts. Columns of
        numbers are cut, others are categories; None and NaN are unknown. Columns of dates, and of
        identifiers (texts or running numbers that are nearly unique, or called `id`), are not used:
        a `DataWarning` names them
        Or an iterator of such tables, or a DataFrame of Dask's: rules are induced from a uniform
        sample of their rows, drawn in one pass
    target : the name of the column of labels, or the labels
    max_rules : that give points; by default 15 for each class and one for each 50 rows, of up to
        20,000
    max_conditions : of a rule; by default 4 for two classes, and 6 for more
    small : whether rules that matter little are pruned
    monotone : columns of numbers or ordered categories that, where they rise, may only speak for
        later classes (1), or for earlier ones (-1), in the order of the classes
    ordinal : the values of ordinal columns, from the lowest on (ordered categories of pandas
        are known to be ordinal)
    keep : rules of your own on the same target; where they hold, they win
    features : the columns to use, whatever they hold; by default all but dates and identifiers
        that neither `monotone`, `ordinal` nor `keep` names
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
        features=features,
        sample=sample,
        weights=weights,
        seed=seed,
        max_rules=max_rules,
        max_conditions=max_conditions,
        small=small,
        monotone=monotone,
    )[0]


def induce_card(
    table: Any,
    target: Any,
    *,
    ordinal: Mapping[str, Sequence[Hashable]] | None = None,
    keep: Any = None,
    features: Iterable[str] | None = None,
    sample: int | None = SAMPLE,
    weights: Any = None,
    seed: int = 0,
    monotone: Mapping[str, int] | None = None,
    **options: Any,
) -> tuple[CardCascade, ScoreCard]:
    """Do as `induce`; return the score card too."""
    if weights is not None and batches_of(table) is not None:
        raise DataError("rows of a table that comes in batches count once; leave the weights out")
    user_rules = _rules(keep)
    columns = {p.attribute.name for rule in user_rules for p in rule.premise.propositions}
    columns |= {*monotone} if isinstance(monotone, Mapping) else set()
    training = read_training_table(table, target, ordinal, sample, seed, features, columns)
    _check_user_rules(user_rules, training)
    sample_weight = _row_sizes(weights, user_rules, training)
    induced = induce_points(
        training, **options, monotone=monotone, sample_weight=sample_weight, seed=seed
    )
    boxes = induced.model.boxes
    inputs = input_attributes(training.columns, induced.features, boxes, user_rules)
    output = Attribute(training.target, training.classes)
    known = {a.name: a for a in (*inputs, output)}
    winning = []
    for rule in user_rules:  # on attributes that may have more cuts, or another order of values
        parts = [_on_attribute(p, known[p.attribute.name]) for p in rule.premise.propositions]
        conclusion = _on_attribute(rule.conclusion, output)
        winning.append(Rule(Premise(tuple(parts)), conclusion, rule.s, rule.r))
    row_weights = None if weights is None else np.asarray(weights, np.float64)[training.rows]
    counts = np.bincount(training.labels, row_weights, len(training.classes))
    shares = (counts / counts.sum()).tolist()
    card = score_card(induced.model, induced.features, inputs, output, winning, shares)
    return CardCascade(card), card


def induce_points(
    table: TrainingTable,
    *,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    small: bool = False,
    monotone: Mapping[str, int] | None = None,
    sample_weight: FloatArray | None = None,
    seed: int = 0,
) -> InducedRules:
    """Return rules on a table that was read; `weights` says how much each row counts."""
    labels, n_classes = table.labels, len(table.classes)
    settings = InductionSettings.of(len(labels), n_classes, max_rules, max_conditions, seed, small)
    weights = (
        np.ones(len(labels))
        if sample_weight is None
        else np.ascontiguousarray(sample_weight, np.float64)
    )
    features = features_of(table, weights, settings.least_rows)
    signs = _signs({} if monotone is None else monotone, table.columns, features)
    bins = training_bins(table, features, weights, seed)
    binned = BinnedTable.of(bins, labels, weights, n_classes, signs)
    with progress("inducing rules", settings.max_rules) as bar:
        rules = choose_rules(binned, settings, bar.advance)
    if any(feature.label is not None for feature in features):  # rows as they will be read
        bins = bin_columns(table.columns, features)
        binned = BinnedTable.of(bins, labels, weights, n_classes, signs)
    return InducedRules(with_points(rules, binned), features, table)


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
    directions = ((i, monotone.get(names[f.column])) for i, f in enumerate(features))
    return {i: sign for i, sign in directions if sign is not None}


# --- rules of the user ----------------------------------------------------------------------------


def _rules(keep: Any) -> list[Rule]:
    """Return a rule, rules, a rule set or a cascade as a list of rules."""
    if keep is None:
        return []
    if isinstance(keep, Rule):
        return [keep]
    if isinstance(keep, Cascade):
        return [rule for rule_set in keep.stated for rule in rule_set.rules]
    rules = as_list(keep.rules if isinstance(keep, RuleSet) else keep, "keep", RuleSetError)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise RuleSetError(f"keep has {rule!r:.60}; give rules, or a set of them")
    return rules


def _check_user_rules(rules: Sequence[Rule], table: TrainingTable) -> None:
    """Raise `RuleSetError` unless rules conclude on the target from conditions on columns."""
    columns = {column.name: column for column in table.columns}
    for rule in rules:
        output = rule.conclusion.attribute
        if output.name != table.target or set(output.domain) != set(table.classes):
            raise RuleSetError(
                f"the kept rule '{rule}' concludes on {output!r}; rules that are kept conclude on "
                f"{table.target!r}, with the values {list(table.classes)}"
            )
        for attribute in (p.attribute for p in rule.premise.propositions):
            column = columns.get(attribute.name)
            if column is None or (attribute.scale is None) != bool(column.domain):
                raise RuleSetError(
                    f"the kept rule '{rule}' is on {attribute.name!r}; rules that are kept are "
                    "conjunctions of conditions on the table's columns: on numbers by comparison"
                )
            if attribute.scale is not None and attribute.scale.blur:
                raise RuleSetError(
                    f"the kept rule '{rule}' is on {attribute.name!r} with a blur; induced rules "
                    "have sharp cuts: leave the blur out"
                )


def _row_sizes(weights: Any, rules: Sequence[Rule], table: TrainingTable) -> FloatArray:
    """Return how much each row counts: 0 where a rule of the user decides, else its weight."""
    columns = {column.name: column for column in table.columns}
    undecided = np.ones(len(table.rows), dtype=np.bool_)
    for rule in rules:
        parts = rule.premise.propositions
        undecided &= ~np.all([_holds(p, columns[p.attribute.name]) for p in parts], axis=0)
    if weights is None:
        return undecided * np.ones(len(table.rows))
    try:
        sample_weight = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the weights are {weights!r:.60}; give a number > 0 a row") from None
    if (
        sample_weight.ndim != 1
        or len(sample_weight) <= table.rows.max()
        or not (sample_weight > 0.0).all()
    ):
        raise DataError(
            f"the weights have shape {sample_weight.shape}; give a number > 0 for each row of the "
            "table, and leave out rows that do not count"
        )
    return np.asarray(undecided * sample_weight[table.rows])


def _holds(proposition: Proposition, column: TableColumn) -> BoolArray:
    """Return the rows in which a proposition certainly holds."""
    attribute, known = proposition.attribute, ~np.isnan(column.values)
    if attribute.scale is not None:
        intervals = np.searchsorted(attribute.scale.cuts, column.values, side="right")
        inside = mask_table(len(attribute.domain), [proposition.mask])[:, 0]
        return np.asarray(known & inside[intervals])
    of_value = np.array([*(v in proposition.values for v in column.domain), False])
    return np.asarray(known & of_value[np.where(known, column.values, -1).astype(np.int64)])


def _on_attribute(proposition: Proposition, attribute: Attribute) -> Proposition:
    """Return the same proposition on an attribute of the same name."""
    old = proposition.attribute
    if old.scale is None or attribute.scale is None:
        return attribute.isin(proposition.values)
    lowest = (-np.inf, *attribute.scale.cuts)
    old_intervals = np.searchsorted(old.scale.cuts, lowest, side="right").tolist()
    inside = (i for i, k in enumerate(old_intervals) if contains(proposition.mask, k))
    return Proposition(attribute, mask_of(inside))
