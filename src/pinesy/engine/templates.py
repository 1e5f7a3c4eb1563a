"""Instructions for one kind of rule set, with places left open for its inputs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import mask_table
from pinesy.engine.circuit import MAX, ONE, ZERO, Circuit, Facet, Node, Parameter
from pinesy.engine.kinds import Kind, circuit_of

# Beside MAX and MIN of a list: max of mins of pairs, min of maxes of pairs, and output.
MAXMIN, MINMAX, STORE = 2, 3, 4

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Template:
    """A list of instructions ``(op, operands)``; each makes one new value.

    Operands and results are numbers of values: 0 and 1 stand for the constants 0.0 and 1.0, then
    come the `leaves`, then the results of the instructions in their order.
    """

    leaves: tuple[Facet | Parameter, ...]
    ops: IntArray
    #: Operands of all instructions, one list after the other; `starts` says where each begins.
    args: IntArray
    starts: IntArray
    outputs: IntArray


@lru_cache(maxsize=1024)
def rule_template(
    kind: Kind, masks: tuple[int, ...], degrees: bool, concludes: bool = True
) -> Template:
    """Return the instructions for a kind of rule set.

    Outputs, in this order: the possibility of each subset of the output domain in `masks`; the
    height ``Pi*(D_b)`` (1 where it does not count because nobody asks what the set `concludes`);
    and with `degrees`, ``lambda_1, rho_1, lambda_2, ...``.
    """
    circuit = circuit_of(kind)
    others = [circuit.height if concludes else ONE]
    if degrees:
        others += [d for pair in zip(circuit.lambdas, circuit.rhos, strict=True) for d in pair]
    if not masks:
        return emit(circuit, others)
    ways = [emit(circuit, circuit.facets(masks, split) + others) for split in (False, True)]
    return min(ways, key=_work)


def _work(template: Template) -> int:
    """Return about how much a template costs, with the subsets that it asks of its inputs."""
    sizes = [leaf.mask.bit_count() for leaf in template.leaves if isinstance(leaf, Facet)]
    return len(template.args) + 2 * len(template.ops) + sum(size for size in sizes if size > 1)


@lru_cache(maxsize=1024)
def column_template(size: int, masks: tuple[int, ...]) -> Template:
    """Return the instructions from the degrees of a domain's values to those of its subsets.

    The leaves are the `size` values, in order (as parameters, so that they are not united).
    """
    circuit = Circuit([], [])
    columns = circuit.parameters(size)
    atoms, atom_of = np.unique(mask_table(size, masks), axis=0, return_inverse=True)
    kept = np.flatnonzero(atoms.any(axis=1))
    nodes = circuit.unions(columns, atom_of.reshape(-1, 1) == kept)
    return emit(circuit, circuit.unions(nodes, atoms[kept]), leaves=columns)


def emit(circuit: Circuit, outputs: Sequence[int], leaves: Sequence[int] = ()) -> Template:
    """Turn the expressions `outputs` and all they need into instructions.

    `leaves` fixes the order of the inputs; by default they are the ones that are needed.
    """
    instructions = _Instructions(circuit, outputs)
    place = {ZERO: 0, ONE: 1}
    for leaf in leaves or instructions.leaves:
        place[leaf] = len(place)
    contents = [circuit.nodes[n] for n in list(place)[2:]]
    for number in instructions.order:
        place[number] = len(place)
    operands = [instructions.of[number] for number in instructions.order]
    return Template(
        tuple(c for c in contents if isinstance(c, Facet | Parameter)),
        np.array([op for op, _ in operands], dtype=np.int32),
        np.array([place[n] for _, numbers in operands for n in numbers], dtype=np.int32),
        np.cumsum([0, *(len(numbers) for _, numbers in operands)], dtype=np.int32),
        np.array([place[n] for n in outputs], dtype=np.int32),
    )


class _Instructions:
    """Chooses which expressions get an instruction of their own.

    One that a single instruction of the same operation uses is written into it; a min of two
    that a single max uses becomes a pair of a ``MAXMIN`` (and the other way round).
    """

    def __init__(self, circuit: Circuit, outputs: Sequence[int]) -> None:
        self.nodes = circuit.nodes
        self.uses = self._count(outputs)
        self.of: dict[int, tuple[int, list[int]]] = {}
        needed, leaves = list(outputs), set[int]()
        while needed:
            number = needed.pop()
            if isinstance(self.nodes[number], Facet | Parameter):
                leaves.add(number)
            elif number > ONE and number not in self.of:
                self.of[number] = self._instruction(number)
                needed.extend(self.of[number][1])
        self.leaves = sorted(leaves)
        self.order = sorted(self.of)  # children have lower numbers than parents

    def _count(self, outputs: Sequence[int]) -> Counter[int]:
        uses = Counter(outputs)
        for number in outputs:
            uses[number] += 1  # an output is never written into another instruction
        seen, stack = set(outputs), list(set(outputs))
        while stack:
            for child in self._children(stack.pop()):
                uses[child] += 1
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return uses

    def _children(self, number: int) -> tuple[int, ...]:
        node = self.nodes[number]
        return node.children if isinstance(node, Node) else ()

    def _instruction(self, number: int) -> tuple[int, list[int]]:
        node = self._node(number)
        operands = self._flat(number)
        pairs = [self._pair(o, node.op) for o in operands]
        lone = pairs.count(None)
        if lone > 2 * (len(pairs) - lone):
            return node.op, operands
        op = MAXMIN if node.op == MAX else MINMAX
        return op, [n for o, pair in zip(operands, pairs, strict=True) for n in pair or (o, o)]

    def _flat(self, number: int) -> list[int]:
        """Return the operands, those of the same operation and no other use taken apart."""
        op = self._node(number).op
        flat, stack = [], list(reversed(self._children(number)))
        while stack:
            child = stack.pop()
            node = self.nodes[child]
            if isinstance(node, Node) and node.op == op and self.uses[child] == 1:
                stack.extend(reversed(node.children))
            else:
                flat.append(child)
        return flat

    def _pair(self, number: int, op: int) -> tuple[int, int] | None:
        node = self.nodes[number]
        if isinstance(node, Node) and node.op != op and self.uses[number] == 1:
            operands = self._flat(number)
            if len(operands) == 2:
                return operands[0], operands[1]
        return None

    def _node(self, number: int) -> Node:
        node = self.nodes[number]
        assert isinstance(node, Node)
        return node
