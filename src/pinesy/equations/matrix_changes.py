"""The least change of the matrix, in the maximum norm, that makes a system consistent.

The right-hand side stays. At a change of `d` the coefficients that bound ``x_j`` may give way by
`d`, which gives the extreme `x`, and the coefficients that must reach a row may come `d` nearer.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy.equations.compositions import Composition
from pinesy.equations.exact_arrays import as_number
from pinesy.equations.fronts import TOLERANCE
from pinesy.equations.systems import System
from pinesy.exceptions import DomainError

#: Steps of a bisection: its error is below that of rounding.
STEPS = 60


@dataclass(frozen=True)
class MatrixChange:
    """A matrix with which a system is consistent, nearest to its own in the maximum norm.

    Attributes
    ----------
    matrix : array (N, M)
    distance : the maximum of ``|matrix - A|``; no matrix with a smaller one gives a solution
    x : array (M,), the extreme solution with the new matrix
    n_changed : the number of entries that differ
    """

    matrix: Any
    distance: Any
    x: Any
    n_changed: int


def least_matrix_change(system: System) -> MatrixChange:
    """Return the nearest matrix, in the maximum norm, with which `b` has a solution.

    Only entries that must change are changed, each as little as its `x` allows. O(N log N + N M)
    for min and max, 60 products for product and Lukasiewicz; O(N^2 M) for fractions. With the
    Goedel and the Goguen implication the distance need not be attained: they are refused.

    Examples
    --------
    >>> change = least_matrix_change(System([[1.0], [0.5]], [0.5, 0.0], "max-min"))
    >>> change.matrix.tolist(), change.distance
    ([[0.5], [0.0]], 0.5)
    """
    composition = system.composition
    if composition.definition in ("min-goedel", "min-goguen"):
        raise DomainError(
            f"the least change of a matrix is not defined for {composition.name}: it need not be "
            "attained; take a max-t-norm or min-t-conorm composition, or "
            "min-lukasiewicz-implication"
        )
    if system.is_consistent:
        return MatrixChange(system.a, as_number(0 * system.b[0]), system.candidate, 0)
    if system.is_exact:
        distance = _exact_distance(system)
    elif composition.definition == "min-max":
        distance = _minmax_distance(*composition.turn(system.a, system.b), composition)
    else:
        distance = _bisected_distance(system)
    x = _extreme(system, distance + (0 if system.is_exact else TOLERANCE))
    matrix = _changed(system, x)
    changes = np.abs(matrix - system.a)
    return MatrixChange(matrix, as_number(changes.max()), x, int((changes > 0).sum()))


def _is_lowered(composition: Composition) -> bool:
    """Return whether lower coefficients bound the unknowns less."""
    return composition.is_max or composition.name.endswith("implication")


def _moved(system: System, distance: Any, is_lowered: bool) -> Any:
    moved = system.a - distance if is_lowered else system.a + distance
    return np.clip(moved, 0, 1)


def _extreme(system: System, distance: Any) -> Any:
    """Return the extreme `x` if coefficients give way by a distance."""
    composition = system.composition
    matrix = _moved(system, distance, _is_lowered(composition))
    bounds = composition.bound(matrix, system.b[:, None])
    return bounds.min(axis=0) if composition.is_max else bounds.max(axis=0)


def _changed(system: System, x: Any) -> Any:
    """Return the matrix with which `x` is a solution, nearest to that of the system."""
    composition, a, b = system.composition, system.a, system.b[:, None]
    if composition.name.endswith("implication"):
        allowed = reaching = np.clip(1 - b + x + 0 * a, 0, 1)
    else:  # the operations are commutative
        allowed = composition.bound(x + 0 * a, b)
        reaching = np.clip(composition.reach(x + 0 * a, b), 0, 1)
    matrix = np.minimum(a, allowed) if _is_lowered(composition) else np.maximum(a, allowed)
    gaps = np.abs(composition.reduce(composition.combine(matrix, x)) - system.b)
    missed = np.flatnonzero(gaps > max(system.tolerance, 0 if system.is_exact else TOLERANCE))
    is_able = np.abs(composition.combine(reaching, x) - b) <= (
        0 if system.is_exact else max(system.tolerance, TOLERANCE)
    )
    costs = np.where(is_able, np.abs(reaching - matrix), 2)[missed]
    columns = costs.argmin(axis=1)
    matrix[missed, columns] = reaching[missed, columns]
    return matrix


def _bisected_distance(system: System) -> float:
    """Return the least distance at which every row is reached, by bisection."""
    composition = system.composition
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        matrix = _moved(system, middle, not _is_lowered(composition))
        values = composition.reduce(composition.combine(matrix, _extreme(system, middle)))
        is_reached = values >= system.b if composition.is_max else values <= system.b
        low, high = (low, middle) if is_reached.all() else (middle, high)
    return high


def _minmax_distance(a: Any, b: Any, composition: Composition) -> float:
    """Return the distance of a min-max system: ``max_i min_j max(a_ij - b_i, g_j(b_i))^+``.

    ``g_j(y) = max_k {b_k - a_kj : b_k > y}``: a row bounds ``x_j`` only for rows of lower `b`.
    """
    order = np.argsort(-b, kind="stable")
    margins = np.maximum.accumulate((b[:, None] - a)[order], axis=0)
    n_above = np.searchsorted(-b[order], -b, side="left")
    bounds = np.where((n_above > 0)[:, None], margins[n_above - 1], 0.0)
    distances = np.maximum(np.maximum(a - b[:, None], bounds), 0.0).min(axis=1)
    top = 0.0 if composition.is_max else 1.0
    return float(np.where(b < top, distances, 0.0).max())


def _exact_distance(system: System) -> Any:
    """Return the distance in fractions, by its definition. O(N^2 M)."""
    a, b = system.composition.turn(system.a, system.b)
    definition = system.composition.definition
    # Rows that are reached by any x: b = 1 in a min-max system, 0 after its turn and in the others.
    top = 1 if system.composition.name == "min-max" else 0
    solve = _product_cross if definition == "max-product" else _lukasiewicz_cross
    distance = 0 * b[0]
    for row in np.flatnonzero(b != top):
        u, x = a[row], b[row]
        if definition == "min-max":
            cross = np.where(b[:, None] > x, b[:, None] - a, 0)
            terms = np.maximum(np.maximum(u - x, 0), cross)
        else:
            terms = np.maximum(np.maximum(x - u, 0), solve(u, x, a, b[:, None]))
        distance = max(distance, terms.max(axis=0).min())
    return distance


def _product_cross(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Solve ``min(u + d, 1) z >= x (y - d)`` for ``x > 0``."""
    least = (x * y - u * z) / (x + z)
    return np.where(least <= 1 - u, least, (x * y - z) / x)


def _lukasiewicz_cross(u: Any, x: Any, y: Any, z: Any) -> Any:
    """Solve ``min(u + d, 1) - y + d + z >= x`` for ``x > 0``."""
    least = (x - u + y - z) / 2
    return np.where(least <= 1 - u, least, x - 1 + y - z)
