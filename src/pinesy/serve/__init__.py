"""A service over HTTP that answers by a model, its log of decisions, and what others would decide.

``pinesy serve`` starts it, ``pinesy replay`` compares a log with another model (docs/service.md).
The service needs the extra ``serve``; `ServedModel`, `DecisionLog` and `replay` do not.
"""

from pinesy.serve.decision_log import DecisionLog
from pinesy.serve.replay_report import Difference, ReplayReport
from pinesy.serve.replaying import replay
from pinesy.serve.served_model import ServedModel

__all__ = ["DecisionLog", "Difference", "ReplayReport", "ServedModel", "replay"]
