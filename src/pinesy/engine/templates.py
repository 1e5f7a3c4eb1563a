"""Templates: the instructions of a rule set structure, over leaves for its inputs and parameters.

Operations are fused into instructions: an operand with a single use in the same operation is
written into it; a min of two with a single use in a max becomes a pair of a ``MAXMIN`` (and the
other way round).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import Numbers, mask_table
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, ONE, ZERO, Circuit, Facet, Node, Parameter
from pinesy.engine.folds import Folds, SubsetFolds, Subsets
from pinesy.engine.rule_set_kinds import WIDE, RuleSetStructure, circuit_of
from pinesy.engine.wide import wide_set

IntArray = npt.NDArray[np.int32]
#: The largest domain whose templates are cached: they take 100 bytes a value.
MAX_CACHED = 512
#: The operation code of a constant or leaf.
LEAF = -1


@dataclass(frozen=True, eq=False)
class Template:
    """A list of instructions ``(op, operands)``, each with one result.

    Operands and outputs are value ids: 0 and 1 are the constants 0.0 and 1.0, then come the
    `leaves`, then the results of the instructions in their order.
    """

    leaves: tuple[Facet | Parameter, ...]
    ops: IntArray
    #: The operands of all instructions, concatenated; those of `i` are ``args[starts[i]:...]``.
    args: IntArray
    starts: IntArray
    outputs: IntArray


@lru_cache(maxsize=1024)
def rule_template(
    structure: RuleSetStructure, masks: tuple[int, ...], degrees: bool, concludes: bool = True
) -> Template:
    """Return the template of a rule set structure.

    Outputs, in this order: the possibility of each subset of the output domain in `masks`; the
    height ``Pi*(D_b)`` (1 unless the conclusion is needed: `concludes`);
    and with `degrees`, ``lambda_1, rho_1, lambda_2, ...``.
    """
    if structure.is_wide:
        return _wide_template(structure, masks, degrees, concludes)
    circuit = circuit_of(structure)
    if circuit.remaining < 0:
        circuit_of.cache_clear()  # rebuild it next time
    others = [circuit.height if concludes else ONE]
    if degrees:
        others += [d for pair in zip(circuit.lambdas, circuit.rhos, strict=True) for d in pair]
    if not masks:
        return emit(circuit, others)
    templates = [emit(circuit, circuit.facets(masks, split) + others) for split in (False, True)]
    return min(templates, key=_cost)


def _wide_template(
    structure: RuleSetStructure, masks: tuple[int, ...], degrees: bool, concludes: bool
) -> Template:
    wide = wide_set(structure)
    if wide.remaining < 0:
        wide_set.cache_clear()
    outputs = [wide.facets(masks), np.array([wide.height if concludes else ONE])]
    if degrees:
        outputs.append(np.stack([wide.lambdas, wide.rhos], axis=1).ravel())
    return _folds_template(wide.folds, wide.leaves, np.concatenate(outputs))


def _folds_template(
    folds: Folds, leaves: Sequence[Facet | Parameter], outputs: Numbers, n_fixed: int = 2
) -> Template:
    """Return the template of some values of `Folds`.

    Unused leaves are dropped, except among the first `n_fixed` values.
    """
    is_used = folds.needed_values(outputs)
    is_used[:n_fixed] = True
    index_of = np.cumsum(is_used) - 1
    ops, operands = (part[is_used[folds.first :]] for part in folds.operations())
    needed = tuple(compress(leaves, is_used[2:].tolist()))
    starts = 2 * np.arange(len(ops) + 1)
    return fuse(needed, ops, starts, index_of[operands].ravel(), index_of[outputs])


def _cost(template: Template) -> int:
    """Return the approximate cost of a template, with the subsets that it needs of its inputs."""
    sizes = [leaf.mask.bit_count() for leaf in template.leaves if isinstance(leaf, Facet)]
    return len(template.args) + 2 * len(template.ops) + sum(size for size in sizes if size > 1)


def column_template(size: int, masks: tuple[int, ...]) -> Template:
    """Return the template from the degrees of the values of a domain to those of its subsets.

    The leaves are the `size` values, in order (as parameters, so that they are not united). The
    templates of small domains are cached.
    """
    return (_cached_template if size <= MAX_CACHED else _column_template)(size, masks)


def _column_template(size: int, masks: tuple[int, ...]) -> Template:
    if len(masks) * size > WIDE:
        subsets, folds = Subsets.from_masks(size, masks), SubsetFolds([], [], size)
        values = folds.reduce_lists(MAX, subsets.n_atoms, subsets.atom_of, folds.others)
        leaves = list(map(Parameter, range(size)))
        return _folds_template(
            folds, leaves, folds.subset_possibilities(subsets, values), folds.first
        )
    circuit = Circuit([], [], size)
    maxima = circuit.subset_maxima(mask_table(size, masks), circuit.columns)
    return emit(circuit, maxima, leaves=circuit.columns)


_cached_template = lru_cache(maxsize=1024)(_column_template)


def emit(circuit: Circuit, outputs: Sequence[int], leaves: Sequence[int] = ()) -> Template:
    """Return the template of some expressions of a circuit.

    `leaves` fixes the order of the leaves; by default they are the ones that are needed.
    """
    needed = _needed_nodes(circuit, outputs)
    inputs = leaves or [n for n in needed if isinstance(circuit.nodes[n], Facet | Parameter)]
    order = [ZERO, ONE, *inputs, *(n for n in needed if isinstance(circuit.nodes[n], Node))]
    index_of = {node: i for i, node in enumerate(order)}
    nodes = [circuit.nodes[node] for node in order[2 + len(inputs) :]]
    operations = [node for node in nodes if isinstance(node, Node)]
    contents = [circuit.nodes[node] for node in inputs]
    return fuse(
        tuple(c for c in contents if isinstance(c, Facet | Parameter)),
        np.array([node.op for node in operations], dtype=np.int64),
        np.cumsum([0, *(len(node.children) for node in operations)]),
        np.array([index_of[child] for n in operations for child in n.children], dtype=np.int64),
        np.array([index_of[node] for node in outputs], dtype=np.int64),
    )


def _needed_nodes(circuit: Circuit, outputs: Sequence[int]) -> list[int]:
    """Return the nodes that the outputs depend on, operands before results."""
    needed, stack = set(outputs), list(set(outputs))
    while stack:
        node = circuit.nodes[stack.pop()]
        new = set(node.children) - needed if isinstance(node, Node) else set()
        needed |= new
        stack.extend(new)
    return sorted(needed)


def fuse(
    leaves: tuple[Facet | Parameter, ...],
    ops: Numbers,
    starts: Numbers,
    args: Numbers,
    outputs: Numbers,
) -> Template:
    """Return the template of operations, with nested operations fused into one instruction.

    Parameters
    ----------
    ops, starts, args, outputs : as in `Template`, one value for each operation
    """
    fixed = 2 + len(leaves)
    results, codes, begins, operands = _instructions(
        np.concatenate([np.full(fixed, LEAF), ops]),
        np.concatenate([np.zeros(fixed, dtype=np.int64), starts]),
        args,
        outputs,
    )
    index_of = np.zeros(fixed + len(ops), dtype=np.int32)
    index_of[:fixed] = np.arange(fixed)
    index_of[results] = np.arange(fixed, fixed + len(results))
    return Template(
        leaves,
        codes.astype(np.int32),
        index_of[operands],
        begins.astype(np.int32),
        index_of[outputs],
    )


#: The values that have an instruction, and `ops`, `starts` and `args` as in `Template`.
Instructions = tuple[Numbers, Numbers, Numbers, Numbers]


def _instructions(ops: Numbers, starts: Numbers, args: Numbers, outputs: Numbers) -> Instructions:
    """Return the instructions that compute some outputs, with nested operations inlined.

    Parameters
    ----------
    ops : for each value MAX, MIN or LEAF; operands have lower ids than results
    starts, args : the operands of all values, concatenated
    outputs : the values to compute
    """
    user = np.repeat(np.arange(len(ops)), np.diff(starts))
    uses = np.bincount(args, minlength=len(ops))
    uses += 2 * np.bincount(outputs, minlength=len(ops))  # outputs are not inlined
    parent = np.zeros(len(ops), dtype=np.int64)
    parent[args] = user
    once = (uses == 1) & (ops != LEAF)
    inside = once & (ops == ops[parent])
    root = np.where(inside, parent, np.arange(len(parent)))
    while (root[root] != root).any():  # pointer jumping
        root = root[root]
    outside = ~inside[args]
    user, operands = root[user[outside]], args[outside]
    order = np.argsort(user, kind="stable")
    return _fuse_pairs(user[order], operands[order], ops, once & ~inside, root[parent])


def _fuse_pairs(
    users: Numbers, operands: Numbers, ops: Numbers, once: BoolArray, owner: Numbers
) -> Instructions:
    """Fuse operations of two operands into their user as a pair; return the instructions.

    Parameters
    ----------
    users, operands : the user of each operand, and the operand, sorted by user
    once : whether a value is used once, and in the other operation
    owner : the user of each value that is used once
    """
    lengths = np.bincount(users, minlength=len(ops))
    two = once & (lengths == 2)
    pairs = np.bincount(users[two[operands]], minlength=len(ops))
    pairing = (lengths - pairs <= 2 * pairs) & (lengths > 0)
    # A value that is fused into its owner has no pairs itself.
    can_pair = two & pairing[owner]
    is_pair = np.zeros_like(can_pair)
    while not np.array_equal(is_pair, new_pairs := can_pair & ~is_pair[owner]):
        is_pair = new_pairs
    results = np.flatnonzero((lengths > 0) & ~is_pair)
    first = np.cumsum(lengths) - lengths
    twice = pairing[results]
    remaining = operands[~is_pair[users]]
    doubled = np.repeat(twice, lengths[results])
    begin = first[np.where(is_pair[remaining], remaining, 0)]
    left = np.where(is_pair[remaining], operands[begin], remaining)
    right = np.where(
        is_pair[remaining], operands[np.minimum(begin + 1, len(operands) - 1)], remaining
    )
    args = np.stack([left, right], axis=1)[np.stack([np.ones_like(doubled), doubled], axis=1)]
    starts = np.cumsum(np.append(0, lengths[results] * (1 + twice)))
    return results, ops[results] + 2 * twice, starts, args
