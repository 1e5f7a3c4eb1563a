"""Fuzzy relational equations: arrays in, arrays out; it knows no rule."""

from pinesy.equations.certificates import Certificate, Disagreement
from pinesy.equations.compositions import COMPOSITIONS, Composition
from pinesy.equations.fronts import TOLERANCE, Front, Fronts, pareto_front, pareto_fronts
from pinesy.equations.interval_systems import IntervalSystem, SolutionCount
from pinesy.equations.matrix_changes import MatrixChange, least_matrix_change
from pinesy.equations.objectives import Optimum
from pinesy.equations.product import epsilon_product, maxmin_product, minmax_product
from pinesy.equations.subsystems import consistent_rows
from pinesy.equations.system_batches import BatchSolution, solve_batches
from pinesy.equations.systems import MaxMinSystem, MinMaxSystem, System

__all__ = [
    "COMPOSITIONS",
    "TOLERANCE",
    "BatchSolution",
    "Certificate",
    "Composition",
    "Disagreement",
    "Front",
    "Fronts",
    "IntervalSystem",
    "MatrixChange",
    "MaxMinSystem",
    "MinMaxSystem",
    "Optimum",
    "SolutionCount",
    "System",
    "consistent_rows",
    "epsilon_product",
    "least_matrix_change",
    "maxmin_product",
    "minmax_product",
    "pareto_front",
    "pareto_fronts",
    "solve_batches",
]
