"""The verdict on a sample: what was decided, why, what would change it, and how firm it is."""

from pinesy.verdicts.firmness import Firmness
from pinesy.verdicts.sentences import Fact, Reason, degree_text
from pinesy.verdicts.verdict import Guarantee, Verdict, schema, verdict

__all__ = [
    "Fact",
    "Firmness",
    "Guarantee",
    "Reason",
    "Verdict",
    "degree_text",
    "schema",
    "verdict",
]
