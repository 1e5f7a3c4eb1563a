"""Rounding in learned parameters must not flip what later sets learn."""

from typing import Any

import numpy as np
import pytest

from pinesy import Attribute, Cascade, If, Iff, RuleSet, learn
from pinesy.exceptions import LearningError
from pinesy.learning import learn_batches, search_tolerances


def test_a_degree_that_was_rounded_is_not_below_the_target_it_equals() -> None:
    a, b, c = (Attribute(name, [0, 1]) for name in "abc")
    chain = Cascade(
        RuleSet([Iff(a.isin({0})).then(b.isin({0}))]), RuleSet([Iff(b.isin({0})).then(c.isin({0}))])
    )
    targets = {"b": [[0.09, 1.0], [0.01, 1.0]], "c": [[0.05, 1.0], [0.05, 1.0]]}
    result = learn(chain, {"a": [[0.0, 1.0], [0.0, 1.0]]}, targets)
    (s_b,) = result["b"].s
    assert s_b != 0.05  # 0.09 - 0.04, an ulp below it
    assert abs(s_b - 0.05) < 1e-15
    assert result["c"].s.tolist() == [0.0]  # as in exact arithmetic: b gives 0.05 already


@pytest.mark.parametrize(("rho", "y"), [(0.9, 0.8), (0.8, 0.7), (0.3, 0.2)])
def test_a_distance_that_is_the_tolerance_in_decimals_is_not_below_it(rho: float, y: float) -> None:
    a, b = (Attribute(name, [0, 1]) for name in "ab")
    rules = RuleSet([If(a.isin({1})).then(b.isin({1}))])
    evidence, targets = {"a": np.array([[rho, 1.0]])}, {"b": np.array([[y, 1.0]])}
    for learned in (
        lambda tau: learn(rules, evidence, targets, tolerance=tau),
        lambda tau: learn_batches(rules, [(evidence, targets)], tolerance=tau),
    ):
        assert learned(0.1 + 1e-9)["b"].summary.reliable == 1
        with pytest.raises(LearningError, match=r"the smallest distance of a sample is 0\.1,"):
            learned(0.1)
    validation = (evidence, targets)
    found = search_tolerances(rules, evidence, targets, validation, candidates=[0.1, 0.2])
    assert [one.metric is None for one in found.evaluations] == [True, False]
    assert learn(rules, evidence, targets, tolerance=0.2)["b"].reliable.tolist() == [True]


@pytest.mark.parametrize(("rho", "y"), [(0.9, 0.8), (0.8, 0.7), (0.3, 0.2)])
def test_such_a_sample_changes_nothing_that_others_teach(rho: float, y: float) -> None:
    a, b = (Attribute(name, [0, 1]) for name in "ab")
    rules = RuleSet([If(a.isin({1})).then(b.isin({1}))])
    evidence, targets = {"a": [[rho, 1.0], [0.0, 1.0]]}, {"b": [[y, 1.0], [0.5, 1.0]]}
    found = learn(rules, evidence, targets, tolerance=0.1, fixed=None)["b"]
    assert found.reliable.tolist() == [False, True]
    assert (found.s.tolist(), found.r.tolist(), found.distance) == ([0.0], [0.5], 0.0)
    options: dict[str, Any] = {"candidates": [0.1, 0.2], "fixed": None}
    both = search_tolerances(rules, evidence, targets, (evidence, targets), **options)
    assert [one.reliable["b"] for one in both.evaluations] == [1, 2]


def test_a_tiny_tolerance_keeps_samples_without_any_distance() -> None:
    a, b = (Attribute(name, [0, 1]) for name in "ab")
    rules = RuleSet([If(a.isin({1})).then(b.isin({1}))])
    result = learn(rules, {"a": [[0.0, 1.0]]}, {"b": [[0.5, 1.0]]}, tolerance=1e-300)
    assert result["b"].summary.reliable == 1
