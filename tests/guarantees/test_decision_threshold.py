"""Of the cases that are decided, at most the promised share is wrong, as often as promised."""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import pytest

from guarantees.simulated_risks import (
    RISKS,
    Floats,
    best_share,
    draw,
    mean_risk,
    most_failures,
)
from messages import raises_saying
from pinesy import DataError, ShapeError
from pinesy.exceptions import DomainError
from pinesy.guarantees import cost_bound, decisions_needed, error_bound, threshold_of
from pinesy.guarantees.decision_threshold import (
    DecisionThreshold,
    TestedThreshold,
    read_threshold,
)
from pinesy.guarantees.risk_bounds import cost_p_value, error_p_value

ERROR, CONFIDENCE = 0.05, 0.9
#: Returns a threshold, or None, from certainties and whether answers are wrong.
Chooser = Callable[[Floats, Floats, int], float | None]


def violations(kind: str, choose: Chooser, trials: int, n: int) -> int:
    """Return in how many simulated calibrations the true risk is above the promise."""
    count = 0
    for seed in range(trials):
        certainty, wrong = draw(RISKS[kind], n, seed)
        threshold = choose(certainty, wrong.astype(float), seed)
        count += threshold is not None and mean_risk(RISKS[kind], threshold) > ERROR
    return count


def promised(certainty: Floats, wrong: Floats, seed: int) -> float | None:
    return threshold_of(certainty, wrong, error=ERROR, confidence=CONFIDENCE, seed=seed).threshold


def by_observed_error(certainty: Floats, wrong: Floats, _seed: int) -> float | None:
    """Choose wrongly: the largest share whose observed error is at most the promise."""
    order = np.argsort(-certainty)
    observed = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    passing = np.flatnonzero(observed <= ERROR)
    return float(certainty[order[passing[-1]]]) if len(passing) else None


def by_any_threshold(certainty: Floats, wrong: Floats, _seed: int) -> float | None:
    """Choose wrongly: any threshold that passes its test, though an earlier one failed."""
    order = np.argsort(-certainty)
    decided = np.arange(1, len(order) + 1)
    p_values = error_p_value(np.cumsum(wrong[order]), decided, ERROR)
    passing = np.flatnonzero(p_values <= 1.0 - CONFIDENCE)
    return float(certainty[order[passing[-1]]]) if len(passing) else None


@pytest.mark.parametrize(("kind", "trials"), [("flat", 1000), ("falling", 300), ("wavy", 300)])
def test_the_promise_is_broken_as_seldom_as_promised(kind: str, trials: int) -> None:
    assert violations(kind, promised, trials, 500) <= most_failures(1.0 - CONFIDENCE, trials)


@pytest.mark.parametrize(
    ("kind", "choose"), [("falling", by_observed_error), ("flat", by_any_threshold)]
)
def test_the_check_sees_thresholds_that_break_the_promise(kind: str, choose: Chooser) -> None:
    assert violations(kind, choose, 300, 500) > most_failures(1.0 - CONFIDENCE, 300)


def test_half_of_what_is_possible_is_decided() -> None:
    best = best_share(RISKS["falling"], ERROR)
    shares = []
    for seed in range(100):
        certainty, wrong = draw(RISKS["falling"], 2000, seed)
        threshold = promised(certainty, wrong.astype(float), seed)
        shares.append(0.0 if threshold is None else 1.0 - threshold)
    assert best == pytest.approx(0.5, abs=1e-3)
    assert np.mean(shares) >= 0.5 * best


def test_the_sequence_begins_where_thresholds_can_pass() -> None:
    certainty, wrong = draw(RISKS["falling"], 2000, 0)
    order = np.argsort(-certainty)
    strict = error_p_value(np.cumsum(wrong[order])[:5], np.arange(1, 6), ERROR)
    assert (strict > 1.0 - CONFIDENCE).all()  # a sequence that begins there stops at once
    assert promised(certainty, wrong.astype(float), 0) is not None


