"""The guarantee: true values are in their sets as often as the level says.

Coverage on the samples of one calibration is a random variable. Over many calibrations, each with
one new sample, it is binomial with a chance of at least the level; the tests allow what happens by
chance once in a million times.
"""

import numpy as np
import pytest

from calibration.adders import LEVELS, TRIALS, N, adder, answers, evidence, least_successes, samples
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.calibration import CalibratedInputs, ConformalTransform, calibrate


def covered_by_rules(seed: int, at_inputs: bool) -> list[bool]:
    """Return for each level whether both true answers of one new sample are in their sets."""
    rules, rng = adder(), np.random.default_rng(seed)
    p, truth = samples(rng, N + 1, 2, 4)
    inputs = {"left": truth[:N, 0], "right": truth[:N, 1]}
    targets = inputs if at_inputs else answers(truth[:N])
    transform = None if at_inputs else "antipignistic"
    sure = calibrate(rules, evidence(p[:N]), targets, transform=transform)
    new = answers(truth[N:])
    found = []
    for level in LEVELS:
        sets = sure.predict_set(evidence(p[N:]), level)
        found.append(all(new[name][0] in sets[name][0] for name in new))
    return found


@pytest.mark.parametrize("at_inputs", [True, False])
def test_answers_of_several_outputs_are_covered_together(at_inputs: bool) -> None:
    counts = np.sum([covered_by_rules(seed, at_inputs) for seed in range(TRIALS)], axis=0)
    assert (counts >= [least_successes(level) for level in LEVELS]).all(), counts


def coverage(seed: int, score: str, n_inputs: int, leak: bool = False) -> list[bool]:
    """Return for each level whether all true values of one new sample are in their sets."""
    rng = np.random.default_rng(seed)
    p, truth = samples(rng, N + 1, n_inputs, 4)
    calibration = p[:N]
    if leak:  # as if the classifier had been trained on these: it knows them by heart
        calibration = 0.5 * calibration + 0.5 * np.eye(4)[truth[:N]]
    pi = ConformalTransform(score).fit(calibration, truth[:N])(p[N:])
    true = np.take_along_axis(pi, truth[N:, :, None], axis=2)
    return [bool(true.min() > round(1.0 - level, 12)) for level in LEVELS]


@pytest.mark.parametrize("score", ["complement", "antipignistic", "cumulated"])
@pytest.mark.parametrize("n_inputs", [1, 5])
def test_inputs_are_covered_together(score: str, n_inputs: int) -> None:
    counts = np.sum([coverage(seed, score, n_inputs) for seed in range(TRIALS)], axis=0)
    assert (counts >= [least_successes(level) for level in LEVELS]).all(), counts


def test_calibration_on_training_data_breaks_the_guarantee() -> None:
    counts = np.sum([coverage(seed, "complement", 5, leak=True) for seed in range(TRIALS)], axis=0)
    assert (counts[1:] < [least_successes(level) for level in LEVELS[1:]]).all(), counts


def test_each_class_is_covered_if_classes_are_counted_apart() -> None:
    covered, seen = np.zeros(3), 0
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        p, truth = samples(rng, 200, 1, 3)
        p[..., 0] *= 0.2  # class 0 is recognised badly
        p /= p.sum(axis=2, keepdims=True)
        by_class = ConformalTransform(class_conditional=True).fit(p[1:, 0], truth[1:, 0])
        if truth[0, 0] == 0:
            seen += 1
            pi = by_class(p[0, 0])[0]
            covered += [pi > round(1.0 - level, 12) for level in LEVELS]
    assert (covered >= [least_successes(level, seen) for level in LEVELS]).all()


def test_weights_mend_a_shift_of_the_inputs() -> None:
    """Calibration sees few hard samples, and new ones are all hard; weights are known."""
    covered = {"plain": 0, "weighted": 0}
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        hard = rng.random(N * 5) < 0.3
        truth = rng.integers(2, size=N * 5)
        sure = np.where(hard, rng.uniform(-0.4, 0.9, N * 5), rng.uniform(0.7, 1.0, N * 5))
        p = np.where(
            np.arange(2) == truth[:, None], 0.5 + sure[:, None] / 2, 0.5 - sure[:, None] / 2
        )
        new = rng.uniform(-0.4, 0.9)
        one = np.array([[0.5 + new / 2, 0.5 - new / 2]])
        weights = np.where(hard, 1.0 / 0.3, 0.0)
        plain = ConformalTransform().fit(p, truth)(one)
        weighted = ConformalTransform().fit(p, truth, weights)(one, [1.0 / 0.3])
        covered["plain"] += plain[0, 0] > 0.1
        covered["weighted"] += weighted[0, 0] > 0.1
    assert covered["plain"] < least_successes(0.9) <= covered["weighted"]


def test_an_input_that_is_used_twice_can_only_enlarge_the_sets() -> None:
    a, b, c = (Attribute(name, range(2)) for name in "abc")
    rules = Cascade(
        RuleSet([Iff(a.isin({1})).then(b.isin({1}))]),
        RuleSet([Iff(a.isin({1}) & b.isin({1})).then(c.isin({1}))]),
    )
    rng = np.random.default_rng(0)
    p, truth = samples(rng, 100, 1, 2)
    sure = calibrate(rules, {"a": p[:, 0]}, {"a": truth[:, 0]})
    assert isinstance(sure, CalibratedInputs)
    inferred = sure.infer({"a": p[:, 0]})["c"].degrees
    assert (inferred >= sure.degrees({"a": p[:, 0]})).all()


@pytest.mark.parametrize("at_inputs", [True, False])
def test_rules_take_the_weights_of_new_samples(at_inputs: bool) -> None:
    """A weight of 3 counts as three samples: by hand, (3 + at least as bad) / (3 + all)."""
    rng = np.random.default_rng(1)
    p, truth = samples(rng, 60, 1, 2)
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    rules = RuleSet([Iff(a.isin({1})).then(b.isin({1}))])
    pi = p[:, 0] / p[:, 0].max(axis=1, keepdims=True)
    weights = rng.integers(1, 4, size=50).astype(float)
    sure = calibrate(rules, {"a": pi[:50]}, {"ab"[not at_inputs]: truth[:50, 0]}, weights=weights)
    own = np.array([3.0, 1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 1.0, 2.0, 1.0])
    found = sure.infer({"a": pi[50:]}, weights=own)["b"].degrees
    scores = 1.0 - pi[np.arange(50), truth[:50, 0]]
    for row, weight, degrees in zip(pi[50:], own, found, strict=True):
        worse = [weights[scores >= 1.0 - degree].sum() for degree in row]
        expected = (weight + np.array(worse)) / (weight + weights.sum())
        assert degrees.tolist() == np.where(row == row.max(), 1.0, expected).tolist()
    alone = sure.infer({"a": pi[50]}, weights=3.0)["b"]
    assert alone.degrees.tolist() == found[0].tolist()
