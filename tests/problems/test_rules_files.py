"""The problems of the paper as short ``.rules`` files."""

from pathlib import Path

import pytest

from pinesy import parse
from pinesy.problems import addition, sudoku

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_addition(k: int) -> None:
    text = (EXAMPLES / "addition_k.rules").read_text()
    assert "let k = 2\n" in text
    cascade = parse(text.replace("let k = 2\n", f"let k = {k}\n"))
    assert cascade == addition(k)
    assert len(text.splitlines()) < 30


@pytest.mark.parametrize("side", [2, 3])
def test_sudoku(side: int) -> None:
    text = (EXAMPLES / "sudoku.rules").read_text()
    assert "let side = 2\n" in text
    cascade = parse(text.replace("let side = 2\n", f"let side = {side}\n"))
    assert cascade == sudoku(side * side)
    assert len(text.splitlines()) < 35
