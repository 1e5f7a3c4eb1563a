"""Backpropagation: from target outputs back to target inputs, exactly."""

from pinesy.inverse.backpropagation.backpropagate import LIMIT, backpropagate
from pinesy.inverse.backpropagation.conflict import Conflict
from pinesy.inverse.backpropagation.premises import PremiseSystem, premise_equations
from pinesy.inverse.backpropagation.result import Backpropagation

__all__ = [
    "LIMIT",
    "Backpropagation",
    "Conflict",
    "PremiseSystem",
    "backpropagate",
    "premise_equations",
]
