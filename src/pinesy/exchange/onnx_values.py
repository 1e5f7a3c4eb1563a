"""Raw columns as nodes of ONNX: numbers and indices of values in, degrees out."""

import numpy as np

from pinesy.emitters.raw_columns import intervals_of
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.rules.attributes import Attribute


def add_values(graph: OnnxGraph, attribute: Attribute, column: str) -> str:
    """Append the degrees of an attribute, (samples, values), with the bits of `Scale.degrees`.

    Parameters
    ----------
    column : a number for each sample, that of a numeric attribute or else the index of a value;
        NaN is unknown. No value is possible for other indices, which rules refuse.
    """
    value = graph.node("Unsqueeze", column, graph.shape(1))
    unit, zero = graph.constant(1.0), graph.constant(0.0)
    scale = attribute.scale
    if scale is None:
        inside = graph.node("Equal", value, graph.constant(np.arange(len(attribute.domain))))
        outside = zero
    else:
        lows, highs, low_limits, high_limits = np.array(intervals_of(scale)).T
        highs[-1] = np.nan  # no number is from there on, not even an infinite one
        is_above = graph.node("GreaterOrEqual", value, graph.constant(highs))
        is_from = graph.node("GreaterOrEqual", value, graph.constant(lows))
        inside = graph.node("And", is_from, graph.node("Not", is_above))
        outside = zero
        if scale.blur:
            below = graph.node("Sub", graph.constant(low_limits), value)
            above = graph.node("Sub", value, graph.constant(high_limits))
            distance = graph.node("Max", below, above)
            share = graph.node("Div", distance, graph.constant(scale.blur))
            outside = graph.node("Max", graph.node("Sub", unit, share), zero)
            outside = graph.node("Min", outside, unit)
    degrees = graph.node("Where", inside, unit, outside)
    return graph.node("Where", graph.node("IsNaN", value), unit, degrees)
