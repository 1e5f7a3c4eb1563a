"""One rule base, several semantics: what worlds that obey the rules weigh together."""

from pinesy.semantics.world_weights import WorldInference, WorldWeights

__all__ = ["WorldInference", "WorldWeights"]
