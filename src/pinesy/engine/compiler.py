"""Compiles rule sets into one flat program."""

from collections.abc import Collection, Iterable, Sequence

from pinesy.engine.circuit import ONE
from pinesy.engine.code import Code, RuleUnit
from pinesy.engine.kinds import COMPILING, Kind, circuit_of
from pinesy.engine.linker import Demands, Linker
from pinesy.rules.attributes import Attribute, Proposition


def link(
    units: Sequence[RuleUnit],
    outputs: Sequence[Attribute],
    known: Iterable[Attribute],
    degrees: Collection[str] = (),
    inferred: Collection[str] = (),
    propositions: Sequence[Proposition] = (),
    reuse: bool = True,
) -> Code:
    """Compile rule sets, given in an order in which inputs come first, into one program.

    Parameters
    ----------
    units : the rule sets that the outputs depend on
    outputs : the attributes whose distributions are wanted
    known : the inputs of all rules; those that are needed get their columns in this order
    degrees : the output names of the rule sets whose premise degrees are wanted too
    inferred : the inputs that earlier rule sets gave, so that they may be not normalised
    propositions : those whose possibilities ``Pi(a in A)`` are wanted, without the distribution
    reuse : whether a row of scratch may serve several values one after the other; if not, all
        values are there in the end, as who goes back through the program needs them
    """
    with COMPILING:
        return _linked(units, outputs, known, degrees, inferred, propositions).code(reuse)


def _linked(
    units: Sequence[RuleUnit],
    outputs: Sequence[Attribute],
    known: Iterable[Attribute],
    degrees: Collection[str],
    inferred: Collection[str],
    propositions: Sequence[Proposition],
) -> Linker:
    concluded = {u.output.name for u in units}
    wanted = [*outputs, *(p.attribute for p in propositions)]
    needed = {a.name for u in units for a in u.inputs} | {a.name for a in wanted}
    inputs = {a.name: a for a in known if a.name in needed}
    kinds = _kinds(units, set(inputs).difference(inferred))
    demands = Demands(units, kinds, outputs, degrees, propositions)
    linker = Linker(inputs, demands, outputs, inferred)
    for unit in _depth_first(units):
        linker.add(unit, demands.templates[unit.output.name])
    for attribute in outputs:
        if attribute.name not in concluded:
            linker.store_distribution(attribute)
    linker.store_measures(propositions)
    return linker


def _kinds(units: Sequence[RuleUnit], evidence: set[str]) -> dict[str, Kind]:
    """Return the kind of each unit, finding on the way which outputs are always normalised."""
    normalised = set(evidence)  # which is checked to be
    kinds = {}
    for unit in units:
        kind = kinds[unit.output.name] = unit.kind(normalised)
        if circuit_of(kind).height == ONE:
            normalised.add(unit.output.name)
    return kinds


def _depth_first(units: Sequence[RuleUnit]) -> Iterable[RuleUnit]:
    """Yield the units, each as soon as its inputs are there, the latest possible one first.

    So a result is used while it is still in cache, whatever order the user wrote.
    """
    produced = {u.output.name for u in units}
    waiting = {u.output.name: {a.name for a in u.inputs} & produced for u in units}
    users: dict[str, list[RuleUnit]] = {}
    for unit in units:
        for name in waiting[unit.output.name]:
            users.setdefault(name, []).append(unit)
    ready = [u for u in reversed(units) if not waiting[u.output.name]]
    while ready:
        unit = ready.pop()
        yield unit
        for user in users.get(unit.output.name, ()):
            waiting[user.output.name].discard(unit.output.name)
            if not waiting[user.output.name]:
                ready.append(user)
