"""The transformations of probabilities as nodes of ONNX, with the bits of `pinesy.transforms`.

The same numbers are added in the same order: `CumSum` adds one after the other, `TopK` sorts with
ties by place. Rows that are no distributions become NaN.
"""

import numpy as np

from pinesy._common.transform_loops import ANTIPIGNISTIC, UNROLLED, summation
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.transforms import SUM_TOLERANCE


def add_transform(graph: OnnxGraph, rows: str, size: int, kind: int) -> str:
    """Append a transformation of rows (n, size); see `pinesy.transforms` for the formulas."""
    total = _row_sums(graph, rows, size)
    normal, names = graph.node("Div", rows, total), [graph.fresh(), graph.fresh()]
    ordered, places = graph.node_outputs("TopK", [normal, graph.shape(size)], names, axis=1)
    one = graph.constant(1.0)
    if kind == ANTIPIGNISTIC:
        sums = _from_below(graph, _steps(graph, ordered, size))
        is_top = graph.node("Equal", ordered, _columns(graph, ordered, 0, 1))
    else:
        sums = _from_below(graph, ordered)
        is_top = graph.constant(np.arange(size) == 0, np.bool_)
    degrees = graph.node("Where", is_top, one, graph.node("Min", sums, one))
    degrees = graph.node("ScatterElements", rows, places, degrees, axis=1)
    good = _are_distributions(graph, rows, total)
    return graph.node("Where", good, degrees, graph.constant(np.nan))


def _columns(graph: OnnxGraph, rows: str, begin: int, end: int) -> str:
    """Return the columns from `begin` to `end`."""
    return graph.node("Slice", rows, graph.shape(begin), graph.shape(end), graph.shape(1))


def _from_below(graph: OnnxGraph, rows: str) -> str:
    """Return the sums of each number and those after it, added from the last one on."""
    return graph.node("CumSum", rows, graph.constant(1, np.int64), reverse=1)


def _steps(graph: OnnxGraph, ordered: str, size: int) -> str:
    """Return ``k (p_k - p_{k+1})`` of sorted probabilities."""
    zero = graph.node("Mul", _columns(graph, ordered, 0, 1), graph.constant(0.0))
    below = graph.concat([_columns(graph, ordered, 1, size), zero], axis=1)
    ranks = graph.constant(np.arange(1.0, size + 1))
    return graph.node("Mul", ranks, graph.node("Sub", ordered, below))


def _are_distributions(graph: OnnxGraph, rows: str, total: str) -> str:
    """Return (n, 1) whether a row sums up to about 1 and has nothing below 0."""
    gap = graph.node("Abs", graph.node("Sub", total, graph.constant(1.0)))
    near = graph.node("LessOrEqual", gap, graph.constant(SUM_TOLERANCE))
    least = graph.node("ReduceMin", rows, graph.shape(1), keepdims=1)
    return graph.node("And", near, graph.node("GreaterOrEqual", least, graph.constant(0.0)))


def _row_sums(graph: OnnxGraph, rows: str, size: int) -> str:
    """Return the sum (n, 1) of each row, in NumPy's order of adding."""
    sums: list[str] = []
    for begin, end, merged in summation(size):
        sums.append(_leaf_sum(graph, rows, begin, end))
        for _ in range(merged):
            last = sums.pop()
            sums.append(graph.node("Add", sums.pop(), last))
    return sums[0]


def _leaf_sum(graph: OnnxGraph, rows: str, begin: int, end: int) -> str:
    """Add columns: eight sums side by side, then these, then what is left, one by one."""
    rest = begin + (end - begin) // UNROLLED * UNROLLED
    parts = [_columns(graph, rows, rest, end)] if rest < end else []
    if rest > begin:
        eight = graph.node(
            "Reshape", _columns(graph, rows, begin, rest), graph.shape(-1, rest - begin)
        )
        parts.insert(0, _eight_sums(graph, eight, (rest - begin) // UNROLLED))
    return _last_sum(graph, graph.concat(parts, axis=1))


def _eight_sums(graph: OnnxGraph, rows: str, count: int) -> str:
    """Return ``((s_0 + s_1) + (s_2 + s_3)) + ...`` of the sums of every eighth column."""
    table = graph.node("Reshape", rows, graph.shape(-1, count, UNROLLED))
    sums = graph.node("Reshape", _last_sum(graph, table), graph.shape(-1, UNROLLED))
    width = UNROLLED
    while width > 1:
        one, two = (_every_second(graph, sums, k) for k in (0, 1))
        sums, width = graph.node("Add", one, two), width // 2
    return sums


def _every_second(graph: OnnxGraph, rows: str, first: int) -> str:
    end = graph.shape(UNROLLED)
    return graph.node("Slice", rows, graph.shape(first), end, graph.shape(1), graph.shape(2))


def _last_sum(graph: OnnxGraph, values: str) -> str:
    """Return the sum along axis 1, which stays, added one after the other."""
    sums = graph.node("CumSum", values, graph.constant(1, np.int64))
    return graph.node(
        "Slice", sums, graph.shape(-1), graph.shape(np.iinfo(np.int64).max), graph.shape(1)
    )
