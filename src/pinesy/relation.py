"""The matrix relation ``O = M box I`` of a rule set."""

from dataclasses import dataclass

import numpy as np

from pinesy._validation import FloatArray
from pinesy.minmax import minmax_product
from pinesy.partition import Partition

__all__ = ["MatrixRelation"]


@dataclass(frozen=True, repr=False, eq=False)
class MatrixRelation:
    """The relation ``O = M box I`` between premise degrees and cell possibilities.

    ``M[mu, 2j-1] = s_j`` if cell `mu` lies in ``Q_j`` else 1, and ``M[mu, 2j] = 1`` if it does
    else ``r_j``; ``I = (lambda_1, rho_1, ..., lambda_n, rho_n)``. It is there to be shown and
    tested; inference does not build it.
    """

    partition: Partition
    s: FloatArray
    r: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """The matrix `M`, of shape ``(omega, 2n)``."""
        return interleave(
            np.where(self.partition.signs, self.s, 1.0), np.where(self.partition.signs, 1.0, self.r)
        )

    @property
    def symbolic(self) -> list[list[str]]:
        """The matrix `M` with ``s_j``, ``r_j`` and ``1`` in place of numbers."""
        return [
            [entry for j, sign in enumerate(row, 1) for entry in _entries(j, bool(sign))]
            for row in self.partition.signs
        ]

    def apply(self, lambdas: FloatArray, rhos: FloatArray) -> FloatArray:
        """Return ``O = M box I``, the possibility of each cell, by the definition."""
        return minmax_product(self.matrix, interleave(lambdas, rhos))

    def __str__(self) -> str:
        rows = self.symbolic
        width = max(len(entry) for row in rows for entry in row)
        return "\n".join("[" + " ".join(f"{e:>{width}}" for e in row) + "]" for row in rows)

    def __repr__(self) -> str:
        omega, n = self.partition.signs.shape
        return f"MatrixRelation(M of shape ({omega}, {2 * n}))"


def _entries(j: int, sign: bool) -> tuple[str, str]:
    return (f"s_{j}", "1") if sign else ("1", f"r_{j}")


def interleave(odd: FloatArray, even: FloatArray) -> FloatArray:
    """Return the columns ``odd_1, even_1, odd_2, even_2, ...``."""
    return np.stack([odd, even], axis=-1).reshape(*odd.shape[:-1], -1)
