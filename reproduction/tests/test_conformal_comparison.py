"""The comparison with other conformal sets: its parts by brute force, and its page."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.conformal_comparison import (
    METHODS,
    PROBLEMS,
    Population,
    Problem,
    Sets,
    compare,
    consistent_rows,
    list_sums,
    long_sums,
    reachable_sums,
    selective,
    sum_probabilities_of,
)
from reproduction.conformal_tables import page

ROOT = Path(__file__).parents[2]

RNG = np.random.default_rng(0)
INPUTS = RNG.random((30, 3, 4)) < 0.5


def population() -> Population:
    """Return probabilities that are right as often as they say."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(10, 0.03), 3000)
    return Population(p, (p.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1))


def tuples_of(sets: Any, sums: Any) -> list[tuple[int, ...]]:
    values = product(*(np.flatnonzero(members).tolist() for members in sets))
    return [digits for digits in values if sums[sum(digits)]]


def test_sums_are_those_of_all_tuples() -> None:
    assert np.array_equal(reachable_sums(INPUTS), list_sums(INPUTS))
    p = RNG.dirichlet(np.ones(4), (5, 3))
    sums = sum_probabilities_of(p)
    for row in range(5):
        expected = np.zeros(10)
        for a, b, c in product(range(4), repeat=3):
            expected[a + b + c] += p[row, 0, a] * p[row, 1, b] * p[row, 2, c]
        assert np.allclose(sums[row], expected)


def test_sets_are_consistent_if_all_their_values_are_in_tuples() -> None:
    sums = np.random.default_rng(2).random((30, 10)) < 0.7
    expected = []
    for sets, members in zip(INPUTS, sums, strict=True):
        tuples = tuples_of(sets, members)
        of_sum = {sum(digits) for digits in tuples} == set(np.flatnonzero(members).tolist())
        of_inputs = all(
            {digits[i] for digits in tuples} == set(np.flatnonzero(sets[i]).tolist())
            for i in range(3)
        )
        expected.append(of_sum and of_inputs)
    assert consistent_rows(INPUTS, sums).tolist() == expected
    filtered = reachable_sums(INPUTS)
    has_tuples = np.all(INPUTS.any(axis=2), axis=1)
    assert np.all(consistent_rows(INPUTS, filtered)[has_tuples])


def test_ours_are_consistent_and_cover_and_single_quantiles_do_not() -> None:
    pytest.importorskip("mapie")
    pytest.importorskip("crepes")
    figures = compare(Problem("sum of 3", 3), population(), 4)
    assert set(figures) == set(METHODS)
    ours, single = figures["pinesy, consistent sets"], figures["a quantile for each input"]
    assert ours["consistent"] == 1.0
    assert ours["all covered"] > 0.87
    assert single["all covered"] < 0.8


def test_long_sums_are_covered() -> None:
    figures = long_sums(4, population(), 2)
    assert figures["all covered"] is not None
    assert figures["all covered"] > 0.85


def test_decisions_keep_the_promise() -> None:
    record = selective(population(), 0.02, 60)
    assert record["pinesy"]["violations"] <= 12  # more have a chance of 2e-5 at 5 %
    assert record["by the observed error"]["violations"] > 12


def test_figures_of_sets() -> None:
    inputs = np.ones((2, 2, 2), dtype=np.bool_)
    sets = Sets(inputs, np.array([[True, True, True], [False, True, False]]), 0.0)
    figures = sets.figures(np.array([[0, 0], [1, 1]]))
    assert (figures["all covered"], figures["answer size"]) == (0.5, 2.0)
    assert (figures["single answers"], figures["consistent"]) == (0.5, 1.0)


def test_the_page_is_that_of_the_record() -> None:
    record = json.loads((ROOT / "docs" / "results" / "conformal.json").read_text("utf-8"))
    assert set(record["problems"]) == {problem.name for problem in PROBLEMS}
    assert page(record) == (ROOT / "docs" / "results" / "conformal.md").read_text("utf-8")
