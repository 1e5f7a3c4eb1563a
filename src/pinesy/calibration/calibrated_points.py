"""Calibrated answers of a score card, by its points before they were rounded."""

from dataclasses import dataclass

import numpy as np

from pinesy.calibration.calibrated_rules import CalibratedAnswers, Possibilities
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError
from pinesy.induction.points_cascade import CardCascade
from pinesy.induction.unrounded_scores import unrounded_degrees
from pinesy.rules.possibility import Possibility


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedPoints(CalibratedAnswers):
    """Induced rules whose answers are calibrated by their points before rounding.

    Rounded points tie, and equal scores make sets large. The guarantee is that of
    `CalibratedAnswers`: it holds for any scores that were fixed before calibration.
    """

    def __post_init__(self) -> None:
        """Raise `DataError` where the rules have no score card."""
        if not isinstance(self.rules, CardCascade):
            raise DataError("the calibration is of a score card, which these rules do not have")

    def answers(self, evidence: Evidence) -> Possibilities:
        """Return the degrees of the classes by their unrounded points, which are calibrated."""
        assert isinstance(self.rules, CardCascade)
        card, rows = self.rules.card, self.rules.card_rows(evidence)
        degrees = unrounded_degrees(card, rows)
        height = np.asarray(card.score_rows(rows).possibility.max(axis=1))
        batch = Possibility(card.output, degrees, height)
        return {card.output.name: batch if rows.is_batch else batch.sample(0)}
