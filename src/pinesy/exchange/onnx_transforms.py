"""The probability-possibility transformations as nodes of ONNX: the bits of `pinesy.transforms`."""

import numpy as np

from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.transforms import SUM_TOLERANCE, Transformation


def add_transform(graph: OnnxGraph, rows: str, size: int, transform: Transformation) -> str:
    """Append a transformation of rows (n, size); rows that are not distributions become NaN.

    Raises
    ------
    DomainError : if the transformation has no function that appends it
    """
    append = transform.part("onnx")
    total = _row_sums(graph, rows)
    degrees = append(graph, graph.node("Div", rows, total), size)
    good = _are_distributions(graph, rows, total)
    return graph.node("Where", good, degrees, graph.constant(np.nan))


def add_antipignistic(graph: OnnxGraph, rows: str, size: int) -> str:
    """Append ``pi_k = pi_{k+1} + k (p_k - p_{k+1})``, and 1 for all that is tied for the first."""
    ordered, order = _sort(graph, rows, size)
    sums = _reverse_cumsum(graph, _weighted_differences(graph, ordered, size))
    is_top = graph.node("Equal", ordered, graph.columns(ordered, 0, 1))
    return _restore_order(graph, rows, order, is_top, sums)


def add_minimum_specificity(graph: OnnxGraph, rows: str, size: int) -> str:
    """Append ``pi_k = pi_{k+1} + p_k``, and 1 for the first."""
    ordered, order = _sort(graph, rows, size)
    is_top = graph.constant(np.arange(size) == 0, np.bool_)
    return _restore_order(graph, rows, order, is_top, _reverse_cumsum(graph, ordered))


def add_equal_ties(graph: OnnxGraph, rows: str, size: int) -> str:
    """Append `add_minimum_specificity`, and for ties the degree of the first of them."""
    degrees = add_minimum_specificity(graph, rows, size)
    values, others = (graph.node("Unsqueeze", rows, graph.shape(axis)) for axis in (2, 1))
    of_others = graph.node("Unsqueeze", degrees, graph.shape(1))
    is_tied = graph.node("Equal", values, others)
    tied = graph.node("Where", is_tied, of_others, graph.constant(0.0))
    return graph.node("ReduceMax", tied, graph.shape(2), keepdims=0)


def add_antipignistic_inverse(graph: OnnxGraph, rows: str, size: int) -> str:
    """Append ``p_k = p_{k+1} + (pi_k - pi_{k+1}) / k``, of normalised rows."""
    ordered, order = _sort(graph, rows, size)
    ranks = graph.constant(np.arange(1.0, size + 1))
    steps = graph.node("Div", _falls(graph, ordered, size), ranks)
    return graph.node("ScatterElements", rows, order, _reverse_cumsum(graph, steps), axis=1)


def _sort(graph: OnnxGraph, rows: str, size: int) -> list[str]:
    """Return rows in decreasing order, ties in domain order, and the indices of their values."""
    names = [graph.fresh(), graph.fresh()]
    return graph.node_outputs("TopK", [rows, graph.shape(size)], names, axis=1)


def _restore_order(graph: OnnxGraph, rows: str, order: str, is_top: str, sums: str) -> str:
    """Return degrees in the order of the domain: 1 at the top, and clipped to 1."""
    certain = graph.constant(1.0)
    degrees = graph.node("Where", is_top, certain, graph.node("Min", sums, certain))
    return graph.node("ScatterElements", rows, order, degrees, axis=1)


def _reverse_cumsum(graph: OnnxGraph, rows: str) -> str:
    """Return the cumulative sums of rows, from the last column to the first."""
    return graph.node("CumSum", rows, graph.constant(1, np.int64), reverse=1)


def _weighted_differences(graph: OnnxGraph, ordered: str, size: int) -> str:
    """Return ``k (p_k - p_{k+1})`` of sorted probabilities."""
    ranks = graph.constant(np.arange(1.0, size + 1))
    return graph.node("Mul", ranks, _falls(graph, ordered, size))


def _falls(graph: OnnxGraph, ordered: str, size: int) -> str:
    """Return ``p_k - p_{k+1}`` of sorted numbers; after the last is 0."""
    zero = graph.node("Mul", graph.columns(ordered, 0, 1), graph.constant(0.0))
    below = graph.concat([graph.columns(ordered, 1, size), zero], axis=1)
    return graph.node("Sub", ordered, below)


def _are_distributions(graph: OnnxGraph, rows: str, total: str) -> str:
    """Return, as a value (n, 1), whether a row sums to about 1 and has no negative number."""
    gap = graph.node("Abs", graph.node("Sub", total, graph.constant(1.0)))
    sums_to_one = graph.node("LessOrEqual", gap, graph.constant(SUM_TOLERANCE))
    least = graph.node("ReduceMin", rows, graph.shape(1), keepdims=1)
    return graph.node("And", sums_to_one, graph.node("GreaterOrEqual", least, graph.constant(0.0)))


def _row_sums(graph: OnnxGraph, rows: str) -> str:
    """Return the sum (n, 1) of each row, added one after the other, as `pinesy.transforms` does."""
    sums = graph.node("CumSum", rows, graph.constant(1, np.int64))
    return graph.columns(sums, -1, np.iinfo(np.int64).max)
