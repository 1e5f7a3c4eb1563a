"""Random score cards, and rows for them."""

from typing import Any

import numpy as np

from pinesy import Attribute, Rule
from pinesy.induction import CardLine, ScoreCard
from pinesy.induction.point_model import levels_of
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Proposition

AGE = Attribute.number("age", [30, 50, 70])
CITY = Attribute("city", ["Bonn", "Oslo", "Rome"])
DOSE = Attribute("dose", [0, 1, 2, 3])
COLUMNS = (AGE, CITY, DOSE, Attribute("unused", ["no", "yes"]))


def random_card(seed: int, n_classes: int, n_lines: int = 7, n_kept: int = 0) -> ScoreCard:
    """Return a card of random lines, starts and levels."""
    rng = np.random.default_rng(seed)
    output = Attribute("state", [f"s{i}" for i in range(n_classes)])

    def premise() -> tuple[Proposition, ...]:
        chosen = rng.choice(3, size=rng.integers(1, 4), replace=False)
        columns = [COLUMNS[i] for i in sorted(chosen)]
        return tuple(Proposition(a, int(rng.integers(1, a.full))) for a in columns)

    lines = []
    for number in range(n_lines):
        points = int(rng.integers(1, 5))
        value = output.domain[rng.integers(n_classes)]
        undetermined = int(rng.integers(points + 1))
        lines.append(CardLine(f"rule {number}", value, points, premise(), undetermined, 7.0, 0.75))
    kept = []
    for _ in range(n_kept):
        conclusion = Proposition(output, int(rng.integers(1, output.full)))
        kept.append(Rule(premise_of(*premise()), conclusion, 1.0, float(rng.choice([0.0, 0.3]))))
    start = dict(zip(output.domain, rng.integers(0, 3, n_classes).tolist(), strict=True))
    levels = tuple(levels_of(float(rng.uniform(0.2, 1.0)), 12).tolist())
    shares = dict.fromkeys(output.domain, 1.0 / n_classes)
    return ScoreCard(tuple(lines), start, output, levels, COLUMNS, tuple(kept), shares)


def rows(rng: np.random.Generator, attributes: Any, n: int, blank: float) -> np.ndarray[Any, Any]:
    """Return degrees of crisp values side by side, some unknown."""
    parts = []
    for a in attributes:
        part = np.eye(len(a.domain))[rng.integers(len(a.domain), size=n)]
        part[rng.random(n) < blank] = 1.0
        parts.append(part)
    return np.concatenate(parts, axis=1)
