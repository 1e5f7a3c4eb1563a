"""Visual Sudoku: the samples of one run."""

from functools import partial
from typing import Final

import numpy as np

from pinesy.problems import SudokuSamples, sudoku, sudoku_labels, sudoku_pools, sudoku_samples
from reproduction.pieces import Piece
from reproduction.scales import Images, Scale
from reproduction.tasks import PARTS, Indices, Part, Task

__all__ = ["sudoku_task"]

#: Pairs of cells, and whether the grid is valid.
GROUPS: Final = ("b_*", "c")


def sudoku_task(piece: Piece, images: Images, scale: Scale) -> Task:
    """Return the samples of a piece: those of its run, whatever transformation.

    With low data the puzzles for validation and test are those of the normal setting, and the
    puzzles for training are made of the first images of its pool, as many as they need.

    Parameters
    ----------
    piece : one of the problem ``"sudoku"``
    images : those of `scale`
    """
    dim = piece.size
    counts = dict(zip(PARTS, scale.puzzles[dim], strict=True))
    pools = sudoku_pools(
        images.labels[: images.n_real], dim, np.random.default_rng([piece.run, dim]), **counts
    )
    counts["train"] = scale.sudoku_puzzles(dim, piece.setting)
    samples = {
        name: _samples(getattr(pools, name), n, np.random.default_rng([piece.run, dim, number]))
        for number, (name, n) in enumerate(counts.items())
    }
    return Task(
        partial(sudoku, dim),
        {f"a_{i // dim + 1}_{i % dim + 1}": i for i in range(dim * dim)},
        GROUPS,
        **{name: _part(puzzles, dim) for name, puzzles in samples.items()},
        trained_on=samples["train"].images.ravel(),
        seen=np.unique(np.concatenate([puzzles.images.ravel() for puzzles in samples.values()])),
        judged_on=samples["test"].images.ravel(),
    )


def _samples(pool: Indices, n: int, rng: np.random.Generator) -> SudokuSamples:
    return sudoku_samples(pool[:, : len(pool) * n], n, rng)


def _part(puzzles: SudokuSamples, dim: int) -> Part:
    return Part(puzzles.images, sudoku_labels(puzzles.digits.reshape(-1, dim, dim)))
