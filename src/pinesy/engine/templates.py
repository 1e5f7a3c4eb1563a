"""Instructions for one kind of rule set, with places left open for its inputs.

Which operations get an instruction of their own is decided for all of them at once: one that a
single instruction of the same operation uses is written into it; a min of two that a single max
uses becomes a pair of a ``MAXMIN`` (and the other way round).
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
from pinesy.engine.rule_set_kinds import WIDE, Kind, circuit_of
from pinesy.engine.wide import wide_set

IntArray = npt.NDArray[np.int32]
#: Values of a domain whose instructions are kept for other rules: they take 100 bytes a value.
MAX_KEPT = 512
#: In the place of an operation: none.
LEAF = -1


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
    if kind.is_wide:
        return _wide_template(kind, masks, degrees, concludes)
    circuit = circuit_of(kind)
    if circuit.remaining < 0:
        circuit_of.cache_clear()  # so that it is built anew the next time
    others = [circuit.height if concludes else ONE]
    if degrees:
        others += [d for pair in zip(circuit.lambdas, circuit.rhos, strict=True) for d in pair]
    if not masks:
        return emit(circuit, others)
    templates = [emit(circuit, circuit.facets(masks, split) + others) for split in (False, True)]
    return min(templates, key=_work)


def _wide_template(kind: Kind, masks: tuple[int, ...], degrees: bool, concludes: bool) -> Template:
    wide = wide_set(kind)
    if wide.remaining < 0:
        wide_set.cache_clear()
    outputs = [wide.facets(masks), np.array([wide.height if concludes else ONE])]
    if degrees:
        outputs.append(np.stack([wide.lambdas, wide.rhos], axis=1).ravel())
    return _folded(wide.folds, wide.leaves, np.concatenate(outputs))


def _folded(
    folds: Folds, leaves: Sequence[Facet | Parameter], outputs: Numbers, n_fixed: int = 2
) -> Template:
    """Return the instructions for some values of folds.

    Leaves that nothing is computed from go, but for those among the first `n_fixed` values.
    """
    is_used = folds.needed(outputs)
    is_used[:n_fixed] = True
    index_of = np.cumsum(is_used) - 1
    ops, operands = (part[is_used[folds.first :]] for part in folds.operations())
    needed = tuple(compress(leaves, is_used[2:].tolist()))
    starts = 2 * np.arange(len(ops) + 1)
    return selected(needed, ops, starts, index_of[operands].ravel(), index_of[outputs])


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
    if len(masks) * size > WIDE:
        subsets, folds = Subsets.of(size, masks), SubsetFolds([], [], size)
        values = folds.lists(MAX, subsets.n_atoms, subsets.atom_of, folds.others)
        leaves = list(map(Parameter, range(size)))
        return _folded(folds, leaves, folds.measures(subsets, values), folds.first)
    circuit = Circuit([], [], size)
    maxima = circuit.subsets(mask_table(size, masks), circuit.columns)
    return emit(circuit, maxima, leaves=circuit.columns)


_small_template = lru_cache(maxsize=1024)(_column_template)


def emit(circuit: Circuit, outputs: Sequence[int], leaves: Sequence[int] = ()) -> Template:
    """Turn the expressions `outputs` and all they need into instructions.

    `leaves` fixes the order of the inputs; by default they are the ones that are needed.
    """
    needed = _needed(circuit, outputs)
    inputs = leaves or [n for n in needed if isinstance(circuit.nodes[n], Facet | Parameter)]
    order = [ZERO, ONE, *inputs, *(n for n in needed if isinstance(circuit.nodes[n], Node))]
    index_of = {node: i for i, node in enumerate(order)}
    nodes = [circuit.nodes[node] for node in order[2 + len(inputs) :]]
    makers = [maker for maker in nodes if isinstance(maker, Node)]
    lengths = [len(maker.children) for maker in makers]
    contents = [circuit.nodes[node] for node in inputs]
    return selected(
        tuple(c for c in contents if isinstance(c, Facet | Parameter)),
        np.array([maker.op for maker in makers], dtype=np.int64),
        np.cumsum([0, *lengths]),
        np.array([index_of[child] for maker in makers for child in maker.children], dtype=np.int64),
        np.array([index_of[node] for node in outputs], dtype=np.int64),
    )


def _needed(circuit: Circuit, outputs: Sequence[int]) -> list[int]:
    """Return the expressions that the outputs come from, in order: operands before results."""
    needed, stack = set(outputs), list(set(outputs))
    while stack:
        node = circuit.nodes[stack.pop()]
        new = set(node.children) - needed if isinstance(node, Node) else set()
        needed |= new
        stack.extend(new)
    return sorted(needed)


def selected(
    leaves: tuple[Facet | Parameter, ...],
    ops: Numbers,
    starts: Numbers,
    args: Numbers,
    outputs: Numbers,
) -> Template:
    """Return the template of operations, given in numbers of values as in `Template`.

    `starts` and `args` are the operands of the operations, and `outputs` values of them all, which
    come from each operation.
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


#: The values that have an instruction, their operations, and the operands as `starts, args`.
Instructions = tuple[Numbers, Numbers, Numbers, Numbers]


def _instructions(ops: Numbers, starts: Numbers, args: Numbers, outputs: Numbers) -> Instructions:
    """Return the instructions that compute some outputs.

    Parameters
    ----------
    ops : for each value MAX, MIN or LEAF; operands have lower numbers than results
    starts, args : the operands of all values, one list after the other
    outputs : the values that are wanted
    """
    user = np.repeat(np.arange(len(ops)), np.diff(starts))
    uses = np.bincount(args, minlength=len(ops))
    uses += 2 * np.bincount(outputs, minlength=len(ops))  # those stay for themselves
    parent = np.zeros(len(ops), dtype=np.int64)
    parent[args] = user
    once = (uses == 1) & (ops != LEAF)
    inside = once & (ops == ops[parent])
    root = _roots(np.where(inside, parent, np.arange(len(parent))))
    outside = ~inside[args]
    user, operands = root[user[outside]], args[outside]
    order = np.argsort(user, kind="stable")
    return _paired(user[order], operands[order], ops, once & ~inside, root[parent])


def _roots(parent: Numbers) -> Numbers:
    """Follow parents to the end."""
    while True:
        further = parent[parent]
        if (further == parent).all():
            return parent
        parent = further


def _paired(
    users: Numbers, operands: Numbers, ops: Numbers, once: BoolArray, owner: Numbers
) -> Instructions:
    """Make pairs, and return the instructions.

    Parameters
    ----------
    users, operands : of each operand its user, those of a user one after the other
    once : whether a value is used once, and by another operation
    owner : which user that is
    """
    lengths = np.bincount(users, minlength=len(ops))
    two = once & (lengths == 2)
    pairs = np.bincount(users[two[operands]], minlength=len(ops))
    pairing = (lengths - pairs <= 2 * pairs) & (lengths > 0)
    is_pair = _alternating(two & pairing[owner], owner)
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


def _alternating(linked: BoolArray, owner: Numbers) -> BoolArray:
    """Choose values that are written into their owners, never one into a chosen one."""
    is_inner = np.zeros_like(linked)
    while True:
        better = linked & ~is_inner[owner]
        if (better == is_inner).all():
            return is_inner
        is_inner = better
