"""The learner of rules: loops against NumPy, rounding, constraints, blanks, groups of levels."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy.induction import induce_card, induce_points, read_training_table
from pinesy.induction.binned_table import BinnedTable
from pinesy.induction.candidate_rules import BLANK, HIGHEST, LOWEST, Box, evaluate_boxes
from pinesy.induction.induction_settings import InductionSettings
from pinesy.induction.point_model import with_points
from pinesy.induction.rule_selector import (
    RuleSelector,
    WeightedRules,
    WeightFit,
    prune,
    softmax_rows,
)
from pinesy.induction.selection_kernels import grow_tree


def table_of(n: int, seed: int, blanks: float = 0.0, n_classes: int = 2) -> BinnedTable:
    """Return random steps of four features, and labels that depend on two of them."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 6, (n, 4)).astype(np.uint8)
    score = steps[:, 0] + 2.0 * (steps[:, 1] > 2) + rng.normal(0, 1.5, n)
    labels = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    steps[rng.random(steps.shape) < blanks] = BLANK
    return BinnedTable.of(steps, labels.astype(np.int64), np.ones(n), n_classes, {})


def chosen(table: BinnedTable, **options: Any) -> WeightedRules:
    """Return the rules of one choice on a table."""
    limits = InductionSettings.of(100, table.n_classes, **options)
    selector = RuleSelector(table, limits)
    selector.run(lambda: None)
    return selector.rules()


def best_split(
    steps: npt.NDArray[np.uint8], gradients: npt.NDArray[np.float32], least: int
) -> tuple[float, int, int]:
    """Return gain, feature and step of the best split: the definition."""
    best = (0.0, -1, -1)
    for f in range(steps.shape[1]):
        known = steps[:, f] != BLANK
        for step in range(6):
            below, above = known & (steps[:, f] <= step), known & (steps[:, f] > step)
            if min(below.sum(), above.sum()) < least:
                continue
            parts = [
                (gradients[rows].sum(axis=0) ** 2).sum() / rows.sum() for rows in (below, above)
            ]
            gain = sum(parts) - (gradients[known].sum(axis=0) ** 2).sum() / known.sum()
            best = max(best, (float(gain), f, step), key=lambda split: split[0])
    return best


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.integers(1, 3))
@settings(max_examples=30)
def test_the_first_split_of_a_tree_is_the_best(seed: int, blanks: float, n_outputs: int) -> None:
    table = table_of(60, seed, blanks)
    gradients = np.random.default_rng(seed).normal(size=(60, n_outputs)).astype(np.float32)
    features, steps = np.full(1, -1), np.zeros(1, dtype=np.int64)
    everything = np.arange(4)[None]
    sizes = np.ones(60, dtype=np.float32)
    grow_tree(table.bins, np.arange(60), everything, gradients, sizes, 6, 5.0, features, steps)
    gain, _, _ = best_split(table.bins.T, gradients, 5)
    column = table.bins[features[0]]
    known = column != BLANK
    below, above = known & (column <= steps[0]), known & (column > steps[0])
    parts = [(gradients[rows].sum(axis=0) ** 2).sum() / rows.sum() for rows in (below, above)]
    reached = sum(parts) - (gradients[known].sum(axis=0) ** 2).sum() / known.sum()
    assert reached == pytest.approx(gain, rel=1e-4)


BOXES: list[Box] = [
    ((0, 1, 3),),
    ((1, LOWEST, 2), (2, 0, HIGHEST)),
    ((0, 2, HIGHEST), (1, 1, 4), (3, LOWEST, 4)),
]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30)
def test_satisfaction_is_certain_impossible_or_one_mean(seed: int, blanks: float) -> None:
    table = table_of(80, seed, blanks)
    satisfaction, undetermined = table.satisfaction(BOXES)
    certain, possible = evaluate_boxes(table.bins.T, BOXES)
    assert np.array_equal(satisfaction == 1.0, certain)
    assert np.array_equal(satisfaction > 0.0, possible)
    for row, mean, is_open in zip(satisfaction, undetermined, possible & ~certain, strict=True):
        assert np.isnan(mean) == (not is_open.any())
        assert (row[is_open] == mean).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("blanks", [0.0, 0.2])
