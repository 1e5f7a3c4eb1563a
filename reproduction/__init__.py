"""The paper's experiments: run experiment by experiment, resumed at any moment, reported."""

from reproduction.experiments import Experiment, experiments_of
from reproduction.store import Store

__all__ = ["Experiment", "Store", "experiments_of"]
