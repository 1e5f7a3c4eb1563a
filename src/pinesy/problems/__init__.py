"""The paper's problems: rule bases, what they should infer, images of digits, and samples."""

from pinesy._common.files import cache_directory
from pinesy.problems.addition import addition, addition_labels, addition_samples, addition_split
from pinesy.problems.digit_images import Mnist, digits, mnist
from pinesy.problems.explained_sums import ExplainedSum, explained_sums, sum_html
from pinesy.problems.visual_sudoku import (
    SudokuPools,
    SudokuSamples,
    sudoku,
    sudoku_labels,
    sudoku_pools,
    sudoku_samples,
)

__all__ = [
    "ExplainedSum",
    "Mnist",
    "SudokuPools",
    "SudokuSamples",
    "addition",
    "addition_labels",
    "addition_samples",
    "addition_split",
    "cache_directory",
    "digits",
    "explained_sums",
    "mnist",
    "sudoku",
    "sudoku_labels",
    "sudoku_pools",
    "sudoku_samples",
    "sum_html",
]
