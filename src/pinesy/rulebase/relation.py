"""The matrix relation ``O = M box I`` of a rule set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.minmax import minmax_product
from pinesy.rules.partition import Partition


@dataclass(frozen=True, repr=False, eq=False)
class MatrixRelation:
    """The relation ``O = M box I`` [eq:redFP] between premise degrees and cell possibilities.

    ``M[mu, 2j-1] = s_j`` if cell `mu` lies in ``Q_j`` else 1, and ``M[mu, 2j] = 1`` if it does
    else ``r_j`` [eq:coefredM]; ``I = (lambda_1, rho_1, ..., lambda_n, rho_n)`` [eq:inputvector].
    It is there to be shown and tested; inference does not build it.
    """

    partition: Partition
    s: FloatArray
    r: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """The matrix `M`, of shape ``(omega, 2n)``."""
        return signed_matrix(self.partition, self.s, self.r)

    @property
    def symbolic(self) -> list[list[str]]:
        """The matrix `M` with ``s_j``, ``r_j`` and ``1`` in place of numbers."""
        return symbolic_matrix(self.partition, "s", "r")

    def apply(self, lambdas: FloatArray, rhos: FloatArray) -> FloatArray:
        """Return ``O = M box I``, the possibility of each cell, by the definition.

        For a batch, degrees of shape ``(n_samples, n)`` give cells of shape ``(n_samples, omega)``.
        """
        return minmax_product(self.matrix, interleave(lambdas, rhos).T).T

    def __str__(self) -> str:
        return show_matrix(self.symbolic)

    def __repr__(self) -> str:
        omega, n = self.partition.signs.shape
        return f"MatrixRelation(M of shape ({omega}, {2 * n}))"


def signed_matrix(partition: Partition, plus: FloatArray, minus: FloatArray) -> FloatArray:
    """Return the matrix with ``plus_j, 1`` where a cell lies in ``Q_j``, else ``1, minus_j``.

    It is `M` [eq:coefredM] with ``(s, r)`` and the matrix `G` of an equation system [eq:coefredG]
    with ``(lambda, rho)``.
    """
    signs = partition.signs
    return interleave(np.where(signs, plus, 1.0), np.where(signs, 1.0, minus))


def symbolic_matrix(partition: Partition, plus: str, minus: str) -> list[list[str]]:
    """Return the signed matrix with names and 1 in place of numbers."""
    return [
        [
            entry
            for j, sign in enumerate(row, 1)
            for entry in ((f"{plus}_{j}", "1") if sign else ("1", f"{minus}_{j}"))
        ]
        for row in partition.signs
    ]


def show_matrix(rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Write a matrix of names in aligned columns; `note` stands for columns that are left out."""
    width = max(len(entry) for row in rows for entry in row)
    return "\n".join("[" + " ".join(f"{e:>{width}}" for e in row) + f"{note}]" for row in rows)


def interleave(odd: FloatArray, even: FloatArray) -> FloatArray:
    """Return the columns ``odd_1, even_1, odd_2, even_2, ...``."""
    return np.stack([odd, even], axis=-1).reshape(*odd.shape[:-1], -1)
