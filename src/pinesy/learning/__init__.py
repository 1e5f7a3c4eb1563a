"""Learning rule parameters from data: exact solutions, tolerances and the reliability audit."""

from pinesy.learning.audit import Audit, audit
from pinesy.learning.batches import learn_batches, learn_more
from pinesy.learning.compare_methods import MethodComparison, compare_methods
from pinesy.learning.distributed_work import (
    audit_distributed,
    evaluate_distributed,
    infer_distributed,
    learn_distributed,
)
from pinesy.learning.evaluate import DecisionReport, DecisionScores, accuracy, evaluate
from pinesy.learning.learn import learn
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate, RuleCounts, SetEstimate
from pinesy.learning.search_tolerances import (
    Evaluation,
    ToleranceSearch,
    candidate_tolerances,
    search_tolerances,
)
from pinesy.learning.set_audits import Blame, SetAudit

__all__ = [
    "Audit",
    "Blame",
    "DecisionReport",
    "DecisionScores",
    "Evaluation",
    "LearnedRules",
    "LearningResult",
    "MethodComparison",
    "ParameterEstimate",
    "RuleCounts",
    "SampleSummary",
    "SetAudit",
    "SetEstimate",
    "SetResult",
    "ToleranceSearch",
    "accuracy",
    "audit",
    "audit_distributed",
    "candidate_tolerances",
    "compare_methods",
    "evaluate",
    "evaluate_distributed",
    "infer_distributed",
    "learn",
    "learn_batches",
    "learn_distributed",
    "learn_more",
    "search_tolerances",
]