def test_fitted_weights_have_no_gradient(n_classes: int, blanks: float) -> None:
    table, ridge = table_of(150, 1, blanks, n_classes), 2.0
    fit = WeightFit(table, ridge)
    for label, box in enumerate(BOXES):
        fit.add(box, label % n_classes)
    fit.fit(500)
    rules = WeightedRules(tuple(BOXES), np.array(fit.classes), fit.weights, fit.prior)
    probabilities = softmax_rows(rules.scores(table))
    assert probabilities == pytest.approx(fit.odds, abs=1e-5)
    residuals = np.eye(n_classes)[table.labels] - probabilities
    for i, box in enumerate(BOXES):
        slope = table.satisfaction([box])[0][0] @ residuals[:, fit.classes[i]]
        slope -= ridge * fit.weights[i]
        # At the bound 0 the likelihood falls.
        assert abs(slope) < 0.1 if fit.weights[i] > 0.0 else slope < 0.1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_that_counts_twice_is_two_rows(n_classes: int) -> None:
    once = table_of(120, 3, 0.1, n_classes)
    rows = np.concatenate([np.arange(120), np.arange(40)])
    sizes = np.where(np.arange(120) < 40, 2.0, 1.0)
    weighted = BinnedTable.of(once.bins.T, once.labels, sizes, n_classes, {})
    repeated = BinnedTable.of(once.bins.T[rows], once.labels[rows], np.ones(160), n_classes, {})
    a, b = chosen(weighted, max_rules=4), chosen(repeated, max_rules=4)
    assert a.boxes == b.boxes
    assert a.weights == pytest.approx(b.weights, abs=1e-2)


def test_the_same_seed_gives_the_same_rules() -> None:
    a, b = chosen(table_of(200, 5), seed=7), chosen(table_of(200, 5), seed=7)
    assert a.boxes == b.boxes
    assert np.array_equal(a.weights, b.weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_points_are_near_the_probabilities_of_the_weights(n_classes: int) -> None:
    table = table_of(400, 2, 0.1, n_classes)
    rules = chosen(table)
    model = with_points(rules, table)
    assert 1 <= model.points.min() <= model.points.max() <= 6
    assert (model.undetermined <= model.points).all()
    predicted = model.expected_totals(table.bins.T).argmax(axis=1)
    assert (predicted == rules.scores(table).argmax(axis=1)).mean() > 0.9
    for i, box in enumerate(model.boxes):
        holds = table.satisfaction([box])[0][0] == 1.0
        assert model.support[i] == holds.sum()
        assert model.precision[i] == (table.labels[holds] == model.classes[i]).mean()


def test_both_readings_are_the_same_without_blanks() -> None:
    table = table_of(300, 4)
    model = with_points(chosen(table), table)
    steps = table.bins.T
    assert np.array_equal(model.possibility(steps), model.expected_possibility(steps))


def test_pruned_rules_are_fewer() -> None:
    table = table_of(500, 6)
    rules = chosen(table)
    limits = InductionSettings.of(500, 2, small=True)
    pruned = prune(rules, table, limits)
    assert 0 < len(pruned.boxes) < len(rules.boxes)
    assert {*pruned.boxes} <= {*rules.boxes}


def test_noise_gets_no_more_than_two_rules() -> None:
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=200) for i in range(10)}
    table = read_training_table({**columns, "y": rng.integers(0, 2, 200)}, "y")
    assert len(induce_points(table).model.points) <= 2


def test_many_levels_are_conditions_on_groups() -> None:
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 60, 1500)
    table = {
        "zip": [f"z{level}" for level in levels],
        "y": np.where((levels % 3 == 0) ^ (rng.random(1500) < 0.1), "yes", "no"),
    }
    cascade, card = induce_card(table, "y")
    assert any("zip where yes is frequent (" in line.premise for line in card.lines)
    best = cascade.infer({"zip": table["zip"]})["y"].best
    assert (best == np.where(levels % 3 == 0, "yes", "no")).mean() > 0.95
