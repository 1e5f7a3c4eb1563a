"""The min-max algebra: arrays in, arrays out; it knows no rule."""

from pinesy.equations.fronts import TOLERANCE, Front, Fronts, pareto_front, pareto_fronts
from pinesy.equations.product import epsilon_product, maxmin_product, minmax_product
from pinesy.equations.systems import Certificate, MaxMinSystem, MinMaxSystem

__all__ = [
    "TOLERANCE",
    "Certificate",
    "Front",
    "Fronts",
    "MaxMinSystem",
    "MinMaxSystem",
    "epsilon_product",
    "maxmin_product",
    "minmax_product",
    "pareto_front",
    "pareto_fronts",
]
