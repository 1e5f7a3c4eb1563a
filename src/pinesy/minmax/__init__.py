"""The min-max algebra: arrays in, arrays out; it knows no rule."""

from pinesy.minmax.fronts import TOLERANCE, Front, Fronts, pareto_front, pareto_fronts
from pinesy.minmax.product import epsilon_product, maxmin_product, minmax_product
from pinesy.minmax.systems import Certificate, MaxMinSystem, MinMaxSystem

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
