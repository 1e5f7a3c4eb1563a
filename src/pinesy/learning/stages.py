"""The stages of cascade learning: which sets are learned together, and their programs.

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program computes the premise degrees
of all its sets. Planning all stages of a chain of `L` sets costs ``O(L)``: a stage considers the
sets that it infers and the distributions that are stored, not the whole cascade.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf
from operator import is_
from types import MappingProxyType

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

#: No fixed parameters.
NO_PARAMETERS: SetParameters = MappingProxyType({})
#: The number of programs that are cached for a cascade.
MAX_PROGRAMS = 256
#: With fewer rules compiling is quick: no thread is started to report that it takes long.
MANY_RULES = 100


@dataclass(frozen=True, eq=False)
class Stage:
    """The sets that are learned together, and the program that computes their premise degrees.

    Attributes
    ----------
    names : the names of the sets
    code : the program that computes their premise degrees, and the distributions to store
    needed : the inferred distributions that later stages need
    slack : for each set a bound of the rounding error of its premise degrees: they are copies of
        inputs and of earlier sets' parameters, and learned parameters come from subtractions
    partitions : the partition of each set
    fixed : the parameters that are fixed, by set; NaN for the others
    """

    names: tuple[str, ...]
    code: Code
    needed: frozenset[str]
    slack: Mapping[str, float]
    partitions: Mapping[str, Partition]
    fixed: SetParameters


class CascadeStages:
    """The stages in which the sets of a cascade that have targets are learned.

    Attributes
    ----------
    sets : the rule sets by the names of their outputs, with the parameters learned so far
    members : by the index of each stage, in order, the names of the sets that it learns
    """

    def __init__(
        self, cascade: Cascade, targeted: Iterable[str], fixed: SetParameters = NO_PARAMETERS
    ) -> None:
        self.sets = dict(cascade.sets)
        self._cascade = cascade
        self._fixed = fixed
        #: Sets that were checked for rounded degrees, and those whose degrees may be rounded.
        self._checked: set[str] = set()
        self._rounded: set[str] = set()
        self._targeted = frozenset(targeted)
        self._order = {name: index for index, name in enumerate(cascade.sets)}
        self._parents = {
            name: [a.name for a in rule_set.inputs if a.name in self._order]
            for name, rule_set in cascade.sets.items()
        }
        #: The stage in which each set is learned or, without a target, can be inferred.
        stage_of: dict[str, int] = {}
        members: dict[int, list[str]] = {}
        for name, parents in self._parents.items():
            before = max((stage_of[parent] for parent in parents), default=0)
            stage_of[name] = before + (name in self._targeted)
            if name in self._targeted:
                members.setdefault(stage_of[name], []).append(name)
        self.members = dict(sorted(members.items()))
        # The last stage that reads an inferred set; 0 if none does. A set is read by its children:
        # when they are learned, and when they are inferred, which is in the first stage that learns
        # a set that depends on them.
        first_inferred = dict.fromkeys(self._order, inf)
        self._last_use = dict.fromkeys(self._order, 0.0)
        for name in reversed(self._order):
            learned = stage_of[name] if name in self._targeted else inf
            uses = [stage for stage in (learned, first_inferred[name]) if stage < inf]
            for parent in self._parents[name]:
                first_inferred[parent] = min(first_inferred[parent], *uses, inf)
                self._last_use[parent] = max(self._last_use[parent], *uses, 0.0)

    def stage(self, index: int, stored: Collection[str] | None) -> Stage:
        """Plan a stage, with the parameters learned so far.

        Parameters
        ----------
        stored : the names of the inferred distributions that are stored; None if none can be: all
            are then inferred again from the evidence
        """
        names = tuple(self.members[index])
        needed: frozenset[str] = frozenset()
        if stored is not None:
            inferred = self._ancestors(names, stored).difference(names).union(stored)
            needed = frozenset(name for name in inferred if self._last_use[name] > index)
        # Which ancestors have degrees that may be rounded? Check each of them once.
        for name in self._in_order(self._ancestors(names, self._checked).difference(names)):
            # A learned parameter that is neither 0 nor 1 may have been rounded.
            is_rounded = name in self._targeted and any(
                z not in (0.0, 1.0) for rule in self.sets[name].rules for z in (rule.s, rule.r)
            )
            if is_rounded or not self._rounded.isdisjoint(self._parents[name]):
                self._rounded.add(name)
            self._checked.add(name)
        exact = {name: self._rounded.isdisjoint(self._parents[name]) for name in names}
        return Stage(
            names,
            self._program(names, self.sets, stored or (), needed),
            needed,
            {name: 0.0 if exact[name] else TOLERANCE for name in names},
            {name: self.sets[name].partition for name in names},
            self._fixed,
        )

    def set_parameters(self, name: str, s: FloatArray, r: FloatArray) -> None:
        """Set the parameters of a set; a set that already has them stays the same object."""
        rule_set = self.sets[name]
        if (rule_set.s != s).any() or (rule_set.r != r).any():
            self.sets[name] = rule_set.with_parameters(s, r)

    def cascade(self) -> Cascade:
        """Return the cascade with the parameters learned so far, the original if none differ."""
        if all(map(is_, self.sets.values(), self._cascade.sets.values())):
            return self._cascade
        rule_sets = (self.sets[s.output.name] for s in self._cascade.rule_sets)
        return Cascade(*rule_sets, attributes=self._cascade.attributes.values())

    def _in_order(self, names: Iterable[str]) -> list[str]:
        """Return the names of sets in the order of inference."""
        return sorted(names, key=self._order.__getitem__)

    def program(self) -> Code:
        """Return the program for the premise degrees of all sets with targets, before learning."""
        return self._program(tuple(self._in_order(self._targeted)), self._cascade.sets)

    def _program(
        self,
        names: tuple[str, ...],
        sets: Mapping[str, RuleSet],
        stored: Collection[str] = (),
        needed: Collection[str] = (),
    ) -> Code:
        """Link a program, or return the cached one of the same rule sets."""
        computed = self._ancestors(names, stored)
        units = tuple(sets[name].unit for name in self._in_order(computed))
        outputs = tuple(sets[name].output for name in sorted(set(needed).difference(stored)))
        inferred = tuple(sorted(set(stored).difference(computed)))
        # Units are compared by identity, which is quick; they are cached, so that ids stay unique.
        key = (tuple(map(id, units)), tuple(a.name for a in outputs), names, inferred)
        programs = _programs(self._cascade)
        if key not in programs:
            known = {a.name: a for unit in units for a in unit.inputs if a.name not in computed}
            is_long = sum(len(unit.rules) for unit in units) >= MANY_RULES
            with notice("pinesy: compiling the rules ...") if is_long else nullcontext():
                programs[key] = units, link(units, outputs, known.values(), names, inferred)
            if len(programs) > MAX_PROGRAMS:
                programs.popitem(last=False)
        return programs[key][1]

    def _ancestors(self, names: Iterable[str], stop: Collection[str]) -> set[str]:
        """Return the given sets and those that they depend on, without those in `stop`."""
        reached = set(names)
        waiting = list(reached)
        while waiting:
            for parent in self._parents[waiting.pop()]:
                if parent not in reached and parent not in stop:
                    reached.add(parent)
                    waiting.append(parent)
        return reached


@cached_on_owner
def _programs(_: Cascade) -> OrderedDict[Hashable, tuple[tuple[RuleUnit, ...], Code]]:
    """Return the cache of programs: a search learns again and again from the same rules."""
    return OrderedDict()
