"""Rules that give points, and what a lead in points says of the classes.

Weights become whole points. A class that leads another by `t` points leaves it the possibility

    ``levels[t] = 2 / (1 + exp(unit t))``

(rounded to four digits): the antipignistic transformation of the probability that the lead errs.
So ``pi(d) = levels[max_c low_c - high_d]``, where points that depend on what is unknown are missing
from `low` and counted in `high`. Some class always has possibility 1: there is no contradiction.
"""

from dataclasses import dataclass, replace

import numpy as np

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.induction.binary_features import Box, Steps, held
from pinesy.induction.rule_selection import ChosenRules
from pinesy.induction.training_table import IntArray
from pinesy.transforms import antipignistic_inverse

#: The most points that a rule gives, for two classes and for more (whose sums are compared in
#: pairs: their products must stay small).
MAX_POINTS, MAX_POINTS_OF_MANY = 6, 3
#: Leads of more points leave no more than this.
LEAST_LEVEL = 0.005
#: Units that are tried, as shares of the weight of one point.
UNITS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5])
#: Rows on which points and units are compared.
COMPARED_ROWS = 4_000


@dataclass(frozen=True)
class PointModel:
    """Rules that give points to classes.

    Attributes
    ----------
    boxes : the premises, as ranges of steps
    classes : that each rule gives points to
    points : of each rule, 1 or more
    prior : the points that each class starts with
    levels : the possibility that a lead of 0, 1, ... points leaves; the last also for larger ones
    """

    boxes: tuple[Box, ...]
    classes: IntArray
    points: IntArray
    prior: IntArray
    levels: FloatArray

    def totals(self, steps: Steps) -> tuple[IntArray, IntArray]:
        """Return the points of each row's classes without, and with those that are not certain."""
        certain, possible = held(steps, list(self.boxes))
        return self._summed(certain), self._summed(possible)

    def _summed(self, holds: BoolArray) -> IntArray:
        gives = np.zeros((len(self.points), len(self.prior)), dtype=np.int64)
        gives[np.arange(len(self.points)), self.classes] = self.points
        found: IntArray = holds.T.astype(np.int64) @ gives + self.prior
        return found

    def possibility(self, steps: Steps) -> FloatArray:
        """Return the possibility of each class in each row, shape ``(n_rows, n_classes)``."""
        low, high = self.totals(steps)
        return possibility_of_lead(low.max(axis=1)[:, None] - high, self.levels)


def possibility_of_lead(lead: IntArray, levels: FloatArray) -> FloatArray:
    """Return what a lead in points leaves to the class behind."""
    return levels[np.clip(lead, 0, len(levels) - 1)]


def levels_of(unit: float, longest: int) -> FloatArray:
    """Return the possibilities that leads of 0 to `longest` points leave, down to `LEAST_LEVEL`.

    Examples
    --------
    >>> levels_of(1.0, 3).tolist()
    [1.0, 0.5379, 0.2384, 0.0949]
    """
    exponents = np.minimum(unit * np.arange(longest + 1), 50.0)
    levels = np.round(2.0 / (1.0 + np.exp(exponents)), 4)
    found: FloatArray = levels[: max(2, int((levels >= LEAST_LEVEL).sum()))]
    return found


def rounded(
    selection: ChosenRules, boxes: list[Box], steps: Steps, labels: IntArray, sizes: FloatArray
) -> PointModel:
    """Return the rules of a selection with whole points: those under which labels are likeliest.

    Weights are divided by a unit so that the largest has 1 to `MAX_POINTS`; costs some
    dozens of looks at `COMPARED_ROWS` rows.
    """
    kept = np.flatnonzero(selection.weights > 0.0)
    some = slice(None, None, -(-len(labels) // COMPARED_ROWS))
    weights = selection.weights[kept]
    exact = PointModel(
        tuple(boxes[selection.chosen[i]] for i in kept),
        np.array(selection.classes, dtype=np.int64)[kept],
        np.zeros(len(kept), dtype=np.int64),
        np.zeros(len(selection.prior), dtype=np.int64),
        np.ones(2),
    )
    best, found = -np.inf, exact
    for unit in _units(weights, selection.prior):
        points = np.round(weights / unit).astype(np.int64)
        prior = np.round((selection.prior - selection.prior.min()) / unit).astype(np.int64)
        tried = replace(exact, points=points, prior=prior)
        likelihood, levels = _best_levels(tried, unit, steps[some], labels[some], sizes[some])
        if likelihood > best:
            best, found = likelihood, replace(tried, levels=levels)
    return _without_idle(found)


def _units(weights: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the weights of a point that are tried."""
    largest = weights.max() if len(weights) else max(np.ptp(prior), 0.1)
    most = MAX_POINTS if len(prior) == 2 else MAX_POINTS_OF_MANY
    return np.asarray(largest / np.arange(1.0, most + 0.49, 0.3))


def _best_levels(
    model: PointModel, unit: float, steps: Steps, labels: IntArray, sizes: FloatArray
) -> tuple[float, FloatArray]:
    """Return the levels under which labels are likeliest, and their log-likelihood."""
    low, high = model.totals(steps)
    lead = low.max(axis=1)[:, None] - high
    longest = int(model.prior.max() + model.points.sum())
    best, found = -np.inf, np.ones(2)
    for factor in UNITS:
        levels = levels_of(float(unit * factor), longest)
        chances = antipignistic_inverse(possibility_of_lead(lead, levels))
        of_label = chances[np.arange(len(labels)), labels]
        likelihood = float(sizes @ np.log(np.maximum(of_label, 1e-6)))
        if likelihood > best:
            best, found = likelihood, levels
    return best, found


def _without_idle(model: PointModel) -> PointModel:
    """Return a model without the rules that give no points."""
    active = np.flatnonzero(model.points)
    return replace(
        model,
        boxes=tuple(model.boxes[i] for i in active),
        classes=model.classes[active],
        points=model.points[active],
    )
