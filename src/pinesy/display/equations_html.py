"""Products and systems of equations in HTML: matrices and vectors between brackets."""

from collections.abc import Sequence

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.display.markup import Markup, first_lines, more, tag
from pinesy.equations.systems import System
from pinesy.rulebase.sample_equations import (
    DEGREES,
    PARAMETERS,
    MatrixRelation,
    SignedMatrix,
    SignedSystem,
    interleave,
)

#: The maximum number of rows and columns of a matrix.
SIDE = 12
_ENTRY = "text-align:center;padding:.1em .5em;border:0"
_BRACKETS = (
    "display:inline-table;vertical-align:middle;width:auto;margin:.3em;border-collapse:collapse;"
    "border:solid currentColor;border-width:0 1px;border-radius:.6em"
)


#: The sign of a composition.
_SIGNS = {"min-max": "□", "max-min": "∘", "max-product": "⊙"}


def relational_system_html(system: System) -> Markup:
    """Return a system ``A x = b``, whether it is consistent, and its extreme solution."""
    b = [f"{float(degree):.4g}" for degree in system.b[:SIDE]]
    x = [f"x_{j}" for j in range(1, system.a.shape[1] + 1)[:SIDE]]
    corner = system.a[:SIDE, :SIDE].astype(np.float64)
    sign = _SIGNS.get(system.composition.name, f"({system.composition.name})")
    product = product_html(b, corner, x, system.a.shape, sign)
    title = extreme = system.composition.extreme
    distance = float(system.chebyshev_distance)
    if system.is_attained:
        solution = system.extreme_approximate_solution
        title = extreme if system.is_consistent else f"{extreme} that comes nearest"
    else:
        solution, title = system.candidate, f"{extreme} candidate"
    solutions = {title: solution.astype(np.float64)}
    return _system_html(product, system.is_consistent, distance, solutions, ["x"])


def matrix_relation_html(relation: MatrixRelation) -> Markup:
    """Return ``O = M box I`` with the parameters as numbers."""
    cells = [f"o_{mu}" for mu in range(1, len(relation.partition) + 1)[:SIDE]]
    return tag("div", repr(relation)) + _signed_product(relation, cells, DEGREES)


def signed_system_html(system: SignedSystem) -> Markup:
    """Return ``y = A box x``, whether it is consistent, the lowest and the greatest solution."""
    unknowns = PARAMETERS if system.SYMBOLS[0] == "lambda" else DEGREES
    consistent = system.is_consistent
    lowest = system.lowest_solution if consistent else system.lowest_approximate_solution
    solutions = {"lowest" if consistent else "lowest that comes nearest": lowest}
    solutions |= {"greatest": system.greatest_solution} if consistent else {}
    product = _signed_product(system, [f"{y:.4g}" for y in system.target[:SIDE]], unknowns)
    return _system_html(product, consistent, system.distance, solutions, unknowns)


def _signed_product(a: SignedMatrix, left: list[str], right: tuple[str, str]) -> Markup:
    """Return ``left = A box right``; only the visible part of the matrix is computed."""
    n_cells, n_rules = a.partition.signs.shape
    pairs = SIDE // 2
    signs = a.partition.signs[:SIDE, :pairs]
    inside = np.where(signs, a.inside[:pairs], 1.0)
    corner = interleave(inside, np.where(signs, 1.0, a.outside[:pairs]))
    names = [f"{name}_{j}" for j in range(1, n_rules + 1)[:pairs] for name in right]
    return product_html(left, corner, names, (n_cells, 2 * n_rules), "□")


def product_html(
    left: Sequence[str], a: FloatArray, right: Sequence[str], shape: tuple[int, int], sign: str
) -> Markup:
    """Return the first entries of ``left = A sign right``, vectors and a matrix.

    Parameters
    ----------
    left, a, right : all entries, or the first of them (`SIDE`)
    shape : the shape of the complete matrix
    sign : the sign of the product

    Examples
    --------
    >>> html = product_html(["y"], np.array([[0.25, 1.0]]), ["s", "r"], (1, 2), "□")
    >>> html.count("<table"), "0.25" in html
    (3, True)
    """
    rows, columns = shape
    parts = (
        _matrix_html([[entry] for entry in left], (rows, 1)),
        Markup(" = "),
        _matrix_html([[f"{degree:.4g}" for degree in row[:SIDE]] for row in a[:SIDE]], shape),
        tag("span", f" {sign} "),
        _matrix_html([[entry] for entry in right], (columns, 1)),
    )
    omitted = more(rows - SIDE, "rows") + more(columns - SIDE, "columns")
    return tag("div", *parts, style="white-space:nowrap;overflow-x:auto") + omitted


def _matrix_html(rows: Sequence[Sequence[str]], shape: tuple[int, int]) -> Markup:
    """Return the first rows and columns of a matrix between brackets, and dots for the others."""
    entries = [[*row[:SIDE], *["⋯"] * (shape[1] > SIDE)] for row in rows[:SIDE]]
    entries += [["⋮"] * len(entries[0])] * (shape[0] > SIDE)
    lines = [tag("tr", *(tag("td", entry, style=_ENTRY) for entry in row)) for row in entries]
    return tag("table", tag("tbody", *lines), style=_BRACKETS)


def _system_html(
    product: Markup,
    consistent: bool,
    distance: float,
    solutions: dict[str, FloatArray],
    symbols: Sequence[str],
) -> Markup:
    """Return a system, whether it is consistent, and solutions, named by their kind.

    `symbols` are the names of unknowns, in turn: s_1, r_1, s_2 and so on.
    """
    n = len(next(iter(solutions.values())))
    lines = (
        [
            f"{symbols[i % len(symbols)]}_{i // len(symbols) + 1}",
            *(f"{solution[i]:.4g}" for solution in solutions.values()),
        ]
        for i in range(n)
    )
    verdict = (
        "It is consistent."
        if consistent
        else f"It has no solution; its distance is {distance:.4g}."
    )
    return product + tag("div", verdict) + first_lines(["", *solutions], lines, n, "unknowns")
