"""Parameters from noisy data: counts against their definition, gradients against differences."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.oracle_help import SKIP, parts, random_samples
from messages import raises_saying
from pinesy import Attribute, If, Iff, Possibility, RuleSet, learn, load, save
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, DegreeError
from pinesy.learning import (
    DecisionScores,
    ParameterEstimate,
    compare_methods,
    learn_batches,
)
from pinesy.learning.refinement import LogLoss, log_loss

X = Attribute("x", ["a", "b", "c"])
Y = Attribute("y", ["yes", "no", "maybe"])
RULES = RuleSet(
    [
        If(X.isin({"a"})).then(Y.isin({"yes"})),
        Iff(X.isin({"a", "b"})).then(Y.isin({"yes", "maybe"})),
    ]
)


def exceptions(against: int, of: int, m: Fraction) -> float:
    """Return min(1, 2 P) of the smoothed share of exceptions."""
    if of + m == 0:
        return 1.0
    return round(float(min(Fraction(1), 2 * (against + m / 2) / (of + m))), 4)


@given(
    x=st.lists(st.sampled_from("abc"), min_size=1, max_size=30),
    m=st.sampled_from([Fraction(0), Fraction(1), Fraction(5, 2)]),
    data=st.data(),
)
def test_counts_of_values(x: list[str], m: Fraction, data: st.DataObject) -> None:
    y = data.draw(st.lists(st.sampled_from(Y.domain), min_size=len(x), max_size=len(x)))
    result = learn(RULES, {"x": x}, y, method="counts", smoothing=float(m), fixed=None)
    for rule, s, r in zip(RULES.rules, result["y"].s, result["y"].r, strict=True):
        p = [v in rule.premise.propositions[0].values for v in x]
        q = [v in rule.conclusion.values for v in y]
        breaks = sum(a and not b for a, b in zip(p, q, strict=True))
        others = sum(b and not a for a, b in zip(p, q, strict=True))
        assert r == exceptions(breaks, sum(p), m)
        assert s == exceptions(others, len(x) - sum(p), m)


def test_doubtful_premises_and_targets_count_in_part() -> None:
    """A premise that holds with certainty 0.25 counts a quarter; a target in doubt is shared."""
    rules = RuleSet([If(X.isin({"a"})).then(Y.isin({"yes"}))])
    x = [[1.0, 0.75, 0.0], [1.0, 0.0, 0.0]]
    y = [[1.0, 0.5, 0.5], [0.25, 1.0, 0.0]]
    counts = learn(rules, {"x": x}, y, method="counts")["y"].counts
    assert counts.weights.tolist() == [[0.25 * 0.75 + 0.125, 0.25 * 0.25 + 0.875, 0.0, 0.0]]


def test_weights_are_as_repeated_samples() -> None:
    x, y = ["a", "a", "b", "c"], ["yes", "no", "maybe", "no"]
    weights = [3, 1, 0, 2]
    twice = [v for v, w in zip(x, weights, strict=True) for _ in range(w)]
    labels = [v for v, w in zip(y, weights, strict=True) for _ in range(w)]
    for method in ("counts", "gradient"):
        weighted = learn(RULES, {"x": x}, y, method=method, weights=weights)
        repeated = learn(RULES, {"x": twice}, labels, method=method)
        assert weighted["y"].parameters == pytest.approx(repeated["y"].parameters, abs=2e-4)


def test_any_batches_give_the_same_bits(tmp_path: Any) -> None:
    """A cascade whose later sets depend on counted parameters, in parts, and from a file."""
    inputs, targets = random_samples(SKIP, 60, seed=5)
    whole = learn(SKIP, inputs, targets, method="counts")
    order = np.random.default_rng(1).permutation(60).tolist()
    batches = parts(inputs, targets, order, [7, 20, 33])
    assert learn_batches(SKIP, batches, method="counts").cascade == whole.cascade
    first = learn_batches(SKIP, batches[:2], method="counts")
    save(first, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json").result
    assert isinstance(loaded, ParameterEstimate)
    assert loaded.cascade == first.cascade
    assert loaded.samples == first.samples


# --- gradients ---------------------------------------------------------------------------------


def test_a_rule_that_holds_seven_times_of_ten() -> None:
    """From the default start, from the counted one, and with parameters that are fixed."""
    rules = RuleSet([If(X.isin({"a"})).then(Y.isin({"yes"}))])
    x, y = ["a"] * 10, ["yes"] * 7 + ["no"] * 3
    two = Attribute("y", ["yes", "no"])
    rules = RuleSet([If(X.isin({"a"})).then(two.isin({"yes"}))])
    result = learn(rules, {"x": x}, y, method="gradient")
    assert result["y"].r[0] == pytest.approx(0.6, abs=0.01)
    assert result["y"].losses[1] <= result["y"].losses[0] + 1e-9
    fixed = learn(rules, {"x": x}, y, method="gradient", fixed="r")
    assert fixed["y"].r[0] == 0.0


def test_gradients_see_together_what_counts_see_apart() -> None:
    """Two copies of a rule: together they need not be surer than one."""
    x, y = ["a"] * 10 + ["b"] * 10, (["yes"] * 8 + ["no"] * 2) * 2
    several = RuleSet([If(X.isin({v})).then(Y.isin({"yes"})) for v in ("a", "b")])
    counted = learn(several, {"x": x}, y, method="counts")
    refined = learn(several, {"x": x}, y, method="gradient")
    start, end = refined["y"].losses
    assert end < start
    assert counted["y"].losses == ()


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_gradient_against_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = Target.of(rng.choice(["yes", "no", "maybe"], 9), Y)
    loss = LogLoss(rng.random((4, 9)), RULES.partition, target, rng.random(9))
    x = rng.random(4)
    here, gradient = loss(x)
    step = 1e-6
    for side in range(4):
        up, down = x.copy(), x.copy()
        up[side] += step
        down[side] -= step
        right, left = (loss(up)[0] - here) / step, (here - loss(down)[0]) / step
        if right == pytest.approx(left, rel=1e-2, abs=1e-4):  # not at a kink
            assert gradient[side] == pytest.approx((right + left) / 2, rel=1e-2, abs=1e-4)


def test_contradicting_samples_send_a_gradient() -> None:
    """The label is excluded, or no value is possible at all: the loss is finite, not flat."""
    pi = np.array([[0.0, 0.4, 0.2], [0.0, 1.0, 0.0]])
    expected = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    loss, gradient = log_loss(pi, expected)
    assert np.isfinite(loss).all()
    assert (gradient[:, 0] < 0.0).all()
    nothing, flat = log_loss(np.zeros((1, 3)), expected[:1])
    assert np.isfinite(nothing).all()
    assert np.isfinite(flat).all()


# --- what is printed, and bad input ------------------------------------------------------------


def test_the_table_says_how_often_each_rule_held() -> None:
    result = learn(RULES, {"x": ["a", "a", "c"]}, ["yes", "no", "no"], method="counts")
    text = str(result)
    assert "method counts" in text
    assert "50.0%" in text
    assert repr(result["y"]) == "SetEstimate(y: 2 rules, 3 samples)"
    never = learn(RULES, {"x": ["c"]}, ["no"], method="counts")
    assert never["y"].r.tolist() == [1.0, 1.0]
    assert " - " in str(never)


def test_bad_input() -> None:
    x, y = {"x": ["a"]}, ["yes"]
    with raises_saying(DataError, "'magic'", "exact, counts, gradient"):
        learn(RULES, x, y, method="magic")  # type: ignore[call-overload]
    with raises_saying(DataError, "keeps every sample", "method 'exact'"):
        learn(RULES, x, y, method="counts", tolerance=0.5)  # type: ignore[call-overload]
    with raises_saying(DataError, "method 'exact'", "leave the weights out"):
        learn(RULES, x, y, weights=[1.0])  # type: ignore[call-overload]
    with raises_saying(DataError, "weight of sample 0 is -1.0"):
        learn(RULES, x, y, method="counts", weights=[-1.0])
    with raises_saying(DataError, "give 1 numbers"):
        learn(RULES, x, y, method="counts", weights=[1.0, 2.0])
    with raises_saying(DataError, "all weights are 0"):
        learn(RULES, x, y, method="counts", weights=[0.0])
    with raises_saying(DegreeError, "smoothing is -1"):
        learn(RULES, x, y, method="counts", smoothing=-1)
    with raises_saying(DataError, "needs all samples in memory"):
        learn_batches(RULES, [(x, y)], method="gradient")  # type: ignore[arg-type]


# --- comparison --------------------------------------------------------------------------------


def noisy_days(n: int = 400) -> tuple[RuleSet, dict[str, Any], Any]:
    rng = np.random.default_rng(3)
    sky, wind = Attribute("sky", ["dark", "clear"]), Attribute("wind", ["west", "east"])
    rain = Attribute("rain", ["yes", "no"])
    rules = RuleSet(
        [
            If(sky.isin({"dark"})).then(rain.isin({"yes"})),
            If(wind.isin({"east"})).then(rain.isin({"no"})),
        ]
    )
    days = {"sky": rng.choice(["dark", "clear"], n), "wind": rng.choice(["west", "east"], n)}
    chance = 0.6 * (days["sky"] == "dark") + 0.3 * (days["wind"] == "west") + 0.02
    return rules, days, np.where(rng.random(n) < chance, "yes", "no")


def test_methods_are_compared_on_samples_that_they_have_not_seen() -> None:
    rules, days, rain = noisy_days()
    comparison = compare_methods(rules, days, rain, held_out=0.25)
    assert (comparison.train, comparison.held_out) == (300, 100)
    scores = comparison.scores["rain"]
    assert list(scores) == ["majority", "as given", "exact", "counts", "gradient"]
    assert scores["counts"].most_possible > scores["majority"].most_possible
    assert scores["gradient"].log_loss < scores["as given"].log_loss
    for one in scores.values():
        assert list(one.coverage) == sorted(one.coverage, reverse=True)
    text = str(comparison)
    assert "100 held out" in text
    assert "ahead by 0.8" in text
    assert len(comparison.to_frame()) == 5


def test_scores_by_hand() -> None:
    rows = [[1.0, 0.1, 0.0], [0.3, 0.6, 0.3], [1.0, 1.0, 0.0], [1.0, 0.9, 0.2]]
    pi = Possibility(Y, np.array(rows))
    scores = DecisionScores.of(pi, Target.of(["yes", "no", "yes", "no"], Y))
    # The second is a contradiction: that "no" is ahead in it does not make it right.
    assert scores.most_possible == 0.5
    assert (scores.accuracy, scores.undecided, scores.contradictory) == (0.25, 0.5, 0.25)
    assert scores.coverage == (0.25, 0.25, 0.0)
    assert scores.selective[:2] == (1.0, 1.0)
    assert np.isnan(scores.selective[2])


def test_what_cannot_be_compared() -> None:
    rules, days, rain = noisy_days(10)
    with raises_saying(DataError, "0.01 of 10 samples cannot be held out"):
        compare_methods(rules, days, rain, held_out=0.01)
    with raises_saying(DataError, "'rain' are distributions", "give values"):
        compare_methods(rules, days, np.tile([1.0, 0.5], (10, 1)))
