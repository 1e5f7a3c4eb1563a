"""The verdict on a sample: what was decided, why, what would change it, and how firm it is."""

from pinesy.verdicts.digit_sums import DigitSum, digit_sum
from pinesy.verdicts.exclusion import Exclusion
from pinesy.verdicts.firmness import Firmness
from pinesy.verdicts.near_misses import NearMiss
from pinesy.verdicts.sentences import Fact, Reason, short_degree
from pinesy.verdicts.verdict import Guarantee, Verdict, verdict, verdict_schema

__all__ = [
    "DigitSum",
    "Exclusion",
    "Fact",
    "Firmness",
    "Guarantee",
    "NearMiss",
    "Reason",
    "Verdict",
    "digit_sum",
    "short_degree",
    "verdict",
    "verdict_schema",
]
