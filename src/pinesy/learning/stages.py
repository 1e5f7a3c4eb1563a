"""Possibilistic cascade learning by stages, wherever the samples are [meth:learningincascade].

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program gives the premise degrees
of them all.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from operator import is_
from time import perf_counter
from typing import Any, Protocol

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.evidence import Evidence
from pinesy.engine.kinds import RuleUnit
from pinesy.engine.linker import link
from pinesy.exceptions import LearningError
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    TrainingBatch,
    batch_of,
    resolve,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.sample_systems import Measured, SetFronts, SetTolerances, Stage, shape_of
from pinesy.minmax import TOLERANCE
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: The rule sets of a cascade by the names of their outputs, in the order of inference.
RuleSets = Mapping[str, RuleSet]
#: For each stage the programs that led to it, and what was measured then.
Past = dict[int, tuple[tuple[Code, ...], Measured]]
#: Programs that a cascade keeps.
MAX_PROGRAMS = 256


class CascadeStages:
    """The stages in which the sets of a cascade that have targets are learned.

    Iterating gives the numbers of the stages, in order.
    """

    def __init__(self, cascade: Cascade, targeted: Collection[str]) -> None:
        self._cascade = cascade
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
            {name: shape_of(sets[name].partition) for name in names},
            frozenset(name for name in names if earlier[name] & changed),
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


class Passes(Protocol):
    """The two passes over the samples of a stage."""

    def summaries(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Do the first pass: return what is stored of the samples, for each set."""

    def stacked(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Do the second pass: return the distance of the stacked system of each set in `fronts`."""


class Samples(Protocol):
    """Training samples, in memory or not, on one machine or several.

    Attributes
    ----------
    have : the inferred distributions that are stored, or None if they are inferred every time
    """

    have: Collection[str] | None = None

    def begin(self, stage: Stage) -> Passes:
        """Return the passes for a stage."""


def learn(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    tolerance: Tolerance = None,
    initial: Any = None,
) -> LearningResult:
    """Learn rule parameters from training samples, exactly [meth:learningincascade].

    Every sample sets equations for the parameters of each rule set. A sample whose system has
    Chebyshev distance ``nabla < tau`` is *reliable* [def:reliabletau]; it is repaired
    [def:reduced-es], and the lowest approximate solution of all the repaired systems together
    [eq:lowestapproxsol] gives ``s`` and ``r``. Sets are learned in the order of inference. Cost:
    O(omega n) a sample and set, and what the Pareto fronts take.

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the distributions of the inputs, as `Cascade.infer` takes them (one array holds the
        columns of all of `Cascade.inputs`)
    targets : for a cascade a mapping from output attributes (or their names) to targets; sets
        without one keep their parameters. For a rule set, the targets of its output. Targets are
        one value a sample, or degrees of shape ``(n_samples, |D_b|)``; see `Target.of`.
    tolerance : ``tau``: one number; a mapping from groups of sets (a name, a pattern such as
        ``"c_*"``, or a tuple of these) to numbers; or None, which keeps every sample
    initial : the parameters to begin with, as `with_parameters` takes them: those of the sets that
        have no target

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet, learn
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.0], [0.0, 1.0]]}
    >>> result = learn(rules, rains, [[1.0, 0.25], [0.5, 1.0]])  # dry grass after rain: 0.25
    >>> print(result.rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]
    """
    cascade = with_initial(rules, initial)
    batch = batch_of(cascade, evidence, targets)
    return learn_from(cascade, InMemory(batch), resolve(tolerance, list(batch.targets)))


class InMemory(Samples):
    """Samples in memory: premise degrees and distances stay from pass to pass.

    Parameters
    ----------
    batch : the samples
    past : where to store what was measured, by the number of the stage, for when it is learned
        again: a stage that comes after the same programs as the last time is not measured again
    """

    def __init__(self, batch: TrainingBatch, past: Past | None = None) -> None:
        self.have: Mapping[str, Any] = {}
        self._batch = batch
        self._past = past
        self._path: tuple[Code, ...] = ()

    def begin(self, stage: Stage) -> Measured:
        """Compute the premise degrees and distances of a stage."""
        number, self._path = len(self._path), (*self._path, stage.code)
        past = {} if self._past is None else self._past
        # The programs hold all parameters learned so far.
        if number not in past or not all(map(is_, past[number][0], self._path)):
            past[number] = self._path, Measured(stage, self._batch.extended(self.have))
        measured = past[number][1]
        self.have = measured.inferred
        return measured


def learn_from(cascade: Cascade, samples: Samples, tolerances: SetTolerances) -> LearningResult:
    """Learn the parameters of the sets with targets, which have tolerances, in order of inference.

    [meth:learningincascade]. For each stage: the premise degrees, from the evidence or from what
    earlier sets infer with their learned parameters; each sample's distance ``nabla``; of the
    reliable ones the fronts; the distance NABLA of the stacked system; its lowest approximate
    solution.
    """
    sets = dict(cascade.sets)
    results: dict[str, SetResult] = {}
    timings: dict[str, float] = {}
    stages = CascadeStages(cascade, tolerances)
    for number in stages:
        with _timed(timings, "distances"):
            passes = samples.begin(stages.stage(number, sets, samples.have))
        for name, one in solve_stage(passes, tolerances, timings).items():
            results[name] = one
            if isinstance(passes, Measured):
                nabla, greatest = passes.nabla[name], passes.greatest(name, sets[name].partition)
                results[name] = replace(one, nabla=nabla, greatest=greatest)
            sets[name] = with_solution(sets[name], one.s, one.r)
    return LearningResult(
        with_sets(cascade, sets),
        {name: results[name] for name in sets if name in results},
        max((one.summary.samples for one in results.values()), default=0),
        timings,
    )


def solve_stage(
    passes: Passes, tolerances: SetTolerances, timings: dict[str, float]
) -> dict[str, SetResult]:
    """Solve the stacked systems [eq:stackedES] of a stage's sets, by two passes over the samples.

    The systems are never built: fronts and rows are enough, see docs/decisions/0003-learning.md.
    """
    with _timed(timings, "fronts"):
        summaries = passes.summaries(tolerances)
    for name, summary in summaries.items():
        _check_reliable(name, summary, tolerances[name])
    # Where all fronts are empty the repaired targets are min_j g: the stacked system is consistent.
    fronts = {n: summary.fronts for n, summary in summaries.items() if len(summary.fronts.e)}
    with _timed(timings, "stacked"):
        distances = passes.stacked(tolerances, fronts) if fronts else {}
    results = {}
    for name, summary in summaries.items():
        distance = distances.get(name, 0.0)
        x = summary.fronts.solution(distance)  # [eq:lowestapproxsol]
        results[name] = SetResult(name, x[0::2], x[1::2], tolerances[name], summary, distance)
    return results


def _check_reliable(name: str, summary: SampleSummary, tolerance: float) -> None:
    if summary.reliable == 0:
        raise LearningError(
            f"rule set {name!r}: none of the {summary.samples} samples is reliable for the "
            f"tolerance {tolerance:g}; the smallest distance of a sample is {summary.smallest!r}, "
            "so a tolerance above that would keep some (above 1, all)",
            name,
            summary.smallest,
        )


@contextmanager
def _timed(timings: dict[str, float], what: str) -> Iterator[None]:
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
