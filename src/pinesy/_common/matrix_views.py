"""Matrices and systems of equations to look at in a notebook."""

from collections.abc import Sequence

from pinesy._common.markup import Markup, first_lines, more, tag
from pinesy._common.validation import FloatArray

#: Rows and columns of a matrix that are shown.
SIDE = 12
_ENTRY = "text-align:center;padding:.1em .5em;border:0"
_BRACKETS = (
    "display:inline-table;vertical-align:middle;width:auto;margin:.3em;border-collapse:collapse;"
    "border:solid currentColor;border-width:0 1px;border-radius:.6em"
)


def matrix_html(rows: Sequence[Sequence[str]], size: tuple[int, int]) -> Markup:
    """Return the first rows and columns of a matrix between brackets; dots stand for the rest."""
    shown = [[*row[:SIDE], *["⋯"] * (size[1] > SIDE)] for row in rows[:SIDE]]
    shown += [["⋮"] * len(shown[0])] * (size[0] > SIDE)
    lines = [tag("tr", *(tag("td", entry, style=_ENTRY) for entry in row)) for row in shown]
    return tag("table", tag("tbody", *lines), style=_BRACKETS)


def product_html(
    left: Sequence[str], a: FloatArray, right: Sequence[str], size: tuple[int, int], sign: str
) -> Markup:
    """Return ``left = A sign right``: vectors and a matrix, of which the first entries are shown.

    Parameters
    ----------
    left, a, right : all of them, or as much as is shown (`SIDE`)
    size : of the whole matrix
    sign : of the product

    Examples
    --------
    >>> import numpy as np
    >>> html = product_html(["y"], np.array([[0.25, 1.0]]), ["s", "r"], (1, 2), "□")
    >>> html.count("<table"), "0.25" in html
    (3, True)
    """
    rows, columns = size
    parts = (
        matrix_html([[entry] for entry in left], (rows, 1)),
        Markup(" = "),
        matrix_html([[f"{x:.4g}" for x in row[:SIDE]] for row in a[:SIDE]], size),
        tag("span", f" {sign} "),
        matrix_html([[entry] for entry in right], (columns, 1)),
    )
    left_out = more(rows - SIDE, "rows") + more(columns - SIDE, "columns")
    return tag("div", *parts, style="white-space:nowrap;overflow-x:auto") + left_out


def system_html(
    system: Markup,
    consistent: bool,
    distance: float,
    solutions: dict[str, FloatArray],
    names: Sequence[str],
) -> Markup:
    """Return a system, whether it has solutions, and some; the names of unknowns take turns."""
    n = len(next(iter(solutions.values())))
    lines = (
        [
            f"{names[i % len(names)]}_{i // len(names) + 1}",
            *(f"{v[i]:.4g}" for v in solutions.values()),
        ]
        for i in range(n)
    )
    said = (
        "It is consistent."
        if consistent
        else f"It has no solution; its distance is {distance:.4g}."
    )
    return system + tag("div", said) + first_lines(["", *solutions], lines, n, "unknowns")
