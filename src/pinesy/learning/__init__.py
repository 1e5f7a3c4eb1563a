"""Learning rule parameters from data: exact solutions, tolerances and the reliability audit."""

from pinesy.learning.audit.blame import Blame, SetAudit
from pinesy.learning.audit.reliability import Audit, audit
from pinesy.learning.exact.cluster import learn_distributed
from pinesy.learning.exact.in_memory import learn
from pinesy.learning.exact.increments import learn_more
from pinesy.learning.exact.streaming import learn_batches
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.metrics import accuracy
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.tolerances.evaluations import Evaluation, ToleranceSearch
from pinesy.learning.tolerances.tolerance_search import candidate_tolerances, search_tolerances

__all__ = [
    "Audit",
    "Blame",
    "Evaluation",
    "LearnedRules",
    "LearningResult",
    "SampleSummary",
    "SetAudit",
    "SetResult",
    "ToleranceSearch",
    "accuracy",
    "audit",
    "candidate_tolerances",
    "learn",
    "learn_batches",
    "learn_distributed",
    "learn_more",
    "search_tolerances",
]
