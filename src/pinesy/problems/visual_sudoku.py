"""Sudoku: the rules that classify a filled grid, and puzzles of images, correct and incorrect.

Puzzles are generated like those of Visual Sudoku by Augustine et al. (2022).
"""

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, check_integer, check_integers, check_rng
from pinesy.exceptions import DataError, DomainError, ShapeError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

Indices = npt.NDArray[np.int64]
Cell = tuple[int, int]

#: The probability of each further replacement or swap, and the most of them.
CONTINUE_PROBABILITY = 0.5
MAX_OPERATIONS = 10
#: Grids that are filled at a time.
ATTEMPTS = 1024


def sudoku(dim: int) -> Cascade:
    """Return the rule base that classifies a ``dim x dim`` Sudoku (57 rule sets for 4, 811 for 9).

    The rules are those of the paper [subsec:exp:sudoku].

    Inputs are the cells ``a_i_j`` (row `i`, column `j`, from 1) with digits ``0 .. dim-1``. For
    each pair of cells that must differ, ``b_i_j_i'_j'`` is the pair of their digits; the output
    `c` is 1 if the grid is valid, else 0.

    Examples
    --------
    >>> len(sudoku(4).rule_sets)
    57
    """
    pairs = constraints(dim)
    digits = range(dim)
    a = {(i, j): Attribute(f"a_{i}_{j}", digits) for i, j in product(range(1, dim + 1), repeat=2)}
    rule_sets, different = [], []
    # Indices in the product are u * dim + v: the digit of the first cell, then of the second.
    rows = [sum(1 << u * dim + v for v in digits) for u in digits]
    columns = [sum(1 << u * dim + v for u in digits) for v in digits]
    unequal = sum(1 << u * dim + v for u in digits for v in digits if u != v)
    is_digit = {
        cell: [Premise((attribute.isin({d}),)) for d in digits] for cell, attribute in a.items()
    }
    for first, second in pairs:
        b = Attribute.product(
            f"b_{first[0]}_{first[1]}_{second[0]}_{second[1]}", a[first], a[second]
        )
        rules = [
            Rule(is_digit[cell][d], Proposition(b, masks[d], f"{a[cell].name} == {d}"), 0.0, 0.0)
            for d in digits
            for cell, masks in ((first, rows), (second, columns))
        ]
        rule_sets.append(RuleSet(rules))
        different.append(Proposition(b, unequal, f"{a[first].name} != {a[second].name}"))
    valid = Rule(Premise(tuple(different)), Attribute("c", (0, 1)).isin({1}), 0.0, 0.0)
    return Cascade(*rule_sets, RuleSet([valid]))


def constraints(dim: int) -> list[tuple[Cell, Cell]]:
    """Return the pairs of cells that must differ: by row, by column, by block.

    A pair that shares a line and a block counts once: 56 pairs for ``dim = 4``, 810 for 9.
    """
    side = round(dim**0.5) if isinstance(dim, int) and dim > 0 else 0
    if side < 2 or side * side != dim:
        raise DomainError(f"a Sudoku has dim 4, 9, 16, ...; got {dim!r}")
    cells = [(i, j) for i in range(1, dim + 1) for j in range(1, dim + 1)]
    pairs = (pair for unit in units(dim).tolist() for pair in combinations(unit, 2))
    return [(cells[first], cells[second]) for first, second in dict.fromkeys(pairs)]


def units(dim: int) -> Indices:
    """Return the cells of all rows, columns and blocks (3 dim, dim), cells counted row by row."""
    return np.stack(
        [np.flatnonzero(group == unit) for group in _groups(dim) for unit in range(dim)]
    )


def sudoku_labels(grids: npt.ArrayLike) -> dict[str, Indices]:
    """Return the true value of every attribute that `sudoku` concludes on, for each grid.

    Parameters
    ----------
    grids : integer array (n_samples, dim, dim)
        The digits, from 0 on, row by row.

    Examples
    --------
    >>> labels = sudoku_labels([[[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]]])
    >>> labels["b_1_1_1_2"].tolist(), labels["c"].tolist()
    ([[0, 1]], [1])
    """
    form = "of integers (n_samples, dim, dim)"
    array = check_integers(grids, "grids", 3, form).astype(np.int64)
    if array.shape[1] != array.shape[2]:
        raise ShapeError(f"grids has shape {array.shape}; it must be {form}")
    labels: dict[str, Indices] = {}
    valid = np.ones(len(array), dtype=bool)
    for (i, j), (k, m) in constraints(array.shape[1]):
        first, second = array[:, i - 1, j - 1], array[:, k - 1, m - 1]
        labels[f"b_{i}_{j}_{k}_{m}"] = np.stack([first, second], axis=1)
        valid &= first != second
    return {**labels, "c": valid.astype(np.int64)}


@dataclass(frozen=True, eq=False)
class SudokuSamples:
    """Puzzles: `n` correct ones, then for each of them an incorrect copy.

    Attributes
    ----------
    images : array (2n, dim * dim) of indices of images, row by row of the grid
    digits : array (2n, dim * dim), the digit on each image
    valid : bool array (2n,), whether the grid is a Sudoku
    """

    images: Indices
    digits: Indices
    valid: BoolArray


