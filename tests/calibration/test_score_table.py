"""Scores looked up by buckets: as NumPy's binary search finds them, bit for bit."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import ConformalTransform
from pinesy._common.caching import load_kernels
from pinesy.calibration import conformal_transform, score_counts
from pinesy.calibration.score_counts import KERNELS, ScoreCounts, leads
from pinesy.exceptions import DegreeError

#: Scores where buckets are narrow and wide, and beyond them.
NUMBERS = st.one_of(
    st.floats(0.0, 1.0),
    st.floats(0.0, 1e-12),
    st.floats(1.0 - 1e-12, 1.0 + 1e-12),
    st.floats(0.5 - 1e-12, 0.5 + 1e-12),
    st.floats(-3.0, 3.0),
    st.sampled_from([-0.0, 0.0, 2.0**-54, 2.0**-53, 0.5, 1.0, 2.0, np.nextafter(2.0, 3.0), 1e300]),
)
DEGREES = st.integers(0, 10).map(lambda k: k / 10)
Floats = npt.NDArray[np.float64]


@pytest.fixture(autouse=True)
def _compiled() -> None:
    load_kernels(KERNELS)


def by_search(counts: ScoreCounts, t: Floats) -> Floats:
    """The p-values by their definition, with NumPy's search."""
    before = np.concatenate([[0.0], np.cumsum(counts.counts)])
    return (1.0 + counts.total - before[np.searchsorted(counts.scores, t)]) / (1.0 + counts.total)


@settings(max_examples=100)
@given(st.lists(NUMBERS, max_size=40), st.lists(NUMBERS, min_size=1, max_size=20))
def test_buckets_find_what_binary_search_finds(seen: list[float], new: list[float]) -> None:
    counts, t = ScoreCounts.of(seen), np.array([*new, *seen])
    assert (counts.p_values(t) == by_search(counts, t)).all()


@given(
    st.lists(DEGREES, min_size=1, max_size=20),
    st.lists(st.tuples(DEGREES, DEGREES, DEGREES), min_size=1, max_size=5),
    st.booleans(),
)
def test_one_pass_is_the_definition(
    seen: list[float], rows: list[tuple[float, ...]], raised: bool
) -> None:
    counts, fits = ScoreCounts.of(seen), np.array(rows)
    found, tops, good = counts.conform(fits, raised)
    t = 1.0 - fits
    expected = by_search(counts, t)
    assert good
    assert (tops == expected.max(axis=1)).all()
    if raised:
        expected[t == t.min(axis=1, keepdims=True)] = 1.0
    assert (found == expected).all()


@given(st.lists(st.tuples(DEGREES, DEGREES, DEGREES), min_size=1, max_size=5))
def test_leads_are_those_of_sorted_scores(rows: list[tuple[float, ...]]) -> None:
    ordered = np.sort(rows, axis=1)
    assert (leads(np.array(rows)) == 1.0 - (ordered[:, 1] - ordered[:, 0])).all()


def test_few_numbers_and_many_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(4, 0.1), size=(300, 2))
    transform = ConformalTransform().fit(p, rng.integers(4, size=(300, 2)))
    compiled: list[Any] = [*transform.conformed(p), leads(p)]
    for module in (conformal_transform, score_counts):
        monkeypatch.setattr(module, "is_little", lambda _: True)
    for one, other in zip(compiled, [*transform.conformed(p), leads(p)], strict=True):
        assert (one == other).all()


def test_chunks_on_several_threads_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_counts, "CHUNK", 7)
    monkeypatch.setenv("PINESY_NUM_THREADS", "2")
    counts = ScoreCounts.of(np.linspace(0.0, 1.0, 11))
    t = np.random.default_rng(0).random((20, 3))
    assert (counts.p_values(t) == by_search(counts, t)).all()
    assert (counts.conform(t, False)[0] == by_search(counts, 1 - t)).all()


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.5])
def test_a_degree_that_is_none_is_refused_with_its_place(bad: float) -> None:
    p = np.array([[[0.5, 0.5], [1.0, 0.0]]] * 4)
    transform = ConformalTransform().fit(p, np.zeros((4, 2), dtype=int))
    p[2, 1, 0] = bad
    with pytest.raises(DegreeError, match=r"row 2: the degree of value 0 \(input 1\) is"):
        transform(p)
