"""Runs of one experiment taken together: means, deviations, shares, and the paper beside them."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, pstdev
from typing import Any, Final

import pandas as pd

from reproduction.environment import SYMBOLIC
from reproduction.published import PI_NESY, Figure, Result, paper_result
from reproduction.records import PLACE, seconds_table

#: How many of the paper's deviations a mean may lie from the paper's.
WIDTH: Final = 2.0


def figure(values: Iterable[float]) -> Figure:
    """Return mean and standard deviation, of the population (``ddof=0``) as in the paper.

    Of one value the deviation is unknown.

    Examples
    --------
    >>> figure([1.0, 3.0])
    Figure(mean=2.0, deviation=1.0, rounding=0.0)
    """
    numbers = list(values)
    return Figure(fmean(numbers), pstdev(numbers) if len(numbers) > 1 else None)


@dataclass(frozen=True)
class Verdict:
    """How a mean of ours lies to the paper's.

    Attributes
    ----------
    difference : ours minus the paper's
    deviations : the same, in standard deviations of the paper
    within : whether it is at most two of these
    rounded : whether it would be, if the paper's mean were not rounded as it is printed
    """

    difference: float
    deviations: float
    within: bool
    rounded: bool

    @classmethod
    def of(cls, ours: float, theirs: Figure) -> "Verdict":
        """Compare a mean with a published figure, which must have a deviation above 0."""
        deviation = theirs.deviation or 0.0
        difference = ours - theirs.mean
        # A little slack, because 98.9 - 98.7 is not 0.2 in floats.
        slack = WIDTH * deviation + 1e-9
        within = abs(difference) <= slack
        rounded = abs(difference) <= slack + theirs.rounding
        return cls(difference, difference / deviation, within, rounded)


@dataclass(frozen=True, eq=False)
class RunGroup:
    """The runs of one experiment.

    Attributes
    ----------
    scale : empty, or what the trial is called
    problem, size, setting, transform : what the runs have in common
    runs : their rows of the records
    """

    scale: str
    problem: str
    size: int
    setting: str
    transform: str
    runs: pd.DataFrame

    @property
    def method(self) -> str:
        """The paper's name of the method."""
        return PI_NESY[self.transform]

    @property
    def supervision(self) -> str:
        """What was learned from."""
        return "; ".join(sorted(set(self.runs["supervision"])))

    def figure(self, column: str) -> Figure | None:
        """Return the figure of a column, or None unless all runs have it."""
        return self.figure_of(self.runs[column])

    def seconds(self, part: str) -> Figure:
        """Return the figure of the seconds of one of `TIMED`."""
        return figure(seconds_table(self.runs["seconds"])[part])

    @staticmethod
    def figure_of(values: Iterable[Any]) -> Figure | None:
        """Return the figure of values, or None if some are unknown."""
        series = pd.Series(list(values), dtype=float)
        return None if series.isna().any() else figure(series)

    @property
    def accuracy(self) -> Figure:
        """The accuracy in %."""
        return figure(self.runs["accuracy"])

    @property
    def test_samples(self) -> int:
        """The number of test samples of all runs."""
        return sum(samples["test"] for samples in self.runs["samples"])

    @property
    def standard_error(self) -> float:
        """The standard error of the accuracy in %, each test sample being right or wrong."""
        share = float(self.runs["right"].sum()) / self.test_samples
        return 100.0 * sqrt(share * (1.0 - share) / self.test_samples)

    @property
    def shares(self) -> dict[str, float]:
        """What part of the time each of `TIMED` took, all runs together."""
        sums = seconds_table(self.runs["seconds"]).sum()
        return dict(sums / (sums.sum() or 1.0))

    @property
    def symbolic_share(self) -> float | None:
        """Which part of the time was symbolic, each run with its network's training.

        None if no training time is known: then the share would be that of an experiment whose
        network came from elsewhere.
        """
        if (seconds_table(self.runs["seconds"])["training"] <= 0.0).any():
            return None
        return sum(self.shares[part] for part in SYMBOLIC)

    @property
    def paper(self) -> Result | None:
        """The paper's result in this setting, if there is one to compare with."""
        key = self.problem, self.size, self.setting, self.transform
        return None if self.scale else paper_result(*key)

    @property
    def verdict(self) -> Verdict | None:
        """How the accuracy lies to the paper's."""
        theirs = self.paper.accuracy if self.paper else None
        if theirs is None or not theirs.deviation:
            return None
        return Verdict.of(self.accuracy.mean, theirs)


def grouped(records: pd.DataFrame) -> list[RunGroup]:
    """Return sorted records as groups of the same experiment; trials are groups of their own."""
    groups = records.groupby(PLACE, sort=False, observed=True)
    return [
        RunGroup(scale, problem, int(size), setting, transform, runs)
        for (scale, problem, size, setting, transform), runs in groups
    ]
