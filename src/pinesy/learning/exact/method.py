"""Possibilistic cascade learning, wherever the samples are."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from operator import is_
from time import perf_counter
from typing import Protocol

from pinesy._common.validation import FloatArray
from pinesy.exceptions import LearningError
from pinesy.learning.exact.stages import Stage, next_stage, stage_numbers
from pinesy.learning.learning_result import LearningResult, SetResult
from pinesy.learning.summary import Summary
from pinesy.minmax import Fronts
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet


class Samples(Protocol):
    """Training samples, in memory or not, on one machine or several."""

    @property
    def have(self) -> Collection[str] | None:
        """The inferred distributions that are kept, or None if they are inferred every time."""

    def begin(self, stage: Stage, sets: Mapping[str, RuleSet]) -> None:
        """Begin with a stage: what is asked next is about its sets.

        `sets` are all rule sets, with the parameters learned so far.
        """

    def summaries(self, tolerances: Mapping[str, float]) -> dict[str, Summary]:
        """Do the first pass: return what is kept of the samples, for each set."""

    def stacked(
        self, tolerances: Mapping[str, float], fronts: Mapping[str, Fronts]
    ) -> dict[str, float]:
        """Do the second pass: return the distance of the stacked system of each set in `fronts`."""

    def nabla(self, name: str) -> FloatArray | None:
        """Return the distance of each sample for a set of this stage, if they are kept."""

    def greatest(self, name: str) -> FloatArray | None:
        """Return ``E^up`` of the repaired system, for a single sample that is at hand."""


def learn_from(
    cascade: Cascade, samples: Samples, targeted: Collection[str], tolerances: Mapping[str, float]
) -> LearningResult:
    """Learn the parameters of the sets with targets, in the order of inference.

    For each stage: the premise degrees, from the inputs or from what earlier sets infer with
    their learned parameters; each sample's distance ``nabla``; of the reliable ones the fronts;
    the distance NABLA of the stacked system; its lowest approximate solution.
    """
    sets = {s.output.name: s for s in cascade.order}
    numbers = stage_numbers(cascade.order, targeted)
    results: dict[str, SetResult] = {}
    watch = _Watch()
    for number in sorted({numbers[name] for name in targeted}):
        with watch("distances"):
            stage = next_stage(list(sets.values()), numbers, targeted, number, samples.have)
            samples.begin(stage, sets)
        learned = _learn_stage(stage, samples, tolerances, watch)
        results.update(learned)
        for name, one in learned.items():
            sets[name] = with_solution(sets[name], one.lowest)
    return LearningResult(
        with_sets(cascade, sets),
        {name: results[name] for name in sets if name in results},
        max((one.summary.samples for one in results.values()), default=0),
        watch.seconds,
    )


def with_sets(cascade: Cascade, sets: Mapping[str, RuleSet]) -> Cascade:
    """Return the cascade with other parameters, or itself (compiled already) if none differ."""
    found = [sets[s.output.name] for s in cascade.rule_sets]
    if all(map(is_, found, cascade.rule_sets)):
        return cascade
    return Cascade(*found, attributes=cascade.attributes.values())


def _learn_stage(
    stage: Stage, samples: Samples, tolerances: Mapping[str, float], watch: "_Watch"
) -> dict[str, SetResult]:
    with watch("fronts"):
        summaries = samples.summaries(tolerances)
    for name in stage.names:
        _check_reliable(name, summaries[name], tolerances[name])
    # Where all fronts are empty the repaired targets are min_j g: the stacked system is consistent.
    fronts = {n: summary.fronts for n, summary in summaries.items() if len(summary.fronts.e)}
    with watch("stacked"):
        distances = samples.stacked(tolerances, fronts) if fronts else {}
    return {
        name: _solve(name, summaries[name], distances.get(name, 0.0), tolerances[name], samples)
        for name in stage.names
    }


def _solve(
    name: str, summary: Summary, distance: float, tolerance: float, samples: Samples
) -> SetResult:
    x = summary.fronts.solution(distance)
    greatest = samples.greatest(name) if summary.samples == 1 else None
    nabla = samples.nabla(name)
    return SetResult(name, x[0::2], x[1::2], tolerance, summary, distance, nabla, greatest)


def with_solution(rule_set: RuleSet, x: FloatArray) -> RuleSet:
    """Return a set with parameters ``(s_1, r_1, s_2, ...)``: itself, if it has them."""
    s, r = x[0::2], x[1::2]
    same = (rule_set.s == s).all() and (rule_set.r == r).all()
    return rule_set if same else rule_set.with_parameters(s, r)


def _check_reliable(name: str, summary: Summary, tolerance: float) -> None:
    if summary.reliable == 0:
        raise LearningError(
            f"rule set {name!r}: none of the {summary.samples} samples is reliable for the "
            f"tolerance {tolerance:g}; the smallest distance of a sample is {summary.smallest!r}, "
            "so a tolerance above that would keep some (above 1, all)",
            name,
            summary.smallest,
        )


class _Watch:
    """Adds up the seconds spent on each kind of work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + perf_counter() - start
