"""Against the direction of inference: target inputs, and beliefs conditioned on targets."""

from pinesy.inverse.backpropagation import (
    LIMIT,
    Backpropagation,
    Conflict,
    PremiseSystem,
    backpropagate,
    premise_equations,
)
from pinesy.inverse.conditioning import Beliefs, condition

__all__ = [
    "LIMIT",
    "Backpropagation",
    "Beliefs",
    "Conflict",
    "PremiseSystem",
    "backpropagate",
    "condition",
    "premise_equations",
]
