"""The compiled transformations, bit for bit against their definition written in NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import DegreeError, antipignistic, antipignistic_inverse, minimum_specificity
from pinesy._common.caching import load_kernels
from pinesy.transforms import transform_loops
from pinesy.transforms.transformation import KERNELS, RowTransform, Transformation

FloatArray = npt.NDArray[np.float64]
Sweep = Callable[[FloatArray, npt.NDArray[np.intp]], FloatArray]


def in_numpy(sweep: Sweep, rows: FloatArray, divide: bool = True) -> FloatArray:
    """Apply `sweep` to rows in decreasing order, ties in domain order."""
    rows = rows / np.cumsum(rows, axis=1)[:, -1:] if divide else rows
    order = np.argsort(-rows, axis=1, kind="stable")
    result = np.empty_like(rows)
    rank = np.arange(1, rows.shape[1] + 1)
    np.put_along_axis(result, order, sweep(np.take_along_axis(rows, order, 1), rank), 1)
    return result


def suffix_sums(rows: FloatArray) -> FloatArray:
    return np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]


def following(p: FloatArray) -> FloatArray:
    return np.concatenate([p[:, 1:], np.zeros((len(p), 1))], axis=1)


def anti(p: FloatArray, rank: npt.NDArray[np.intp]) -> FloatArray:
    pi = suffix_sums(rank * (p - following(p)))
    return np.where(p == p[:, :1], 1.0, np.minimum(pi, 1.0))


def specific(p: FloatArray, _rank: npt.NDArray[np.intp]) -> FloatArray:
    pi = np.minimum(suffix_sums(p), 1.0)
    pi[:, 0] = 1.0
    return pi


def specific_equal(p: FloatArray, rank: npt.NDArray[np.intp]) -> FloatArray:
    starts = np.concatenate([np.ones((len(p), 1), bool), p[:, 1:] != p[:, :-1]], axis=1)
    first = np.maximum.accumulate(np.where(starts, rank - 1, 0), axis=1)
    return np.take_along_axis(specific(p, rank), first, axis=1)


def back(pi: FloatArray, rank: npt.NDArray[np.intp]) -> FloatArray:
    return suffix_sums((pi - following(pi)) / rank)


#: The sweep of each kind, by its number.
SWEEPS: tuple[Sweep, ...] = (anti, specific, specific_equal, back)
PUBLIC: tuple[Callable[[Any], Any], ...] = (
    antipignistic,
    minimum_specificity,
    lambda p: minimum_specificity(p, ties="equal"),
    antipignistic_inverse,
)
kinds = pytest.mark.parametrize("kind", range(4), ids=["anti", "order", "equal", "inverse"])


def drawn(kind: int, n: int, m: int, seed: int) -> FloatArray:
    """Return distributions: spread, with many ties and -0.0, or peaked."""
    rng = np.random.default_rng(seed)
    rows = [rng.random((n, m)), rng.integers(0, 4, (n, m)) / 4, np.exp(rng.normal(0, 9, (n, m)))]
    x: FloatArray = rows[seed % 3]
    x[np.arange(n), rng.integers(0, m, n)] += 1.0
    x = x / (x.max if kind == transform_loops.INVERSE else x.sum)(axis=1, keepdims=True)
    x[x == 0.0] = -0.0
    return x


def bits(x: FloatArray) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(x).view(np.int64)


def expected(kind: int, rows: FloatArray) -> FloatArray:
    return in_numpy(SWEEPS[kind], rows, divide=kind != transform_loops.INVERSE)


@kinds
@given(n=st.integers(1, 300), m=st.integers(1, 40), seed=st.integers(0, 10**6))
def test_every_bit(kind: int, n: int, m: int, seed: int) -> None:
    load_kernels(KERNELS)
    rows = drawn(kind, n, m, seed)
    assert np.array_equal(bits(PUBLIC[kind](rows)), bits(expected(kind, rows)))


@kinds
@pytest.mark.parametrize("m", [127, 128, 129, 136, 257, 300, 1031])
def test_every_bit_of_wide_distributions(kind: int, m: int) -> None:
    load_kernels(KERNELS)
    for seed in range(3):
        rows = drawn(kind, 18, m, seed)
        assert np.array_equal(bits(PUBLIC[kind](rows)), bits(expected(kind, rows)))


@kinds
@settings(max_examples=10)
@given(m=st.integers(1, 20), seed=st.integers(0, 10**6))
def test_python_and_numba_run_the_same(kind: int, m: int, seed: int) -> None:
    rows, found = drawn(kind, 3, m, seed), np.empty((2, 3, m))
    how = RowTransform(Transformation("loop", loop=kind), [m])
    for out, loops in zip(found, (transform_loops, load_kernels(KERNELS)), strict=True):
        assert loops.transform_rows(rows, out, *how._groups[0], kind, 1e-4) == -1
    assert np.array_equal(bits(found[0]), bits(found[1]))


@kinds
def test_any_leading_shape_and_layout(kind: int) -> None:
    rows = drawn(kind, 24, 5, 0)
    flat = PUBLIC[kind](rows)
    for shape in ((24, 5), (4, 6, 5), (2, 3, 4, 5), (1, 24, 1, 5)):
        assert np.array_equal(bits(PUBLIC[kind](rows.reshape(shape))), bits(flat.reshape(shape)))
    turned = np.asfortranarray(rows.reshape(4, 6, 5))
    assert np.array_equal(bits(PUBLIC[kind](turned)), bits(flat.reshape(4, 6, 5)))
    assert PUBLIC[kind](rows.reshape(4, 6, 5)[:0]).shape == (0, 6, 5)


@kinds
@pytest.mark.parametrize("m", [5, 10, 130])
def test_rows_one_by_one_give_the_same_bits(kind: int, m: int) -> None:
    rows = drawn(kind, 20, m, 1)
    one_by_one = np.array([PUBLIC[kind](row) for row in rows])
    for laid in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2]):
        assert np.array_equal(bits(PUBLIC[kind](laid)), bits(one_by_one))


@kinds
def test_float32_is_computed_in_float64(kind: int) -> None:
    rows = drawn(kind, 400, 10, 0).astype(np.float32)
    if kind == transform_loops.INVERSE:
        rows /= rows.max(axis=1, keepdims=True)
    assert np.array_equal(PUBLIC[kind](rows), PUBLIC[kind](rows.astype(np.float64)))


def test_the_first_bad_row_is_found_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINESY_NUM_THREADS", "2")
    rows = np.full((40_000, 10), 0.1)
    rows[[3000, 25_000, 39_000], 3] = -0.1
    with pytest.raises(DegreeError, match=r"^row 3000: the probability of 3 is -0\.1; must be"):
        antipignistic(rows)


def test_the_given_array_is_not_changed() -> None:
    rows = drawn(0, 50, 10, 0)
    rows.setflags(write=False)
    before = rows.copy()
    antipignistic(rows)
    assert np.array_equal(rows, before)


def test_tiny_probabilities_are_divided_exactly() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((400, 6)) * 10.0 ** -rng.integers(0, 324, (400, 6))
    rows[:, 0] = rng.uniform(0.9999, 1.0001, 400) - rows[:, 1:].sum(axis=1)
    rows = np.abs(rows) / np.abs(rows).sum(axis=1, keepdims=True) * rng.uniform(0.9999, 1.0001)
    for kind in range(3):
        assert np.array_equal(bits(PUBLIC[kind](rows)), bits(expected(kind, rows)))
