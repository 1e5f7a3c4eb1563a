"""Conformal p-values as nodes of ONNX, with the bits of `ConformalTransform`.

A p-value is looked up in the sorted scores of calibration by a binary search, one node a halving.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.score_counts import ScoreCounts
from pinesy.exchange.onnx_columns import Group
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.exchange.onnx_transforms import add_transform
from pinesy.transforms import ANTIPIGNISTIC, EQUAL_TIES

#: By the name of a score, the transformation whose complement it is.
TRANSFORMS = {"antipignistic": ANTIPIGNISTIC, "cumulated": EQUAL_TIES}


def add_calibration(
    graph: OnnxGraph, transform: ConformalTransform, groups: Sequence[Group]
) -> tuple[list[Group], str]:
    """Append calibrated possibilities; return them, and the conformity (samples,).

    Samples with a degree outside [0, 1], or NaN, get NaN for all.

    Parameters
    ----------
    groups : degrees; with `kinds`, the attributes of a group are of one kind
    """
    calibrated, conformities, totals = [], [], []
    nan, unit = graph.constant(np.nan), graph.constant(1.0)
    for attributes, rows in groups:
        size, width = len(attributes[0].domain), len(attributes)
        distributions = graph.node("Reshape", rows, graph.shape(-1, size))
        kind = (transform.kinds or {}).get(attributes[0].name)
        scores = _scores(graph, transform, distributions, size, kind)
        p_values = _p_values(graph, transform, scores, size)
        highest = graph.node("ReduceMax", p_values, graph.shape(1), keepdims=0)
        of_inputs = graph.node("Reshape", highest, graph.shape(-1, width))
        conformities.append(graph.node("ReduceMin", of_inputs, graph.shape(1), keepdims=0))
        least = graph.node("ReduceMin", scores, graph.shape(1), keepdims=1)
        raised = graph.node("Where", graph.node("Equal", scores, least), unit, p_values)
        flat = graph.shape(-1, size * width)
        calibrated.append((attributes, graph.node("Reshape", raised, flat)))
        sums = graph.node("Reshape", scores, flat)
        totals.append(graph.node("ReduceSum", sums, graph.shape(1), keepdims=0))  # NaN if any is
    refused = graph.node("IsNaN", graph.node("Sum", *totals))
    of_rows = graph.node("Unsqueeze", refused, graph.shape(1))
    conformity = graph.node("Where", refused, nan, graph.node("Min", *conformities))
    return [(of, graph.node("Where", of_rows, nan, rows)) for of, rows in calibrated], conformity


def _scores(
    graph: OnnxGraph, transform: ConformalTransform, rows: str, size: int, kind: Hashable
) -> str:
    """Return the nonconformity score of each value; NaN for what is no degree."""
    unit, zero = graph.constant(1.0), graph.constant(0.0)
    is_least = graph.node("GreaterOrEqual", rows, zero)
    is_degree = graph.node("And", is_least, graph.node("LessOrEqual", rows, unit))
    conformities = graph.node("Where", is_degree, rows, graph.constant(np.nan))
    if transform.score != "complement":
        conformities = add_transform(graph, conformities, size, TRANSFORMS[transform.score])
    if transform.kinds:
        complements = graph.node("Sub", unit, conformities)
        conformities = _lookup(graph, transform.ranks_[kind], complements)
    return graph.node("Sub", unit, conformities)


def _p_values(graph: OnnxGraph, transform: ConformalTransform, scores: str, size: int) -> str:
    if not transform.class_conditional:
        return _lookup(graph, transform.counts_[0], scores)
    columns = (graph.columns(scores, c, c + 1) for c in range(size))
    parts = [
        _lookup(graph, counts, column)
        for counts, column in zip(transform.counts_, columns, strict=True)
    ]
    return graph.concat(parts, axis=1)


def _lookup(graph: OnnxGraph, counts: ScoreCounts, scores: str) -> str:
    """Return `ScoreCounts.p_values` of scores; NaN of NaN."""
    n_steps = max(1, len(counts.scores).bit_length())
    known = np.full((1 << n_steps) - 1, np.inf)
    known[: len(counts.scores)] = counts.scores
    # The index is the number of scores below; it grows by a power of two, or stays.
    table, index = graph.constant(known), graph.constant(0, np.int64)
    for step in (1 << k for k in reversed(range(n_steps))):
        last = graph.node("Add", index, graph.constant(step - 1, np.int64))
        is_below = graph.node("Less", graph.node("Gather", table, last, axis=0), scores)
        further = graph.node("Add", index, graph.constant(step, np.int64))
        index = graph.node("Where", is_below, further, index)
    p_values = graph.constant(counts.p_values(np.append(counts.scores, np.inf)))
    selected = graph.node("Gather", p_values, index, axis=0)
    return graph.node("Where", graph.node("IsNaN", scores), graph.constant(np.nan), selected)