def test_costs_are_bounded_as_often_as_promised() -> None:
    """A wrong answer costs 2 or 10; the mean cost of decided cases is at most 0.5."""
    count = 0
    for seed in range(200):
        certainty, wrong = draw(RISKS["falling"], 600, seed)
        rng = np.random.default_rng([seed, 1])
        costs = wrong * np.where(rng.random(600) < 0.5, 2.0, 10.0)
        chosen = threshold_of(certainty, costs, error=0.5, confidence=0.9, max_cost=10.0, seed=seed)
        if chosen.threshold is not None:
            count += 6.0 * mean_risk(RISKS["falling"], chosen.threshold) > 0.5
    assert count <= most_failures(0.1, 200)
    assert "the mean cost is at most 0.5" in chosen.promise


#: Returns an upper bound of a mean cost, from the sums of costs and their number.
CostBound = Callable[[Floats, int], Floats]


def by_hoeffding_and_bentkus(totals: Floats, n: int) -> Floats:
    return cost_bound(totals, n, CONFIDENCE)


def by_normal_distribution(totals: Floats, n: int) -> Floats:
    """Bound wrongly: the mean plus its standard error, as if 30 costs were normal."""
    mean = totals / n
    return mean + 1.2816 * np.sqrt(mean * (1.0 - mean) / n)


def by_mean(totals: Floats, n: int) -> Floats:
    """Bound wrongly: the observed mean."""
    return totals / n


COSTS: dict[str, tuple[Floats, Floats]] = {  # values of costs, and their probabilities
    "rare": (np.array([0.0, 1.0]), np.array([0.97, 0.03])),
    "small": (np.array([0.0, 0.3, 1.0]), np.array([0.5, 0.48, 0.02])),
    "halves": (np.array([0.0, 0.5]), np.array([0.94, 0.06])),
}


def broken_bounds(kind: str, bound: CostBound, trials: int, n: int) -> int:
    """Return in how many simulated samples of `n` costs the bound is below the true mean."""
    values, p = COSTS[kind]
    totals = np.random.default_rng(0).multinomial(n, p, trials) @ values
    return int((bound(totals, n) < values @ p).sum())


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("n", [30, 300])
def test_the_bound_of_costs_holds_as_often_as_promised(kind: str, n: int) -> None:
    broken = broken_bounds(kind, by_hoeffding_and_bentkus, 5000, n)
    assert broken <= most_failures(1.0 - CONFIDENCE, 5000)


@pytest.mark.parametrize(
    ("kind", "bound"),
    [("rare", by_normal_distribution), ("halves", by_normal_distribution), ("small", by_mean)],
)
def test_the_check_sees_bounds_of_costs_that_are_too_low(kind: str, bound: CostBound) -> None:
    assert broken_bounds(kind, bound, 5000, 30) > most_failures(1.0 - CONFIDENCE, 5000)


