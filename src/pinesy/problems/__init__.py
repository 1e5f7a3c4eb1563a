"""The paper's problems as rule bases, what these should infer, and sums explained."""

from pinesy.problems.addition import addition
from pinesy.problems.explained_sums import ExplainedSum, explained_sums, sum_html
from pinesy.problems.labels import addition_labels, sudoku_labels
from pinesy.problems.sudoku import sudoku

__all__ = [
    "ExplainedSum",
    "addition",
    "addition_labels",
    "explained_sums",
    "sudoku",
    "sudoku_labels",
    "sum_html",
]
