"""The matrix relation ``O = M box I`` of a rule set, and its systems of min-max equations.

A system is for the parameters of the rules, or for the degrees of their premises.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from pinesy._common.validation import FloatArray, shape_of
from pinesy.equations import COMPOSITIONS, System, minmax_product
from pinesy.exceptions import ShapeError
from pinesy.rules.partition import Partition

#: The degrees and the parameters of rules, as they are written.
DEGREES, PARAMETERS = ("λ", "ρ"), ("s", "r")


@dataclass(frozen=True, repr=False, eq=False)
class SignedMatrix:
    """A matrix `A` with a row for each cell and a pair of columns for each rule.

    ``A[mu, 2j-1] = inside_j`` if cell `mu` lies in ``Q_j`` else 1, and ``A[mu, 2j] = 1`` if it does
    else ``outside_j``. It is `M` [eq:coefredM] with ``(s, r)``, and the matrix `G` of an equation
    system [eq:coefredG] with ``(lambda, rho)``.

    Attributes
    ----------
    partition : the partition of the output domain
    inside, outside : arrays (n,), the coefficients for the cells inside and outside ``Q_j``
    """

    #: How the coefficients are written.
    SYMBOLS: ClassVar[tuple[str, str]] = ("s", "r")

    partition: Partition
    inside: FloatArray
    outside: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """The matrix `A`, of shape ``(omega, 2n)``."""
        signs = self.partition.signs
        return interleave(np.where(signs, self.inside, 1.0), np.where(signs, 1.0, self.outside))

    @property
    def symbolic(self) -> list[list[str]]:
        """The matrix `A` with names and ``1`` in place of numbers."""
        inside, outside = self.SYMBOLS
        return [
            [
                entry
                for j, sign in enumerate(row, 1)
                for entry in ((f"{inside}_{j}", "1") if sign else ("1", f"{outside}_{j}"))
            ]
            for row in self.partition.signs
        ]

    def __str__(self) -> str:
        return show_matrix(self.symbolic)


class MatrixRelation(SignedMatrix):
    """The relation ``O = M box I`` [eq:redFP] between premise degrees and cell possibilities.

    The coefficients of `M` are the parameters ``s_j, r_j`` [eq:coefredM], and
    ``I = (lambda_1, rho_1, ..., lambda_n, rho_n)`` [eq:inputvector].
    It is there to be shown and tested; inference does not build it.
    """

    def apply(self, lambdas: FloatArray, rhos: FloatArray) -> FloatArray:
        """Return ``O = M box I``, the possibility of each cell, by the definition.

        For a batch, degrees of shape ``(n_samples, n)`` give cells of shape ``(n_samples, omega)``.
        """
        shape, n = shape_of(lambdas), self.partition.signs.shape[1]
        if not shape or shape_of(rhos) != shape or shape[-1] != n:
            raise ShapeError(
                f"the degrees of {n} premises have shape ({n},) or (n_samples, {n}); got "
                f"{shape} and {shape_of(rhos)}"
            )
        return minmax_product(self.matrix, interleave(lambdas, rhos).T).T

    def __repr__(self) -> str:
        omega, n = self.partition.signs.shape
        return f"MatrixRelation(M of shape ({omega}, {2 * n}))"

    def _repr_html_(self) -> str:
        from pinesy.display.equations_html import matrix_relation_html

        return matrix_relation_html(self)


@dataclass(frozen=True, repr=False, eq=False)
class SignedSystem(SignedMatrix, System):
    """A min-max system ``y = A box x``, whose matrix has a pair of columns for each rule.

    It is a `System`; distances need no matrix but ``up_j``, the largest target among the cells on
    each side of rule `j`, in ``O(omega n)``.

    Attributes
    ----------
    target : array (omega,), the target possibility of each cell
    """

    target: FloatArray

    composition = COMPOSITIONS["min-max"]
    tolerance = 0.0

    @cached_property
    def a(self) -> FloatArray:
        """The matrix `A`."""
        return self.matrix

    @property
    def b(self) -> FloatArray:
        """The target."""
        return self.target

    @cached_property
    def _uppers(self) -> tuple[FloatArray, FloatArray]:
        """The largest target inside and outside each conclusion (0 where there is no cell)."""
        signs, y = self.partition.signs, self.target[:, None]
        return np.where(signs, y, 0.0).max(axis=0), np.where(signs, 0.0, y).max(axis=0)

    @property
    def greatest_solution(self) -> FloatArray:
        """``E^up`` [eq:twosoldef] or ``F^up`` [def:coFU], the greatest relevant solution if any."""
        return interleave(*self._uppers)

    @property
    def lowest_solution(self) -> FloatArray:
        """``E^down`` or ``F^down`` [lem:coEDOMEGA], the lowest solution if there is any.

        Each ``up`` above its coefficient, else 0.
        """
        ups, coefficients = self.greatest_solution, interleave(self.inside, self.outside)
        return np.where(ups > coefficients, ups, 0.0)

    @cached_property
    def reached(self) -> FloatArray:
        """``A box up``: the lowest consistent target that is nowhere below the target.

        It is the target itself iff the system is consistent [cor:consist, cor:consistOMEGA], and
        normalised like the target, which the `lowest_approximation` need not be.
        """
        return minmax_product(self.matrix, self.greatest_solution)

    @cached_property
    def row_distances(self) -> FloatArray:
        """``nabla_mu`` [eq:Nablamini] of each cell, with ``(a, up)`` of its side of rule `j`.

        ``nabla_mu = min_j max((a - y_mu)^+, min((up - y_mu)^+ / 2, (up - a)^+))``.
        """
        signs, y = self.partition.signs, self.target[:, None]
        a = np.where(signs, self.inside, self.outside)
        up = np.where(signs, *self._uppers)
        rise = np.minimum(np.maximum(up - y, 0.0) / 2, np.maximum(up - a, 0.0))
        distances: FloatArray = np.maximum(np.maximum(a - y, 0.0), rise).min(axis=1)
        return distances

    @property
    def cell_distances(self) -> FloatArray:
        """The distance of each cell: `row_distances`."""
        return self.row_distances

    @cached_property
    def chebyshev_distance(self) -> float:
        """The Chebyshev distance ``nabla`` [eq:Nabla] to the nearest consistent system."""
        return float(self.row_distances.max())

    @property
    def distance(self) -> float:
        """The Chebyshev distance: `chebyshev_distance`."""
        return self.chebyshev_distance

    def __repr__(self) -> str:
        (omega, n), kind = self.partition.signs.shape, type(self).__name__
        return f"{kind}({omega} equations, {2 * n} unknowns, distance {self.distance:g})"

    def _repr_html_(self) -> str:
        from pinesy.display.equations_html import signed_system_html

        return signed_system_html(self)


class EquationSystem(SignedSystem):
    """The system ``Y = G box X`` [eq:upsigma] of a training sample.

    Its coefficients are the degrees ``lambda_j, rho_j`` of the rules' premises, its unknowns the
    parameters ``X = (s_1, r_1, ..., s_n, r_n)``.
    """

    SYMBOLS = "lambda", "rho"

    @property
    def lambdas(self) -> FloatArray:
        """The degrees of the premises."""
        return self.inside

    @property
    def rhos(self) -> FloatArray:
        """The degrees of the premises' negations."""
        return self.outside


class PremiseSystem(SignedSystem):
    """The system ``O = M box X`` [eq:sysOmega] of a target output.

    Its coefficients are the parameters ``s_j, r_j``, its unknowns the degrees of the premises
    ``X = (lambda_1, rho_1, ..., lambda_n, rho_n)``: `greatest_solution` is ``F^up``,
    `lowest_solution` is ``F^down``; if it is consistent, every `X` between them gives the target.
    """


def show_matrix(rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Write a matrix of names in aligned columns; `note` replaces columns that are not shown."""
    width = max(len(entry) for row in rows for entry in row)
    return "\n".join("[" + " ".join(f"{e:>{width}}" for e in row) + f"{note}]" for row in rows)


def interleave(odd: FloatArray, even: FloatArray) -> FloatArray:
    """Return the columns ``odd_1, even_1, odd_2, even_2, ...``."""
    return np.stack([odd, even], axis=-1).reshape(*odd.shape[:-1], -1)
