"""The definitions of the min-max algebra, naive and exact, to test `pinesy.equations` against.

Nothing here is shared with pinesy. Numbers are fractions; a matrix is a list of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

Vector = list[Fraction]
Matrix = list[Vector]

ZERO, ONE = Fraction(0), Fraction(1)


# --- products ----------------------------------------------------------------------------------


def minmax(a: Matrix, b: Matrix) -> Matrix:
    """min_j max(a[i][j], b[j][k])."""
    return [[min(map(max, row, column)) for column in zip(*b, strict=True)] for row in a]


def maxmin(a: Matrix, b: Matrix) -> Matrix:
    """max_j min(a[i][j], b[j][k])."""
    return [[max(map(min, row, column)) for column in zip(*b, strict=True)] for row in a]


def epsilon(g: Fraction, y: Fraction) -> Fraction:
    """Y if g < y else 0."""
    return y if g < y else ZERO


def epsilon_max(a: Matrix, b: Matrix) -> Matrix:
    """max_j (a[i][j] eps b[j][k])."""
    return [[max(map(epsilon, row, column)) for column in zip(*b, strict=True)] for row in a]


def box(a: Matrix, x: Sequence[Fraction]) -> Vector:
    """A box x for a vector x."""
    return [min(map(max, row, x)) for row in a]


def transpose(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def complement(a: Matrix) -> Matrix:
    """1 - a, which turns a max-min system into a min-max system and back."""
    return [[ONE - value for value in row] for row in a]


# --- fronts ------------------------------------------------------------------------------------


def h(pairs: Sequence[tuple[Fraction, Fraction]], y: Fraction) -> Fraction:
    """max_i min((e_i - y)^+ / 2, w_i), and 0 for no pairs."""
    return max((min(plus(e - y) / 2, w) for e, w in pairs), default=ZERO)


def front(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The pairs with w > 0 that no other pair beats, by decreasing e."""
    kept = {(e, w) for e, w in pairs if w > 0}
    beaten = {p for p in kept for q in kept if p != q and p[0] <= q[0] and p[1] <= q[1]}
    return sorted(kept - beaten, reverse=True)


# --- min-max systems: the published formulas ---------------------------------------------------


def plus(value: Fraction) -> Fraction:
    return max(value, ZERO)


def row_distances(a: Matrix, b: Vector) -> Vector:
    """Eq. Nablamini: the least over columns of what lifts this row and lowers the others."""
    columns = range(len(a[0]))
    return [min(_lift(a, b, i, column) for column in columns) for i in range(len(a))]


def _lift(a: Matrix, b: Vector, i: int, j: int) -> Fraction:
    others = [min(plus(y - b[i]) / 2, plus(y - row[j])) for row, y in zip(a, b, strict=True)]
    return max(plus(a[i][j] - b[i]), *others)


def lowest(a: Matrix, b: Vector, nabla: Fraction = ZERO) -> Vector:
    """Eq. lowestapprox: A^t (max, eps) (b - nabla)^+."""
    return [row[0] for row in epsilon_max(transpose(a), [[plus(y - nabla)] for y in b])]


# --- min-max systems: brute force --------------------------------------------------------------


def grid_points(steps: int, size: int) -> Iterator[tuple[Fraction, ...]]:
    """All vectors with entries 0, 1/steps, ..., 1."""
    return product([Fraction(i, steps) for i in range(steps + 1)], repeat=size)


def residual(a: Matrix, b: Vector, x: Sequence[Fraction]) -> Fraction:
    return max(abs(u - v) for u, v in zip(box(a, x), b, strict=True))


def nearest(a: Matrix, b: Vector, steps: int) -> tuple[Fraction, list[tuple[Fraction, ...]]]:
    """Try all x of the grid: the least residual, and all x that have it.

    The second members ``A box x`` are all the consistent ones, so this is the definition of the
    Chebyshev distance on a grid. With A and b on the grid, rounding a solution x down to the grid
    leaves it a solution: a system is consistent if and only if the residual found is 0.
    """
    found = [(residual(a, b, x), x) for x in grid_points(steps, len(a[0]))]
    least = min(found)[0]
    return least, [x for value, x in found if value == least]
