"""Filled Sudoku grids: digits ``0 .. dim-1``, row by row in one array."""

from functools import cache

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]

#: Grids that are filled side by side.
ATTEMPTS = 1024


@cache
def _groups(dim: int) -> Indices:
    """Return the row, the column and the block of each cell: an array (3, dim * dim)."""
    rows, columns = np.divmod(np.arange(dim * dim), dim)
    side = round(dim**0.5)
    return np.stack([rows, columns, rows // side * side + columns // side])


def correct_grids(dim: int, n: int, rng: np.random.Generator) -> Indices:
    """Return `n` correct grids: attempts are independent, so the first `n` that succeed will do."""
    found: list[Indices] = []
    while sum(map(len, found)) < n:
        found.append(attempts(dim, ATTEMPTS, rng))
    return np.concatenate(found)[:n]


def attempts(dim: int, count: int, rng: np.random.Generator) -> Indices:
    """Try to fill `count` grids; return those without a dead end."""
    left, digit = _choices(dim)
    grids = np.empty((count, dim * dim), np.int64)
    used = np.zeros((3, dim, count), np.int64)  # digits as bits, by row, column and block
    for cell, (row, column, block) in enumerate(_groups(dim).T):
        taken = used[0, row] | used[1, column] | used[2, block]
        alive = left[taken] > 0
        grids, used, taken = grids[alive], used[:, :, alive], taken[alive]
        grids[:, cell] = digit[taken, rng.integers(left[taken])]
        for kind, group in enumerate((row, column, block)):
            used[kind, group] |= 1 << grids[:, cell]
    return grids


@cache
def _choices(dim: int) -> tuple[Indices, Indices]:
    """Return, by the set of digits that are used up, how many are left, and which."""
    is_left = np.arange(1 << dim)[:, None] >> np.arange(dim) & 1 == 0
    return is_left.sum(axis=1), np.argsort(~is_left, axis=1, kind="stable")


def is_valid(grid: Indices) -> bool:
    """Tell whether no row, column or block repeats a digit."""
    dim = round(len(grid) ** 0.5)
    return all(len(np.unique(group * dim + grid)) == len(grid) for group in _groups(dim))
