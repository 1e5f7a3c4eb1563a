"""The code of programs: instructions that the kernels run, and how they are assembled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.engine.circuit import MAX, MIN, ONE, STORE, ZERO, Circuit, Node
from pinesy.engine.templates import IntArray, Template, emit
from pinesy.rules.attributes import Attribute

#: The most terms of a min that is recomputed from its terms, not from shared operands.
MAX_TERMS = 8


@dataclass(frozen=True, eq=False)
class Code:
    """A program for the kernels, and the columns of its inputs and outputs.

    Attributes
    ----------
    inputs : the input attributes; their concatenated domains are the input columns
    columns : the output columns of the distribution of each output attribute
    degrees : the output columns of the premise degrees, by the output of a rule set
    coherence : for each attribute the output column of the lowest height of the distributions it
        depends on, where this is not known to be 1
    measures : the output columns of the possibilities of propositions
    bounds : the first column of each input attribute, and the number of columns
    min_heights : the least height of each input: 1 for evidence, 0 for inferred distributions
    n_inputs, n_outputs : the numbers of input and output columns
    ops, targets, starts, args : the instructions; targets and operands are rows of scratch: first
        the `constants`, then one for each input column, `n_slots` in all
    n_templates : the number of distinct templates
    """

    inputs: tuple[Attribute, ...]
    bounds: npt.NDArray[np.uint32]  # unsigned: kernels need not wrap negative indices
    min_heights: FloatArray
    ops: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    args: npt.NDArray[np.uint32]
    constants: FloatArray
    n_inputs: int
    n_outputs: int
    n_slots: int
    n_templates: int = 1
    columns: dict[str, slice] = field(default_factory=dict)
    degrees: dict[str, slice] = field(default_factory=dict)
    coherence: dict[str, int] = field(default_factory=dict)
    measures: slice = field(default_factory=lambda: slice(0, 0))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its degrees."""
        return self.constants.dtype

    @cached_property
    def program(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays that the kernels take."""
        return (
            self.bounds,
            self.min_heights,
            self.ops,
            self.targets,
            self.starts,
            self.args,
            self.constants,
        )


def assemble(
    inputs: Sequence[Attribute],
    min_heights: Sequence[float],
    constants: Mapping[float, int],
    instructions: tuple[IntArray, IntArray, IntArray, IntArray],
    n_values: int,
    **outputs: Any,
) -> Code:
    """Return the code of instructions on value ids, with a row of scratch for each value.

    Parameters
    ----------
    constants : the value id of each constant; those of the input columns begin at 2
    instructions : ``ops, targets, starts, args`` as in `Code`, with value ids
    outputs : the output columns, as in `Code`
    """
    ops, targets, starts, args = instructions
    bounds = np.cumsum([0, *(len(a.domain) for a in inputs)])
    fixed = np.array([*constants.values(), *range(2, 2 + bounds[-1])], dtype=np.int32)
    slots, n_slots = allocate(ops, targets, starts, args, fixed, n_values)
    makes = ops < STORE
    targets[makes] = slots[targets[makes]]
    return Code(
        inputs=tuple(inputs),
        bounds=bounds.astype(np.uint32),
        min_heights=np.array(min_heights),
        ops=ops.astype(np.uint32),
        targets=targets.astype(np.uint32),
        starts=starts.astype(np.uint32),
        args=slots[args].astype(np.uint32),
        constants=np.array(list(constants)),
        n_inputs=int(bounds[-1]),
        n_outputs=int(np.count_nonzero(ops == STORE)),
        n_slots=n_slots,
        **outputs,
    )


def allocate(
    ops: IntArray,
    targets: IntArray,
    starts: IntArray,
    args: IntArray,
    fixed: IntArray,
    n_values: int,
) -> tuple[IntArray, int]:
    """Return the row of scratch of each value, and the number of rows (register allocation).

    A row is free again after the last use of its value. The `fixed` values keep the first rows. A
    result never takes the row of an operand of its instruction, because kernels write while they
    read.
    """
    instruction = np.repeat(np.arange(len(ops)), np.diff(starts))
    last = np.full(n_values, -1)
    np.maximum.at(last, args, instruction)
    last[fixed] = len(ops)
    slots = np.full(n_values, -1, dtype=np.int32)
    slots[fixed] = np.arange(len(fixed))
    n_slots = len(fixed)
    free: list[int] = []
    is_last_use = last[args] == instruction
    ends = np.zeros(len(ops), dtype=bool)
    ends[instruction[is_last_use]] = True
    bounds, operands, dead = starts.tolist(), args.tolist(), is_last_use.tolist()
    makes, values = (ops < STORE).tolist(), targets.tolist()
    for i in np.flatnonzero((ops < STORE) | ends).tolist():  # most stores change nothing
        if makes[i]:
            if not free:
                free.append(n_slots)
                n_slots += 1
            slots[values[i]] = free.pop()
        if ends[i]:
            freed = {operands[k] for k in range(bounds[i], bounds[i + 1]) if dead[k]}
            free.extend(slots[list(freed)].tolist())
    return slots, n_slots


class ColumnCircuit(Circuit):
    """Min and max of columns and constants; an expression is the id of its node.

    A circuit for large expressions, such as the messages of a cascade: it does not apply the laws
    that compare each term with many others. `circuit_code` compiles it.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__([], [], n_columns)
        #: The node ids of the constants other than 0 and 1.
        self.constants: dict[float, int] = {}

    def constant(self, number: float) -> int:
        """Return the expression of a constant."""
        if number in (0.0, 1.0):
            return ONE if number else ZERO
        if number not in self.constants:
            self.constants[number] = self.parameter(len(self.columns) + len(self.constants))
        return self.constants[number]

    def join(self, operands: Iterable[int]) -> int:
        """Return the maximum of the operands, 0 if there are none."""
        return self._combine(MAX, operands, ZERO, ONE)

    def meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, 1 if there are none.

        A min of few terms is recomputed from them, so that programs need not keep the min of some
        of them in scratch for long.
        """
        operands, terms = list(operands), set[int]()
        for operand in operands:
            node = self.nodes[operand]
            if isinstance(node, Node) and node.op == MIN:
                terms.update(node.children)
            else:
                terms.add(operand)
        return self._combine(MIN, terms if len(terms) <= MAX_TERMS else operands, ONE, ZERO)

    def _combine(self, op: int, operands: Iterable[int], neutral: int, absorbing: int) -> int:
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
    min_heights: Sequence[float],
    outputs: Sequence[int],
) -> Code:
    """Return the code of a circuit of columns.

    Parameters
    ----------
    circuit : expressions over the columns of the inputs
    inputs : the attributes whose concatenated domains are the columns
    min_heights : the least height of each input
    outputs : the expressions whose values are the output columns
    """
    template = emit(circuit, outputs, leaves=[*circuit.columns, *circuit.constants.values()])
    constants = {0.0: 0, 1.0: 1}
    for index, constant in enumerate(circuit.constants, 2 + len(circuit.columns)):
        constants[constant] = index
    first = len(circuit.columns) + len(constants)
    instructions = _early_stores(template, first)
    return assemble(inputs, min_heights, constants, instructions, first + len(template.ops))


def _early_stores(template: Template, first: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the instructions of a template, each output stored as soon as it is computed.

    So its row of scratch is free again. Results have the ids `first` and on.
    """
    n, stored = len(template.ops), len(template.outputs)
    ops = np.concatenate([template.ops, np.full(stored, STORE)])
    targets = np.concatenate([np.arange(first, first + n), np.arange(stored)])
    lengths = np.concatenate([np.diff(template.starts), np.ones(stored)]).astype(np.int32)
    old = np.cumsum([0, *lengths])
    after = np.concatenate([np.arange(n), template.outputs - first])
    order = np.argsort(after, kind="stable")
    starts = np.cumsum([0, *lengths[order]])
    operand_order = np.repeat(old[order] - starts[:-1], lengths[order]) + np.arange(starts[-1])
    args = np.concatenate([template.args, template.outputs])[operand_order]
    return ops[order], targets[order], starts, args
