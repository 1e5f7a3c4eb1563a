"""Possibilistic cascade learning by stages, wherever the samples are [meth:learningincascade].

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program gives the premise degrees
of them all. To plan all stages of a chain of `L` sets takes ``O(L)``: a stage looks at the sets
that it infers and at the distributions that are stored, not at the whole cascade.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import inf
from operator import is_
from time import perf_counter
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.linker import link
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.exceptions import LearningError
from pinesy.learning.learning_arguments import SetParameters, with_fixed
from pinesy.learning.learning_result import LearnedSet, LearningResult, SampleSummary, SetResult
from pinesy.learning.sample_systems import Measured, SetTolerances, Stage
from pinesy.minmax import TOLERANCE
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: What a method gives for a rule set: its parameters, and what is known of them.
Solved = TypeVar("Solved", bound=LearnedSet)
T = TypeVar("T")
#: Where no parameters are fixed.
NOTHING: SetParameters = MappingProxyType({})
#: Programs that a cascade keeps.
MAX_PROGRAMS = 256
#: Of fewer rules a program is compiled at once: no thread is started to tell if it takes long.
MANY_RULES = 100


class Passes(Protocol):
    """The passes over the samples of a stage."""

    def gather(self, method: Callable[..., dict[str, T]], *given: Any) -> dict[str, T]:
        """Do a pass: return by set what a method of `Measured` gives for all samples together."""


class Samples(Protocol):
    """Training samples, in memory or not, on one machine or several.

    Attributes
    ----------
    targeted : the attributes that have targets
    have : the inferred distributions that are stored, or None if they are inferred every time
    """

    targeted: list[str]
    have: Collection[str] | None = None

    def begin(self, stage: Stage) -> Passes:
        """Return the passes for a stage."""


@dataclass(frozen=True, eq=False)
class SetsSoFar:
    """The rule sets of a cascade while it is learned, by the names of their outputs.

    Attributes
    ----------
    given : as they were, in the order of inference
    now : with the parameters learned so far
    traced : the attributes of which is known whether they are in the following
    graded : those whose degrees may be learned parameters that are neither 0 nor 1, so rounded
    changed : those whose degrees rest on parameters that learning has changed
    """

    given: Mapping[str, RuleSet]
    now: dict[str, RuleSet]
    traced: set[str] = field(default_factory=set)
    graded: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, cascade: Cascade) -> "SetsSoFar":
        """Begin with the parameters that the sets have."""
        return cls(cascade.sets, dict(cascade.sets))

    def with_learned(self, learned: Mapping[str, RuleSet]) -> "SetsSoFar":
        """Return the sets with others in the place of some; these stay as they are."""
        marks = (set(self.traced), set(self.graded), set(self.changed))
        return SetsSoFar(self.given, {**self.now, **learned}, *marks)


class CascadeStages:
    """The stages in which the sets of a cascade that have targets are learned.

    Iterating gives the numbers of the stages, in order.
    """

    def __init__(
        self, cascade: Cascade, targeted: Iterable[str], fixed: SetParameters = NOTHING
    ) -> None:
        self._cascade = cascade
        self._fixed = fixed
        self._targeted = frozenset(targeted)
        self._place = {name: place for place, name in enumerate(cascade.sets)}
        self._parents = {
            name: [a.name for a in one.inputs if a.name in self._place]
            for name, one in cascade.sets.items()
        }
        #: The stage at which each set is learned or, without a target, can be inferred.
        self._numbers: dict[str, int] = {}
        for name, parents in self._parents.items():
            before = max((self._numbers[parent] for parent in parents), default=0)
            self._numbers[name] = before + (name in self._targeted)
        self._members: dict[int, list[str]] = {}
        for name in self._in_order(self._targeted):
            self._members.setdefault(self._numbers[name], []).append(name)
        self._last_use = self._last_uses()

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._members))

    def _in_order(self, names: Iterable[str]) -> list[str]:
        """Return sets in the order of inference."""
        return sorted(names, key=self._place.__getitem__)

    def _last_uses(self) -> dict[str, float]:
        """Return for each set the last stage that reads what it infers; 0 if none does.

        A set is read by those that depend on it at once: when they are learned, and when they are
        inferred, which is in the first stage that learns a set behind them.
        """
        inferred = dict.fromkeys(self._place, inf)
        last = dict.fromkeys(self._place, 0.0)
        for name in reversed(self._place):
            at = self._numbers[name] if name in self._targeted else inf
            used = [time for time in (at, inferred[name]) if time < inf]
            for parent in self._parents[name]:
                inferred[parent] = min(inferred[parent], *used, inf)
                last[parent] = max(last[parent], *used, 0.0)
        return last

    def stage(self, number: int, sets: SetsSoFar, have: Collection[str] | None) -> Stage:
        """Plan a stage.

        Parameters
        ----------
        sets : all rule sets, with the parameters learned so far
        have : the inferred distributions that are there, or None if none are stored: then all are
            inferred again from the evidence
        """
        names = tuple(self._members[number])
        needed: frozenset[str] = frozenset()
        if have is not None:
            there = self._behind(names, have).difference(names).union(have)
            needed = frozenset(name for name in there if self._last_use[name] > number)
        self._trace(names, sets)
        return Stage(
            names,
            self._program(names, sets.now, have or (), needed),
            needed,
            {name: TOLERANCE if self._rests_on(name, sets.graded) else 0.0 for name in names},
            {name: sets.now[name].partition for name in names},
            frozenset(name for name in names if self._rests_on(name, sets.changed)),
            self._fixed,
        )

    def _trace(self, names: Iterable[str], sets: SetsSoFar) -> None:
        """Note what learning left in the degrees behind some sets, once for each."""
        for name in self._in_order(self._behind(names, sets.traced).difference(names)):
            now = sets.now[name]
            learned = name in self._targeted and _is_graded(now)
            if learned or self._rests_on(name, sets.graded):
                sets.graded.add(name)
            if now is not sets.given[name] or self._rests_on(name, sets.changed):
                sets.changed.add(name)
            sets.traced.add(name)

    def _rests_on(self, name: str, marked: set[str]) -> bool:
        """Tell whether premises of a set are on one of the marked attributes."""
        return not marked.isdisjoint(self._parents[name])

    def program(self) -> Code:
        """Return the program for the premise degrees of all sets with targets, as they are."""
        return self._program(tuple(self._in_order(self._targeted)), self._cascade.sets)

    def _program(
        self,
        names: tuple[str, ...],
        sets: Mapping[str, RuleSet],
        have: Collection[str] = (),
        needed: Collection[str] = (),
    ) -> Code:
        """Link a program, or return the one that the same rule sets gave before."""
        here = self._behind(names, have)
        units = tuple(sets[name].unit for name in self._in_order(here))
        outputs = tuple(sets[name].output for name in sorted(set(needed).difference(have)))
        inferred = tuple(sorted(set(have).difference(here)))
        # Units are compared by identity, which is quick; stored, so that an id stays their own.
        key = (tuple(map(id, units)), tuple(a.name for a in outputs), names, inferred)
        programs = _programs(self._cascade)
        if key not in programs:
            known = {a.name: a for unit in units for a in unit.inputs if a.name not in here}
            with _patience(units):
                programs[key] = units, link(units, outputs, known.values(), names, inferred)
            if len(programs) > MAX_PROGRAMS:
                programs.popitem(last=False)
        return programs[key][1]

    def _behind(self, names: Iterable[str], stop: Collection[str]) -> set[str]:
        """Return the sets that the given ones depend on, themselves included, up to `stop`."""
        reached = set(names)
        waiting = list(reached)
        while waiting:
            for parent in self._parents[waiting.pop()]:
                if parent not in reached and parent not in stop:
                    reached.add(parent)
                    waiting.append(parent)
        return reached


def _patience(units: Iterable[RuleUnit]) -> AbstractContextManager[None]:
    """Say that rules are compiled, if they are many and it takes long."""
    if sum(len(unit.rules) for unit in units) < MANY_RULES:
        return nullcontext()
    return notice("pinesy: compiling the rules ...")


@cached_on_owner
def _programs(_: Cascade) -> OrderedDict[Hashable, tuple[tuple[RuleUnit, ...], Code]]:
    """Return the store of programs: a search learns again and again from the same rules."""
    return OrderedDict()


def _is_graded(rule_set: RuleSet) -> bool:
    """Tell whether a parameter is neither 0 nor 1, so that it may have been rounded."""
    return any(z not in (0.0, 1.0) for rule in rule_set.rules for z in (rule.s, rule.r))


def by_stages(
    cascade: Cascade,
    samples: Samples,
    solve: Callable[[Passes], Mapping[str, Solved]],
    timings: dict[str, float],
    fixed: SetParameters,
) -> tuple[Cascade, dict[str, Solved]]:
    """Learn the parameters of the sets with targets, in the order of inference.

    [meth:learningincascade]. For each stage `solve` gets the premise degrees of its samples, from
    the evidence or from what earlier sets infer with their learned parameters.
    """
    sets = SetsSoFar.of(cascade)
    results: dict[str, Solved] = {}
    stages = CascadeStages(cascade, samples.targeted, fixed)
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
    solve = partial(solve_stage, tolerances=tolerances, timings=timings, fixed=fixed)
    learned, results = by_stages(cascade, samples, solve, timings, fixed)
    n = max((one.summary.samples for one in results.values()), default=0)
    return LearningResult(learned, results, n, timings)


def solve_stage(
    passes: Passes, tolerances: SetTolerances, timings: dict[str, float], fixed: SetParameters
) -> dict[str, SetResult]:
    """Solve the stacked systems [eq:stackedES] of a stage's sets, by two passes over the samples.

    The systems are never built: fronts and rows are enough, see docs/decisions/0003-learning.md.
    """
    with timed(timings, "fronts"):
        summaries = passes.gather(Measured.summaries, tolerances)
    for name, summary in summaries.items():
        _check_reliable(name, summary, tolerances[name])
    # Where all fronts are empty the repaired targets are min_j g: the stacked system is consistent.
    fronts = {n: summary.fronts for n, summary in summaries.items() if len(summary.fronts.e)}
    with timed(timings, "stacked"):
        distances = passes.gather(Measured.stacked, tolerances, fronts) if fronts else {}
    results = {}
    for name, summary in summaries.items():
        distance, constants = distances.get(name, 0.0), fixed.get(name)
        x = with_fixed(summary.fronts.solution(distance), constants)  # [eq:lowestapproxsol]
        of_samples = passes.of_samples(name) if isinstance(passes, Measured) else ()
        known = (tolerances[name], summary, distance, constants, *of_samples)
        results[name] = SetResult(name, x[0::2], x[1::2], *known)
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


def with_sets(cascade: Cascade, sets: Mapping[str, RuleSet]) -> Cascade:
    """Return the cascade with other parameters, or itself (compiled already) if none differ."""
    if all(map(is_, sets.values(), cascade.sets.values())):
        return cascade
    given = (sets[s.output.name] for s in cascade.rule_sets)
    return Cascade(*given, attributes=cascade.attributes.values())
