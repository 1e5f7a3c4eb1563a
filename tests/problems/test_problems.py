"""The paper's problems: what they compute, and their sizes."""

from itertools import permutations, product
from math import isqrt

import numpy as np
import numpy.typing as npt
import pytest

from pinesy import Cascade, DomainError
from pinesy.problems import addition, sudoku

IntArray = npt.NDArray[np.int64]


def digits_of(numbers: IntArray, k: int, base: int) -> IntArray:
    """Return the k digits of each number, most significant first."""
    return np.stack([numbers // base ** (k - 1 - i) % base for i in range(k)], axis=1)


def one_point(cascade: Cascade, digits: dict[str, IntArray]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return evidence that is certain of the given digits."""
    return {
        name: np.equal.outer(column, np.array(cascade.attributes[name].domain))
        for name, column in digits.items()
    }


def check_sums(k: int, base: int, left: IntArray, right: IntArray) -> None:
    cascade = addition(k, base)
    first, second = digits_of(left, k, base), digits_of(right, k, base)
    digits = {f"a_{i + 1}": first[:, i] for i in range(k)}
    digits |= {f"a_{k + i + 1}": second[:, i] for i in range(k)}
    result = cascade.infer(one_point(cascade, digits))
    expected = digits_of(left + right, k + 1, base)
    assert set(result) == {f"y_{i}" for i in range(k + 1)}
    for i in range(k + 1):
        found = result[f"y_{i}"]
        assert found.best.tolist() == expected[:, i].tolist()
        assert found.decided.all()
        assert found.normalised.all()
        assert (found.certainty == 1.0).all()


def test_addition_of_one_digit_is_right_for_all_hundred_pairs() -> None:
    left, right = np.divmod(np.arange(100), 10)
    check_sums(1, 10, left, right)


def test_addition_of_one_digit_is_right_one_by_one() -> None:
    cascade = addition(1)
    for left, right in product(range(10), repeat=2):
        result = cascade.infer({"a_1": {left: 1.0}, "a_2": {right: 1.0}})
        assert (result["y_0"].best, result["y_1"].best) == divmod(left + right, 10)


@pytest.mark.parametrize(("k", "base"), [(2, 10), (3, 10), (2, 2), (3, 2), (3, 3), (10, 10)])
def test_addition_of_random_numbers(k: int, base: int) -> None:
    rng = np.random.default_rng(k * base)
    left, right = rng.integers(0, base**k, (2, 500))
    check_sums(k, base, left, right)


@pytest.mark.parametrize(("k", "base"), [(3, 2), (2, 3)])
def test_addition_is_right_for_all_numbers_of_a_small_base(k: int, base: int) -> None:
    left, right = np.divmod(np.arange(base ** (2 * k)), base**k)
    check_sums(k, base, left, right)


def test_addition_with_doubt() -> None:
    """38 or, less possibly, 88, plus 27: the carry is certain, the first digits are not."""
    cascade = addition(2)
    evidence = {"a_1": {3: 1, 8: 0.4}, "a_2": {8: 1, 3: 0.1}, "a_3": {2: 1}, "a_4": {7: 1}}
    result = cascade.infer(evidence, ["y_0", "y_1", "y_2", "w_2"])
    assert {v: d for v, d in result["y_1"].to_dict().items() if d} == {6: 1.0, 1: 0.4}
    assert result["y_0"].to_dict() == {0: 1.0, 1: 0.4}
    assert {v: d for v, d in result["y_2"].to_dict().items() if d} == {5: 1.0, 0: 0.1}
    assert result["w_2"].to_dict() == {0: 0.0, 1: 1.0}
    assert result["y_2"].necessity({5}) == 0.9


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_sizes_of_addition(k: int) -> None:
    cascade = addition(k)
    assert len(cascade.rule_sets) == 3 * k + 1
    assert sum(map(len, cascade.rule_sets)) == 32 * k
    cells = {s.output.name: len(s.partition) for s in cascade.rule_sets}
    assert cells[f"c_{k}"] == 100
    assert all(cells[f"c_{i}"] == 200 for i in range(1, k))
    assert all(cells[f"w_{i}"] == 2 for i in range(1, k + 1))
    assert all(cells[f"y_{i}"] == 10 for i in range(1, k + 1))
    assert cells["y_0"] == 2
    assert {a.name for a in cascade.inputs} == {f"a_{i}" for i in range(1, 2 * k + 1)}


def test_the_pairs_with_carry_have_the_prefix_tree_of_the_paper() -> None:
    pairs = addition(2)["c_1"]
    assert (len(pairs), len(pairs.partition), pairs.partition.tree_nodes) == (21, 200, 904)


# --- Sudoku ------------------------------------------------------------------------------------


def conflicts(grid: IntArray) -> bool:
    """Tell whether a row, a column or a block holds a digit twice."""
    dim, side = len(grid), isqrt(len(grid))
    lines = [*grid, *grid.T]
    blocks = grid.reshape(side, side, side, side).swapaxes(1, 2).reshape(dim, dim)
    return any(len(set(line.tolist())) < dim for line in [*lines, *blocks])


def all_grids() -> IntArray:
    """Return all valid 4 x 4 grids, by brute force over four permutations."""
    rows = list(permutations(range(4)))
    grids = [np.array(g) for g in product(rows, repeat=4) if _columns_differ(g)]
    return np.array([g for g in grids if not conflicts(g)])


def _columns_differ(rows: tuple[tuple[int, ...], ...]) -> bool:
    return all(len(set(column)) == 4 for column in zip(*rows, strict=True))


def judge(cascade: Cascade, grids: IntArray) -> npt.NDArray[np.int64]:
    dim = grids.shape[1]
    digits = {f"a_{i + 1}_{j + 1}": grids[:, i, j] for i in range(dim) for j in range(dim)}
    result = cascade.infer(one_point(cascade, digits))["c"]
    assert result.decided.all()
    assert result.normalised.all()
    return np.asarray(result.best)


def test_sudoku_of_dimension_4_knows_all_valid_grids() -> None:
    grids = all_grids()
    assert len(grids) == 288
    assert judge(sudoku(4), grids).tolist() == [1] * 288


def test_sudoku_of_dimension_4_refuses_every_corruption_of_one_cell() -> None:
    grids = all_grids()
    corrupt = []
    rng = np.random.default_rng(3)
    for grid in grids:
        for _ in range(5):
            i, j, shift = rng.integers(0, 4), rng.integers(0, 4), rng.integers(1, 4)
            other = grid.copy()
            other[i, j] = (other[i, j] + shift) % 4
            corrupt.append(other)
    assert judge(sudoku(4), np.array(corrupt)).tolist() == [0] * len(corrupt)


def test_sudoku_of_dimension_4_agrees_on_random_grids() -> None:
    rng = np.random.default_rng(4)
    grids = rng.permuted(np.tile(np.arange(4), (400, 4, 1)), axis=2)
    grids[::2, 1] = grids[::2, 0, [2, 3, 0, 1]]  # so that some are near to valid
    expected = [0 if conflicts(g) else 1 for g in grids]
    assert judge(sudoku(4), grids).tolist() == expected


def test_sudoku_of_dimension_9() -> None:
    """A known grid, its shifts of digits, and one with two cells of a row exchanged."""
    base = np.array([[(3 * i + i // 3 + j) % 9 for j in range(9)] for i in range(9)])
    assert not conflicts(base)
    grids = np.array([(base + d) % 9 for d in range(9)])
    wrong = grids.copy()
    wrong[:, 4, [0, 8]] = wrong[:, 4, [8, 0]]
    cascade = sudoku(9)
    assert judge(cascade, np.concatenate([grids, wrong])).tolist() == [1] * 9 + [0] * 9


@pytest.mark.parametrize(
    ("dim", "sets", "rules", "pairs"), [(4, 57, 449, 56), (9, 811, 14581, 810)]
)
def test_sizes_of_sudoku(dim: int, sets: int, rules: int, pairs: int) -> None:
    cascade = sudoku(dim)
    assert len(cascade.rule_sets) == sets
    assert sum(map(len, cascade.rule_sets)) == rules == pairs * 2 * dim + 1
    cells = [len(s.partition) for s in cascade.rule_sets]
    assert cells == [dim * dim] * pairs + [2]
    assert len(cascade.inputs) == dim * dim
    assert len(cascade["c"].rules[0].premise.propositions) == pairs


def test_sudoku_with_doubt() -> None:
    """A grid that is valid, but for one cell that may, to 0.3, hold another digit."""
    grid = all_grids()[0]
    cascade = sudoku(4)
    evidence = {f"a_{i + 1}_{j + 1}": {int(grid[i, j]): 1.0} for i in range(4) for j in range(4)}
    evidence["a_2_3"][int(grid[1, 2] + 1) % 4] = 0.3
    assert cascade.infer(evidence)["c"].to_dict() == {0: 0.3, 1: 1.0}


# --- wrong sizes -------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "base"), [(0, 10), (-1, 10), (1, 1), (1.0, 10), ("2", 10)])
def test_addition_refuses_wrong_sizes(k: int, base: int) -> None:
    with pytest.raises(DomainError, match=r"k >= 1 digits in base >= 2; got k="):
        addition(k, base)


@pytest.mark.parametrize("dim", [0, 1, 3, 8, -4, 4.0])
def test_sudoku_refuses_dimensions_that_are_no_square(dim: int) -> None:
    with pytest.raises(DomainError, match=r"dim 4, 9, 16, \.\.\.; got"):
        sudoku(dim)
