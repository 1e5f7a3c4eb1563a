"""The system ``O = M box X`` that a target output sets for the degrees of the premises."""

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import target_degrees
from pinesy.minmax import minmax_product
from pinesy.rulebase.equations import EquationSystem
from pinesy.rulebase.relation import symbolic_matrix
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.partition import Partition


class PremiseSystem(EquationSystem):
    """The system (Omega) whose unknowns are ``X = (lambda_1, rho_1, ..., lambda_n, rho_n)``.

    It is an `EquationSystem` with the parameters ``(s, r)`` in the place of the premise degrees:
    `greatest_solution` is ``F^up``, `lowest_solution` is ``F^down``; if it is consistent, every
    `X` between them gives the target.
    """

    @property
    def symbolic(self) -> list[list[str]]:
        """The matrix `M` with ``s_j``, ``r_j`` and ``1`` in place of numbers."""
        return symbolic_matrix(self.partition, "s", "r")

    @property
    def reached(self) -> FloatArray:
        """``M box F^up``: the lowest consistent target that is nowhere below the target.

        It is the target itself iff the system is consistent, and normalised like the target,
        which the `lowest_approximation` need not be.
        """
        return minmax_product(self.matrix, self.greatest_solution)


def premise_equations(rule_set: RuleSet, target: object) -> PremiseSystem:
    """Return the system of equations that a target output sets for the premise degrees.

    Parameters
    ----------
    rule_set : RuleSet
    target : a value of the output attribute, or a normalised distribution on it

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> system = premise_equations(RuleSet([If(a.isin({0})).then(b.isin({1}), s=0.2)]), [0.4, 1.0])
    >>> system.lowest_solution.tolist(), system.greatest_solution.tolist()
    ([1.0, 0.4], [1.0, 0.4])
    """
    degrees = target_degrees(target, rule_set.output)
    return system_of(rule_set, degrees)


def system_of(rule_set: RuleSet, degrees: FloatArray) -> PremiseSystem:
    """Return the system of a distribution that is known to be one, normalised or not."""
    cells = cells_of(rule_set.partition, degrees[None, :])[0]
    return PremiseSystem(rule_set.partition, rule_set.s, rule_set.r, cells)


def cells_of(partition: Partition, degrees: FloatArray) -> FloatArray:
    """Return the possibility of each cell ``(n, omega)`` for distributions ``(n, |D_b|)``."""
    order = np.argsort(partition.cell_of, kind="stable")
    if len(partition) == len(order):
        return degrees[:, order]
    starts = np.searchsorted(partition.cell_of[order], np.arange(len(partition)))
    found: FloatArray = np.maximum.reduceat(degrees[:, order], starts, axis=1)
    return found
