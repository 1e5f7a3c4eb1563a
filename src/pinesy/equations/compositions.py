"""The compositions of fuzzy relational equations, one object each, and their registry.

A system is ``max_j C(a_ij, x_j) = b_i`` or ``min_j C(a_ij, x_j) = b_i``, with `C` increasing in
`x`. All functions take arrays of floats or of fractions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pinesy._common.validation import cut_repr, suggestion
from pinesy.exceptions import DomainError

#: Degrees that differ by less are equal where results are rounded: with product and Lukasiewicz.
ROUNDING = 1e-12

#: The formula of the distance; the other compositions are turned into one of these.
Definition = Literal["min-max", "max-product", "max-lukasiewicz", "min-goguen", "min-goedel"]


def _keep_system(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a system as it is."""
    return a, b


def _keep_solution(x: Any) -> Any:
    """Return a solution as it is."""
    return x


@dataclass(frozen=True)
class Composition:
    """A composition of a matrix and a vector.

    Attributes
    ----------
    name : str
        Such as ``"max-product"``.
    formula : str
        Its equation.
    is_max : bool
        Whether it is a maximum of t-norms, with one greatest solution and minimal ones; a minimum
        has one lowest solution and maximal ones.
    combine : C(a, x)
    bound : of (a, b)
        The greatest `x` with ``C(a, x) <= b``; for a minimum the lowest with ``C(a, x) >= b``.
    reach : of (a, b)
        The lowest `x` with ``C(a, x) >= b``, for a minimum the greatest with ``C(a, x) <= b``,
        where some `x` has ``C(a, x) = b``.
    definition : str
        The composition whose distance formula is used.
    turn : of (a, b)
        The matrix and right-hand side of the system with that composition, equivalent to this.
    turn_back : of x
        The solution of this system, from that of the other one.
    """

    name: str
    formula: str
    is_max: bool
    combine: Callable[[Any, Any], Any]
    bound: Callable[[Any, Any], Any]
    reach: Callable[[Any, Any], Any]
    definition: Definition
    turn: Callable[[Any, Any], tuple[Any, Any]] = _keep_system
    turn_back: Callable[[Any], Any] = _keep_solution

    @property
    def is_rounded(self) -> bool:
        """Whether its results are rounded in floating point; min and max only select numbers."""
        return self.definition not in ("min-max", "min-goedel")

    @property
    def start(self) -> int:
        """The entry of `x` that reaches no row: 0, or 1 for a minimum."""
        return 0 if self.is_max else 1

    @property
    def extreme(self) -> str:
        """Which solution is unique: ``"greatest"`` or ``"lowest"``."""
        return "greatest" if self.is_max else "lowest"

    @property
    def many(self) -> str:
        """Which solutions are several: ``"minimal"`` or ``"maximal"``."""
        return "minimal" if self.is_max else "maximal"

    def reduce(self, table: Any, axis: int = 1) -> Any:
        """Return the maximum (minimum) along an axis."""
        return table.max(axis=axis) if self.is_max else table.min(axis=axis)

    def __reduce__(self) -> tuple[Any, ...]:
        return as_composition, (self.name,)

    def __repr__(self) -> str:
        return f"Composition({self.name!r}: {self.formula} = b_i)"


def as_composition(composition: object) -> Composition:
    """Return the composition of a name.

    Examples
    --------
    >>> as_composition("max-product")
    Composition('max-product': max_j a_ij x_j = b_i)
    """
    if isinstance(composition, Composition):
        return composition
    if isinstance(composition, str) and composition in COMPOSITIONS:
        return COMPOSITIONS[composition]
    names = suggestion(composition, COMPOSITIONS)
    raise DomainError(f"unknown composition {cut_repr(composition)}{names}")


def _safe(denominator: Any) -> Any:
    """Return a denominator with 1 in place of 0; the quotient is not used there."""
    return np.where(denominator > 0, denominator, 1)


def _complement(a: Any, b: Any) -> tuple[Any, Any]:
    return 1 - a, 1 - b


def _goedel_implication(a: Any, x: Any) -> Any:
    return np.where(a <= x, 1, x)


def _goguen_implication(a: Any, x: Any) -> Any:
    return np.where(a <= x, 1, x / _safe(a))


_TABLE = [
    Composition(
        "max-min",
        "max_j min(a_ij, x_j)",
        True,
        combine=np.minimum,
        bound=lambda a, b: np.where(a > b, b, 1),
        reach=lambda a, b: b + 0 * a,
        definition="min-max",
        # Changing a sign is exact where 1 - . would round.
        turn=lambda a, b: (-a, -b),
        turn_back=lambda x: 0 - x,  # never -0.0
    ),
    Composition(
        "max-product",
        "max_j a_ij x_j",
        True,
        combine=lambda a, x: a * x,
        bound=lambda a, b: np.where(a > b, b / _safe(a), 1),
        reach=lambda a, b: b / _safe(a),
        definition="max-product",
    ),
    Composition(
        "max-lukasiewicz",
        "max_j max(a_ij + x_j - 1, 0)",
        True,
        combine=lambda a, x: np.maximum(a + x - 1, 0),
        bound=lambda a, b: np.minimum(1 - a + b, 1),
        reach=lambda a, b: np.where(b > 0, b + 1 - a, 0),
        definition="max-lukasiewicz",
    ),
    Composition(
        "min-max",
        "min_j max(a_ij, x_j)",
        False,
        combine=np.maximum,
        bound=lambda a, b: np.where(a < b, b, 0),
        reach=lambda a, b: b + 0 * a,
        definition="min-max",
    ),
    Composition(
        "min-probabilistic-sum",
        "min_j (a_ij + x_j - a_ij x_j)",
        False,
        combine=lambda a, x: a + x - a * x,
        bound=lambda a, b: np.where(a < b, (b - a) / _safe(1 - a), 0),
        reach=lambda a, b: np.where(b < 1, (b - a) / _safe(1 - a), 1),
        definition="max-product",
        turn=_complement,
        turn_back=lambda x: 1 - x,
    ),
    Composition(
        "min-bounded-sum",
        "min_j min(a_ij + x_j, 1)",
        False,
        combine=lambda a, x: np.minimum(a + x, 1),
        bound=lambda a, b: np.maximum(b - a, 0),
        reach=lambda a, b: np.where(b < 1, b - a, 1),
        definition="max-lukasiewicz",
        turn=_complement,
        turn_back=lambda x: 1 - x,
    ),
    Composition(
        "min-goedel-implication",
        "min_j (1 if a_ij <= x_j else x_j)",
        False,
        combine=_goedel_implication,
        bound=np.minimum,
        reach=lambda a, b: b + 0 * a,
        definition="min-goedel",
    ),
    Composition(
        "min-goguen-implication",
        "min_j (1 if a_ij <= x_j else x_j / a_ij)",
        False,
        combine=_goguen_implication,
        bound=lambda a, b: a * b,
        reach=lambda a, b: np.where(b < 1, a * b, 1),
        definition="min-goguen",
    ),
    Composition(
        "min-lukasiewicz-implication",
        "min_j min(1 - a_ij + x_j, 1)",
        False,
        combine=lambda a, x: np.minimum(1 - a + x, 1),
        bound=lambda a, b: np.maximum(a + b - 1, 0),
        reach=lambda a, b: np.where(b < 1, a + b - 1, 1),
        definition="max-lukasiewicz",
        turn=lambda a, b: (a, 1 - b),
        turn_back=lambda x: 1 - x,
    ),
]

#: The compositions by name.
COMPOSITIONS = {composition.name: composition for composition in _TABLE}
