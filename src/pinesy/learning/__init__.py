"""Learning rule parameters from data: reliability, repair, exact solutions, thresholds, audit."""

from pinesy.learning.adding import learn_more
from pinesy.learning.audit import Audit, audit
from pinesy.learning.distributed import learn_distributed
from pinesy.learning.learn import learn
from pinesy.learning.metrics import accuracy
from pinesy.learning.model import Model, load_model, save_model
from pinesy.learning.result import LearningResult, SetResult
from pinesy.learning.streaming import learn_batches
from pinesy.learning.threshold_search import ThresholdSearch
from pinesy.learning.thresholds import candidates, search_thresholds

__all__ = [
    "Audit",
    "LearningResult",
    "Model",
    "SetResult",
    "ThresholdSearch",
    "accuracy",
    "audit",
    "candidates",
    "learn",
    "learn_batches",
    "learn_distributed",
    "learn_more",
    "load_model",
    "save_model",
    "search_thresholds",
]
