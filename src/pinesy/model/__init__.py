"""The whole model: perception, transformation and rules in one object; `save` and `load`."""

from pinesy.model.combined import Combined
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.predictions import Predictions
from pinesy.model.storage import load, save

__all__ = ["Combined", "NeuroSymbolic", "Predictions", "load", "save"]
