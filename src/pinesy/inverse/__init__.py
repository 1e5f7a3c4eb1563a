"""Against the direction of inference: target inputs, and distributions conditioned on targets."""

from pinesy.inverse.backpropagation import LIMIT, Backpropagation, backpropagate
from pinesy.inverse.conflicts import Conflict
from pinesy.inverse.posterior import Posterior, posterior
from pinesy.inverse.reversal import premise_equations
from pinesy.rulebase.sample_equations import PremiseSystem

__all__ = [
    "LIMIT",
    "Backpropagation",
    "Conflict",
    "Posterior",
    "PremiseSystem",
    "backpropagate",
    "posterior",
    "premise_equations",
]
