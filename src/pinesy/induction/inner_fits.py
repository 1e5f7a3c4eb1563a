"""Costs and scale of rules, by fits to a part of the rows that are judged on the others.

Weights are too large where the same rows chose the rules. So scores are scaled,

    ``base + s (score - base)``

where `base` is the logarithm of the shares of the classes: `s` is 1 if rules are as good on other
rows, and 0 if they say nothing about them. Then no rule stays.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pinesy._common.threads import n_threads, run_on_threads
from pinesy._common.validation import FloatArray
from pinesy.induction.binned_table import BinnedTable
from pinesy.induction.induction_settings import InductionSettings
from pinesy.induction.rule_selector import (
    RuleSelector,
    WeightedRules,
    log_shares,
    refit,
    shrunk_log_shares,
)
from pinesy.induction.training_table import IntArray

#: Folds up to a number of rows; of more rows one in `HELD_OUT` is not used to choose rules.
FOLDS, FOLDED_ROWS, HELD_OUT = 3, 4_000, 5
#: Rows on which costs are compared, and rules chosen, at most.
COMPARED_ROWS, CHOICE_ROWS = 4_000, 10_000
#: Scales that are tried.
SCALES = np.arange(0.0, 1.601, 0.05)
#: Standard errors by which rules must be better than none; by how many a few are tried in their
#: place if they are not, and how many.
ERRORS, UNSURE_ERRORS, UNSURE_RULES = 2.5, 1.2, 2

#: Rows to fit to, and rows to judge on.
Fold = tuple[IntArray, IntArray]
Advance = Callable[[float], object]


def choose_rules(
    table: BinnedTable, settings: InductionSettings, advance: Advance
) -> WeightedRules:
    """Return rules with the costs and the scale that are best on other rows.

    Up to `FOLDED_ROWS` rows three folds give costs and scale, and rules are chosen on all rows. Of
    more rows some are held out; rules are chosen on the others, and their weights fitted to all.
    Ctrl-C ends it with the rules so far.
    """
    folds = _folds(table, settings.seed)
    is_folded = len(folds) > 1
    rows = np.arange(len(table.labels)) if is_folded else _draw(folds[0][0], CHOICE_ROWS, settings)
    best, scale = settings, 1.0
    selector = RuleSelector(table.take(rows), settings)
    try:
        selector.run(partial(advance, 1.0))
        best, scale = compare_costs(table, folds, settings, partial(advance, 0.0))
        if best != settings and scale > 0.0:
            selector = RuleSelector(table.take(rows), best)
            selector.run(partial(advance, 0.0))
    except KeyboardInterrupt:  # the best so far is an answer
        pass
    rules = selector.rules()
    if not is_folded:
        train, test = folds[0]
        rules = refit(rules, table.take(train), best.ridge)
        if scale > 0.0:
            scale = best_scale([rules], table, [(train, test)]).scale
        rules = refit(rules, table, best.ridge)
    if scale == 0.0:
        return replace(rules.take(np.zeros(0, dtype=np.int64)), prior=shrunk_log_shares(table))
    return scaled(rules, log_shares(table), scale)


def compare_costs(
    table: BinnedTable,
    folds: list[Fold],
    settings: InductionSettings,
    advance: Callable[[], object],
) -> tuple[InductionSettings, float]:
    """Return the settings under which labels of other rows are likeliest, and the scale.

    The scale is 0 if rules are not better than none.
    """
    options = settings.alternatives(table.n_classes)
    folds = [(_draw(train, COMPARED_ROWS, settings), test) for train, test in folds]
    tasks = [(option, fold) for option in range(len(options)) for fold in range(len(folds))]
    fits: dict[tuple[int, int], WeightedRules] = {}

    def work(queue: Iterator[tuple[int, int]]) -> None:
        for option, fold in queue:
            selector = RuleSelector(table.take(folds[fold][0]), options[option])
            selector.run(advance)
            fits[option, fold] = selector.rules()

    run_on_threads(work, tasks, min(n_threads(), len(tasks)))
    scales = [
        best_scale([fits[option, fold] for fold in range(len(folds))], table, folds)
        for option in range(len(options))
    ]
    best, judgement = min(zip(options, scales, strict=True), key=lambda pair: pair[1].loss)
    if judgement.errors < UNSURE_ERRORS:
        return best, 0.0
    if judgement.errors < ERRORS and settings.max_rules > UNSURE_RULES:
        return compare_costs(table, folds, replace(settings, max_rules=UNSURE_RULES), advance)
    return best, judgement.scale


class Judgement(NamedTuple):
    """What rules are worth on other rows.

    Attributes
    ----------
    scale : under which the labels are likeliest
    loss : the log loss of the labels
    errors : by how many standard errors that is better than without rules
    """

    scale: float
    loss: float
    errors: float


def best_scale(fits: list[WeightedRules], table: BinnedTable, folds: list[Fold]) -> Judgement:
    """Return how good rules are on the rows that they were not fitted to, and the best scale."""
    parts = []
    for rules, (train, test) in zip(fits, folds, strict=True):
        base, judged = log_shares(table.take(train)), table.take(test)
        change = rules.scores(judged) - base
        losses = [log_losses(base + scale * change, judged.labels) for scale in SCALES]
        parts.append(judged.sample_weight[:, None] * np.column_stack(losses))
    losses_of_rows = np.concatenate(parts)
    totals = losses_of_rows.sum(axis=0)
    best = int(totals.argmin())
    gains = losses_of_rows[:, 0] - losses_of_rows[:, best]
    errors = gains.sum() / np.sqrt(max((gains**2).sum(), 1e-12))
    return Judgement(float(SCALES[best]), float(totals[best]), float(errors))


def log_losses(scores: FloatArray, labels: IntArray) -> FloatArray:
    """Return the log loss of each label under the softmax of scores."""
    scores = scores - scores.max(axis=1, keepdims=True)
    of_label = scores[np.arange(len(labels)), labels]
    return np.asarray(np.log(np.exp(scores).sum(axis=1)) - of_label)


def scaled(rules: WeightedRules, base: FloatArray, scale: float) -> WeightedRules:
    """Return rules with scaled scores."""
    return replace(rules, weights=scale * rules.weights, prior=base + scale * (rules.prior - base))


def _folds(table: BinnedTable, seed: int) -> list[Fold]:
    """Return rows to fit to and to judge on, in the proportions of the labels."""
    n = len(table.labels)
    n_parts = FOLDS if n <= FOLDED_ROWS else HELD_OUT
    shuffled = np.random.default_rng(seed).permutation(n)
    order = shuffled[np.argsort(table.labels[shuffled], kind="stable")]
    parts = np.empty(n, dtype=np.int64)
    parts[order] = np.arange(n) % n_parts
    return [
        (np.flatnonzero(parts != part), np.flatnonzero(parts == part))
        for part in range(FOLDS if n_parts == FOLDS else 1)
    ]


def _draw(rows: IntArray, most: int, settings: InductionSettings) -> IntArray:
    """Return at most so many of some rows."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(settings.seed).choice(rows, most, replace=False))
