"""Systems of fuzzy relational inequalities: ``lower <= A x <= upper``, and all their solutions.

A system of equations has ``lower = upper``. One bound limits the unknowns, and gives the extreme
solution; the other must be reached by some column in each row (docs/equations.md).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from pinesy._common.validation import check_degree, check_integer
from pinesy.equations.compositions import ROUNDING, Composition, as_composition
from pinesy.equations.covers import Covers
from pinesy.equations.exact_arrays import Degrees, as_fractions, as_number, degrees_or_fractions
from pinesy.equations.objectives import CoverSearch, Optimum
from pinesy.equations.product import (
    check_same_length,
    finite_array,
    make_readonly,
    row_blocks,
)
from pinesy.exceptions import DomainError, InconsistentSystemError

#: Solutions that are counted, and nodes of a search for the best one, at most.
CAP, MAX_NODES = 100_000, 100_000


@dataclass(frozen=True)
class SolutionCount:
    """The number of minimal (maximal) solutions, or `cap` if there are more.

    Attributes
    ----------
    n : int
    is_complete : whether these are all
    """

    n: int
    is_complete: bool

    def __str__(self) -> str:
        return f"{self.n:,}" if self.is_complete else f"more than {self.n:,}"


class IntervalSystem:
    """The system ``lower <= A x <= upper`` for a composition.

    Parameters
    ----------
    matrix : array (N, M) of degrees
    lower, upper : arrays (N,) of degrees, or None for no bound
    composition : str
        One of `COMPOSITIONS`.
    tolerance : float
        Degrees that differ by less are equal. By default 0 where nothing is rounded, and 1e-12 for
        floats with product and Lukasiewicz.

    Examples
    --------
    >>> system = IntervalSystem([[0.5, 0.8], [0.4, 1.0]], [0.2, 0.0], [0.4, 0.6], "max-product")
    >>> system.greatest_solution
    array([0.8, 0.5])
    >>> [x.tolist() for x in system.minimal_solutions()]
    [[0.4, 0.0], [0.0, 0.25]]
    """

    a: Any
    lower: Any
    upper: Any
    composition: Composition
    tolerance: Any

    def __init__(
        self,
        matrix: Degrees,
        lower: Degrees | None,
        upper: Degrees | None,
        composition: str | Composition = "max-min",
        *,
        tolerance: float | None = None,
    ) -> None:
        n = len(degrees_or_fractions([matrix], ["the matrix"], [2])[0])
        bounds = [
            np.zeros(n, dtype=np.int64) if lower is None else lower,
            np.ones(n, dtype=np.int64) if upper is None else upper,
        ]
        names = ["the matrix", "lower", "upper"]
        self.a, self.lower, self.upper = self._checked([matrix, *bounds], names)
        if (self.lower > self.upper).any():
            row = int((self.lower > self.upper).argmax())
            raise DomainError(
                f"row {row}: lower is {self.lower[row]} and upper is {self.upper[row]}; no degree "
                "is between them: exchange them"
            )
        self._set_composition(composition, tolerance)

    def _checked(self, arrays: list[Any], names: list[str]) -> list[Any]:
        """Return a matrix and vectors as arrays of degrees of matching shapes."""
        matrix, *vectors = degrees_or_fractions(arrays, names, [2] + [1] * (len(arrays) - 1))
        for vector, name in zip(vectors, names[1:], strict=True):
            check_same_length(
                len(matrix), "the rows of the matrix", len(vector), f"those of {name}"
            )
        return [make_readonly(array) for array in (matrix, *vectors)]

    def _set_composition(self, composition: object, tolerance: float | None) -> None:
        self.composition = as_composition(composition)
        default = ROUNDING if self.composition.is_rounded and not self.is_exact else 0.0
        allowed = default if tolerance is None else check_degree(tolerance, "tolerance")
        # A float would turn fractions into floats.
        self.tolerance = Fraction(allowed) if self.is_exact else allowed

    @property
    def is_exact(self) -> bool:
        """Whether the entries are fractions: then nothing is rounded."""
        return bool(self.a.dtype == object)

    def apply(self, x: Degrees) -> Any:
        """Return ``A x``. O(N M)."""
        return self._apply(self._checked_vector(x, "x"))

    def _checked_vector(self, x: Degrees, name: str) -> Any:
        vector = degrees_or_fractions([x], [name], [1])[0]
        if self.is_exact and vector.dtype != object:  # floats are fractions too
            vector = as_fractions(vector.astype(object))
        check_same_length(len(vector), f"the entries of {name}", self.a.shape[1], "the columns")
        return vector

    def _apply(self, x: Any) -> Any:
        combine, reduce = self.composition.combine, self.composition.reduce
        parts = [reduce(combine(self.a[rows], x)) for rows in row_blocks(self.a)]
        return as_fractions(np.concatenate(parts))

    # --- the extreme solution -------------------------------------------------------------------

    def _extreme(self, bounds: Any) -> Any:
        """Return the extreme vector within bounds: the minimum of ``bound(a_kj, b_k)`` over k."""
        composition = self.composition
        reduce: Any = np.min if composition.is_max else np.max
        parts = [
            reduce(composition.bound(self.a[rows], bounds[rows, None]), axis=0)
            for rows in row_blocks(self.a)
        ]
        return make_readonly(as_fractions(reduce(np.stack(parts), axis=0)))

    @cached_property
    def candidate(self) -> Any:
        """The extreme vector within one bound: the extreme solution, if there is any. O(N M)."""
        return self._extreme(self.upper if self.composition.is_max else self.lower)

    @cached_property
    def is_consistent(self) -> bool:
        """Whether there is a solution: whether the extreme candidate reaches every row. O(N M)."""
        reached = self._apply(self.candidate)
        if self.composition.is_max:
            return bool((reached >= self.lower - self.tolerance).all())
        return bool((reached <= self.upper + self.tolerance).all())

    def _require_consistent(self) -> None:
        if not self.is_consistent:
            raise InconsistentSystemError(
                "the system has no solution; widen the bounds of the rows that its extreme "
                "candidate does not reach"
            )

    @property
    def extreme_solution(self) -> Any:
        """The greatest solution of a maximum, the lowest of a minimum.

        Raises `InconsistentSystemError` if there is none.
        """
        self._require_consistent()
        return self.candidate

    @property
    def greatest_solution(self) -> Any:
        """The solution above all others, of a max-t-norm composition; see `extreme_solution`."""
        self._check_extreme("greatest")
        return self.extreme_solution

    @property
    def lowest_solution(self) -> Any:
        """The solution below all others, of a min composition; see `extreme_solution`."""
        self._check_extreme("lowest")
        return self.extreme_solution

    def _check_extreme(self, extreme: str) -> None:
        composition = self.composition
        if composition.extreme != extreme:
            raise DomainError(
                f"a {composition.name} system has one {composition.extreme} solution and "
                f"{composition.many} ones; ask for {composition.extreme}_solution or "
                f"{composition.many}_solutions()"
            )

    # --- all solutions --------------------------------------------------------------------------

    def minimal_solutions(self) -> Iterator[Any]:
        """Yield the minimal solutions of a max-t-norm composition, lazily, each once.

        All solutions are those between one of them and the greatest solution. There may be
        exponentially many: take some with `itertools.islice`, count them with `count_solutions`.
        """
        self._check_extreme("greatest")
        return self.opposite_solutions()

    def maximal_solutions(self) -> Iterator[Any]:
        """Yield the maximal solutions of a min composition, lazily, each once.

        All solutions are those between the lowest solution and one of them.
        """
        self._check_extreme("lowest")
        return self.opposite_solutions()

    def opposite_solutions(self) -> Iterator[Any]:
        """Yield the minimal solutions of a maximum, the maximal ones of a minimum."""
        covers = self._covers
        return (as_fractions(covers.vector(levels)) for levels in covers.minimal())

    def count_solutions(self, cap: int = CAP) -> SolutionCount:
        """Return the number of minimal (maximal) solutions, at most `cap`."""
        check_integer(cap, "cap", 1)
        n = sum(1 for _ in islice(self._covers.minimal(), cap + 1))
        return SolutionCount(min(n, cap), n <= cap)

    @cached_property
    def _covers(self) -> Covers:
        self._require_consistent()
        composition, x = self.composition, self.candidate
        goals = (self.lower if composition.is_max else self.upper)[:, None]
        # A row that the start reaches, up to rounding, needs nothing.
        goals = np.where(
            np.abs(goals - composition.start) <= self.tolerance, composition.start, goals
        )
        values = composition.combine(self.a, x)
        if composition.is_max:
            is_reached = values >= goals - self.tolerance
            reach = np.minimum(composition.reach(self.a, goals), x)
        else:
            is_reached = values <= goals + self.tolerance
            reach = np.maximum(composition.reach(self.a, goals), x)
        is_open = is_reached & (self.a <= goals) & (goals < 1)
        if composition.definition == "min-goedel" and is_open.any():
            row = int(is_open.any(axis=1).argmax())
            raise DomainError(
                f"row {row}: with the Goedel implication all x_j below a coefficient that is at "
                "most the upper bound are solutions, so none is maximal; lower the upper bound "
                "below the coefficients of the row, or take equations"
            )
        return Covers.of(composition, reach, is_reached, self.tolerance)

    # --- a linear objective ---------------------------------------------------------------------

    def minimise(self, weights: Degrees, *, max_nodes: int = MAX_NODES) -> Optimum:
        """Return a solution with the least ``weights'x``.

        Unknowns that are cheapest at the extreme solution take it; for the others it is a weighted
        set cover, by branch and bound. If that needs more than `max_nodes` nodes, the best solution
        so far is returned, with a bound.

        Examples
        --------
        >>> system = IntervalSystem([[1.0, 0.5]], [0.25], [0.25], "max-product")
        >>> system.minimise([3.0, 1.0])
        Optimum(x=array([0. , 0.5]), value=0.5, is_optimal=True, bound=0.5)
        """
        c = _weights(weights)
        check_same_length(len(c), "the weights", self.a.shape[1], "the columns")
        check_integer(max_nodes, "max_nodes", 1)
        covers, start = self._covers, self.composition.start
        is_free = c <= 0 if self.composition.is_max else c >= 0
        x = np.where(is_free, self.candidate, start)
        costs = [
            0 * values if free else weight * (values - start)
            for values, weight, free in zip(covers.values, c, is_free, strict=True)
        ]
        levels, _, bound = CoverSearch(covers.without(is_free), costs, max_nodes).run()
        # Without a cover the search was given up before the first one.
        solution = self.candidate if levels is None else np.where(is_free, x, covers.vector(levels))
        solution = as_fractions(np.asarray(solution))
        value, base = (c * solution).sum(), (c * x).sum()
        best = base + bound
        is_optimal = bool(value <= best + self._slack(c))
        return Optimum(solution, as_number(value), is_optimal, as_number(min(value, best)))

    def maximise(self, weights: Degrees, *, max_nodes: int = MAX_NODES) -> Optimum:
        """Return a solution with the greatest ``weights'x``; see `minimise`."""
        least = self.minimise(-_weights(weights), max_nodes=max_nodes)
        return Optimum(least.x, -least.value, least.is_optimal, -least.bound)

    def _slack(self, c: Any) -> float:
        """Return the rounding error of an objective."""
        return 0 if self.is_exact else float(np.abs(c).sum()) * ROUNDING

    def __repr__(self) -> str:
        rows, columns = self.a.shape
        kind = type(self).__name__
        return f"{kind}({rows} rows, {columns} unknowns, {self.composition.name!r})"


def _weights(weights: Any) -> Any:
    """Return weights as finite floats, or as they are if all are fractions or integers."""
    raw = np.asarray(weights)
    is_exact = raw.dtype == object and all(isinstance(w, Fraction | int) for w in raw.flat)
    return raw if is_exact and raw.ndim == 1 else finite_array(weights, "weights", 1)
