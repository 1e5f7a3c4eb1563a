"""Rules that give points to classes: how they are chosen, and what a lead in points says.

A rule speaks for one class, with a weight. The score of a class is the sum of the weights of the
rules for it that hold, and the likelihood of a label is that of the softmax of scores. Of the
candidates those become rules that raise the likelihood of the labels most: they are added one after
the other (for many classes, one for each), by the gain in log-likelihood that a step of Newton's
promises, less a cost for each condition; then all weights are fitted again.

Weights become whole points (docs/induction.md). A class that leads another by `t` points leaves it
the possibility

    ``levels[t] = 2 / (1 + exp(unit t))``

(rounded to four digits): the antipignistic transformation of the probability that the lead errs.
So ``pi(d) = levels[max_c low_c - high_d]``, where points that depend on what is unknown are missing
from `low` and counted in `high`. Some class always has possibility 1: there is no contradiction.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.induction.candidate_rules import Box, InductionSettings, Steps, held, n_conditions
from pinesy.induction.training_table import IntArray
from pinesy.transforms import antipignistic_inverse

KERNELS = "pinesy.induction.selection_kernels"
#: Weights that change by less are fitted.
ENOUGH = 1e-3
#: Sweeps over the weights after each choice, and after the last.
SWEEPS, LAST_SWEEPS = 2, 30
#: Of the best rules for each class those are taken at once that gain this share of the best.
SHARE = 0.3
#: The most points that a rule gives, for two classes and for more (whose sums are compared in
#: pairs: their products must stay small).
MAX_POINTS, MAX_POINTS_OF_MANY = 6, 3
#: Leads of more points leave no more than this.
LEAST_LEVEL = 0.005
#: Units that are tried, as shares of the weight of one point.
UNITS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5])
#: Rows on which points and units are compared.
COMPARED_ROWS = 4_000


class RuleSelector:
    """Chooses among candidates; `run` may be interrupted, and keeps what was chosen.

    A choice costs two products of the matrix of candidates and rows with that of rows and classes.

    Attributes
    ----------
    chosen : the indices of the rules so far among the candidates
    classes : that they speak for
    weights : of the rules
    prior : the scores of the classes where no rule holds
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        holds: BoolArray,
        labels: IntArray,
        sizes: FloatArray,
        may: BoolArray,
        settings: InductionSettings,
    ) -> None:
        costs = settings.cost * np.array([*map(n_conditions, boxes)], dtype=np.int64)
        self._costs = costs[:, None].astype(np.float32)
        self._labels, self._sizes, self._settings = labels, sizes, settings
        self._may = may.copy()
        self._n_classes = may.shape[1]
        self._holds = holds.astype(np.float32)
        self._truth = np.eye(self._n_classes)[labels]
        self._rows = [np.arange(len(labels))] * self._n_classes
        shares = sizes @ self._truth + 0.5
        self.prior = np.log(shares / shares.sum())
        self._odds = np.tile(np.exp(self.prior), (len(labels), 1))
        self.chosen: list[int] = []
        self.classes: list[int] = []
        self.weights = np.zeros(0)

    def run(self, advance: Callable[[], object]) -> "RuleSelector":
        """Choose until nothing gains more than it costs; call `advance` after each choice."""
        try:
            while self._add():
                advance()
        except KeyboardInterrupt:  # the best so far is an answer
            pass
        self._fit(LAST_SWEEPS)
        return self

    def _add(self) -> bool:
        """Add the best candidates, and fit all weights; return whether there were any."""
        best = self._best()[: self._settings.max_rules - len(self.chosen)]
        for candidate, label in best:
            self._may[candidate, label] = False
            if self._n_classes == 2:  # for one class is against the other
                self._may[candidate] = False
            self.chosen.append(candidate)
            self.classes.append(label)
            self._rows.append(np.flatnonzero(self._holds[candidate]))
        self.weights = np.append(self.weights, np.zeros(len(best)))
        if best:
            self._fit(SWEEPS)
        return bool(best)

    def _best(self) -> list[tuple[int, int]]:
        """Return the candidates to add, and the classes that they speak for, the best first."""
        if not len(self._holds):
            return []
        # What a step of Newton's in each candidate's weight gains, less its cost.
        sizes, n_classes = self._sizes[:, None], self._n_classes
        slopes = self._holds @ (sizes * (self._truth - self._odds)).astype(np.float32)
        bends = self._holds @ (sizes * self._odds * (1.0 - self._odds)).astype(np.float32)
        gains = 0.5 * np.maximum(slopes, 0.0) ** 2 / (bends + np.float32(self._settings.ridge))
        gains = np.where(self._may, gains - self._costs, np.float32(-1.0))
        first = gains.argmax(axis=0)
        best = gains[first, np.arange(n_classes)]
        least = SHARE * best.max() if n_classes > 2 else best.max()
        order = np.argsort(-best, kind="stable")
        classes = [int(c) for c in order if best[c] > 0 and best[c] >= least]
        return [(int(first[c]), c) for c in classes[: n_classes if n_classes > 2 else 1]]

    def _fit(self, sweeps: int) -> None:
        """Fit priors, as rules that hold everywhere, and weights."""
        k = self._n_classes
        weights = np.concatenate([self.prior, self.weights])
        starts = np.concatenate([[0], np.cumsum([len(r) for r in self._rows])]).astype(np.int64)
        classes = np.concatenate([np.arange(k), np.array(self.classes, dtype=np.int64)])
        is_rule = np.arange(len(weights)) >= k
        load_kernels(KERNELS).fit_weights(
            starts,
            np.concatenate(self._rows),
            classes,
            weights,
            np.where(is_rule, 0.0, -np.inf),
            np.where(is_rule, self._settings.ridge, 0.0),
            self._odds,
            self._labels,
            self._sizes,
            sweeps,
            ENOUGH,
        )
        self.prior, self.weights = weights[:k], weights[k:]


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
    undetermined : the points of each rule where a blank leaves open whether it holds
    weights : of each rule, in units of points
    support, precision : of each rule, the rows in which it holds, and the share with its class
    """

    boxes: tuple[Box, ...]
    classes: IntArray
    points: IntArray
    prior: IntArray
    levels: FloatArray
    undetermined: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    support: FloatArray = field(default_factory=lambda: np.zeros(0))
    precision: FloatArray = field(default_factory=lambda: np.zeros(0))

    def totals(self, steps: Steps) -> tuple[IntArray, IntArray]:
        """Return the points of each row's classes without, and with those that are not certain."""
        gives = np.zeros((len(self.points), len(self.prior)), dtype=np.int64)
        gives[np.arange(len(self.points)), self.classes] = self.points
        certain, possible = (holds.T.astype(np.int64) for holds in held(steps, list(self.boxes)))
        return certain @ gives + self.prior, possible @ gives + self.prior

    def possibility(self, steps: Steps) -> FloatArray:
        """Return the possibility of each class in each row, shape ``(n_rows, n_classes)``."""
        low, high = self.totals(steps)
        lead = low.max(axis=1)[:, None] - high
        return np.asarray(self.levels[np.clip(lead, 0, len(self.levels) - 1)])


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


