"""The matrix relation ``O = M box I`` of a rule set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.minmax import minmax_product
from pinesy.rules.partition import Partition


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
        return minmax_product(self.matrix, interleave(lambdas, rhos).T).T

    def __repr__(self) -> str:
        omega, n = self.partition.signs.shape
        return f"MatrixRelation(M of shape ({omega}, {2 * n}))"


def show_matrix(rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Write a matrix of names in aligned columns; `note` stands for columns that are left out."""
    width = max(len(entry) for row in rows for entry in row)
    return "\n".join("[" + " ".join(f"{e:>{width}}" for e in row) + f"{note}]" for row in rows)


def interleave(odd: FloatArray, even: FloatArray) -> FloatArray:
    """Return the columns ``odd_1, even_1, odd_2, even_2, ...``."""
    return np.stack([odd, even], axis=-1).reshape(*odd.shape[:-1], -1)
