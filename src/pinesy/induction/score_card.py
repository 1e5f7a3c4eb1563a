"""Induced rules as a score card: which conditions give how many points to which class."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from pinesy._common.console import text_table
from pinesy.rules.syntax.writer import show_value


class CardLine(NamedTuple):
    """One rule of a score card.

    Attributes
    ----------
    attribute : the name of the attribute that has the points in the cascade
    value : the class that gets them
    points : how many
    premise : the conditions, as text
    """

    attribute: str
    value: Hashable
    points: int
    premise: str


@dataclass(frozen=True)
class ScoreCard:
    """What induced rules say, without the rules that add points and compare sums.

    Attributes
    ----------
    lines : the rules, those of most points first within a class
    start : the points that each class begins with
    certainties : of a lead of 1, 2, ... points; of longer ones as of the last
    """

    lines: tuple[CardLine, ...]
    start: dict[Hashable, int]
    certainties: tuple[float, ...]

    def __str__(self) -> str:
        """Return the card as text."""
        begin = [("start", show_value(v), f"+{n}") for v, n in self.start.items() if n]
        rows = [(one.premise, show_value(one.value), f"+{one.points}") for one in self.lines]
        leads = ", ".join(f"{c:.2g}" for c in self.certainties[:12])
        return (
            text_table([("if", "then for", "points"), *begin, *rows])
            + f"\ncertainty of a lead of 1, 2, ... points: {leads}"
            + ", ..." * (len(self.certainties) > 12)
        )
