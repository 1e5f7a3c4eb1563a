"""Scores looked up among those of calibration, and how far the best value is ahead."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy import ConformalTransform
from pinesy.calibration.score_counts import ScoreCounts, margin_scores
from pinesy.exceptions import DegreeError

DEGREES = st.integers(0, 10).map(lambda k: k / 10)


@given(st.lists(DEGREES, max_size=20), DEGREES)
def test_p_values_are_counts_of_scores_that_fit_no_better(seen: list[float], t: float) -> None:
    counted = Fraction(1 + sum(score >= t for score in seen), 1 + len(seen))
    assert ScoreCounts.of(seen).p_values(np.array([t])).tolist() == [float(counted)]


@given(st.lists(st.tuples(DEGREES, DEGREES, DEGREES), min_size=1, max_size=5))
def test_leads_are_those_of_sorted_scores(rows: list[tuple[float, ...]]) -> None:
    ordered = np.sort(rows, axis=1)
    assert (margin_scores(np.array(rows)) == 1.0 - (ordered[:, 1] - ordered[:, 0])).all()


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.5])
def test_a_degree_that_is_none_is_refused_with_its_place(bad: float) -> None:
    p = np.array([[[0.5, 0.5], [1.0, 0.0]]] * 4)
    transform = ConformalTransform().fit(p, np.zeros((4, 2), dtype=int))
    p[2, 1, 0] = bad
    with pytest.raises(DegreeError, match=r"row 2: the degree of value 0 \(input 1\) is"):
        transform(p)
