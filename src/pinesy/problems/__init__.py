"""The paper's problems: rule bases, what they should infer, images of digits, and samples."""

from pinesy.problems.addition import addition, addition_labels, addition_samples, addition_split
from pinesy.problems.explained_sums import ExplainedSum, explained_sums, sum_html
from pinesy.problems.mnist import Mnist, cache_directory, digits, mnist
from pinesy.problems.puzzles import SudokuPools, SudokuSamples, sudoku_pools, sudoku_samples
from pinesy.problems.sudoku import sudoku, sudoku_labels

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