def tail(k: int, n: int, p: float) -> float:
    return sum(comb(n, i) * p**i * (1.0 - p) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize(("k", "n"), [(0, 20), (3, 40), (39, 40)])
def test_the_bound_of_errors_is_that_of_clopper_and_pearson(k: int, n: int) -> None:
    bound = float(error_bound(k, n, 0.95))
    assert tail(k, n, bound) == pytest.approx(0.05)
    assert float(error_p_value(k, n, bound)) == pytest.approx(0.05)
    assert float(cost_bound(k, n, 0.95)) >= bound
    assert float(cost_p_value(k, n, float(cost_bound(k, n, 0.95)))) <= 0.05 + 1e-9


def test_bounds_without_decisions_or_without_a_right_one_are_1() -> None:
    assert error_bound([0, 5], [0, 5], 0.95).tolist() == [1.0, 1.0]
    assert cost_bound([0, 5], [0, 5], 0.95).tolist() == [1.0, 1.0]
    assert float(cost_p_value(0, 0, 0.1)) == float(error_p_value(5, 5, 0.1)) == 1.0


def test_ties_are_never_decided() -> None:
    certainty = np.repeat([0.0, 1.0], 500)
    threshold = threshold_of(certainty, np.zeros(1000), error=0.05)
    assert threshold.decides([0.0, 0.5, 1.0]).tolist() == [False, True, True]
    assert threshold.share == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("error", [0.01, 0.05])
def test_too_few_samples_are_told_how_many_are_needed(error: float) -> None:
    least = decisions_needed(error)
    assert tail(0, least, error) <= 0.05 < tail(0, least - 1, error)
    threshold = threshold_of(np.full(least, 0.9), np.zeros(least), error=error)
    assert threshold.threshold is None
    assert threshold.needed is not None
    assert f"about {threshold.needed:,} calibration samples or more" in threshold.promise
    enough = threshold.needed
    assert threshold_of(np.full(enough, 0.9), np.zeros(enough), error=error).share == 1.0


def test_no_number_of_samples_helps_where_all_certainties_err() -> None:
    certainty, _ = draw(RISKS["flat"], 1000, 0)
    wrong = np.arange(1000) % 2 == 0
    threshold = threshold_of(certainty, wrong)
    assert threshold.needed is None
    assert "improve the model" in threshold.promise
    assert not threshold.decides(certainty).any()


def test_the_curve_rises_and_has_the_promise() -> None:
    certainty, wrong = draw(RISKS["falling"], 3000, 0)
    threshold = threshold_of(certainty, wrong, error=0.03)
    shares = [row.share for row in threshold.curve]
    assert shares == sorted(shares)
    assert threshold.tested in threshold.curve
    assert all(row.threshold is None or row.bound <= row.error for row in threshold.curve)
    assert "3 %" in str(threshold)
    assert len(threshold.to_frame()) == len(threshold.curve)
    assert threshold.plot().get_xlabel() == "wrong among the decided, at most"


def test_it_is_written_and_read() -> None:
    certainty, wrong = draw(RISKS["falling"], 3000, 0)
    threshold = threshold_of(certainty, wrong, error=0.03)
    assert read_threshold(threshold.to_dict()).to_dict() == threshold.to_dict()
    for key, entry in (("samples", 0), ("bound", float("nan")), ("wrong", "1")):
        content = threshold.to_dict()
        content["tested"][key] = entry
        with raises_saying(DataError, "the file was changed"):
            read_threshold(content)


@pytest.mark.parametrize(
    ("options", "error", "cure"),
    [
        ({"error": 0.0}, DomainError, "between 0 and 1"),
        ({"error": 5}, DomainError, "5 % is 0.05"),
        ({"error": 1.0}, DomainError, "between 0 and 1"),
        ({"confidence": 1.0}, DomainError, "between 0 and 1"),
        ({"confidence": 95}, DomainError, "95 % is 0.95"),
        ({"confidence": float("nan")}, DomainError, "confidence"),
        ({"error": 3.0, "max_cost": 2.0}, DomainError, "the largest cost 2"),
    ],
)
def test_promises_outside_0_and_1_are_refused(
    options: dict[str, Any], error: type[DomainError], cure: str
) -> None:
    with raises_saying(error, cure):
        threshold_of(np.ones(9), np.zeros(9), **options)


def test_bad_samples_are_refused() -> None:
    with raises_saying(ShapeError, "(3,)", "(2,)"):
        threshold_of(np.ones(3), np.zeros(2))
    with raises_saying(DataError, "no calibration samples"):
        threshold_of([], [])
    with raises_saying(DataError, "certainty[1] is nan"):
        threshold_of([1.0, np.nan], [0, 0])
    with raises_saying(DataError, "wrong[0] is 2.0", "at most 1"):
        threshold_of([1.0, 1.0], [2, 0])


def test_enough_samples_that_fail_are_not_told_to_be_too_few() -> None:
    tested = TestedThreshold(0.05, None, 1600, 0, 0.0, 1.0)
    promise = DecisionThreshold(0.05, 0.95, tested, needed=476).promise
    assert "1,600 samples were tested, which are often enough" in promise
    assert "476" not in promise
    promise = DecisionThreshold(0.05, 0.95, tested, needed=4000).promise
    assert "about 4,000 calibration samples or more" in promise
