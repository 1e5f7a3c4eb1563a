"""Matrix relations and equation systems to look at in a notebook."""

from typing import TYPE_CHECKING

import numpy as np

from pinesy._common.markup import Markup, tag
from pinesy._common.matrix_views import SIDE, product_html, system_html

if TYPE_CHECKING:
    from pinesy.rulebase.equations import MatrixRelation, SignedMatrix, SignedSystem

#: The degrees and the parameters of rules, as they are written.
DEGREES, PARAMETERS = ("λ", "ρ"), ("s", "r")


def relation_html(relation: "MatrixRelation") -> Markup:
    """Return ``O = M box I`` with the parameters as numbers."""
    cells = [f"o_{mu}" for mu in range(1, len(relation.partition) + 1)[:SIDE]]
    return tag("div", repr(relation)) + _product(cells, relation, DEGREES)


def equations_html(system: "SignedSystem") -> Markup:
    """Return ``y = A box x``, whether it has solutions, and the lowest and the greatest."""
    unknowns = PARAMETERS if system.SYMBOLS[0] == "lambda" else DEGREES
    targets = [f"{y:.4g}" for y in system.target[:SIDE]]
    consistent = system.is_consistent
    lowest = system.lowest_solution if consistent else system.lowest_approximate_solution
    columns = {"lowest" if consistent else "lowest that comes nearest": lowest}
    columns |= {"greatest": system.greatest_solution} if consistent else {}
    shown = _product(targets, system, unknowns)
    return system_html(shown, consistent, system.distance, columns, unknowns)


def _product(left: list[str], a: "SignedMatrix", right: tuple[str, str]) -> Markup:
    """Return the product; of the matrix no more is formed than is shown."""
    omega, n = a.partition.signs.shape
    pairs = SIDE // 2
    signs = a.partition.signs[:SIDE, :pairs]
    corner = np.empty((len(signs), 2 * signs.shape[1]))
    corner[:, 0::2] = np.where(signs, a.inside[:pairs], 1.0)
    corner[:, 1::2] = np.where(signs, 1.0, a.outside[:pairs])
    names = [f"{name}_{j}" for j in range(1, n + 1)[:pairs] for name in right]
    return product_html(left, corner, names, (omega, 2 * n), "□")
