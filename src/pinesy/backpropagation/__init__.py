"""Backpropagation: from target outputs back to target inputs, exactly."""

from pinesy.backpropagation.backpropagate import LIMIT, backpropagate
from pinesy.backpropagation.conflict import Conflict
from pinesy.backpropagation.premises import PremiseSystem, premise_equations
from pinesy.backpropagation.result import Backpropagation

__all__ = [
    "LIMIT",
    "Backpropagation",
    "Conflict",
    "PremiseSystem",
    "backpropagate",
    "premise_equations",
]
