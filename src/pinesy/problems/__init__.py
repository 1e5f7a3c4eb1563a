"""The paper's problems as rule bases, and what these should infer."""

from pinesy.problems.addition import addition
from pinesy.problems.labels import addition_labels, sudoku_labels
from pinesy.problems.sudoku import sudoku

__all__ = ["addition", "addition_labels", "sudoku", "sudoku_labels"]
