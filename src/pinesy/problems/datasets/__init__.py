"""Images of digits, and the samples that the paper's problems make of them."""

from pinesy.problems.datasets.cache import cache_directory
from pinesy.problems.datasets.images import Mnist, digits, mnist
from pinesy.problems.datasets.pairs import addition_samples, addition_split
from pinesy.problems.datasets.puzzles import (
    SudokuPools,
    SudokuSamples,
    sudoku_pools,
    sudoku_samples,
)

__all__ = [
    "Mnist",
    "SudokuPools",
    "SudokuSamples",
    "addition_samples",
    "addition_split",
    "cache_directory",
    "digits",
    "mnist",
    "sudoku_pools",
    "sudoku_samples",
]
