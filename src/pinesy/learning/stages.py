"""Possibilistic cascade learning by stages, wherever the samples are [meth:learningincascade].

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program gives the premise degrees
of them all.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from operator import is_
from time import perf_counter
from types import MappingProxyType
from typing import Protocol, TypeVar

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.kinds import RuleUnit
from pinesy.engine.linker import link
from pinesy.exceptions import LearningError
from pinesy.learning.learning_arguments import SetParameters, with_fixed
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.rule_counts import RuleCounts
from pinesy.learning.sample_systems import Measured, SetFronts, SetTolerances, Stage
from pinesy.minmax import TOLERANCE
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: The rule sets of a cascade by the names of their outputs, in the order of inference.
RuleSets = Mapping[str, RuleSet]
#: What a method gives for a rule set: its parameters, and what is known of them.
Solved = TypeVar("Solved", bound="Parameters")
#: Where no parameters are fixed.
NOTHING: SetParameters = MappingProxyType({})
#: Programs that a cascade keeps.
MAX_PROGRAMS = 256


class CascadeStages:
    """The stages in which the sets of a cascade that have targets are learned.

    Iterating gives the numbers of the stages, in order.
    """

    def __init__(
        self, cascade: Cascade, targeted: Collection[str], fixed: SetParameters = NOTHING
    ) -> None:
        self._cascade = cascade
        self._fixed = fixed
        self._sets = cascade.sets
        self._targeted = targeted
        #: The stage at which each set is learned or, without a target, can be inferred.
        self._numbers: dict[str, int] = {}
        for name, one in self._sets.items():
            before = max((self._numbers.get(a.name, 0) for a in one.inputs), default=0)
            self._numbers[name] = before + (name in targeted)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted({self._numbers[name] for name in self._targeted}))

    def stage(self, number: int, sets: RuleSets, have: Collection[str] | None) -> Stage:
        """Plan a stage.

        Parameters
        ----------
        sets : all rule sets, with the parameters learned so far
        have : the inferred distributions that are there, or None if none are stored: then all are
            inferred again from the evidence
        """
        targeted = [name for name in sets if name in self._targeted]
        names = tuple(name for name in targeted if self._numbers[name] == number)
        later = [name for name in targeted if self._numbers[name] > number]
        needed: set[str] = set()
        if have is not None:
            there = {*have, *_closure(sets, names, have).difference(names)}
            needed = there & {a.name for n in _closure(sets, later, there) for a in sets[n].inputs}
        # The sets that the premises of a set depend on.
        earlier = {name: _closure(sets, [name], ()).difference([name]) for name in names}
        learned = [name for name in targeted if self._numbers[name] < number]
        graded = {name for name in learned if _is_graded(sets[name])}
        changed = {name for name in learned if sets[name] is not self._sets[name]}
        return Stage(
            names,
            self._program(names, sets, have or (), needed),
            frozenset(needed),
            {name: TOLERANCE if earlier[name] & graded else 0.0 for name in names},
            {name: sets[name].partition for name in names},
            frozenset(name for name in names if earlier[name] & changed),
            self._fixed,
        )

    def program(self) -> Code:
        """Return the program for the premise degrees of all sets with targets, as they are."""
        names = tuple(name for name in self._sets if name in self._targeted)
        return self._program(names, self._sets)

    def _program(
        self,
        names: tuple[str, ...],
        sets: RuleSets,
        have: Collection[str] = (),
        needed: Collection[str] = (),
    ) -> Code:
        """Link a program, or return the one that the same rule sets gave before."""
        here = _closure(sets, names, have)
        units = tuple(one.unit for name, one in sets.items() if name in here)
        outputs = tuple(sets[name].output for name in sorted(set(needed).difference(have)))
        inferred = tuple(sorted(set(have).difference(here)))
        # Units are compared by identity, which is quick; stored, so that an id stays their own.
        key = (tuple(map(id, units)), tuple(a.name for a in outputs), names, inferred)
        programs = _programs(self._cascade)
        if key not in programs:
            known = {a.name: a for unit in units for a in unit.inputs if a.name not in here}
            with notice("pinesy: compiling the rules ..."):
                programs[key] = units, link(units, outputs, known.values(), names, inferred)
            if len(programs) > MAX_PROGRAMS:
                programs.popitem(last=False)
        return programs[key][1]


@cached_on_owner
def _programs(_: Cascade) -> OrderedDict[Hashable, tuple[tuple[RuleUnit, ...], Code]]:
    """Return the store of programs: a search learns again and again from the same rules."""
    return OrderedDict()


def _is_graded(rule_set: RuleSet) -> bool:
    """Tell whether a parameter is neither 0 nor 1, so that it may have been rounded."""
    return any(z not in (0.0, 1.0) for rule in rule_set.rules for z in (rule.s, rule.r))


def _closure(sets: RuleSets, names: Iterable[str], stop: Collection[str]) -> set[str]:
    """Return the sets that the given ones depend on, themselves included, up to `stop`."""
    reached, before = set(names), set(sets).difference(stop)
    for name in reversed(list(sets)):
        if name in reached:
            reached |= before.intersection(a.name for a in sets[name].inputs)
    return reached


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
    sets = dict(cascade.sets)
    results: dict[str, Solved] = {}
    stages = CascadeStages(cascade, targeted, fixed)
    for number in stages:
        with timed(timings, "premises"):
            passes = samples.begin(stages.stage(number, sets, samples.have))
        for name, one in solve(passes).items():
            results[name] = one
            sets[name] = with_solution(sets[name], one.s, one.r)
    return with_sets(cascade, sets), {name: results[name] for name in sets if name in results}


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
