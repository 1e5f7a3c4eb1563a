"""What a search for thresholds gives: the thresholds, and all that was tried."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from pinesy.exceptions import DataError
from pinesy.learning.learning_result import SHOWN, LearningResult
from pinesy.learning.tolerances.tolerance_groups import Group


@dataclass(frozen=True, repr=False)
class Evaluation:
    """One trial of thresholds.

    Attributes
    ----------
    thresholds : for each group
    metric : its value, or None if learning is impossible with these thresholds
    reason : why it is impossible; empty if it is not
    reliable : how many samples each rule set was learned from; if learning is impossible, only
        the set that has none
    seconds : how long it took, since the trial before it
    points : of the grid of an exhaustive search, how many points have this outcome; `thresholds`
        is then the lowest of them
    """

    thresholds: Mapping[Group, float]
    metric: float | None
    reason: str
    reliable: Mapping[str, int]
    seconds: float
    points: int = 1

    def __repr__(self) -> str:
        outcome = self.reason if self.metric is None else f"{self.metric:.6g}"
        return f"Evaluation({show_thresholds(self.thresholds)}: {outcome})"


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdSearch:
    """The thresholds that were found, what is learned with them, and all that was tried.

    Attributes
    ----------
    method : ``"paper"`` or ``"exhaustive"``
    thresholds : for each group; `learn` takes it as `tolerance`
    metric : the value that they reach on the validation data
    result : what is learned with them
    evaluations : for ``"paper"`` every trial, in their order; for ``"exhaustive"`` one for each
        model that differs, and one for each way in which learning is impossible, from the lowest
        thresholds on
    n_grid, n_distinct : of an exhaustive search, the number of combinations of candidates and of
        models that differ; else None
    """

    method: str
    thresholds: Mapping[Group, float]
    metric: float
    result: LearningResult
    evaluations: tuple[Evaluation, ...] = field(default=())
    n_grid: int | None = None
    n_distinct: int | None = None

    def to_frame(self) -> Any:
        """Return the evaluations as a pandas DataFrame, a row for each.

        Its columns are the threshold ``tau <group>`` of each group, ``metric``, ``reliable`` (the
        smallest number of samples that a rule set was learned from), ``points``, ``seconds`` and
        ``reason``.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise DataError(
                "to_frame needs pandas; install it with: pip install 'pinesy[frame]'"
            ) from None
        return pandas.DataFrame([_row(one) for one in self.evaluations])

    def __repr__(self) -> str:
        return (
            f"ThresholdSearch({show_thresholds(self.thresholds)}: metric {self.metric:.6g}, "
            f"{len(self.evaluations)} evaluations)"
        )

    def __str__(self) -> str:
        """Return a table, a line for each evaluation (the first ones, if they are very many)."""
        head = ["", *(f"tau {show_group(g)}" for g in self.thresholds), "metric", "reliable"]
        lines = [head, *map(self._line, self.evaluations[:SHOWN])]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        more = len(self.evaluations) - SHOWN
        return f"{self!r}{self._grid}\n{text}" + (f"\n... and {more} more" if more > 0 else "")

    @property
    def _grid(self) -> str:
        if self.n_grid is None:
            return ""
        return f"\n{self.n_grid} combinations of candidates, {self.n_distinct} different models"

    def _line(self, one: Evaluation) -> list[str]:
        mark = "*" if one.thresholds == self.thresholds else ""
        metric = "impossible" if one.metric is None else f"{one.metric:.6g}"
        least = min(one.reliable, key=one.reliable.__getitem__)
        numbers = [f"{t:.4g}" for t in one.thresholds.values()]
        return [mark, *numbers, metric, f"{one.reliable[least]} for {least}"]


def show_group(group: Group) -> str:
    """Return a group as text."""
    return ", ".join(group) if isinstance(group, tuple) else group


def show_thresholds(thresholds: Mapping[Group, float]) -> str:
    """Return thresholds as text, the first ones if they are many."""
    shown = [f"{show_group(g):.30}={t:.4g}" for g, t in list(thresholds.items())[:6]]
    return ", ".join(shown) + ", ..." * (len(thresholds) > 6)


def _row(one: Evaluation) -> dict[str, Any]:
    return {
        **{f"tau {show_group(g)}": t for g, t in one.thresholds.items()},
        "metric": one.metric,
        "reliable": min(one.reliable.values()),
        "points": one.points,
        "seconds": one.seconds,
        "reason": one.reason,
    }
