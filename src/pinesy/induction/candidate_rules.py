"""Candidates for rules: the paths of small random forests, and rules of the user's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.validation import BoolArray, FloatArray, as_list
from pinesy.exceptions import RuleSetError, needing
from pinesy.induction.binary_features import HIGHEST, LOWEST, Box, Steps, conditions, held
from pinesy.induction.training_table import IntArray, TableColumn, TrainingTable
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

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


class KeptRules:
    """Rules that conclude on the target from conditions on columns.

    Parameters
    ----------
    keep : a rule, rules, a rule set or a cascade of one
    table : whose columns they are on
    """

    def __init__(self, keep: Any, table: TrainingTable) -> None:
        self._rules = _rules(keep)
        self._columns = {c.name: c for c in table.columns}
        for rule in self._rules:
            self._check(rule, table)

    def _check(self, rule: Rule, table: TrainingTable) -> None:
        output = rule.conclusion.attribute
        if output.name != table.target or set(output.domain) != set(table.classes):
            raise RuleSetError(
                f"the kept rule '{rule}' concludes on {output!r}; rules that are kept conclude on "
                f"{table.target!r}, with the values {list(table.classes)}"
            )
        for attribute in (p.attribute for p in rule.premise.propositions):
            column = self._columns.get(attribute.name)
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

    def cuts(self, column: str) -> tuple[float, ...]:
        """Return the cuts of a column that the rules use."""
        scales = (
            p.attribute.scale
            for r in self._rules
            for p in r.premise.propositions
            if p.attribute.name == column
        )
        return tuple(cut for scale in scales if scale is not None for cut in scale.cuts)

    def rules_on(self, inputs: Sequence[Attribute], output: Attribute) -> list[Rule]:
        """Return the rules on attributes that may have more cuts, or another order of values."""
        known = {a.name: a for a in (*inputs, output)}
        found = []
        for rule in self._rules:
            parts = [_moved(p, known[p.attribute.name]) for p in rule.premise.propositions]
            conclusion = _moved(rule.conclusion, output)
            found.append(Rule(Premise(tuple(parts)), conclusion, rule.s, rule.r))
        return found

    def undecided(self, columns: Sequence[TableColumn]) -> BoolArray:
        """Return the rows in which no premise holds, so that there is something to induce."""
        rows = np.ones(len(columns[0].values), dtype=np.bool_)
        for rule in self._rules:
            holds = np.ones_like(rows)
            for proposition in rule.premise.propositions:
                holds &= _holds(proposition, self._columns[proposition.attribute.name])
            rows &= ~holds
        return rows


def _rules(keep: Any) -> list[Rule]:
    if keep is None:
        return []
    if isinstance(keep, Rule):
        return [keep]
    if isinstance(keep, Cascade):
        return [rule for rule_set in keep.stated for rule in rule_set.rules]
    found = as_list(keep.rules if isinstance(keep, RuleSet) else keep, "keep", RuleSetError)
    for rule in found:
        if not isinstance(rule, Rule):
            raise RuleSetError(f"keep has {rule!r:.60}; give rules, or a set of them")
    return found


def _moved(proposition: Proposition, attribute: Attribute) -> Proposition:
    """Return the same proposition on an attribute of the same name."""
    old = proposition.attribute
    if old.scale is None or attribute.scale is None:
        return attribute.isin({v for i, v in enumerate(old.domain) if proposition.mask >> i & 1})
    lowest = (-np.inf, *attribute.scale.cuts)
    places = np.searchsorted(old.scale.cuts, lowest, side="right")
    return Proposition(
        attribute, sum(1 << i for i, k in enumerate(places) if proposition.mask >> int(k) & 1)
    )


def _holds(proposition: Proposition, column: TableColumn) -> BoolArray:
    """Return the rows in which a proposition certainly holds."""
    attribute, known = proposition.attribute, ~np.isnan(column.values)
    if attribute.scale is not None:
        places = np.searchsorted(attribute.scale.cuts, column.values, side="right")
        inside = np.array([proposition.mask >> i & 1 for i in range(len(attribute.domain))], bool)
        return np.asarray(known & inside[places])
    allowed = {v for i, v in enumerate(attribute.domain) if proposition.mask >> i & 1}
    of_value = np.array([*(v in allowed for v in column.domain), False])
    return np.asarray(known & of_value[np.where(known, column.values, -1).astype(np.int64)])
