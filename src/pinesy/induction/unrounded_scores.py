"""Degrees of the classes of a score card before its points were rounded, for scores that tie less.

Points are whole numbers, and a lead of many points leaves the same possibility as one of more. So a
card may have few different degrees over many rows. The points before they were rounded,
``weight``, and the odds that the card gives to a point, ``levels[t] = 2 / (1 + exp(unit t))``, have
more: the degree of a class is its softmax, ``exp(unit w_c) / sum_d exp(unit w_d)``.

Rows like those of calibration must have equal degrees, bit for bit. So everything is added one
after the other, in an order that depends neither on the size of a batch nor on the machine.
"""

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.evidence.rows import Rows
from pinesy.induction.portable_exp import portable_exp
from pinesy.induction.score_card import ScoreCard, checked_blocks

#: The least possibility that a lead of one point is taken to leave, so that its odds are finite.
LEAST = 1e-3


def unrounded_degrees(card: ScoreCard, rows: Rows) -> FloatArray:
    """Return the degree of each class, in [0, 1]: the softmax of its points before rounding.

    Rules of the user hold besides: a class is at most as possible as they leave it. Blanks are read
    as they are expected (`ScoreCard.score`).

    Parameters
    ----------
    rows : evidence that was read; it may have more columns than the card
    """
    return np.concatenate([_degrees(card, rows, block) for block in checked_blocks(rows)])


def _degrees(card: ScoreCard, rows: Rows, block: FloatArray) -> FloatArray:
    possible, negated = card.line_measures(rows.attributes, block)
    certain = 1.0 - negated
    weights = np.array([(line.weight or line.points, line.undetermined) for line in card.lines])
    weights = weights.reshape(-1, 2)
    points = weights[:, :1] * certain + weights[:, 1:] * (possible - certain)
    totals = log_odds_of_point(card) * _totals(card, points)
    exponentials = portable_exp(totals - totals.max(axis=1, keepdims=True))
    softmax = exponentials / np.cumsum(exponentials, axis=1)[:, -1:]
    by_user_rules = card.possibility_of_leads(np.zeros(totals.shape), rows.attributes, block)
    return np.asarray(np.minimum(softmax, by_user_rules))


def _totals(card: ScoreCard, points: FloatArray) -> FloatArray:
    """Return the points of each class, from those of the lines ``(n_lines, n)``."""
    totals = np.repeat([[float(start)] for start in card.start.values()], points.shape[1], axis=1)
    for line, line_points in zip(card.lines, points, strict=True):
        totals[card.output.position(line.value)] += line_points
    return totals.T


def log_odds_of_point(card: ScoreCard) -> float:
    """Return the log odds of one point."""
    return float(np.log(2.0 / np.clip(card.levels[1], LEAST, 1.0) - 1.0)) or 1.0