def with_points(
    selection: RuleSelector, boxes: list[Box], steps: Steps, labels: IntArray, sizes: FloatArray
) -> PointModel:
    """Return the rules of a selection with whole points: those under which labels are likeliest.

    Weights are divided by a unit so that the largest has 1 to `MAX_POINTS`; costs some
    dozens of looks at `COMPARED_ROWS` rows.
    """
    positive = np.flatnonzero(selection.weights > 0.0)
    compared = slice(None, None, -(-len(labels) // COMPARED_ROWS))
    weights = selection.weights[positive]
    exact = PointModel(
        tuple(boxes[selection.chosen[i]] for i in positive),
        np.array(selection.classes, dtype=np.int64)[positive],
        np.zeros(len(positive), dtype=np.int64),
        np.zeros(len(selection.prior), dtype=np.int64),
        np.ones(2),
    )
    best, model = -np.inf, exact
    largest = weights.max() if len(weights) else max(np.ptp(selection.prior), 0.1)
    max_points = MAX_POINTS if len(selection.prior) == 2 else MAX_POINTS_OF_MANY
    for unit in largest / np.arange(1.0, max_points + 0.49, 0.3):
        points = np.round(weights / unit).astype(np.int64)
        prior = np.round((selection.prior - selection.prior.min()) / unit).astype(np.int64)
        candidate = replace(exact, points=points, prior=prior)
        likelihood, levels = _best_levels(
            candidate, unit, steps[compared], labels[compared], sizes[compared]
        )
        if likelihood > best:
            best, model = likelihood, replace(candidate, levels=levels)
    active = np.flatnonzero(model.points)
    boxes = [model.boxes[i] for i in active]
    classes, points = model.classes[active], model.points[active]
    certain = held(steps, boxes)[0]
    support = certain @ sizes
    right = (certain & (labels == classes[:, None])) @ sizes
    return replace(
        model,
        boxes=tuple(boxes),
        classes=classes,
        points=points,
        undetermined=np.round(points * support / sizes.sum()).astype(np.int64),
        weights=points.astype(np.float64),
        support=support,
        precision=right / np.maximum(support, 1e-300),
    )


def _best_levels(
    model: PointModel, unit: float, steps: Steps, labels: IntArray, sizes: FloatArray
) -> tuple[float, FloatArray]:
    """Return the levels under which labels are likeliest, and their log-likelihood."""
    low, high = model.totals(steps)
    lead = low.max(axis=1)[:, None] - high
    longest = int(model.prior.max() + model.points.sum())
    best, likeliest = -np.inf, np.ones(2)
    for factor in UNITS:
        levels = levels_of(float(unit * factor), longest)
        chances = antipignistic_inverse(levels[np.clip(lead, 0, len(levels) - 1)])
        of_label = chances[np.arange(len(labels)), labels]
        likelihood = float(sizes @ np.log(np.maximum(of_label, 1e-6)))
        if likelihood > best:
            best, likeliest = likelihood, levels
    return best, likeliest
