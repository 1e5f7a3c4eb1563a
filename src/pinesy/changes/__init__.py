"""Why a value did not win, what would have to change, and how far a decision is from changing."""

from pinesy.changes.change import Change, smallest_change
from pinesy.changes.decisions import is_coherent
from pinesy.changes.holding import Hold, Reason
from pinesy.changes.margins import input_margins, margin
from pinesy.changes.whynot import WhyNot, why_not

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
