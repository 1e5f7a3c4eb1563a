"""Systems of fuzzy relational equations, consistent or not."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy._common.validation import FloatArray, check_degree
from pinesy.equations.certificates import Certificate, Disagreement, disagreement
from pinesy.equations.column_summary import RowDistances
from pinesy.equations.compositions import Composition
from pinesy.equations.distance_formulas import blocking_terms
from pinesy.equations.exact_arrays import Degrees, as_fractions, as_number
from pinesy.equations.fronts import KERNELS, TOLERANCE, lower_bound
from pinesy.equations.interval_systems import IntervalSystem
from pinesy.equations.product import contiguous_columns, make_readonly
from pinesy.equations.summaries import summarise
from pinesy.exceptions import InconsistentSystemError


class System(IntervalSystem):
    """The system ``A x = b`` of fuzzy relational equations, for a composition.

    A maximum of t-norms has one greatest solution and minimal ones; a minimum of t-conorms or of
    implications has one lowest solution and maximal ones. `COMPOSITIONS` names all of them. Entries
    may be fractions: then every result is exact, in O(N^2 M) for the distance.

    Parameters
    ----------
    matrix : array (N, M) of degrees
    right : array (N,) of degrees
    composition : str
    tolerance : float
        Degrees that differ by less are equal. By default 0 where nothing is rounded, and 1e-12 for
        floats with product and Lukasiewicz.

    Examples
    --------
    >>> system = System([[0.5, 0.8], [0.4, 1.0]], [0.4, 0.5], composition="max-product")
    >>> system.greatest_solution
    array([0.8, 0.5])
    >>> [x.tolist() for x in system.minimal_solutions()]
    [[0.0, 0.5]]
    >>> system = System([[1.0], [0.5]], [0.75, 0.0], composition="max-product")
    >>> system.is_consistent, system.chebyshev_distance
    (False, 0.25)
    >>> print(system.disagreement())
    row 0 disagrees with rows 1
    """

    b: Any

    def __init__(
        self,
        matrix: Degrees,
        right: Degrees,
        composition: str | Composition = "max-min",
        *,
        tolerance: float | None = None,
    ) -> None:
        self.a, self.b = self._checked([matrix, right], ["the matrix", "the second member"])
        self._set_composition(composition, tolerance)

    @property
    def lower(self) -> Any:
        """The right-hand side."""
        return self.b

    @property
    def upper(self) -> Any:
        """The right-hand side."""
        return self.b

    # --- the distance ---------------------------------------------------------------------------

    @cached_property
    def row_distances(self) -> Any:
        """The distance of each row [eq:Nabla]: how far `b` must move for a column to reach it.

        O(N log N + N M) for min and max, O(N M) for Lukasiewicz, O(N M log N) at most for the
        others; beyond the input O(N) memory.
        """
        return make_readonly(self._distances.infimum)

    @cached_property
    def _distances(self) -> RowDistances:
        if self.is_exact:
            rows = range(len(self.b))
            terms = (blocking_terms(self.composition, self.a, self.b, row) for row in rows)
            nabla = np.array([table.max(axis=0).min() for table in terms], dtype=object)
            return RowDistances(as_fractions(nabla), as_fractions(nabla))
        a, b = self.composition.turn(self.a, self.b)
        if self.composition.definition == "min-max":
            nabla = _minmax_distances(a, b)
            return RowDistances(nabla, nabla)
        return summarise(self.composition, a, b).distances(a, b)

    @cached_property
    def chebyshev_distance(self) -> Any:
        """How far `b` is from a consistent right-hand side, in the maximum norm [eq:Nabla].

        Exactly 0 if the system is consistent. With the Goedel implication it is an infimum: see
        `is_attained`.
        """
        return as_number(0 * self.b[0] if self.is_consistent else self.row_distances.max())

    @cached_property
    def is_attained(self) -> bool:
        """Whether some consistent right-hand side lies at the distance.

        If not, some lie as near to it as you like; only the Goedel implication has such systems.
        """
        if self.composition.definition != "min-goedel" or self.is_consistent:
            return True
        nabla, tolerance = self.chebyshev_distance, 0 if self.is_exact else TOLERANCE
        if self.is_exact:
            return bool((np.abs(self._apply(self._within(nabla)) - self.b) <= nabla).all())
        is_below = self._distances.infimum < nabla - tolerance
        return bool((is_below | (self._distances.attained <= nabla + tolerance)).all())

    def disagreement(self) -> Disagreement:
        """Return the rows that prove the distance: the farthest row, and those that block it.

        O(N M) more than the distance.
        """
        row = int(self.row_distances.argmax())
        return disagreement(self.composition, self.a, self.b, row)

    # --- solutions ------------------------------------------------------------------------------

    def _require_consistent(self) -> None:
        if not self.is_consistent:
            nabla = self.chebyshev_distance
            cure = f"ask for {self.composition.extreme}_approximate_solution, which comes as near"
            if not self.is_attained:
                cure = "none lies at that distance; solution_within(d) of a larger d comes as near"
            raise InconsistentSystemError(
                f"the system has no solution: the nearest second member that has one is at "
                f"distance {nabla!r} (row {int(self.row_distances.argmax())} needs it); {cure} as "
                "any vector can",
                float(nabla),
            )

    def solution_within(self, distance: Any) -> Any:
        """Return the extreme vector with a residual of at most `distance`.

        It is the greatest, of a minimum the lowest. Raises `InconsistentSystemError` if there is
        none, because the Chebyshev distance is larger.
        """
        nabla = self.chebyshev_distance
        is_enough = distance >= nabla if self.is_attained else distance > nabla
        if not is_enough:
            relation = "at least" if self.is_attained else "more than"
            raise InconsistentSystemError(
                f"no vector has a residual of {distance!r}; give {relation} the Chebyshev distance "
                f"{nabla!r}",
                float(nabla),
            )
        return self._within(distance)

    def _within(self, distance: Any) -> Any:
        definition = self.composition.definition
        if distance == 0:
            return self.candidate
        if definition == "min-max":
            return self._selected_within(distance)
        if self.composition.is_max:
            return self._extreme(np.minimum(self.b + distance, 1))
        x = self._extreme(np.maximum(self.b - distance, 0))
        return self._snapped(x) if definition == "min-goedel" and not self.is_exact else x

    def _selected_within(self, distance: Any) -> Any:
        """Return ``x_l = max_i {b_i - nabla : a_il < b_i - nabla}``, the least degree if none.

        [eq:lowestapprox], an epsilon product.
        """
        a, b = self.composition.turn(self.a, self.b)
        bound = distance if self.is_exact else lower_bound(distance, TOLERANCE)
        bottom = -1 if self.composition.is_max else 0
        tops = [
            np.max(b, where=(b - column > bound).astype(bool), initial=bottom + distance)
            for column in contiguous_columns(a)
        ]
        x = np.maximum(np.array(tops) - distance, bottom)
        return make_readonly(as_fractions(self.composition.turn_back(x)))

    def _snapped(self, x: FloatArray) -> FloatArray:
        """Return `x` with coefficients in place of entries just below: a tie must stay a tie."""
        limits = x + TOLERANCE
        tops = [
            np.max(column, where=(column >= low) & (column <= high), initial=low)
            for column, low, high in zip(contiguous_columns(self.a), x, limits, strict=True)
        ]
        return make_readonly(np.array(tops))

    @cached_property
    def extreme_approximate_solution(self) -> Any:
        """The extreme vector whose residual is the distance; see `solution_within`."""
        return self.solution_within(self.chebyshev_distance)

    @property
    def greatest_approximate_solution(self) -> Any:
        """The greatest `x` whose residual is the distance, of a max-t-norm composition."""
        self._check_extreme("greatest")
        return self.extreme_approximate_solution

    @property
    def lowest_approximate_solution(self) -> Any:
        """The lowest `x` whose residual is the distance, of a min composition [eq:lowestapprox]."""
        self._check_extreme("lowest")
        return self.extreme_approximate_solution

    @cached_property
    def extreme_approximation(self) -> Any:
        """``A x`` of the extreme approximate solution: a consistent right-hand side nearest to `b`.

        The greatest of them, of a minimum the lowest.
        """
        return make_readonly(self._apply(self.extreme_approximate_solution))

    @property
    def greatest_approximation(self) -> Any:
        """The greatest consistent right-hand side at the distance from `b`."""
        self._check_extreme("greatest")
        return self.extreme_approximation

    @property
    def lowest_approximation(self) -> Any:
        """The lowest consistent right-hand side at the distance from `b` [eq:lowest]."""
        self._check_extreme("lowest")
        return self.extreme_approximation

    def approximate_solutions(self) -> Iterator[Any]:
        """Yield the minimal (maximal) vectors whose residual is the distance, lazily, each once.

        They are the minimal solutions of ``b - d <= A x <= b + d``. Every minimal consistent
        right-hand side at the distance is ``A x`` of one of them.
        """
        nabla, x = self.chebyshev_distance, self.extreme_approximate_solution
        within = IntervalSystem(
            self.a,
            np.maximum(self.b - nabla, 0),
            np.minimum(self.b + nabla, 1),
            self.composition,
            tolerance=self._residual_tolerance,
        )
        within.__dict__["candidate"] = x
        return within.opposite_solutions()

    @property
    def _residual_tolerance(self) -> Any:
        """The rounding error of a residual."""
        return self.tolerance if self.is_exact else max(self.tolerance, 2 * TOLERANCE)

    def verify(self, x: Degrees, *, tolerance: float | None = None) -> Certificate:
        """Return the residual of a vector `x` of M degrees, and whether it attains the distance.

        Parameters
        ----------
        x : array (M,)
        tolerance : float
            The rounding error allowed in the residual of a vector that attains the distance; by
            default that of the system, and 3.6e-15 at least.
        """
        allowed = self._residual_tolerance
        if tolerance is not None:
            allowed = check_degree(tolerance, "tolerance")
        gaps = np.abs(self.b - self._apply(self._checked_vector(x, "x")))
        row = int(gaps.argmax())
        residual, nabla = as_number(gaps[row]), self.chebyshev_distance
        is_solution = bool(residual <= self.tolerance)
        return Certificate(residual, row, nabla, is_solution, bool(residual <= nabla + allowed))

    def __repr__(self) -> str:
        rows, columns = self.a.shape
        return f"System({rows} equations, {columns} unknowns, {self.composition.name!r})"

    def _repr_html_(self) -> str:
        from pinesy.display.equations_html import relational_system_html

        return relational_system_html(self)


class MinMaxSystem(System):
    """The system ``A box x = b``, that is ``min_j max(A[i, j], x[j]) = b[i]`` for all rows `i`.

    A short name for `System` with the composition ``"min-max"``.

    Parameters
    ----------
    a : array (N, M) of degrees
    b : array (N,) of degrees

    Examples
    --------
    >>> system = MinMaxSystem([[0.25, 1.0], [1.0, 0.35]], [0.4, 1.0])
    >>> system.lowest_solution
    array([0.4, 1. ])
    >>> system = MinMaxSystem([[0.0], [0.0]], [0.5, 0.75])  # x = 0.5 and x = 0.75
    >>> system.is_consistent, system.chebyshev_distance
    (False, 0.125)
    >>> system.verify(system.lowest_approximate_solution).attains
    True
    """

    def __init__(self, a: Degrees, b: Degrees) -> None:
        super().__init__(a, b, "min-max")

    def __repr__(self) -> str:
        rows, columns = self.a.shape
        return f"{type(self).__name__}({rows} equations, {columns} unknowns)"


class MaxMinSystem(System):
    """The system ``A o x = b``, that is ``max_j min(A[i, j], x[j]) = b[i]`` for all rows `i`.

    A short name for `System` with the composition ``"max-min"``.

    Parameters
    ----------
    a : array (N, M) of degrees
    b : array (N,) of degrees

    Examples
    --------
    >>> system = MaxMinSystem([[0.7, 0.0], [0.4, 0.5]], [0.6, 0.5])
    >>> system.greatest_solution
    array([0.6, 1. ])
    """

    def __init__(self, a: Degrees, b: Degrees) -> None:
        super().__init__(a, b, "max-min")

    __repr__ = MinMaxSystem.__repr__


def _minmax_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``nabla_i = min_l max((a_il - b_i)^+, h_l(b_i))`` for each row [eq:Nabla].

    ``h_l(y) = max_k min((b_k - y)^+ / 2, (b_k - a_kl)^+)`` is the front of column `l`. All columns
    share the order of `b`: one sort, then two passes for each column.
    """
    order = np.argsort(-b).astype(np.int64, copy=False)
    y, nabla = b[order], np.full(len(b), np.inf)
    e, w, distances = (np.empty(len(b)) for _ in range(3))
    for column in contiguous_columns(a):
        load_kernels(KERNELS).lower_distances(y, column, order, nabla, e, w)
    distances[order] = nabla
    return distances
