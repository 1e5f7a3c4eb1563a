"""Rules that give whole points to classes, and what a lead in points says.

Weights become whole points (docs/induction.md). A class that leads another by `t` points leaves it
the possibility

    ``levels[t] = 2 / (1 + exp(unit t))``

(rounded to four digits): the antipignistic transformation of the probability that the lead errs.
There are two readings of what is unknown. The cautious one guesses nothing: ``pi(d) =
levels[max_c low_c - high_d]``, where points that depend on what is unknown are missing from `low`
and counted in `high`. In the expected one a rule that depends on it gives the points
`undetermined`. In both some class has possibility 1: there is no contradiction.
"""

from dataclasses import dataclass, replace

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.induction.binned_table import BinnedTable, RealArray
from pinesy.induction.candidate_rules import Bins, Box, evaluate_boxes
from pinesy.induction.rule_selector import WeightedRules, softmax_rows
from pinesy.induction.training_table import IntArray
from pinesy.transforms import antipignistic_inverse

#: The most points that a rule gives.
MAX_POINTS = 6
#: Leads of more points leave no more than this.
LEAST_LEVEL = 0.005
#: Units that are tried, as shares of the weight of one point.
UNITS = np.array([0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4])
#: Rows on which points and units are compared.
COMPARED_ROWS = 2_000


@dataclass(frozen=True)
class PointModel:
    """Rules that give points to classes.

    Attributes
    ----------
    boxes : the premises, as ranges of bins
    classes : that each rule gives points to
    points : of each rule, 1 or more
    undetermined : the points that it gives where it depends on what is unknown
    weights : the points before they were rounded, for scores that should not tie
    prior : the points that each class starts with
    levels : the possibility that a lead of 0, 1, ... points leaves; the last also for larger ones
    support : the rows of training in which each rule holds, by weight
    precision : the share of these that have its class
    """

    boxes: tuple[Box, ...]
    classes: IntArray
    points: IntArray
    undetermined: IntArray
    weights: FloatArray
    prior: IntArray
    levels: FloatArray
    support: FloatArray
    precision: FloatArray

    def totals(self, bins: Bins) -> tuple[IntArray, IntArray]:
        """Return the points of each row's classes without, and with those that are not certain."""
        certain, possible = (
            holds.T.astype(np.int64) for holds in evaluate_boxes(bins, list(self.boxes))
        )
        gives = self._by_class(self.points)
        return certain @ gives + self.prior, possible @ gives + self.prior

    def possibility(self, bins: Bins) -> FloatArray:
        """Return the cautious possibility of each class, shape ``(n_rows, n_classes)``."""
        low, high = self.totals(bins)
        return self._levels_of_leads(low.max(axis=1)[:, None] - high)

    def expected_totals(self, bins: Bins) -> IntArray:
        """Return the points of each row's classes, with `undetermined` where that is not known."""
        certain, possible = (
            holds.T.astype(np.int64) for holds in evaluate_boxes(bins, list(self.boxes))
        )
        undetermined = (possible - certain) @ self._by_class(self.undetermined)
        return np.asarray(certain @ self._by_class(self.points) + undetermined + self.prior)

    def expected_possibility(self, bins: Bins) -> FloatArray:
        """Return the expected possibility of each class, shape ``(n_rows, n_classes)``."""
        totals = self.expected_totals(bins)
        return self._levels_of_leads(totals.max(axis=1)[:, None] - totals)

    def _by_class(self, points: IntArray) -> IntArray:
        """Return points as a matrix, shape ``(n_rules, n_classes)``."""
        gives = np.zeros((len(points), len(self.prior)), dtype=np.int64)
        gives[np.arange(len(points)), self.classes] = points
        return gives

    def _levels_of_leads(self, leads: IntArray) -> FloatArray:
        return np.asarray(self.levels[np.clip(leads, 0, len(self.levels) - 1)])


