"""The paper's problems: rule bases, labels, images of digits, and samples."""

from pinesy._common.files import cache_directory
from pinesy.problems.addition import addition, addition_labels, addition_samples
from pinesy.problems.digit_images import digits
from pinesy.problems.explained_sums import ExplainedSum, explained_sums, sum_html
from pinesy.problems.visual_sudoku import (
    SudokuSamples,
    sudoku,
    sudoku_labels,
    sudoku_samples,
)

__all__ = [
    "ExplainedSum",
    "SudokuSamples",
    "addition",
    "addition_labels",
    "addition_samples",
    "cache_directory",
    "digits",
    "explained_sums",
    "sudoku",
    "sudoku_labels",
    "sudoku_samples",
    "sum_html",
]