def sudoku_samples(pool: npt.ArrayLike, n: int, rng: np.random.Generator) -> SudokuSamples:
    """Draw `n` correct puzzles from a pool of images, and an incorrect copy of each.

    A correct grid is filled row by row, each cell uniform over the digits still allowed, with a
    restart on a dead end; each cell takes the next unused image of its digit. An incorrect grid is
    a correct one with some cells replaced (another digit, any image of it in the pool) or some
    pairs of cells swapped, until a row, column or block repeats a digit.

    Parameters
    ----------
    pool : array (dim, m) of indices of images, one row for each digit, as in `SudokuPools`
    n : the number of correct puzzles, at most ``m // dim``
    rng : the random generator

    Examples
    --------
    >>> samples = sudoku_samples(np.arange(16).reshape(4, 4), 1, np.random.default_rng(0))
    >>> samples.valid.tolist(), sorted(samples.images[0].tolist()) == list(range(16))
    ([True, False], True)
    """
    check_rng(rng)
    form = "of integers, with a row for each digit: indices of its images"
    images = check_integers(pool, "pool", 2, form).astype(np.int64)
    dim, size = images.shape
    check_dim(dim)
    n = check_integer(n, "n", 1)
    if n * dim > size:
        raise DataError(f"{n} puzzles need {n * dim} images of each digit; the pool has {size}")
    grids = correct_grids(dim, n, rng)
    correct_images = _draw_images(grids, images)
    wrong = [_corrupt(g, s, images, rng) for g, s in zip(grids, correct_images, strict=True)]
    return SudokuSamples(
        np.concatenate([correct_images, np.stack([s for _, s in wrong])]),
        np.concatenate([grids, np.stack([g for g, _ in wrong])]),
        np.arange(2 * n) < n,
    )


def check_dim(dim: object) -> None:
    """Raise `DomainError` for sizes other than 4 and 9."""
    # Filling larger grids row by row hardly ever succeeds.
    if isinstance(dim, bool) or dim not in (4, 9):
        raise DomainError(f"dim is {dim!r:.60}; puzzles of images have dim 4 or 9")


def _draw_images(grids: Indices, pool: Indices) -> Indices:
    """Return the grids as images: each cell takes the next unused image of its digit."""
    grid_images = np.empty_like(grids)
    for digit, images in enumerate(pool):
        where = grids == digit
        grid_images[where] = images[: where.sum()]
    return grid_images


def _corrupt(
    grid: Indices, grid_images: Indices, pool: Indices, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Return the digits and the images of an incorrect copy of a puzzle."""
    operation = partial(_replace_cells, pool) if rng.integers(2) else _swap_cells
    while True:
        digits, images = operation(grid, grid_images, rng)
        if not is_valid(digits):
            return digits, images


def _replace_cells(
    pool: Indices, grid: Indices, grid_images: Indices, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    digits, images = grid.copy(), grid_images.copy()
    dim, size = pool.shape
    cells = rng.permutation(len(grid))[: _draw_count(min(MAX_OPERATIONS, len(grid)), rng)]
    digits[cells] = (digits[cells] + rng.integers(1, dim, len(cells))) % dim
    images[cells] = pool[digits[cells], rng.integers(size, size=len(cells))]
    return digits, images


def _swap_cells(
    grid: Indices, grid_images: Indices, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    digits, images = grid.copy(), grid_images.copy()
    swaps = _draw_count(min(MAX_OPERATIONS, len(grid) // 2), rng)
    first, second = rng.permutation(len(grid))[: 2 * swaps].reshape(2, swaps)
    digits[first], digits[second] = grid[second], grid[first]
    images[first], images[second] = grid_images[second], grid_images[first]
    return digits, images


def _draw_count(most: int, rng: np.random.Generator) -> int:
    """Draw the number of operations: geometric, at most `most`."""
    return min(int(rng.geometric(1 - CONTINUE_PROBABILITY)), most)


# Filled grids: digits 0 .. dim-1, row by row in one array.


@cache
def _groups(dim: int) -> Indices:
    """Return the row, the column and the block of each cell: an array (3, dim * dim)."""
    rows, columns = np.divmod(np.arange(dim * dim), dim)
    side = round(dim**0.5)
    return np.stack([rows, columns, rows // side * side + columns // side])


def correct_grids(dim: int, n: int, rng: np.random.Generator) -> Indices:
    """Return `n` random correct grids (n, dim * dim)."""
    grids: list[Indices] = []
    while sum(map(len, grids)) < n:
        grids.append(attempts(dim, ATTEMPTS, rng))
    return np.concatenate(grids)[:n]


def attempts(dim: int, count: int, rng: np.random.Generator) -> Indices:
    """Return the grids without a dead end of `count` attempts to fill one."""
    n_allowed, digit = _allowed_digits(dim)
    grids = np.empty((count, dim * dim), np.int64)
    used_digits = np.zeros((3, dim, count), np.int64)  # digits as bits, by row, column and block
    for cell, (row, column, block) in enumerate(_groups(dim).T):
        excluded = used_digits[0, row] | used_digits[1, column] | used_digits[2, block]
        alive = n_allowed[excluded] > 0
        grids, used_digits, excluded = grids[alive], used_digits[:, :, alive], excluded[alive]
        grids[:, cell] = digit[excluded, rng.integers(n_allowed[excluded])]
        for kind, group in enumerate((row, column, block)):
            used_digits[kind, group] |= 1 << grids[:, cell]
    return grids


@cache
def _allowed_digits(dim: int) -> tuple[Indices, Indices]:
    """Return the number of allowed digits, and these digits first, by the mask of used digits."""
    is_allowed = np.arange(1 << dim)[:, None] >> np.arange(dim) & 1 == 0
    return is_allowed.sum(axis=1), np.argsort(~is_allowed, axis=1, kind="stable")


def is_valid(grid: Indices) -> bool:
    """Return whether no row, column or block repeats a digit."""
    dim = round(len(grid) ** 0.5)
    return all(len(np.unique(group * dim + grid)) == len(grid) for group in _groups(dim))
