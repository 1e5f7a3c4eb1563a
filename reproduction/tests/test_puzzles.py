"""Visual Sudoku: the distribution of the generator of Augustine et al."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from messages import raises_saying
from pinesy.exceptions import DataError, DomainError, ShapeError
from pinesy.problems import SudokuSamples, sudoku_samples, visual_sudoku
from pinesy.problems.visual_sudoku import attempts, constraints, correct_grids, is_valid
from reproduction.splits import sudoku_pools

Array = npt.NDArray[Any]
DIMS = (4, 9)


def pool_of(dim: int, n: int) -> Array:
    """Return a pool for `n` puzzles where the index of an image tells its digit: index % dim."""
    return np.arange(dim * dim * n).reshape(-1, dim).T


def made(dim: int, n: int, seed: int = 0) -> SudokuSamples:
    return sudoku_samples(pool_of(dim, n), n, np.random.default_rng(seed))


def broken_pairs(grid: Array) -> int:
    """Count the pairs of cells that must differ and do not."""
    dim = round(len(grid) ** 0.5)
    cells = grid.reshape(dim, dim)
    return sum(cells[i - 1, j - 1] == cells[k - 1, m - 1] for (i, j), (k, m) in constraints(dim))


# --- pools -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
def test_pools_are_disjoint_and_of_one_class_a_row(dim: int) -> None:
    labels = np.random.default_rng(0).integers(0, 10, 25_000)
    pools = sudoku_pools(labels, dim, np.random.default_rng(1))
    shapes = [p.shape for p in (pools.train, pools.valid, pools.test)]
    assert shapes == [(dim, dim * 100), (dim, dim * 50), (dim, dim * 50)]
    together = np.concatenate([pools.train, pools.valid, pools.test], axis=1)
    assert len(np.unique(together)) == together.size
    assert (labels[together] == np.arange(dim)[:, None]).all()


def test_pools_for_low_data_and_other_seeds() -> None:
    labels = np.repeat(np.arange(4), 500)
    pools = [sudoku_pools(labels, 4, np.random.default_rng(s), train=5).train for s in (1, 1, 2)]
    assert pools[0].shape == (4, 20)
    assert np.array_equal(pools[0], pools[1])
    assert not np.array_equal(pools[0], pools[2])


def test_pools_need_enough_images() -> None:
    labels = np.repeat(np.arange(4), [900, 900, 799, 900])
    with raises_saying(DataError, "need 800 images of the digit 2", "there are 799"):
        sudoku_pools(labels, 4, np.random.default_rng(0))
    with raises_saying(DomainError, "valid is 0"):
        sudoku_pools(labels, 4, np.random.default_rng(0), valid=0)


# --- correct grids -----------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "n"), [(4, 40), (9, 12)])
def test_puzzles(dim: int, n: int) -> None:
    samples = made(dim, n)
    assert samples.images.shape == samples.digits.shape == (2 * n, dim * dim)
    assert samples.valid.tolist() == [True] * n + [False] * n
    assert np.array_equal(samples.images % dim, samples.digits)
    assert [broken_pairs(grid) == 0 for grid in samples.digits] == samples.valid.tolist()
    right = samples.images[:n]
    assert np.array_equal(np.sort(right, axis=None), np.arange(right.size)), "each image once"


def test_images_are_taken_in_the_order_of_the_pool() -> None:
    samples = made(4, 3)
    for digit in range(4):
        taken = samples.images[:3][samples.digits[:3] == digit]
        assert np.array_equal(taken, pool_of(4, 3)[digit])


def test_attempts_at_4x4_succeed_three_times_in_four_uniformly_over_288_grids() -> None:
    tries = 60_000
    grids = attempts(4, tries, np.random.default_rng(2))
    assert abs(len(grids) - 0.75 * tries) < 5 * (tries * 0.75 * 0.25) ** 0.5
    _, counts = np.unique(grids, axis=0, return_counts=True)
    assert len(counts) == 288
    expected = len(grids) / 288
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert 287 - 5 * 24 < chi_square < 287 + 5 * 24  # mean 287, deviation sqrt(2 * 287)


def test_cells_of_9x9_are_uniform_over_the_digits() -> None:
    grids = correct_grids(9, 150, np.random.default_rng(3))
    for cell in (0, 40, 80):
        counts = np.bincount(grids[:, cell], minlength=9)
        assert (abs(counts - 150 / 9) < 5 * 3.9).all()


# --- incorrect grids ---------------------------------------------------------------------------

MANY = 6000


@pytest.fixture(scope="module", params=DIMS)
def corrupted(request: pytest.FixtureRequest) -> tuple[int, Array, Array, Array, Array, int]:
    """Corrupt one puzzle many times: dim, its digits and images, those of the copies, tries."""
    dim = int(request.param)
    samples, pool = made(dim, 1), pool_of(dim, 100)
    grid, shown = samples.digits[0], samples.images[0]
    rng, tries = np.random.default_rng(4), 0

    def counted(digits: Array) -> bool:
        nonlocal tries
        tries += 1
        return is_valid(digits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visual_sudoku, "is_valid", counted)
        copies = [visual_sudoku._corrupt(grid, shown, pool, rng) for _ in range(MANY)]
    digits, images = (np.stack(part) for part in zip(*copies, strict=True))
    return dim, grid, shown, digits, images, tries


def swaps(shown: Array, images: Array) -> Array:
    """Tell which copies have the images of the original, in whatever order."""
    return np.asarray((np.sort(images, axis=1) == np.sort(shown)).all(axis=1))


# A try has 2 operations on average, as each goes on with probability 1/2. A replaced cell always
# repeats a digit. Two swapped cells are equal with probability q = (d - 1) / (d * d - 1), 3/15 or
# 8/80, and all swaps of a try are with q / (2 - q): then it is rejected. So half the puzzles have
# 2 changed cells on average, and the others 4 (1 - q) / (1 - q / (2 - q)); a little less, because
# operations have a maximum.


def test_mean_changed_cells(corrupted: Any) -> None:
    dim, grid, _, digits, _, _ = corrupted
    changed = (digits != grid).sum(axis=1)
    error = changed.std() / MANY**0.5
    assert abs(changed.mean() - {4: 2.78, 9: 2.89}[dim]) < 5 * error


def test_rejected_tries(corrupted: Any) -> None:
    dim, *_, tries = corrupted
    expected = {4: 0.0625, 9: 0.028}[dim]
    assert abs((tries - MANY) / MANY - expected) < 5 * (expected * 1.2 / MANY) ** 0.5


def test_half_are_swaps(corrupted: Any) -> None:
    _, _, shown, _, images, _ = corrupted
    assert abs(swaps(shown, images).mean() - 0.5) < 5 * 0.5 / MANY**0.5


def test_no_cell_is_touched_twice(corrupted: Any) -> None:
    """Swaps of disjoint pairs, done again, give the original."""
    dim, _, shown, _, images, _ = corrupted
    place = {int(image): cell for cell, image in enumerate(shown)}
    touched = []
    for copy in images[swaps(shown, images)]:
        order = np.array([place[int(image)] for image in copy])
        assert np.array_equal(order[order], np.arange(dim * dim))
        touched.append((order != np.arange(dim * dim)).sum())
    assert max(touched) <= (16 if dim == 4 else 20)
    assert set(touched) >= {2, 4, 6, 8, 10}


def test_replacements(corrupted: Any) -> None:
    dim, grid, shown, digits, images, _ = corrupted
    kind = ~swaps(shown, images)
    touched = images[kind] != shown
    counts = touched.sum(axis=1)
    assert set(counts) >= {1, 2, 3, 4, 5}
    assert counts.max() <= 10
    assert (digits[kind] != grid)[touched].all(), "a replaced cell gets another digit"
    assert abs((counts == 1).mean() - 0.5) < 5 * 0.5 / kind.sum() ** 0.5
    step = (digits[kind] - grid)[touched] % dim
    shares = np.bincount(step, minlength=dim)[1:] / touched.sum()
    assert (abs(shares - 1 / (dim - 1)) < 5 * (0.25 / touched.sum()) ** 0.5).all()
    assert images[kind][touched].max() > 0.98 * dim * dim * 100, "from the whole pool"


def test_digits_and_images_agree(corrupted: Any) -> None:
    dim, grid, shown, digits, images, _ = corrupted
    assert np.array_equal(images % dim, digits)
    assert (digits == grid)[images == shown].all()


# --- seeds and errors --------------------------------------------------------------------------


def test_the_generator_decides() -> None:
    one, two, other = made(4, 5, seed=1), made(4, 5, seed=1), made(4, 5, seed=2)
    assert np.array_equal(one.images, two.images)
    assert not np.array_equal(one.images, other.images)


@pytest.mark.parametrize("dim", [0, 1, 5, 16, True, "4", None])
def test_dim_is_4_or_9(dim: Any) -> None:
    with raises_saying(DomainError, f"dim is {dim!r}", "4 or 9"):
        sudoku_pools([0, 1], dim, np.random.default_rng(0))


def test_wrong_pools() -> None:
    rng = np.random.default_rng(0)
    with raises_saying(DataError, "3 puzzles need 12 images of each digit", "the pool has 8"):
        sudoku_samples(pool_of(4, 2), 3, rng)
    with raises_saying(ShapeError, "shape (4,)", "a row for each digit"):
        sudoku_samples([1, 2, 3, 4], 1, rng)
    with raises_saying(ShapeError, "float64"):
        sudoku_samples(np.zeros((4, 4)), 1, rng)
    with raises_saying(DomainError, "dim is 5"):
        sudoku_samples(np.zeros((5, 9), int), 1, rng)
    with raises_saying(DomainError, "n is 0"):
        sudoku_samples(pool_of(4, 2), 0, rng)
    with raises_saying(DomainError, "rng is None"):
        sudoku_samples(pool_of(4, 2), 1, None)  # type: ignore[arg-type]
