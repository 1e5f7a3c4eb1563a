"""One rule base, several semantics: one object each, one registry, and marginals in a semiring."""

from pinesy.semantics.semantics import SEMANTICS, Semantics, as_semantics, register_semantics
from pinesy.semantics.semirings import Semiring
from pinesy.semantics.world_weights import WorldInference, WorldWeights

__all__ = [
    "SEMANTICS",
    "Semantics",
    "Semiring",
    "WorldInference",
    "WorldWeights",
    "as_semantics",
    "register_semantics",
]
