"""Samples of Addition-k: sizes of the paper, every image at most once."""

import numpy as np
import pytest

from messages import raises_saying
from pinesy.exceptions import DataError, DomainError
from pinesy.problems import addition_samples
from reproduction.splits import addition_split

KS = (1, 2, 4, 15, 100)
SIZES = {
    50_000: (25_000, 12_500, 6250, 1666, 250),
    10_000: (5000, 2500, 1250, 333, 50),
    2500: (1250, 625, 312, 83, 12),
}


@pytest.mark.parametrize("size", SIZES)
def test_sizes(size: int) -> None:
    labels = np.zeros(size, np.uint8)
    rng = np.random.default_rng(0)
    found = [addition_samples(labels, k, rng).shape for k in KS]
    assert found == [(n, 2 * k) for n, k in zip(SIZES[size], KS, strict=True)]


def test_images_are_used_at_most_once_and_in_random_order() -> None:
    samples = addition_samples(np.zeros(103, int), 5, np.random.default_rng(1))
    assert len(np.unique(samples)) == samples.size == 100
    assert (samples.min() >= 0, samples.max() < 103) == (True, True)
    assert not np.array_equal(np.sort(samples, axis=None), samples.ravel())


def test_the_images_left_out_change() -> None:
    """With 3 images and k = 1 one is left out: each about as often."""
    rng = np.random.default_rng(2)
    left = [({0, 1, 2} - set(addition_samples([0, 0, 0], 1, rng)[0])).pop() for _ in range(3000)]
    assert all(abs(count - 1000) < 5 * 26 for count in np.bincount(left))


def test_the_generator_decides() -> None:
    one, two, other = (
        addition_samples(np.zeros(60, int), 3, np.random.default_rng(s)) for s in (3, 3, 4)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_splits_are_disjoint_and_low_data_is_a_part() -> None:
    train, valid = addition_split(50_000, np.random.default_rng(5))
    few, same = addition_split(2500, np.random.default_rng(5))
    assert np.array_equal(np.sort(np.concatenate([train, valid])), np.arange(60_000))
    assert np.array_equal(few, train[:2500])
    assert np.array_equal(same, valid)
    assert abs(train.mean() - 30_000) < 500
    whole, none = addition_split(60_000, np.random.default_rng(5), n_valid=0)
    assert (len(set(whole.tolist())), len(none)) == (60_000, 0)


def test_too_much_is_asked() -> None:
    rng = np.random.default_rng(0)
    with raises_saying(DataError, "k=3 needs 6 images", "there are 5"):
        addition_samples(np.zeros(5, int), 3, rng)
    with raises_saying(DataError, "50001", "10000", "60000", "n_train <= 50000"):
        addition_split(50_001, rng)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True, None])
def test_k_is_a_whole_number(k: object) -> None:
    with raises_saying(DomainError, f"k is {k!r}", "at least 1"):
        addition_samples([1, 2, 3], k, np.random.default_rng(0))  # type: ignore[arg-type]


def test_wrong_kinds() -> None:
    rng = np.random.default_rng(0)
    with raises_saying(DomainError, "rng is 7", "numpy.random.default_rng"):
        addition_samples([1, 2], 1, 7)  # type: ignore[arg-type]
    with raises_saying(DataError, "shape (1, 2)", "one integer for each image"):
        addition_samples([[1, 2]], 1, rng)
    with raises_saying(DataError, "float64"):
        addition_samples([0.5, 1.0], 1, rng)
    with raises_saying(DomainError, "n_train is 0"):
        addition_split(0, rng)
