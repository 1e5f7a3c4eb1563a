"""Why a value did not win, what would have to change, and how far a decision is from changing."""

from pinesy.explanations.counterfactuals.change import Change, smallest_change
from pinesy.explanations.counterfactuals.decisions import is_coherent
from pinesy.explanations.counterfactuals.holding import Hold, Reason
from pinesy.explanations.counterfactuals.margins import input_margins, margin
from pinesy.explanations.counterfactuals.whynot import WhyNot, why_not

__all__ = [
    "Change",
    "Hold",
    "Reason",
    "WhyNot",
    "input_margins",
    "is_coherent",
    "margin",
    "smallest_change",
    "why_not",
]
