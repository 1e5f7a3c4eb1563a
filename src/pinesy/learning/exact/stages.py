"""In which order the rule sets of a cascade are learned, and what is run for each stage.

A set with a target is learned after the sets that its premises depend on. Sets that do not
depend on each other are learned together, in one *stage*: one program gives the premise degrees
of them all.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pinesy._common.console import notice
from pinesy.engine.code import Code, RuleUnit
from pinesy.engine.compiler import link
from pinesy.minmax import TOLERANCE
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute


def stage_numbers(order: Sequence[RuleSet], targeted: Collection[str]) -> dict[str, int]:
    """Return the stage at which each set is learned or, without a target, can be inferred."""
    numbers: dict[str, int] = {}
    for rule_set in order:
        before = max((numbers.get(a.name, 0) for a in rule_set.inputs), default=0)
        numbers[rule_set.output.name] = before + (rule_set.output.name in targeted)
    return numbers


@dataclass(frozen=True, eq=False)
class Stage:
    """What one stage of learning runs.

    Attributes
    ----------
    names : the sets learned in it
    code : the program that gives their premise degrees, and the distributions to keep
    kept : what later stages need of the distributions inferred so far
    slack : for each set, how far rounding may have moved its premise degrees: they are copies of
        inputs and of earlier sets' parameters, and learned parameters come of subtractions
    """

    names: tuple[str, ...]
    code: Code
    kept: frozenset[str]
    slack: Mapping[str, float]


def next_stage(
    order: Sequence[RuleSet],
    numbers: Mapping[str, int],
    targeted: Collection[str],
    stage: int,
    have: Collection[str] | None,
) -> Stage:
    """Plan a stage of the sets in `order`, which have the parameters learned so far.

    Parameters
    ----------
    numbers : of all sets; see `stage_numbers`
    have : the inferred distributions that were kept, or None if none are kept: then everything
        is inferred again from the inputs
    """
    sets = {s.output.name: s for s in order}
    names = [name for name in sets if name in targeted and numbers[name] == stage]
    later = [name for name in sets if name in targeted and numbers[name] > stage]
    kept: set[str] = set()
    here = _closure(sets, names, have or ())
    if have is not None:
        computed = here.difference(names)
        reached = _boundary(sets, _closure(sets, later, {*have, *computed}))
        kept = reached & {*have, *computed}
    code = _linked(
        tuple(sets[name].unit for name in sets if name in here),
        tuple(sets[name].output for name in sorted(kept.difference(have or ()))),
        tuple(_known(sets, here)),
        tuple(names),
        tuple(sorted(name for name in have or () if name not in here)),
    )
    graded = {n for n in sets if n in targeted and numbers[n] < stage and _graded(sets[n])}
    slack = {name: _slack(sets, name, graded) for name in names}
    return Stage(tuple(names), code, frozenset(kept), slack)


#: Programs by the rule sets that they are made of: a search learns again and again from the same.
_PROGRAMS: OrderedDict[Hashable, tuple[tuple[RuleUnit, ...], Code]] = OrderedDict()
#: Programs that are kept.
MAX_PROGRAMS = 256


def _linked(
    units: tuple[RuleUnit, ...],
    outputs: tuple[Attribute, ...],
    known: tuple[Attribute, ...],
    names: tuple[str, ...],
    inferred: tuple[str, ...],
) -> Code:
    """Link a program, or return the one that the same objects gave before."""
    # Units are compared by identity, which is quick; they are kept, so that an id stays its own.
    key = (tuple(map(id, units)), tuple(a.name for a in outputs), names, inferred)
    found = _PROGRAMS.get(key)
    if found is None:
        with notice("pinesy: compiling the rules ..."):
            found = _PROGRAMS[key] = units, link(units, outputs, known, names, inferred)
        if len(_PROGRAMS) > MAX_PROGRAMS:
            _PROGRAMS.popitem(last=False)
    return found[1]


def _slack(sets: Mapping[str, RuleSet], name: str, graded: Collection[str]) -> float:
    """Return how far rounding may move the premise degrees of a set that comes after others."""
    return TOLERANCE if graded and ancestors(sets, name).intersection(graded) else 0.0


def ancestors(sets: Mapping[str, RuleSet], name: str) -> set[str]:
    """Return the sets that the premises of a set depend on, without itself."""
    return _closure(sets, [name], ()).difference([name])


def _graded(rule_set: RuleSet) -> bool:
    """Tell whether a parameter is neither 0 nor 1, so that it may have been rounded."""
    return any(z not in (0.0, 1.0) for rule in rule_set.rules for z in (rule.s, rule.r))


def needed_inputs(order: Sequence[RuleSet], targeted: Collection[str]) -> set[str]:
    """Return the names of the inputs that the sets with targets depend on."""
    sets = {s.output.name: s for s in order}
    return _boundary(sets, _closure(sets, targeted, ()))


def _closure(sets: Mapping[str, RuleSet], names: Iterable[str], stop: Collection[str]) -> set[str]:
    """Return the sets that the given ones depend on, themselves included, up to `stop`."""
    found, waiting = set(names), list(names)
    while waiting:
        for attribute in sets[waiting.pop()].inputs:
            name = attribute.name
            if name in sets and name not in found and name not in stop:
                found.add(name)
                waiting.append(name)
    return found


def _boundary(sets: Mapping[str, RuleSet], names: Collection[str]) -> set[str]:
    """Return the attributes that the given sets use and do not conclude on."""
    return {a.name for name in names for a in sets[name].inputs}.difference(names)


def _known(sets: Mapping[str, RuleSet], here: Collection[str]) -> list[Attribute]:
    """Return the attributes that a program of some sets takes as inputs, in a fixed order."""
    found = {a.name: a for name in sets if name in here for a in sets[name].inputs}
    return [a for name, a in found.items() if name not in here]
