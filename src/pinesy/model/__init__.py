"""The whole model: perception, transformation and rules in one object, and its files."""

from pinesy.model.neurosymbolic import NeuroSymbolic, Predictions

__all__ = ["NeuroSymbolic", "Predictions"]
