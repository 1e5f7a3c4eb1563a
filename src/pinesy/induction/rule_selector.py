"""How rules are chosen: one after the other, by what they add to the likelihood of the labels.

A rule speaks for one class, with a weight >= 0. The score of a class is the sum of weight times
satisfaction of the rules for it, and the likelihood of a label is that of the softmax of scores. A
rule is satisfied by 1 where it holds; where that depends on what is unknown, by the mean share of
such rows in which it would hold. Of the candidates those become rules that raise the likelihood of
the labels most (for many classes, one for each at once), by the gain in log-likelihood that a step
of Newton's promises, less a cost for each condition; then all weights are fitted again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray
from pinesy.induction.binned_table import KERNELS, BinnedTable
from pinesy.induction.candidate_pool import CandidatePool
from pinesy.induction.candidate_rules import Box, n_conditions
from pinesy.induction.induction_settings import InductionSettings
from pinesy.induction.training_table import IntArray

#: Weights that change by less are fitted.
ENOUGH = 1e-3
#: Sweeps over the weights after each choice, and after the last.
SWEEPS, LAST_SWEEPS = 1, 30
#: Of the best rules for each class those are taken at once that gain this share of the best.
SHARE = 0.3
#: Choices between two classes after which candidates are grown.
CHOICES = 3
#: How much of the difference between classes stays if it may be chance, and there are no rules.
LEAST_FACTOR = 0.1
#: Growths without a candidate that gains after which no more rules are chosen.
PATIENCE = 2


@dataclass(frozen=True)
class WeightedRules:
    """Rules with weights.

    Attributes
    ----------
    boxes, classes, weights : of the rules
    prior : the scores of the classes where no rule holds
    """

    boxes: tuple[Box, ...]
    classes: IntArray
    weights: FloatArray
    prior: FloatArray

    def scores(self, table: BinnedTable) -> FloatArray:
        """Return the score of each class in each row, shape ``(n_rows, n_classes)``."""
        scores = np.tile(self.prior, (len(table.labels), 1))
        for box, label, weight in zip(self.boxes, self.classes, self.weights, strict=True):
            scores[:, label] += weight * table.satisfaction([box])[0][0]
        return scores

    def take(self, indices: IntArray) -> "WeightedRules":
        """Return some of the rules."""
        boxes = tuple(self.boxes[i] for i in indices)
        return replace(
            self, boxes=boxes, classes=self.classes[indices], weights=self.weights[indices]
        )


class WeightFit:
    """Weights of rules on a table, fitted again and again as rules join.

    Attributes
    ----------
    boxes, classes, weights : of the rules so far
    prior : the scores of the classes where no rule holds
    odds : the probabilities of the classes, shape ``(n_rows, n_classes)``
    """

    def __init__(self, table: BinnedTable, ridge: float) -> None:
        self._table, self._ridge = table, ridge
        n, k = len(table.labels), table.n_classes
        self.prior = log_shares(table)
        self.odds = np.tile(np.exp(self.prior), (n, 1))
        # The rows of all rules, one after the other; of those that give the prior first.
        self._starts = [i * n for i in range(k + 1)]
        self._rows = np.tile(np.arange(n, dtype=np.int32), k)
        self._values = np.ones(k * n, dtype=np.float32)
        self.boxes: list[Box] = []
        self.classes: list[int] = []
        self.weights = np.zeros(0)

    def add(self, box: Box, label: int) -> None:
        """Add a rule."""
        satisfaction = self._table.satisfaction([box])[0][0]
        rows = np.flatnonzero(satisfaction)
        start, end = self._starts[-1], self._starts[-1] + len(rows)
        if end > len(self._rows):
            self._rows = np.resize(self._rows, 2 * end)
            self._values = np.resize(self._values, 2 * end)
        self._rows[start:end], self._values[start:end] = rows, satisfaction[rows]
        self._starts.append(end)
        self.boxes.append(box)
        self.classes.append(label)
        self.weights = np.append(self.weights, 0.0)

    def fit(self, sweeps: int) -> None:
        """Fit priors, as rules that hold everywhere, and weights."""
        table, k = self._table, self._table.n_classes
        weights = np.concatenate([self.prior, self.weights])
        classes = np.concatenate([np.arange(k), np.array(self.classes, dtype=np.int64)])
        is_rule = np.arange(len(weights)) >= k
        load_kernels(KERNELS).fit_weights(
            np.array(self._starts, dtype=np.int64),
            self._rows,
            self._values,
            classes,
            weights,
            np.where(is_rule, 0.0, -np.inf),
            np.where(is_rule, self._ridge, 0.0),
            self.odds,
            table.labels,
            table.sample_weight,
            sweeps,
            ENOUGH,
        )
        self.prior, self.weights = weights[:k], weights[k:]

    def rules(self) -> WeightedRules:
        """Return the rules that have a weight."""
        classes = np.array(self.classes, dtype=np.int64)
        rules = WeightedRules(tuple(self.boxes), classes, self.weights, self.prior)
        return rules.take(np.flatnonzero(self.weights > 0.0))


def log_shares(table: BinnedTable) -> FloatArray:
    """Return the logarithms of the shares of the classes, each counted half a row more."""
    counts = np.bincount(table.labels, weights=table.sample_weight, minlength=table.n_classes) + 0.5
    return np.asarray(np.log(counts / counts.sum()))


def shrunk_log_shares(table: BinnedTable) -> FloatArray:
    """Return the logarithms of the shares of the classes, pulled to equal shares.

    The factor is James and Stein's, and `LEAST_FACTOR` where shares differ by no more than those of
    so many rows from equal classes may (two standard errors, of two classes). Without it the larger
    class of few rows is taken for larger than it is.
    """
    shares, equal = np.exp(log_shares(table)), 1.0 / table.n_classes
    total, squares = table.sample_weight.sum(), (table.sample_weight**2).sum()
    by_chance = (1.0 - equal) * squares / max(total**2, 1e-9)
    ratio = ((shares - equal) ** 2).sum() / max(by_chance, 1e-9)
    is_chance = ratio <= 1.0 + 3.0 / np.sqrt(max(table.n_classes - 1, 1))
    factor = LEAST_FACTOR if is_chance else 1.0 - 1.0 / ratio
    return np.asarray(np.log(equal + factor * (shares - equal)))


def refit(rules: WeightedRules, table: BinnedTable, ridge: float) -> WeightedRules:
    """Return rules with weights that are fitted to a table."""
    fit = WeightFit(table, ridge)
    for box, label in zip(rules.boxes, rules.classes.tolist(), strict=True):
        fit.add(box, label)
    fit.prior, fit.weights = rules.prior.copy(), rules.weights.copy()
    fit.odds = softmax_rows(rules.scores(table))
    fit.fit(LAST_SWEEPS)
    return fit.rules()


def softmax_rows(scores: FloatArray) -> FloatArray:
    """Return the softmax of scores."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def prune(rules: WeightedRules, table: BinnedTable, settings: InductionSettings) -> WeightedRules:
    """Return rules without those whose loss costs less likelihood than their conditions do.

    A tenth of these is dropped at once, those that matter least; then weights are fitted again.
    """
    while len(rules.boxes):
        probabilities = softmax_rows(rules.scores(table))
        costs = settings.prune_cost * np.array([*map(n_conditions, rules.boxes)])
        excess = _likelihood_lost(rules, table, probabilities) - costs
        surplus = np.flatnonzero(excess < 0.0)
        remaining = settings.max_rules - len(rules.boxes)
        if not len(surplus) and remaining >= 0:
            break
        n_dropped = max(1, len(surplus) // 10, -remaining)
        stay = np.sort(np.argsort(excess, kind="stable")[n_dropped:])
        rules = refit(rules.take(stay), table, settings.ridge)
    return rules


def _likelihood_lost(
    rules: WeightedRules, table: BinnedTable, probabilities: FloatArray
) -> FloatArray:
    """Return the log-likelihood that each rule adds, with the weights of the others as they are."""
    added = np.empty(len(rules.boxes))
    for i, (box, label) in enumerate(zip(rules.boxes, rules.classes, strict=True)):
        change = rules.weights[i] * table.satisfaction([box])[0][0]
        other_scores = 1.0 - probabilities[:, label] * (1.0 - np.exp(-change))
        added[i] = table.sample_weight @ (np.log(other_scores) + change * (table.labels == label))
    return added


class RuleSelector:
    """Chooses rules on a table; `run` may be interrupted, and keeps what was chosen."""

    def __init__(self, table: BinnedTable, settings: InductionSettings) -> None:
        self._table, self._settings = table, settings
        self._truth = np.eye(table.n_classes, dtype=np.float32)[table.labels]
        self._pool = CandidatePool(table, settings)
        self._fit = WeightFit(table, settings.ridge)
        self._n_choices = 0
        self._max_rules = settings.max_rules
        if settings.prune_cost:  # some of those that are chosen will not stay
            self._max_rules += settings.max_rules // 2

    def run(self, advance: Callable[[], object]) -> None:
        """Choose until nothing gains more than it costs; call `advance` after each choice."""
        while len(self._table.bins) and self._table.sample_weight.any() and self._add():
            advance()

    def rules(self) -> WeightedRules:
        """Return the rules so far; without those that are pruned."""
        self._fit.fit(LAST_SWEEPS)
        rules = self._fit.rules()
        if self._settings.prune_cost:
            rules = prune(rules, self._table, self._settings)
        return rules

    def _add(self) -> bool:
        """Add the best candidates, and fit all weights; return whether there may be more."""
        grows = self._table.n_classes > 2 or self._n_choices % CHOICES == 0
        best = self._best(grows)
        for _ in range(PATIENCE):
            best = best or self._best(True)
        for index, label in best[: self._max_rules - len(self._fit.boxes)]:
            self._fit.add(self._pool.take(index, label), label)
        self._n_choices += 1
        if best:
            self._fit.fit(SWEEPS)
        return bool(best) and len(self._fit.boxes) < self._max_rules

    def _best(self, grows: bool) -> list[tuple[int, int]]:
        """Return the candidates to add, and the classes that they speak for, the best first."""
        n_classes, sample_weight = self._table.n_classes, self._table.sample_weight[:, None]
        columns = slice(1, None) if n_classes == 2 else slice(None)
        odds = self._fit.odds[:, columns]
        residuals = (sample_weight * (self._truth[:, columns] - odds)).astype(np.float32)
        curvatures = (sample_weight * odds * (1.0 - odds)).astype(np.float32)
        if grows:
            self._pool.grow(residuals)
        if not self._pool.boxes:
            return []
        gains = self._pool.gains(residuals[self._pool.rows], curvatures[self._pool.rows])
        gains = self._pool.retain_best(gains)
        first = gains.argmax(axis=0)
        best = gains[first, np.arange(n_classes)]
        least = SHARE * best.max() if n_classes > 2 else best.max()
        order = np.argsort(-best, kind="stable")
        classes = [int(c) for c in order if best[c] > 0 and best[c] >= least]
        return [(int(first[c]), c) for c in classes[: n_classes if n_classes > 2 else 1]]
