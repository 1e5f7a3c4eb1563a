"""A maximal consistent subsystem: rows with a solution, to which no other row can be added."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy.equations.systems import System


def consistent_rows(system: System) -> npt.NDArray[np.int64]:
    """Return the rows of a maximal consistent subsystem, sorted.

    No row can be added to them; another choice may have more rows. With min and max the rows are
    tried in the order of `b`, so that none contradicts those before: O(N log N + N M). With the
    other compositions rows of small distance are tried first: O(N M) for each row that bounds an
    unknown more than those before, so O(N^2 M) at worst.

    Examples
    --------
    >>> system = System([[1.0], [0.5], [1.0]], [0.6, 0.0, 0.7], "max-product")
    >>> consistent_rows(system)
    array([1])
    >>> consistent_rows(System([[1.0], [0.5], [1.0]], [0.6, 0.3, 0.7], "max-product"))
    array([0, 1])
    """
    composition, b = system.composition, system.b[:, None]
    direction = 1 if composition.is_max else -1
    needs = np.clip(composition.reach(system.a, b), 0, 1)
    is_possible = np.abs(composition.combine(system.a, needs) - b) <= system.tolerance
    bounds = direction * (composition.bound(system.a, b) + 0 * needs)
    needs = np.where(is_possible, direction * needs, np.inf)
    if composition.definition == "min-max":
        order = np.argsort(direction * system.b, kind="stable")
    else:
        order = np.argsort(system.row_distances, kind="stable")
    if system.is_exact:
        bounds, needs = _ranks(bounds, needs)
    selected = np.empty(len(order), dtype=np.int64)
    n = load_kernels("pinesy.equations.subsystem_kernels").select_consistent(
        np.ascontiguousarray(bounds, dtype=np.float64),
        np.ascontiguousarray(needs, dtype=np.float64),
        order.astype(np.int64),
        float(system.tolerance),
        selected,
    )
    return np.sort(selected[:n])


def _ranks(*tables: Any) -> Any:
    """Return the ranks of fractions among those of all tables: they compare alike."""
    _, ranks = np.unique(np.stack(tables), return_inverse=True)
    return ranks.reshape(len(tables), *tables[0].shape).astype(np.float64)
