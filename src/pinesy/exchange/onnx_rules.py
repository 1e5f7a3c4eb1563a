"""Compiled rules as nodes of ONNX: columns of degrees in, columns of degrees out."""

from dataclasses import replace

import numpy as np

from pinesy.engine.circuit import MAX
from pinesy.engine.code import Code
from pinesy.engine.instructions import MAXMIN
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.exchange.program_levels import Numbers, OperationTable, ProgramLevels

_NAMES = {True: "Max", False: "Min"}


def add_rules(graph: OnnxGraph, code: Code, columns: str) -> str:
    """Append a program to a graph, by levels, and return its output columns (outputs, samples).

    Samples that the engine refuses, because a degree is not in [0, 1] or an input is not
    normalised, get NaN for all outputs: a graph has no other way to say so.

    Parameters
    ----------
    columns : the degrees of all inputs, (input columns, samples)
    """
    given = graph.node("Abs", columns)  # -0.0 becomes 0.0; what is below is refused
    rows = [_fixed_rows(graph, code, given)]
    program = ProgramLevels.of(code)
    for level in program.levels:
        rows.append(graph.concat([_operation(graph, table, rows) for table in level], axis=0))
    stored = _taken(graph, rows, *program.outputs.T)
    return graph.node("Where", _accepted(graph, code, columns), stored, graph.constant(np.nan))


def _fixed_rows(graph: OnnxGraph, code: Code, given: str) -> str:
    """Return level 0: the constants, and after them the inputs."""
    n = graph.node("Shape", given, start=1, end=2)
    shape = graph.concat([graph.shape(len(code.constants)), n], axis=0)
    constants = graph.node("Expand", graph.constant(code.constants[:, None]), shape)
    return graph.concat([constants, given], axis=0)


def _operation(graph: OnnxGraph, table: OperationTable, rows: list[str]) -> str:
    """Return the values of operations of one kind, (values, samples), given all levels before."""
    is_max, width = table.op % MAXMIN == MAX, table.sides[0][0].shape[1]
    if table.op < MAXMIN and width == 2:
        ((levels, places),) = table.sides
        sides = [_taken(graph, rows, levels[:, k], places[:, k]) for k in (0, 1)]
        return graph.node(_NAMES[is_max], *sides)
    if width == 1:  # no axis of one
        table = replace(table, sides=tuple((one[:, 0], two[:, 0]) for one, two in table.sides))
    sides = [_taken(graph, rows, *side) for side in table.sides]
    taken = sides[0] if len(sides) == 1 else graph.node(_NAMES[not is_max], *sides)
    return taken if width == 1 else _reduced(graph, is_max, taken)


def _taken(graph: OnnxGraph, rows: list[str], levels: Numbers, places: Numbers) -> str:
    """Return the rows at some places of levels, (..., samples)."""
    needed = np.unique(levels).tolist()
    if len(needed) == 1:
        return graph.node("Gather", rows[needed[0]], graph.indices(places), axis=0)
    parts, order, begin = [], np.zeros_like(places), 0
    for level in needed:
        here = levels == level
        distinct, order[here] = np.unique(places[here], return_inverse=True)
        order[here] += begin
        begin += len(distinct)
        parts.append(graph.node("Gather", rows[level], graph.indices(distinct), axis=0))
    together = graph.concat(parts, axis=0)
    if order.shape == (begin,) and (order == np.arange(begin)).all():
        return together
    return graph.node("Gather", together, graph.indices(order), axis=0)


def _reduced(graph: OnnxGraph, is_max: bool, values: str) -> str:
    return graph.node(f"Reduce{_NAMES[is_max]}", values, graph.shape(1), keepdims=0)


def _accepted(graph: OnnxGraph, code: Code, columns: str) -> str:
    """Return for each sample whether its degrees are in [0, 1] and inputs normalised."""
    zero, one, first = graph.constant(0.0), graph.constant(1.0), graph.shape(0)
    least = graph.node("ReduceMin", columns, first, keepdims=0)
    total = graph.node("ReduceSum", columns, first, keepdims=0)  # NaN if any is
    tests = [
        graph.node("GreaterOrEqual", least, zero),
        graph.node("GreaterOrEqual", total, zero),
    ]
    heights = graph.node(
        "ReduceMax",
        graph.node("Gather", columns, graph.indices(_places_of_inputs(code)), axis=0),
        graph.shape(1),
        keepdims=0,
    )
    lowest = graph.node("ReduceMin", heights, first, keepdims=0)
    highest = graph.node("ReduceMax", heights, first, keepdims=0)
    tests += [graph.node("Equal", lowest, one), graph.node("Equal", highest, one)]
    accepted = tests[0]
    for test in tests[1:]:
        accepted = graph.node("And", accepted, test)
    return accepted


def _places_of_inputs(code: Code) -> Numbers:
    """Return the columns of each input, of smaller domains the last one again and again."""
    first, stop = (code.bounds[k : len(code.bounds) - 1 + k].astype(np.int64) for k in (0, 1))
    longest = int((stop - first).max())
    places: Numbers = np.minimum(first[:, None] + np.arange(longest), stop[:, None] - 1)
    return places
