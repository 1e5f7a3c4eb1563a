"""The stages of a cascade: which sets are learned together, and what each stage has to infer.

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
from types import MappingProxyType
from typing import NamedTuple

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy.engine.code import Code
from pinesy.engine.kinds import RuleUnit
from pinesy.engine.linker import link
from pinesy.learning.learning_arguments import SetParameters
from pinesy.learning.sample_systems import Stage
from pinesy.minmax import TOLERANCE
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: Where no parameters are fixed.
NOTHING: SetParameters = MappingProxyType({})
#: Programs that a cascade keeps.
MAX_PROGRAMS = 256
#: Of fewer rules a program is compiled at once: no thread is started to tell if it takes long.
MANY_RULES = 100


class SetTrace(NamedTuple):
    """What learning left in the degrees of an attribute.

    Attributes
    ----------
    graded : whether they may be learned parameters that are neither 0 nor 1, so rounded
    changed : whether they rest on parameters that learning has changed
    """

    graded: bool
    changed: bool


@dataclass(frozen=True, eq=False)
class SetsSoFar:
    """The rule sets of a cascade while it is learned, by the names of their outputs.

    Attributes
    ----------
    given : as they were, in the order of inference
    now : with the parameters learned so far
    traces : of the attributes behind the sets that were learned, found once for each
    """

    given: Mapping[str, RuleSet]
    now: dict[str, RuleSet]
    traces: dict[str, SetTrace]

    @classmethod
    def of(cls, cascade: Cascade) -> "SetsSoFar":
        """Begin with the parameters that the sets have."""
        return cls(cascade.sets, dict(cascade.sets), {})

    def with_learned(self, learned: Mapping[str, RuleSet]) -> "SetsSoFar":
        """Return the sets with others in the place of some; these stay as they are."""
        return SetsSoFar(self.given, {**self.now, **learned}, dict(self.traces))


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
        for name in sorted(self._targeted, key=self._place.__getitem__):
            self._members.setdefault(self._numbers[name], []).append(name)
        self._last_use = self._last_uses()

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._members))

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
        traces = self._traces(names, sets)
        return Stage(
            names,
            self._program(names, sets.now, have or (), needed),
            needed,
            {name: TOLERANCE if trace.graded else 0.0 for name, trace in traces.items()},
            {name: sets.now[name].partition for name in names},
            frozenset(name for name, trace in traces.items() if trace.changed),
            self._fixed,
        )

    def _traces(self, names: Iterable[str], sets: SetsSoFar) -> dict[str, SetTrace]:
        """Return what learning left in the premises of some sets."""
        new = self._behind(names, sets.traces).difference(names)
        for name in sorted(new, key=self._place.__getitem__):
            graded, changed = self._premises(name, sets)
            if name in self._targeted:
                now = sets.now[name]
                graded, changed = graded or _is_graded(now), changed or now is not sets.given[name]
            sets.traces[name] = SetTrace(graded, changed)
        return {name: self._premises(name, sets) for name in names}

    def _premises(self, name: str, sets: SetsSoFar) -> SetTrace:
        """Return what learning left in the premises of a set; those behind it are known."""
        found = [sets.traces[parent] for parent in self._parents[name]]
        return SetTrace(any(t.graded for t in found), any(t.changed for t in found))

    def program(self) -> Code:
        """Return the program for the premise degrees of all sets with targets, as they are."""
        names = tuple(name for name in self._place if name in self._targeted)
        return self._program(names, self._cascade.sets)

    def _program(
        self,
        names: tuple[str, ...],
        sets: Mapping[str, RuleSet],
        have: Collection[str] = (),
        needed: Collection[str] = (),
    ) -> Code:
        """Link a program, or return the one that the same rule sets gave before."""
        here = self._behind(names, have)
        units = tuple(sets[name].unit for name in sorted(here, key=self._place.__getitem__))
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
