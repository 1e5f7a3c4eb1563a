"""The equation system ``Y = G box X`` of a rule set and a training sample."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.minmax import TOLERANCE, minmax_product
from pinesy.rulebase.relation import interleave, show_matrix, signed_matrix, symbolic_matrix
from pinesy.rules.partition import Partition


@dataclass(frozen=True, repr=False, eq=False)
class EquationSystem:
    """The system ``y = G box x`` whose unknowns are the parameters ``x = (s_1, r_1, ..., r_n)``.

    ``G[mu, 2j-1] = lambda_j`` if cell `mu` lies in ``Q_j`` else 1, and ``G[mu, 2j] = 1`` if it does
    else ``rho_j``. Everything is computed from ``up_j``, the largest target among the cells on
    each side of rule `j`, in ``O(omega n)``.

    Attributes
    ----------
    partition : the partition of the output domain
    lambdas, rhos : arrays (n,)
        The degrees of the rules' premises for the sample.
    target : array (omega,)
        The target possibility of each cell.
    """

    partition: Partition
    lambdas: FloatArray
    rhos: FloatArray
    target: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """The matrix `G`, of shape ``(omega, 2n)``."""
        return signed_matrix(self.partition, self.lambdas, self.rhos)

    @property
    def symbolic(self) -> list[list[str]]:
        """The matrix `G` with ``lambda_j``, ``rho_j`` and ``1`` in place of numbers."""
        return symbolic_matrix(self.partition, "lambda", "rho")

    @cached_property
    def _uppers(self) -> tuple[FloatArray, FloatArray]:
        """The largest target inside and outside each conclusion (0 where there is no cell)."""
        signs, y = self.partition.signs, self.target[:, None]
        return np.where(signs, y, 0.0).max(axis=0), np.where(signs, 0.0, y).max(axis=0)

    @property
    def greatest_solution(self) -> FloatArray:
        """``E^up = (up_s[1], up_r[1], ...)``, the greatest relevant solution if there is one."""
        return interleave(*self._uppers)

    @property
    def lowest_solution(self) -> FloatArray:
        """``E^down``: each ``up`` where it is above its premise degree, else 0."""
        return self._above(0.0)

    @cached_property
    def is_consistent(self) -> bool:
        """Whether some parameters give just the target; then all from `lowest` to `greatest` do."""
        reached = minmax_product(self.matrix, self.greatest_solution)
        return bool(np.array_equal(reached, self.target))

    @cached_property
    def cell_distances(self) -> FloatArray:
        """``nabla_mu`` for each cell, with ``(g, up)`` of the side of rule `j` that it is on.

        ``nabla_mu = min_j max((g - y_mu)^+, min((up - y_mu)^+ / 2, (up - g)^+))``.
        """
        signs, y = self.partition.signs, self.target[:, None]
        g = np.where(signs, self.lambdas, self.rhos)
        up = np.where(signs, *self._uppers)
        rise = np.minimum(np.maximum(up - y, 0.0) / 2, np.maximum(up - g, 0.0))
        distances: FloatArray = np.maximum(np.maximum(g - y, 0.0), rise).min(axis=1)
        return distances

    @property
    def distance(self) -> float:
        """The Chebyshev distance ``nabla`` to the nearest consistent system; 0 iff consistent."""
        return float(self.cell_distances.max())

    @property
    def lowest_approximate_solution(self) -> FloatArray:
        """The lowest parameters that come as near to the target as any can."""
        return self._above(self.distance)

    @property
    def lowest_approximation(self) -> FloatArray:
        """The lowest of the nearest targets that some parameters give: the repaired sample."""
        return minmax_product(self.matrix, self.lowest_approximate_solution)

    def _above(self, nabla: float) -> FloatArray:
        """Return ``(up - nabla)^+`` where it is above the premise degree, else 0."""
        lowered = np.maximum(interleave(*self._uppers) - nabla, 0.0)
        degrees = interleave(self.lambdas, self.rhos)
        return np.where(lowered - degrees > (TOLERANCE if nabla else 0.0), lowered, 0.0)

    def __str__(self) -> str:
        return show_matrix(self.symbolic)

    def __repr__(self) -> str:
        omega, n = self.partition.signs.shape
        return f"EquationSystem({omega} equations, {2 * n} unknowns, distance {self.distance:g})"
