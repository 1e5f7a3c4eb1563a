"""The stages of cascade learning: which sets are learned together, and their programs.

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program gives the premise degrees
of them all. To plan all stages of a chain of `L` sets takes ``O(L)``: a stage looks at the sets
that it infers and at the distributions that are stored, not at the whole cascade.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from operator import is_
from types import MappingProxyType
from typing import TypeVar

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.linker import link
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.equations import TOLERANCE
from pinesy.learning.learning_arguments import SetParameters
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.partition import Partition

T = TypeVar("T")
#: Where no parameters are fixed.
NO_PARAMETERS: SetParameters = MappingProxyType({})
#: Programs that a cascade keeps.
MAX_PROGRAMS = 256
#: Of fewer rules a program is compiled at once: no thread is started to tell if it takes long.
MANY_RULES = 100


@dataclass(frozen=True, eq=False)
class Stage:
    """The sets that are learned together, and the program that gives their premise degrees.

    Attributes
    ----------
    names : the sets learned in it
    code : the program that gives their premise degrees, and the distributions to store
    needed : what later stages need of the distributions inferred so far
    slack : for each set, how far rounding may have moved its premise degrees: they are copies of
        inputs and of earlier sets' parameters, and learned parameters come of subtractions
    partitions : of each set
    fixed : for sets of which some parameters are fixed, these; NaN for the others
    """

    names: tuple[str, ...]
    code: Code
    needed: frozenset[str]
    slack: Mapping[str, float]
    partitions: Mapping[str, Partition]
    fixed: SetParameters


class CascadeStages:
    """The stages in which the sets of a cascade that have targets are learned.

    Iterating gives the numbers of the stages, in order.

    Attributes
    ----------
    sets : the rule sets by the names of their outputs, with the parameters learned so far
    """

    def __init__(
        self, cascade: Cascade, targeted: Iterable[str], fixed: SetParameters = NO_PARAMETERS
    ) -> None:
        self.sets = dict(cascade.sets)
        self._cascade = cascade
        self._fixed = fixed
        #: Attributes whose degrees were traced, and those that may be learned and rounded degrees.
        self._traced: set[str] = set()
        self._graded: set[str] = set()
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

    def stage(self, number: int, stored: Collection[str] | None) -> Stage:
        """Plan a stage, with the parameters learned so far.

        Parameters
        ----------
        stored : the inferred distributions that are stored, or None if none are: then all are
            inferred again from the evidence
        """
        names = tuple(self._members[number])
        needed: frozenset[str] = frozenset()
        if stored is not None:
            inferred = self._behind(names, stored).difference(names).union(stored)
            needed = frozenset(name for name in inferred if self._last_use[name] > number)
        self._trace(names)
        return Stage(
            names,
            self._program(names, self.sets, stored or (), needed),
            needed,
            {name: TOLERANCE if self._rests_on(name, self._graded) else 0.0 for name in names},
            {name: self.sets[name].partition for name in names},
            self._fixed,
        )

    def set_parameters(self, name: str, s: FloatArray, r: FloatArray) -> None:
        """Set the parameters of a set, which is the same object if it has them already."""
        rule_set = self.sets[name]
        if (rule_set.s != s).any() or (rule_set.r != r).any():
            self.sets[name] = rule_set.with_parameters(s, r)

    def cascade(self) -> Cascade:
        """Return the cascade with the parameters learned so far; itself if none differ."""
        if all(map(is_, self.sets.values(), self._cascade.sets.values())):
            return self._cascade
        rule_sets = (self.sets[s.output.name] for s in self._cascade.rule_sets)
        return Cascade(*rule_sets, attributes=self._cascade.attributes.values())

    def in_order(self, results: Mapping[str, T]) -> dict[str, T]:
        """Return results by set in the order of inference."""
        return {name: results[name] for name in self._in_order(results)}

    def _trace(self, names: Iterable[str]) -> None:
        """Find the sets behind some whose degrees may be learned and rounded, once for each."""
        for name in self._in_order(self._behind(names, self._traced).difference(names)):
            learned = name in self._targeted and _is_graded(self.sets[name])
            if learned or self._rests_on(name, self._graded):
                self._graded.add(name)
            self._traced.add(name)

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
        stored: Collection[str] = (),
        needed: Collection[str] = (),
    ) -> Code:
        """Link a program, or return the one that the same rule sets gave before."""
        here = self._behind(names, stored)
        units = tuple(sets[name].unit for name in self._in_order(here))
        outputs = tuple(sets[name].output for name in sorted(set(needed).difference(stored)))
        inferred = tuple(sorted(set(stored).difference(here)))
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