def levels_of(unit: float, longest: int) -> FloatArray:
    """Return the possibilities that leads of 0 to `longest` points leave, down to `LEAST_LEVEL`.

    Examples
    --------
    >>> levels_of(1.0, 3).tolist()
    [1.0, 0.5379, 0.2384, 0.0949]
    """
    exponents = np.minimum(unit * np.arange(longest + 1), 50.0)
    levels = np.round(2.0 / (1.0 + np.exp(exponents)), 4)
    return np.asarray(levels[: max(2, int((levels >= LEAST_LEVEL).sum()))])


def with_points(rules: WeightedRules, table: BinnedTable) -> PointModel:
    """Return rules with whole points: those of least cross entropy to the rules' probabilities.

    Weights are divided by a unit so that the largest has 1 to `MAX_POINTS`; costs some dozens of
    looks at `COMPARED_ROWS` rows.
    """
    compared = table.take(slice(None, None, -(-len(table.labels) // COMPARED_ROWS)))
    satisfaction, _ = compared.satisfaction(rules.boxes)
    target = compared.sample_weight[:, None] * softmax_rows(rules.scores(compared))
    shares = table.expected_shares(rules.boxes)
    exact = PointModel(
        boxes=rules.boxes,
        classes=rules.classes,
        points=np.zeros(len(rules.boxes), dtype=np.int64),
        undetermined=np.zeros(len(rules.boxes), dtype=np.int64),
        weights=rules.weights,
        prior=np.zeros(table.n_classes, dtype=np.int64),
        levels=np.ones(2),
        support=np.zeros(len(rules.boxes)),
        precision=np.zeros(len(rules.boxes)),
    )
    best, model = np.inf, exact
    largest = rules.weights.max() if len(rules.weights) else max(np.ptp(rules.prior), 0.1)
    for unit in largest / np.arange(1.0, MAX_POINTS + 0.49, 0.3):
        weights = rules.weights / unit
        candidate = replace(
            exact,
            points=np.round(weights).astype(np.int64),
            undetermined=np.round(weights * shares).astype(np.int64),
            weights=weights,
            prior=np.round((rules.prior - rules.prior.min()) / unit).astype(np.int64),
        )
        entropy, levels = _best_levels(candidate, unit, satisfaction, target)
        if entropy < best:
            best, model = entropy, replace(candidate, levels=levels)
    return _with_support(model, table)


def _best_levels(
    model: PointModel, unit: float, satisfaction: RealArray, target: FloatArray
) -> tuple[float, FloatArray]:
    """Return the levels of least cross entropy to the probabilities of a target, and that."""
    points = model._by_class(model.points), model._by_class(model.undetermined)
    is_certain, is_open = satisfaction == 1.0, (satisfaction > 0.0) & (satisfaction < 1.0)
    totals = model.prior + (is_certain.T.astype(np.float32) @ points[0].astype(np.float32))
    if is_open.any():
        totals += is_open.T.astype(np.float32) @ points[1].astype(np.float32)
    leads = (totals.max(axis=1)[:, None] - totals).astype(np.int64)
    longest = int(model.prior.max() + model.points.sum())
    best, best_levels = np.inf, np.ones(2)
    for factor in UNITS:
        levels = levels_of(float(unit * factor), longest)
        probability = antipignistic_inverse(levels[np.clip(leads, 0, len(levels) - 1)])
        entropy = -float((target * np.log(np.maximum(probability, 1e-6))).sum())
        if entropy < best:
            best, best_levels = entropy, levels
    return best, best_levels


def _with_support(model: PointModel, table: BinnedTable) -> PointModel:
    """Return the rules that give points in some row, with what they say there."""
    support, precision = np.zeros(len(model.points)), np.zeros(len(model.points))
    for i, box in enumerate(model.boxes):
        holds = table.satisfaction([box])[0][0] == 1.0
        support[i] = table.sample_weight[holds].sum()
        right = table.sample_weight[holds & (table.labels == model.classes[i])].sum()
        precision[i] = right / support[i] if support[i] > 0.0 else 0.0
    active = np.flatnonzero((model.points > 0) & (support > 0.0))
    return replace(
        model,
        boxes=tuple(model.boxes[i] for i in active),
        classes=model.classes[active],
        points=model.points[active],
        undetermined=model.undetermined[active],
        weights=model.weights[active],
        support=support[active],
        precision=precision[active],
    )
