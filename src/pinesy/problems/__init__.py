"""The paper's problems as rule bases."""

from pinesy.problems.addition import addition
from pinesy.problems.sudoku import sudoku

__all__ = ["addition", "sudoku"]
