"""Instructions for one kind of rule set, with places left open for its inputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import Numbers, mask_table
from pinesy.engine.circuit import MAX, ONE, ZERO, Circuit, Facet, Node, Parameter
from pinesy.engine.folds import Folds
from pinesy.engine.instructions import LEAF, select_instructions
from pinesy.engine.kinds import Kind, circuit_of
from pinesy.engine.subsets import SubsetFolds, Subsets
from pinesy.engine.wide import is_large, is_wide, wide_set

IntArray = npt.NDArray[np.int32]
#: Values of a domain whose instructions are kept for other rules: they take 100 bytes a value.
MAX_KEPT = 512


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

    def without_idle_leaves(self) -> "Template":
        """Return the same instructions without the inputs that none of them uses."""
        used = np.zeros(2 + len(self.leaves) + len(self.ops), dtype=bool)
        used[:2], used[2 + len(self.leaves) :] = True, True
        used[self.args], used[self.outputs] = True, True
        number = (np.cumsum(used) - 1).astype(np.int32)
        leaves = tuple(compress(self.leaves, used[2:].tolist()))
        args, outputs = number[self.args], number[self.outputs]
        return replace(self, leaves=leaves, args=args, outputs=outputs)


@lru_cache(maxsize=1024)
def rule_template(
    kind: Kind, masks: tuple[int, ...], degrees: bool, concludes: bool = True
) -> Template:
    """Return the instructions for a kind of rule set.

    Outputs, in this order: the possibility of each subset of the output domain in `masks`; the
    height ``Pi*(D_b)`` (1 where it does not count because nobody asks what the set `concludes`);
    and with `degrees`, ``lambda_1, rho_1, lambda_2, ...``.
    """
    if is_wide(kind):
        return _wide_template(kind, masks, degrees, concludes)
    circuit = circuit_of(kind)
    others = [circuit.height if concludes else ONE]
    if degrees:
        others += [d for pair in zip(circuit.lambdas, circuit.rhos, strict=True) for d in pair]
    if not masks:
        return emit(circuit, others)
    ways = [emit(circuit, circuit.facets(masks, split) + others) for split in (False, True)]
    return min(ways, key=_work)


def _wide_template(kind: Kind, masks: tuple[int, ...], degrees: bool, concludes: bool) -> Template:
    wide = wide_set(kind)
    outputs = [wide.facets(masks), np.array([wide.height if concludes else ONE])]
    if degrees:
        outputs.append(np.stack([wide.lambdas, wide.rhos], axis=1).ravel())
    return _folded(wide.folds, wide.leaves, np.concatenate(outputs)).without_idle_leaves()


def _folded(folds: Folds, leaves: Sequence[Facet | Parameter], outputs: Numbers) -> Template:
    """Return the instructions for some values of folds, with the leaves that they need."""
    ops, operands = folds.operations()
    return selected(tuple(leaves), ops, 2 * np.arange(len(ops) + 1), operands.ravel(), outputs)


def _work(template: Template) -> int:
    """Return about how much a template costs, with the subsets that it asks of its inputs."""
    sizes = [leaf.mask.bit_count() for leaf in template.leaves if isinstance(leaf, Facet)]
    return len(template.args) + 2 * len(template.ops) + sum(size for size in sizes if size > 1)


def column_template(size: int, masks: tuple[int, ...]) -> Template:
    """Return the instructions from the degrees of a domain's values to those of its subsets.

    The leaves are the `size` values, in order (as parameters, so that they are not united). Those
    of small domains are kept for other rules; those of large ones only with the program.
    """
    return (_small_template if size <= MAX_KEPT else _column_template)(size, masks)


def _column_template(size: int, masks: tuple[int, ...]) -> Template:
    if is_large(len(masks), size):
        subsets, folds = Subsets.of(size, masks), SubsetFolds([], [], size)
        values = folds.lists(MAX, subsets.n_atoms, subsets.atom_of, folds.others)
        return _folded(folds, list(map(Parameter, range(size))), folds.measures(subsets, values))
    circuit = Circuit([], [])
    columns = circuit.parameters(size)
    atoms, atom_of = np.unique(mask_table(size, masks), axis=0, return_inverse=True)
    kept = np.flatnonzero(atoms.any(axis=1))
    nodes = circuit.unions(columns, atom_of.reshape(-1, 1) == kept)
    return emit(circuit, circuit.unions(nodes, atoms[kept]), leaves=columns)


_small_template = lru_cache(maxsize=1024)(_column_template)


def emit(circuit: Circuit, outputs: Sequence[int], leaves: Sequence[int] = ()) -> Template:
    """Turn the expressions `outputs` and all they need into instructions.

    `leaves` fixes the order of the inputs; by default they are the ones that are needed.
    """
    needed = _needed(circuit, outputs)
    inputs = leaves or [n for n in needed if isinstance(circuit.nodes[n], Facet | Parameter)]
    numbers = [ZERO, ONE, *inputs, *(n for n in needed if isinstance(circuit.nodes[n], Node))]
    place = {number: i for i, number in enumerate(numbers)}
    nodes = [circuit.nodes[number] for number in numbers[2 + len(inputs) :]]
    makers = [node for node in nodes if isinstance(node, Node)]
    lengths = [len(node.children) for node in makers]
    contents = [circuit.nodes[number] for number in inputs]
    return selected(
        tuple(c for c in contents if isinstance(c, Facet | Parameter)),
        np.array([node.op for node in makers], dtype=np.int64),
        np.cumsum([0, *lengths]),
        np.array([place[child] for node in makers for child in node.children], dtype=np.int64),
        np.array([place[number] for number in outputs], dtype=np.int64),
    )


def _needed(circuit: Circuit, outputs: Sequence[int]) -> list[int]:
    """Return the expressions that the outputs come from, in order: operands before results."""
    seen, stack = set(outputs), list(set(outputs))
    while stack:
        node = circuit.nodes[stack.pop()]
        new = set(node.children) - seen if isinstance(node, Node) else set()
        seen |= new
        stack.extend(new)
    return sorted(seen)


def selected(
    leaves: tuple[Facet | Parameter, ...],
    ops: Numbers,
    starts: Numbers,
    args: Numbers,
    outputs: Numbers,
) -> Template:
    """Return the template of operations, given in numbers of values as in `Template`.

    `starts` and `args` are the operands of the operations, and `outputs` values of them all.
    """
    fixed = 2 + len(leaves)
    made, codes, begins, operands = select_instructions(
        np.concatenate([np.full(fixed, LEAF), ops]),
        np.concatenate([np.zeros(fixed, dtype=np.int64), starts]),
        args,
        outputs,
    )
    number = np.zeros(fixed + len(ops), dtype=np.int32)
    number[:fixed] = np.arange(fixed)
    number[made] = np.arange(fixed, fixed + len(made))
    return Template(
        leaves,
        codes.astype(np.int32),
        number[operands],
        begins.astype(np.int32),
        number[outputs],
    )
