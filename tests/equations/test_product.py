"""The products are their definitions, bit for bit, and refuse what is not a matrix of degrees."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equations import minmax_oracle as oracle
from pinesy.equations import epsilon_product, maxmin_product, minmax_product, product
from pinesy.exceptions import DegreeError, DomainError, PinesyError
from strategies import DEGREES

Product = Callable[[npt.ArrayLike, npt.ArrayLike], npt.NDArray[np.float64]]
Definition = Callable[[oracle.Matrix, oracle.Matrix], oracle.Matrix]

PRODUCTS: list[tuple[Product, Definition]] = [
    (minmax_product, oracle.minmax),
    (maxmin_product, oracle.maxmin),
    (epsilon_product, oracle.epsilon_max),
]
NAMES = [function.__name__ for function, _ in PRODUCTS]
BOTH = pytest.mark.parametrize(("function", "definition"), PRODUCTS, ids=NAMES)
EACH = pytest.mark.parametrize("function", [function for function, _ in PRODUCTS], ids=NAMES)


def tables(rows: int, columns: int) -> st.SearchStrategy[list[list[float]]]:
    row = st.lists(DEGREES, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def exact(table: list[list[float]]) -> oracle.Matrix:
    return [[Fraction(value) for value in row] for row in table]


@BOTH
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_the_definition(
    function: Product, definition: Definition, data: st.DataObject, n: int, m: int, k: int
) -> None:
    a, b = data.draw(tables(n, m)), data.draw(tables(m, k))
    found = function(a, b)
    assert exact(found.tolist()) == definition(exact(a), exact(b))
    assert function(a, np.array(b)[:, 0]).tolist() == found[:, 0].tolist()


@EACH
def test_blocks_of_rows_change_nothing(function: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((11, 4)), rng.random((4, 3))
    whole = function(a, b)
    monkeypatch.setattr(product, "BLOCK", 25)
    assert whole.tobytes() == function(a, b).tobytes()


def test_epsilon_is_strict() -> None:
    assert epsilon_product([[0.3, 0.2], [0.3, 0.4]], [0.3, 0.3]).tolist() == [0.3, 0.0]


WRONG: list[tuple[Any, Any, type[PinesyError], str]] = [
    ([[0.1, np.nan]], [0.1, 0.2], DegreeError, r"a, row 0, column 1, is nan; .* what is missing"),
    ([[0.1], [0.1]], [[0.5, 1.5]], DegreeError, r"b, row 0, column 1, is 1\.5; .* rescale"),
    ([[0.1]], [-0.25], DegreeError, r"b, row 0, is -0\.25; it must be a number in \[0, 1\]"),
    ([[0.1, 0.2]], [0.1], DomainError, "the columns of a are 2 and the rows of b are 1"),
    ([[0.1]], [0.1, 0.2], DomainError, "the columns of a are 1 and the rows of b are 2"),
    ([0.1], [0.1], DomainError, r"a has shape \(1,\); it must have shape \(rows, columns\)"),
    ([[0.1]], 0.1, DomainError, r"b has shape \(\); .* \(n,\) or \(rows, columns\)"),
    (np.empty((0, 2)), [0.1, 0.2], DomainError, r"a is empty \(shape \(0, 2\)\); give at least"),
    ([[0.1], [0.1, 0.2]], [0.1], DegreeError, "a is .*array of numbers, all rows of one length"),
    ([["x"]], [0.1], DegreeError, r"a is \[\['x'\]\]"),
]


@EACH
@pytest.mark.parametrize(("a", "b", "error", "message"), WRONG, ids=[w[3][:30] for w in WRONG])
def test_what_is_refused(
    function: Product, a: Any, b: Any, error: type[PinesyError], message: str
) -> None:
    with pytest.raises(error, match=message):
        function(a, b)
