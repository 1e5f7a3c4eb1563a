"""Sudoku: is a filled grid valid? Every two cells that must differ are compared."""

from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import check_integers
from pinesy.exceptions import DomainError, ShapeError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import Rule

Cell = tuple[int, int]


def sudoku(dim: int) -> Cascade:
    """Return the rule base that judges a ``dim x dim`` Sudoku (57 rule sets for 4, 811 for 9).

    The rules are those of the paper [subsec:exp:sudoku].

    Inputs are the cells ``a_i_j`` (row `i`, column `j`, from 1) with digits ``0 .. dim-1``. For
    each pair of cells that must differ, ``b_i_j_i'_j'`` is the pair of their digits; the output
    `c` is 1 if the grid is valid, else 0.

    Examples
    --------
    >>> len(sudoku(4).rule_sets)
    57
    """
    pairs = constraints(dim)
    digits = range(dim)
    a = {(i, j): Attribute(f"a_{i}_{j}", digits) for i, j in product(range(1, dim + 1), repeat=2)}
    rule_sets, different = [], []
    # Positions in the product are u * dim + v: the digit of the first cell, then of the second.
    rows = [sum(1 << u * dim + v for v in digits) for u in digits]
    columns = [sum(1 << u * dim + v for u in digits) for v in digits]
    unequal = sum(1 << u * dim + v for u in digits for v in digits if u != v)
    is_digit = {
        cell: [Premise((attribute.isin({d}),)) for d in digits] for cell, attribute in a.items()
    }
    for one, two in pairs:
        b = Attribute.product(f"b_{one[0]}_{one[1]}_{two[0]}_{two[1]}", a[one], a[two])
        rules = [
            Rule(is_digit[cell][d], Proposition(b, masks[d], f"{a[cell].name} == {d}"))
            for d in digits
            for cell, masks in ((one, rows), (two, columns))
        ]
        rule_sets.append(RuleSet(rules))
        different.append(Proposition(b, unequal, f"{a[one].name} != {a[two].name}"))
    valid = Rule(Premise(tuple(different)), Attribute("c", (0, 1)).isin({1}))
    return Cascade(*rule_sets, RuleSet([valid]))


def constraints(dim: int) -> list[tuple[Cell, Cell]]:
    """Return the pairs of cells that must differ: by row, by column, by block.

    A pair that shares a line and a block counts once: 56 pairs for ``dim = 4``, 810 for 9.
    """
    side = round(dim**0.5) if isinstance(dim, int) and dim > 0 else 0
    if side < 2 or side * side != dim:
        raise DomainError(f"a Sudoku has dim 4, 9, 16, ...; got {dim!r}")
    span, corners = range(1, dim + 1), range(1, dim + 1, side)
    groups = [list(product([i], span)) for i in span]
    groups += [list(product(span, [j])) for j in span]
    blocks = product(corners, repeat=2)
    groups += [list(product(range(i, i + side), range(j, j + side))) for i, j in blocks]
    return list(dict.fromkeys(pair for group in groups for pair in combinations(group, 2)))


def sudoku_labels(grids: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
    """Return the right value of every attribute that `sudoku` concludes on, for each grid.

    Parameters
    ----------
    grids : integer array (n_samples, dim, dim)
        The digits, from 0 on, row by row.

    Examples
    --------
    >>> labels = sudoku_labels([[[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]]])
    >>> labels["b_1_1_1_2"].tolist(), labels["c"].tolist()
    ([[0, 1]], [1])
    """
    wanted = "of integers (n_samples, dim, dim)"
    array = check_integers(grids, "grids", 3, wanted).astype(np.int64)
    if array.shape[1] != array.shape[2]:
        raise ShapeError(f"grids has shape {array.shape}; it must be {wanted}")
    labels: dict[str, npt.NDArray[np.int64]] = {}
    valid = np.ones(len(array), dtype=bool)
    for (i, j), (k, m) in constraints(array.shape[1]):
        one, two = array[:, i - 1, j - 1], array[:, k - 1, m - 1]
        labels[f"b_{i}_{j}_{k}_{m}"] = np.stack([one, two], axis=1)
        valid &= one != two
    return {**labels, "c": valid.astype(np.int64)}
