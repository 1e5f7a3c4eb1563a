"""Compiled rules as nodes of ONNX: columns of degrees in, columns of degrees out.

Programs are computed by levels, for tools that work on whole arrays. The level of a value is one
more than the highest level of its operands; constants and inputs are on level 0. The values of a
level do not depend on each other, so those of one operation and about as many operands are computed
together, as a table with a row a value. Time and size are linear in the length of the program, but
for operands that are repeated to make rows equally long.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
import numpy.typing as npt

from pinesy.emitters.program_steps import ProgramSteps, program_steps
from pinesy.engine.circuit import MAX, MAXMIN
from pinesy.engine.code import Code
from pinesy.exchange.onnx_graph import OnnxGraph

Numbers = npt.NDArray[np.int64]
_NAMES = {True: "Max", False: "Min"}


@dataclass(frozen=True, eq=False)
class OperationTable:
    """Operations of one kind on one level.

    Attributes
    ----------
    op : MAX, MIN, MAXMIN or MINMAX
    sides : the operands, as levels and rows there, each (values, operands); for MAXMIN and MINMAX
        the first and the second of each pair, from the lower level and the higher one
    """

    op: int
    sides: tuple[tuple[Numbers, Numbers], ...]


#: What is computed on a level; its rows are the values of all tables, in their order.
Level = list[OperationTable]


def program_levels(steps: ProgramSteps) -> tuple[list[Level], Numbers]:
    """Return a program as levels, level 1 first, and the level and row of each output."""
    n_fixed, depth = steps.n_fixed, steps.levels
    level, row = np.zeros(len(depth), np.int64), np.arange(len(depth))
    levels = []
    for number in range(1, int(depth.max(initial=0)) + 1):
        groups = list(_groups(steps, np.flatnonzero(depth[n_fixed:] == number)))
        levels.append([_table(steps, *group, level, row) for group in groups])
        order = np.concatenate([instructions for _, instructions in groups])
        level[n_fixed + order], row[n_fixed + order] = number, np.arange(len(order))
    return levels, np.stack([level[steps.outputs], row[steps.outputs]], axis=1)


def _groups(steps: ProgramSteps, instructions: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield groups of one operation: the maximum number of operands, and the instructions."""
    lengths = (steps.starts[instructions + 1] - steps.starts[instructions]).astype(np.int64)
    lengths //= np.where(steps.ops[instructions] < MAXMIN, 1, 2)
    widths = np.array([_width(n) for n in lengths.tolist()])
    keys = widths * 4 + steps.ops[instructions]
    for key in np.unique(keys).tolist():
        group = keys == key
        yield int(lengths[group].max()), instructions[group]


def _width(count: int) -> int:
    """Return the least of 1, 2, 3, 4, 6, 8, 12, 16, ... that is not below a number."""
    power = 1 << (count - 1).bit_length()
    return power * 3 // 4 if power >= 4 and count <= power * 3 // 4 else power


def _table(
    steps: ProgramSteps,
    width: int,
    instructions: Numbers,
    level: Numbers,
    row: Numbers,
) -> OperationTable:
    """Return instructions of one operation, whose operands have their level and row.

    Those with fewer than `width` operands repeat their last: ``max(x, x) = x``.
    """
    op = int(steps.ops[instructions[0]])
    size = 1 if op < MAXMIN else 2
    first, stop = (steps.starts[instructions + k].astype(np.int64) for k in (0, 1))
    indices = np.minimum(first[:, None] + size * np.arange(width), stop[:, None] - size)
    operands = steps.operands[indices[..., None] + np.arange(size)]
    order = np.argsort(level[operands], axis=-1, kind="stable")
    sides = np.moveaxis(np.take_along_axis(operands, order, axis=-1), -1, 0)
    return OperationTable(op, tuple((level[side], row[side]) for side in sides))


