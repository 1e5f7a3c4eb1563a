"""Compiles rule sets, or any circuit of columns, into one flat program."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from pinesy.engine.circuit import MAX, MIN, ONE, ZERO, Circuit, Node
from pinesy.engine.code import Code, RuleUnit
from pinesy.engine.kinds import COMPILING, Kind, circuit_of
from pinesy.engine.linker import Demands, Linker, assemble
from pinesy.engine.templates import STORE, IntArray, Template, emit
from pinesy.rules.attributes import Attribute, Proposition

#: The most terms of a min that is taken apart to be taken anew with others.
MAX_TERMS = 8


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
        wanted = [*outputs, *(p.attribute for p in propositions)]
        needed = {a.name for u in units for a in u.inputs} | {a.name for a in wanted}
        inputs = {a.name: a for a in known if a.name in needed}
        kinds = _kinds(units, set(inputs).difference(inferred))
        demands = Demands(units, kinds, outputs, degrees, propositions)
        linker = Linker(inputs, demands, outputs, inferred)
        for unit in _depth_first(units):
            linker.add(unit, demands.templates[unit.output.name])
        for attribute in outputs:
            if attribute.name not in kinds:
                linker.store_distribution(attribute)
        linker.store_measures(propositions)
        return linker.code(reuse)


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


class ColumnCircuit(Circuit):
    """Min and max of columns and constants; an expression is the number of its node.

    A circuit for large expressions, such as the messages of a whole cascade: it leaves the deeper
    laws of lattices alone, which would compare each term with many others. `circuit_code`
    turns it into a program.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__([], [])
        self.columns = self.parameters(n_columns)
        #: The constants other than 0 and 1, by their number.
        self.constants: dict[float, int] = {}

    def constant(self, number: float) -> int:
        """Return a number as an expression."""
        if number in (0.0, 1.0):
            return ONE if number else ZERO
        if number not in self.constants:
            self.constants[number] = self.parameter(len(self.columns) + len(self.constants))
        return self.constants[number]

    def join(self, operands: Iterable[int]) -> int:
        """Return the maximum of the operands, 0 if there are none."""
        return self._combined(MAX, operands, ZERO, ONE)

    def meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, 1 if there are none.

        A min of few terms is taken anew from these, so that programs need not hold the min of
        some of them from one use to a much later one.
        """
        operands = list(operands)
        terms = {term for operand in operands for term in self._terms(operand)}
        return self._combined(MIN, terms if len(terms) <= MAX_TERMS else operands, ONE, ZERO)

    def _terms(self, number: int) -> tuple[int, ...]:
        node = self.nodes[number]
        return node.children if isinstance(node, Node) and node.op == MIN else (number,)

    def _combined(self, op: int, operands: Iterable[int], neutral: int, absorbing: int) -> int:
        terms = set(operands)
        if absorbing in terms:
            return absorbing
        terms.discard(neutral)
        if len(terms) <= 1:
            return terms.pop() if terms else neutral
        children = tuple(sorted(terms))
        return self._node(op, children, children)


def circuit_code(
    circuit: ColumnCircuit,
    inputs: Sequence[Attribute],
    least: Sequence[float],
    outputs: Sequence[int],
) -> Code:
    """Return the program of a circuit of columns.

    Parameters
    ----------
    circuit : expressions over the columns of the inputs
    inputs : the attributes whose domains, side by side, are the columns
    least : the least height that each of them must have
    outputs : the expressions whose values are the output columns
    """
    template = emit(circuit, outputs, leaves=[*circuit.columns, *circuit.constants.values()])
    constants = {0.0: 0, 1.0: 1}
    for number, constant in enumerate(circuit.constants, 2 + len(circuit.columns)):
        constants[constant] = number
    first = len(circuit.columns) + len(constants)
    instructions = _stored_early(template, first)
    return assemble(inputs, least, constants, instructions, first + len(template.ops))


def _stored_early(template: Template, first: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Write each output as soon as it is there, so that its row of scratch is free again."""
    n, stored = len(template.ops), len(template.outputs)
    ops = np.concatenate([template.ops, np.full(stored, STORE)])
    targets = np.concatenate([np.arange(first, first + n), np.arange(stored)])
    lengths = np.concatenate([np.diff(template.starts), np.ones(stored)]).astype(np.int32)
    old = np.cumsum([0, *lengths])
    after = np.concatenate([np.arange(n), template.outputs - first])
    order = np.argsort(after, kind="stable")
    starts = np.cumsum([0, *lengths[order]])
    places = np.repeat(old[order] - starts[:-1], lengths[order]) + np.arange(starts[-1])
    args = np.concatenate([template.args, template.outputs])[places]
    return ops[order], targets[order], starts, args
