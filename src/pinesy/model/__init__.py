"""The whole model: perception, transformation and rules in one object; `save` and `load`."""

from pinesy.model.neurosymbolic import NeuroSymbolic, Predictions
from pinesy.model.storage import load, save

__all__ = ["NeuroSymbolic", "Predictions", "load", "save"]