def add_rules(graph: OnnxGraph, code: Code, columns: str) -> str:
    """Append a program to a graph, by levels, and return its output columns (outputs, samples).

    Samples that the engine refuses, because a degree is not in [0, 1] or an input is not
    normalised, get NaN for all outputs: a graph cannot raise.

    Parameters
    ----------
    columns : the degrees of all inputs, (input columns, samples)
    """
    degrees = graph.node("Abs", columns)  # -0.0 becomes 0.0; what is below is refused
    rows = [_fixed_rows(graph, code, degrees)]
    levels, outputs = program_levels(program_steps(code))
    for level in levels:
        rows.append(graph.concat([_operation(graph, table, rows) for table in level], axis=0))
    stored = _gather(graph, rows, *outputs.T)
    return graph.node("Where", valid_samples(graph, code, columns), stored, graph.constant(np.nan))


def _fixed_rows(graph: OnnxGraph, code: Code, degrees: str) -> str:
    """Return level 0: the constants, and after them the inputs."""
    n = graph.node("Shape", degrees, start=1, end=2)
    shape = graph.concat([graph.shape(len(code.constants)), n], axis=0)
    constants = graph.node("Expand", graph.constant(code.constants[:, None]), shape)
    return graph.concat([constants, degrees], axis=0)


def _operation(graph: OnnxGraph, table: OperationTable, rows: list[str]) -> str:
    """Return the values of operations of one kind, (values, samples), given all levels before."""
    is_max, width = table.op % MAXMIN == MAX, table.sides[0][0].shape[1]
    if table.op < MAXMIN and width == 2:
        ((levels, indices),) = table.sides
        sides = [_gather(graph, rows, levels[:, k], indices[:, k]) for k in (0, 1)]
        return graph.node(_NAMES[is_max], *sides)
    if width == 1:  # no axis of one
        table = replace(
            table,
            sides=tuple(
                (side_levels[:, 0], side_rows[:, 0]) for side_levels, side_rows in table.sides
            ),
        )
    sides = [_gather(graph, rows, *side) for side in table.sides]
    combined = sides[0] if len(sides) == 1 else graph.node(_NAMES[not is_max], *sides)
    if width == 1:
        return combined
    return graph.node(f"Reduce{_NAMES[is_max]}", combined, graph.shape(1), keepdims=0)


def _gather(graph: OnnxGraph, rows: list[str], levels: Numbers, indices: Numbers) -> str:
    """Return the rows at some levels and indices, (..., samples)."""
    needed = np.unique(levels).tolist()
    if len(needed) == 1:
        return graph.take(rows[needed[0]], indices)
    parts, order, begin = [], np.zeros_like(indices), 0
    for level in needed:
        is_level = levels == level
        distinct, order[is_level] = np.unique(indices[is_level], return_inverse=True)
        order[is_level] += begin
        begin += len(distinct)
        parts.append(graph.take(rows[level], distinct))
    together = graph.concat(parts, axis=0)
    if order.shape == (begin,) and (order == np.arange(begin)).all():
        return together
    return graph.take(together, order)


def valid_samples(graph: OnnxGraph, code: Code, columns: str) -> str:
    """Return, for each sample, whether its degrees are in [0, 1] and its inputs normalised."""
    lower, upper, first = graph.constant(0.0), graph.constant(1.0), graph.shape(0)
    least = graph.node("ReduceMin", columns, first, keepdims=0)
    total = graph.node("ReduceSum", columns, first, keepdims=0)  # NaN if any is
    inputs = graph.take(columns, _input_columns(code))
    heights = graph.node("ReduceMax", inputs, graph.shape(1), keepdims=0)
    lowest = graph.node("ReduceMin", heights, first, keepdims=0)
    highest = graph.node("ReduceMax", heights, first, keepdims=0)
    tests = [
        graph.node("GreaterOrEqual", least, lower),
        graph.node("GreaterOrEqual", total, lower),
        graph.node("Equal", lowest, upper),
        graph.node("Equal", highest, upper),
    ]
    return reduce(partial(graph.node, "And"), tests)


def _input_columns(code: Code) -> Numbers:
    """Return the columns of each input (inputs, size), padded with the last column."""
    first, stop = (code.bounds[k : len(code.bounds) - 1 + k].astype(np.int64) for k in (0, 1))
    longest = int((stop - first).max())
    columns: Numbers = np.minimum(first[:, None] + np.arange(longest), stop[:, None] - 1)
    return columns
