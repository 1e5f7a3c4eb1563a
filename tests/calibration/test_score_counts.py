"""Conformal p-values by their definition, in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy.calibration import ScoreCounts, samples_needed
from pinesy.calibration.score_counts import significance
from pinesy.exceptions import DataError, DomainError, ShapeError

TENTHS = st.integers(0, 10).map(lambda k: k / 10)
SCORES = st.lists(TENTHS, min_size=1, max_size=20)


def p_value(scores: list[float], t: float) -> Fraction:
    return Fraction(1 + sum(s >= t for s in scores), len(scores) + 1)


@given(SCORES, SCORES)
def test_p_values_are_the_shares_of_the_definition(scores: list[float], new: list[float]) -> None:
    found = ScoreCounts.of(scores).p_values(np.array(new))
    assert found.tolist() == [float(p_value(scores, t)) for t in new]


@given(SCORES, SCORES)
def test_the_minimum_of_p_values_is_the_p_value_of_the_worst_score(
    scores: list[float], new: list[float]
) -> None:
    counts = ScoreCounts.of(scores)
    assert counts.p_values(np.array(new)).min() == counts.p_values(np.array(max(new)))


@given(SCORES, SCORES)
def test_equal_scores_are_told_from_larger_ones(scores: list[float], new: list[float]) -> None:
    above, equal = ScoreCounts.of(scores).above_and_equal(np.array(new))
    assert above.tolist() == [sum(s > t for s in scores) for t in new]
    assert equal.tolist() == [scores.count(t) for t in new]


@given(SCORES, SCORES)
def test_counts_of_parts_add_to_those_of_the_whole(first: list[float], rest: list[float]) -> None:
    assert ScoreCounts.of(first) + ScoreCounts.of(rest) == ScoreCounts.of(first + rest)


@given(SCORES, st.lists(st.integers(0, 4), min_size=20, max_size=20), st.integers(1, 3), TENTHS)
def test_weights_count_as_so_many_samples(
    scores: list[float], weights: list[int], own: int, t: float
) -> None:
    weights = weights[: len(scores)]
    above = sum(w for s, w in zip(scores, weights, strict=True) if s >= t)
    found = ScoreCounts.of(scores, weights).p_values(np.array(t), own)
    assert found == float(Fraction(own + above, own + sum(weights)))


def test_what_is_written_is_read_again() -> None:
    counts = ScoreCounts.of([0.25, 0.1, 0.25])
    assert ScoreCounts.read(counts.content) == counts


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"scores": [0.5, 0.25], "counts": [1.0, 1.0]}, "must rise"),
        ({"scores": [0.5], "counts": [1.0, 2.0]}, '1 "scores" of a calibration have 2 "counts"'),
        ({"scores": [0.5], "counts": [-1.0]}, "numbers of samples, 1 or more"),
        ({"scores": [float("nan")], "counts": [1.0]}, '"scores" of a calibration must be finite'),
    ],
)
def test_damaged_counts_are_refused(content: dict[str, list[float]], says: str) -> None:
    with pytest.raises(DataError, match=says):
        ScoreCounts.read(content)


def test_levels_are_decimal() -> None:
    assert [significance(level) for level in (0.9, 0.95, 0.99)] == [0.1, 0.05, 0.01]
    assert [samples_needed(level) for level in (0.9, 0.95, 0.99, 0.995)] == [9, 19, 99, 199]


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan"), "high", True])
def test_levels_lie_between_0_and_1(level: object) -> None:
    with pytest.raises(DomainError, match="level is"):
        significance(level)


def test_too_few_samples_say_how_many_are_needed() -> None:
    ScoreCounts.of(np.zeros(19)).check_enough(0.95)
    with pytest.raises(DataError, match=r"at least 19 are needed; the highest level .* 0.947368"):
        ScoreCounts.of(np.zeros(18)).check_enough(0.95)


def test_scores_and_weights_are_checked() -> None:
    with pytest.raises(DataError, match="the score of row 1 is nan"):
        ScoreCounts.of([0.1, float("nan")])
    with pytest.raises(ShapeError, match="one for each of 2 samples"):
        ScoreCounts.of([0.1, 0.2], [1.0])
    with pytest.raises(DataError, match="at least 0"):
        ScoreCounts.of([0.1, 0.2], [1.0, -1.0])
