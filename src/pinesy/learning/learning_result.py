"""What learning gives: the rules with their parameters, and how reliable each sample is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Any, Generic, TypeVar

import numpy as np

from pinesy._common.reports import ReportTable, TableReport, data_frame
from pinesy._common.validation import BoolArray, FloatArray, is_word
from pinesy.equations import Fronts
from pinesy.equations.fronts import reliable_below
from pinesy.exceptions import CascadeError, DataError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import interleave

#: What is known of one learned rule set.
OfSet = TypeVar("OfSet")
#: The fronts of no parameters.
NO_FRONTS = Fronts(np.empty(0), np.empty(0), np.zeros(1, dtype=np.int64))
#: Rule sets that the printed table shows.
SHOWN = 20


@dataclass(frozen=True, eq=False)
class SampleSummary:
    """What the first pass keeps of a rule set's samples.

    Merging is associative and commutative to the last bit, so that samples may come in any chunks,
    in any order, from anywhere.

    Attributes
    ----------
    samples, reliable : how many there are, and how many of them have ``nabla < tau``
    smallest : the smallest ``nabla``
    fronts : for each of ``s_1, r_1, s_2, ...`` the Pareto front of the pairs ``(e_i, w_i)`` of
        the reliable samples, after repair; none in a summary from a model file
    """

    samples: int
    reliable: int
    smallest: float
    fronts: Fronts = NO_FRONTS

    def merge(self, *others: "SampleSummary") -> "SampleSummary":
        """Return the summary of the samples of all."""
        summaries = (self, *others)
        return SampleSummary(
            sum(s.samples for s in summaries),
            sum(s.reliable for s in summaries),
            min(s.smallest for s in summaries),
            self.fronts.merge(*(s.fronts for s in others)),
        )


@dataclass(frozen=True, eq=False, repr=False)
class SetResult:
    """What was learned for one rule set.

    Attributes
    ----------
    name : the output attribute
    s, r : the parameters, the lowest approximate solution of the stacked system
    tolerance : ``tau``; a sample is reliable iff its ``nabla < tau``; infinite if all are kept
    summary : how many samples there were and were reliable, the smallest ``nabla``, the fronts
    distance : the Chebyshev distance of the stacked system of the reliable samples
    fixed : the parameters ``s_1, r_1, s_2, ...`` that were fixed, NaN for those that were learned;
        None if all were
    nabla : the distance of each sample, or None if the samples were streamed
    greatest : for a single sample the greatest solution ``E^up``, else None: every `x` from
        `lowest` to it gives the repaired target
    """

    name: str
    s: FloatArray
    r: FloatArray
    tolerance: float
    summary: SampleSummary
    distance: float
    fixed: FloatArray | None = None
    nabla: FloatArray | None = None
    greatest: FloatArray | None = None

    @property
    def parameters(self) -> FloatArray:
        """The parameters as a vector ``(s_1, r_1, s_2, ...)``."""
        return interleave(self.s, self.r)

    @property
    def lowest(self) -> FloatArray:
        """The solution: the `parameters`."""
        return self.parameters

    @property
    def reliable(self) -> BoolArray:
        """Which samples are reliable: ``nabla < tau``, but for rounding."""
        if self.nabla is None:
            raise DataError(
                f"the distances of the samples of {self.name!r} were not kept, because the samples "
                "were streamed; call audit for a batch of them"
            )
        return np.asarray(self.nabla < reliable_below(self.tolerance))

    @property
    def n_reliable(self) -> int:
        """How many samples are reliable."""
        return self.summary.reliable

    def __repr__(self) -> str:
        return (
            f"SetResult({self.name}: {self.n_reliable} of {self.summary.samples} samples reliable, "
            f"distance {self.distance:g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class LearnedCascade(TableReport, Generic[OfSet]):
    """A cascade with learned parameters, and what is known of every rule set."""

    cascade: Cascade
    sets: Mapping[str, OfSet]
    samples: int
    timings: Mapping[str, float]

    def __getitem__(self, name: str) -> OfSet:
        """Return what was learned for a rule set."""
        key = self.cascade[name].output.name
        if key not in self.sets:
            raise CascadeError(f"{key!r} had no target; its parameters were kept")
        return self.sets[key]

    @property
    def rule_set(self) -> RuleSet:
        """The rule set with its parameters, where there is only one."""
        if len(self.cascade.rule_sets) > 1:
            raise CascadeError("there are several rule sets; take one of result.cascade")
        return self.cascade.rule_sets[0]

    @property
    def seconds(self) -> float:
        """How long learning took."""
        return sum(self.timings.values())

    def _rule_rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rules of a set with their parameters, as rows of a table."""
        rule_set = self.cascade[name]
        return [
            {"set": name, "rule": str(rule.premise), "s": float(s), "r": float(r)}
            for rule, s, r in zip(rule_set.rules, rule_set.s, rule_set.r, strict=True)
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draw the parameters `s` and `r` of all rules that were learned; return the axes."""
        from pinesy.display.report_plots import plot_parameters

        return plot_parameters(self, axes)


@dataclass(frozen=True, eq=False, repr=False)
class LearningResult(LearnedCascade[SetResult]):
    """The cascade with exactly learned parameters, and what is known of every set and sample.

    Attributes
    ----------
    cascade : with its parameters
    sets : for each set that was learned, by the name of its output, a `SetResult`
    samples : the number of samples
    timings : seconds spent on premise degrees and the distances of samples, on the fronts and on
        the stacked systems
    """

    @property
    def nabla(self) -> dict[str, FloatArray]:
        """The distance of each sample, for each rule set."""
        return {
            name: result.nabla for name, result in self.sets.items() if result.nabla is not None
        }

    @property
    def reliable(self) -> dict[str, BoolArray]:
        """Which samples each rule set was learned from."""
        return {name: result.reliable for name, result in self.sets.items()}

    def to_frame(self, by: str = "set") -> Any:
        """Return the result as a pandas DataFrame.

        Parameters
        ----------
        by : ``"set"``, a row for each rule set; ``"rule"``, a row for each rule with its
            parameters; ``"sample"``, a row for each sample with its ``nabla`` for each set
        """
        tables: dict[str, Callable[[], Any]] = {
            "set": self._records,
            "rule": lambda: [row for name in self.sets for row in self._rule_rows(name)],
            "sample": lambda: self.reliable and self.nabla,  # raises where none were kept
        }
        if not is_word(by, tables):
            raise DataError(f"by is {by!r:.60}; it must be one of {', '.join(tables)}")
        return data_frame(tables[by]())

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "set": result.name,
                "rules": len(result.s),
                "tolerance": result.tolerance,
                "samples": result.summary.samples,
                "reliable": result.n_reliable,
                "smallest_nabla": result.summary.smallest,
                "distance": result.distance,
                "largest_parameter": float(result.lowest.max()),
            }
            for result in self.sets.values()
        ]

    def __repr__(self) -> str:
        return f"LearningResult({len(self.sets)} rule sets learned from {self.samples} samples)"

    def _tables(self) -> list[ReportTable]:
        """Return a line for each rule set.

        The largest ``nabla`` of a sample is shown where the distances of samples were kept.
        """
        head = ["set", "rules", "tolerance", "reliable", "distance", "largest s, r"]
        lines = [_line(result) for result in self.sets.values()]
        largest = [f"{nabla.max():g}" for nabla in self.nabla.values()]
        if len(largest) == len(lines):
            head = [*head, "largest nabla"]
            lines = [(*line, cell) for line, cell in zip(lines, largest, strict=True)]
        return [ReportTable(head, lines, noun="rule sets", max_lines=SHOWN)]


def _line(result: SetResult) -> tuple[str, ...]:
    return (
        result.name,
        str(len(result.s)),
        "none" if isinf(result.tolerance) else f"{result.tolerance:g}",
        f"{result.n_reliable} of {result.summary.samples}",
        f"{result.distance:g}",
        f"{result.lowest.max():g}",
    )
