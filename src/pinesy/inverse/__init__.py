"""Against the direction of inference: target inputs, and distributions conditioned on targets."""

from pinesy.inverse.backpropagation import LIMIT, Backpropagation, backpropagate
from pinesy.inverse.best_world import BestWorld, best_world
from pinesy.inverse.conflicts import Conflict
from pinesy.inverse.posterior import Posterior, posterior
from pinesy.inverse.reversal import premise_equations
from pinesy.rulebase.sample_equations import PremiseSystem

__all__ = [
    "LIMIT",
    "Backpropagation",
    "BestWorld",
    "Conflict",
    "Posterior",
    "PremiseSystem",
    "backpropagate",
    "best_world",
    "posterior",
    "premise_equations",
]
