"""Possibilistic cascade learning by stages, wherever the samples are [meth:learningincascade].

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program gives the premise degrees
of them all.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from operator import is_
from time import perf_counter
from typing import Protocol, TypeVar

from pinesy._common.validation import FloatArray
from pinesy.exceptions import LearningError
from pinesy.learning.cascade_stages import NOTHING, CascadeStages, SetsSoFar
from pinesy.learning.learning_arguments import SetParameters, with_fixed
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.rule_counts import RuleCounts
from pinesy.learning.sample_systems import Measured, SetFronts, SetTolerances, Stage
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: The rule sets of a cascade by the names of their outputs, in the order of inference.
RuleSets = Mapping[str, RuleSet]
#: What a method gives for a rule set: its parameters, and what is known of them.
Solved = TypeVar("Solved", bound="Parameters")


class Parameters(Protocol):
    """The parameters of a rule set."""

    @property
    def s(self) -> FloatArray:
        """``s_1, s_2, ...``."""

    @property
    def r(self) -> FloatArray:
        """``r_1, r_2, ...``."""


class Passes(Protocol):
    """The passes over the samples of a stage."""

    def summaries(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Do the first pass: return what is stored of the samples, for each set."""

    def stacked(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Do the second pass: return the distance of the stacked system of each set in `fronts`."""

    def counts(self) -> dict[str, RuleCounts]:
        """Return how often the rules of each set hold, in one pass."""


class Samples(Protocol):
    """Training samples, in memory or not, on one machine or several.

    Attributes
    ----------
    have : the inferred distributions that are stored, or None if they are inferred every time
    """

    have: Collection[str] | None = None

    def begin(self, stage: Stage) -> Passes:
        """Return the passes for a stage."""


def by_stages(
    cascade: Cascade,
    samples: Samples,
    targeted: Collection[str],
    solve: Callable[[Passes], Mapping[str, Solved]],
    timings: dict[str, float],
    fixed: SetParameters = NOTHING,
) -> tuple[Cascade, dict[str, Solved]]:
    """Learn the parameters of the sets with targets, in the order of inference.

    [meth:learningincascade]. For each stage `solve` gets the premise degrees of its samples, from
    the evidence or from what earlier sets infer with their learned parameters.
    """
    sets = SetsSoFar.of(cascade)
    results: dict[str, Solved] = {}
    stages = CascadeStages(cascade, targeted, fixed)
    for number in stages:
        with timed(timings, "premises"):
            passes = samples.begin(stages.stage(number, sets, samples.have))
        for name, one in solve(passes).items():
            results[name] = one
            sets.now[name] = with_solution(sets.now[name], one.s, one.r)
    ordered = {name: results[name] for name in cascade.sets if name in results}
    return with_sets(cascade, sets.now), ordered


def learn_from(
    cascade: Cascade,
    samples: Samples,
    tolerances: SetTolerances,
    fixed: SetParameters = NOTHING,
) -> LearningResult:
    """Learn exactly: the lowest approximate solution of each set's stacked system."""
    timings: dict[str, float] = {}

    def solve(passes: Passes) -> dict[str, SetResult]:
        found = solve_stage(passes, tolerances, timings, fixed)
        if not isinstance(passes, Measured):
            return found
        return {name: _with_samples(one, passes, cascade[name]) for name, one in found.items()}

    learned, results = by_stages(cascade, samples, tolerances, solve, timings, fixed)
    n = max((one.summary.samples for one in results.values()), default=0)
    return LearningResult(learned, results, n, timings)


def _with_samples(one: SetResult, measured: Measured, rule_set: RuleSet) -> SetResult:
    """Add what is known of single samples, where these are in memory."""
    greatest = measured.greatest(one.name, rule_set.partition)
    if greatest is not None:
        greatest = with_fixed(greatest, one.fixed)
    return replace(one, nabla=measured.nabla[one.name], greatest=greatest)


def solve_stage(
    passes: Passes,
    tolerances: SetTolerances,
    timings: dict[str, float],
    fixed: SetParameters = NOTHING,
) -> dict[str, SetResult]:
    """Solve the stacked systems [eq:stackedES] of a stage's sets, by two passes over the samples.

    The systems are never built: fronts and rows are enough, see docs/decisions/0003-learning.md.
    """
    with timed(timings, "fronts"):
        summaries = passes.summaries(tolerances)
    for name, summary in summaries.items():
        _check_reliable(name, summary, tolerances[name])
    # Where all fronts are empty the repaired targets are min_j g: the stacked system is consistent.
    fronts = {n: summary.fronts for n, summary in summaries.items() if len(summary.fronts.e)}
    with timed(timings, "stacked"):
        distances = passes.stacked(tolerances, fronts) if fronts else {}
    results = {}
    for name, summary in summaries.items():
        distance = distances.get(name, 0.0)
        x = with_fixed(summary.fronts.solution(distance), fixed.get(name))  # [eq:lowestapproxsol]
        results[name] = SetResult(
            name, x[0::2], x[1::2], tolerances[name], summary, distance, fixed.get(name)
        )
    return results


def _check_reliable(name: str, summary: SampleSummary, tolerance: float) -> None:
    if summary.reliable == 0:
        raise LearningError(
            f"rule set {name!r}: none of the {summary.samples} samples is reliable for the "
            f"tolerance {tolerance:g}; the smallest distance of a sample is "
            f"{summary.smallest:.12g}, so a tolerance above that would keep some (above 1, all)",
            name,
            summary.smallest,
        )


@contextmanager
def timed(timings: dict[str, float], what: str) -> Iterator[None]:
    """Add the seconds of a block to those of the same kind of work."""
    start = perf_counter()
    yield
    timings[what] = timings.get(what, 0.0) + perf_counter() - start


def with_solution(rule_set: RuleSet, s: FloatArray, r: FloatArray) -> RuleSet:
    """Return a set with other parameters: itself, if it has them."""
    same = (rule_set.s == s).all() and (rule_set.r == r).all()
    return rule_set if same else rule_set.with_parameters(s, r)


def with_sets(cascade: Cascade, sets: RuleSets) -> Cascade:
    """Return the cascade with other parameters, or itself (compiled already) if none differ."""
    if all(map(is_, sets.values(), cascade.sets.values())):
        return cascade
    given = (sets[s.output.name] for s in cascade.rule_sets)
    return Cascade(*given, attributes=cascade.attributes.values())
