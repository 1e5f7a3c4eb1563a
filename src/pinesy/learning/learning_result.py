"""Results of exact learning: the learned parameters, and the distance of each sample."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Any, Generic, TypeVar

import numpy as np

from pinesy._common.reports import ReportTable, TableReport, count_text, data_frame
from pinesy._common.validation import BoolArray, FloatArray, is_word
from pinesy.equations import Fronts
from pinesy.equations.fronts import reliable_below
from pinesy.exceptions import CascadeError, DataError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import interleave

#: The result of one rule set.
OfSet = TypeVar("OfSet")
#: Empty fronts.
NO_FRONTS = Fronts(np.empty(0), np.empty(0), np.zeros(1, dtype=np.int64))
#: The most rule sets that the printed table shows.
SHOWN = 20


@dataclass(frozen=True, eq=False)
class SampleSummary:
    """A summary of a rule set's samples, by the first pass.

    Merging is associative and commutative to the last bit, so that samples may come in any chunks
    and in any order.

    Attributes
    ----------
    samples, reliable : the number of samples, and of those with ``nabla < tau``
    smallest : the smallest ``nabla`` of a sample
    fronts : for each of ``s_1, r_1, s_2, ...`` the Pareto front of the pairs ``(e_i, w_i)`` of
        the reliable samples, after repair; none in a summary from a model file
    """

    samples: int
    reliable: int
    smallest: float
    fronts: Fronts = NO_FRONTS

    def merge(self, *others: "SampleSummary") -> "SampleSummary":
        """Return the summary of the samples of all summaries."""
        summaries = (self, *others)
        return SampleSummary(
            sum(s.samples for s in summaries),
            sum(s.reliable for s in summaries),
            min(s.smallest for s in summaries),
            self.fronts.merge(*(s.fronts for s in others)),
        )


@dataclass(frozen=True, eq=False, repr=False)
class SetResult:
    """The result of learning one rule set.

    Attributes
    ----------
    name : the output attribute
    s, r : the parameters, the lowest approximate solution of the stacked system
    tolerance : ``tau``; a sample is reliable iff its ``nabla < tau``; infinite if all are kept
    summary : the numbers of samples and of reliable ones, the smallest ``nabla``, the fronts
    distance : the Chebyshev distance of the stacked system of the reliable samples
    fixed : the parameters ``s_1, r_1, s_2, ...`` that were fixed, NaN for those that were learned;
        None if all were learned
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
        """The lowest approximate solution: the `parameters`."""
        return self.parameters

    @property
    def reliable(self) -> BoolArray:
        """Which samples are reliable: ``nabla < tau``, up to rounding."""
        if self.nabla is None:
            raise DataError(
                f"the distances of the samples of {self.name!r} were not kept, because the samples "
                "were streamed; call audit for a batch of them"
            )
        return np.asarray(self.nabla < reliable_below(self.tolerance))

    @property
    def n_reliable(self) -> int:
        """The number of reliable samples."""
        return self.summary.reliable

    def __repr__(self) -> str:
        return (
            f"SetResult({self.name}: {self.n_reliable} of {self.summary.samples} samples reliable, "
            f"distance {self.distance:g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class LearnedCascade(TableReport, Generic[OfSet]):
    """A cascade with learned parameters, and the result of every rule set."""

    cascade: Cascade
    sets: Mapping[str, OfSet]
    samples: int
    timings: Mapping[str, float]

    def __getitem__(self, name: str) -> OfSet:
        """Return the result of a rule set."""
        key = self.cascade[name].output.name
        if key not in self.sets:
            raise CascadeError(f"{key!r} had no target; its parameters were kept")
        return self.sets[key]

    @property
    def rule_set(self) -> RuleSet:
        """The rule set with its parameters, if there is only one."""
        if len(self.cascade.rule_sets) > 1:
            raise CascadeError("there are several rule sets; take one of result.cascade")
        return self.cascade.rule_sets[0]

    @property
    def seconds(self) -> float:
        """The seconds that learning took."""
        return sum(self.timings.values())

    def _rule_rows(self, name: str) -> list[dict[str, Any]]:
        """Return a table row for each rule of a set: the set, the premise, `s` and `r`."""
        rule_set = self.cascade[name]
        return [
            {"set": name, "rule": str(rule.premise), "s": float(s), "r": float(r)}
            for rule, s, r in zip(rule_set.rules, rule_set.s, rule_set.r, strict=True)
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draw the learned parameters `s` and `r` of all rules; return the axes."""
        from pinesy.display.report_plots import plot_parameters

        return plot_parameters(self, axes)


@dataclass(frozen=True, eq=False, repr=False)
class LearningResult(LearnedCascade[SetResult]):
    """A cascade with exactly learned parameters, and the results of its sets and samples.

    Attributes
    ----------
    cascade : the rules with their learned parameters
    sets : a `SetResult` for each set that was learned, by the name of its output
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
        sets, samples = count_text(len(self.sets), "rule set"), count_text(self.samples, "sample")
        return f"LearningResult({sets} learned from {samples})"

    def _tables(self) -> list[ReportTable]:
        """Return a table with a row for each rule set.

        It has the largest ``nabla`` of a sample if the distances of samples are known.
        """
        head = ["set", "rules", "tolerance", "reliable", "distance", "largest s, r"]
        lines = [
            [
                result.name,
                str(len(result.s)),
                "none" if isinf(result.tolerance) else f"{result.tolerance:g}",
                f"{result.n_reliable} of {result.summary.samples}",
                f"{result.distance:g}",
                f"{result.lowest.max():g}",
            ]
            for result in self.sets.values()
        ]
        largest = [f"{nabla.max():g}" for nabla in self.nabla.values()]
        if len(largest) == len(lines):
            head = [*head, "largest nabla"]
            lines = [[*line, cell] for line, cell in zip(lines, largest, strict=True)]
        return [ReportTable(head, lines, noun="rule sets", max_lines=SHOWN)]
