"""Programs as the kernels run them: how they are assembled, and circuits of columns as programs."""

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

#: The most terms of a min that is taken apart to be taken anew with others.
MAX_TERMS = 8


@dataclass(frozen=True, eq=False)
class Code:
    """A program that the kernels run, and where its inputs and outputs stand.

    Attributes
    ----------
    inputs : the input attributes; their domains, one after the other, are the input columns
    columns : the output columns of each attribute whose distribution was asked for
    degrees : the output columns of each rule set whose premise degrees were asked for
    coherence : the output column that holds the lowest height behind each attribute, where it
        is not known to be 1
    measures : the output columns of the propositions whose possibilities were asked for
    bounds : the first column of each input attribute, and the number of columns
    least : the least height that each input must have: 1 for evidence, 0 for what was inferred
    n_inputs, n_outputs : the numbers of input and output columns
    ops, targets, starts, args : the instructions, in numbers of scratch rows: first those of the
        `constants`, then one for each input column, `n_slots` in all
    n_kernels : how many different templates it is made of
    """

    inputs: tuple[Attribute, ...]
    bounds: npt.NDArray[np.uint32]  # unsigned, so that kernels need not look for negative indices
    least: FloatArray
    ops: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    args: npt.NDArray[np.uint32]
    constants: FloatArray
    n_inputs: int
    n_outputs: int
    n_slots: int
    n_kernels: int = 1
    columns: dict[str, slice] = field(default_factory=dict)
    degrees: dict[str, slice] = field(default_factory=dict)
    coherence: dict[str, int] = field(default_factory=dict)
    measures: slice = field(default_factory=lambda: slice(0, 0))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of numbers that it runs in."""
        return self.constants.dtype

    @cached_property
    def program(self) -> tuple[npt.NDArray[Any], ...]:
        """What the kernels take of it."""
        return (
            self.bounds,
            self.least,
            self.ops,
            self.targets,
            self.starts,
            self.args,
            self.constants,
        )


def assemble(
    inputs: Sequence[Attribute],
    least: Sequence[float],
    constants: Mapping[float, int],
    instructions: tuple[IntArray, IntArray, IntArray, IntArray],
    n_values: int,
    **places: Any,
) -> Code:
    """Return a program, given in numbers of values, in numbers of rows of scratch.

    Parameters
    ----------
    constants : the numbers of the constants' values; those of the input columns begin at 2
    instructions : ``ops, targets, starts, args`` of `Code`
    places : where the outputs stand; see `Code`
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
        least=np.array(least),
        ops=ops.astype(np.uint32),
        targets=targets.astype(np.uint32),
        starts=starts.astype(np.uint32),
        args=slots[args].astype(np.uint32),
        constants=np.array(list(constants)),
        n_inputs=int(bounds[-1]),
        n_outputs=int(np.count_nonzero(ops == STORE)),
        n_slots=n_slots,
        **places,
    )


def allocate(
    ops: IntArray,
    targets: IntArray,
    starts: IntArray,
    args: IntArray,
    fixed: IntArray,
    n_values: int,
) -> tuple[IntArray, int]:
    """Give each value a row of scratch, free again after its last use, so that few are in use.

    The `fixed` values keep the first rows. A result never takes the row of an operand of its own
    instruction, because kernels write while they read.
    """
    instruction = np.repeat(np.arange(len(ops)), np.diff(starts))
    last = np.full(n_values, -1)
    np.maximum.at(last, args, instruction)
    last[fixed] = len(ops)
    slots = np.full(n_values, -1, dtype=np.int32)
    slots[fixed] = np.arange(len(fixed))
    n_slots = len(fixed)
    free: list[int] = []
    dying = last[args] == instruction
    ends = np.zeros(len(ops), dtype=bool)
    ends[instruction[dying]] = True
    bounds, operands, dead = starts.tolist(), args.tolist(), dying.tolist()
    makes, values = (ops < STORE).tolist(), targets.tolist()
    for i in np.flatnonzero((ops < STORE) | ends).tolist():  # most stores change nothing
        if makes[i]:
            if not free:
                free.append(n_slots)
                n_slots += 1
            slots[values[i]] = free.pop()
        if ends[i]:
            over = {operands[k] for k in range(bounds[i], bounds[i + 1]) if dead[k]}
            free.extend(slots[list(over)].tolist())
    return slots, n_slots


class ColumnCircuit(Circuit):
    """Min and max of columns and constants; an expression is the number of its node.

    A circuit for large expressions, such as the messages of a whole cascade: it leaves the deeper
    laws of lattices alone, which would compare each term with many others. `circuit_code`
    turns it into a program.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__([], [], n_columns)
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
    for index, constant in enumerate(circuit.constants, 2 + len(circuit.columns)):
        constants[constant] = index
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
    operand_order = np.repeat(old[order] - starts[:-1], lengths[order]) + np.arange(starts[-1])
    args = np.concatenate([template.args, template.outputs])[operand_order]
    return ops[order], targets[order], starts, args
