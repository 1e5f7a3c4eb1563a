"""Learning rule parameters from data: reliability, repair, exact solutions, thresholds, audit."""

from pinesy.learning.audit.reliability import Audit, audit
from pinesy.learning.exact.cluster import learn_distributed
from pinesy.learning.exact.in_memory import learn
from pinesy.learning.exact.increments import learn_more
from pinesy.learning.exact.streaming import learn_batches
from pinesy.learning.learning_result import LearningResult, SetResult
from pinesy.learning.metrics import accuracy
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.tolerances.evaluations import ThresholdSearch
from pinesy.learning.tolerances.tolerance_search import candidates, search_thresholds

__all__ = [
    "Audit",
    "LearnedRules",
    "LearningResult",
    "SetResult",
    "ThresholdSearch",
    "accuracy",
    "audit",
    "candidates",
    "learn",
    "learn_batches",
    "learn_distributed",
    "learn_more",
    "search_thresholds",
]
