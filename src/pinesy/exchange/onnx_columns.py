"""Inputs and outputs of graphs: rows of attributes in, columns of programs, distributions out."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from pinesy.engine.program import Program
from pinesy.exceptions import DomainError
from pinesy.exchange.onnx_card import CardNodes
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.exchange.onnx_rules import Numbers
from pinesy.exchange.onnx_transforms import add_transform
from pinesy.exchange.onnx_values import add_values
from pinesy.induction.score_card import ScoreCard
from pinesy.rules.attributes import Attribute
from pinesy.transforms import Transformation

#: The name of the axis of samples.
SAMPLES = "samples"
#: Attributes with domains of one size, and their columns side by side, (samples, columns).
Group = tuple[Sequence[Attribute], str]


def new_graph(inputs: Iterable[Attribute], outputs: Iterable[Attribute]) -> OnnxGraph:
    """Return an empty graph for inputs and outputs; raise `DomainError` if one is both."""
    names = {a.name for a in inputs}
    for a in outputs:
        if a.name in names:
            raise DomainError(
                f"{a.name!r} is an input of the graph, so it cannot be an output of it; name "
                "attributes that rules conclude on"
            )
    return OnnxGraph([*names, *(a.name for a in outputs)])


def add_inputs(
    graph: OnnxGraph, attributes: Iterable[Attribute], inputs_as: Literal["degrees", "values"]
) -> dict[str, str]:
    """Declare the inputs; return by attribute its rows (samples, size)."""
    rows = {}
    for a in attributes:
        is_value = inputs_as == "values"
        graph.input(a.name, np.float64, [SAMPLES] if is_value else [SAMPLES, len(a.domain)])
        rows[a.name] = add_values(graph, a, a.name) if is_value else a.name
    return rows


def group_rows(
    graph: OnnxGraph,
    attributes: Iterable[Attribute],
    rows: Mapping[str, str],
    kinds: Mapping[str, Hashable] | None = None,
) -> list[Group]:
    """Return attributes with domains of one size, and of one kind if there are some, together."""
    groups: dict[Hashable, list[Attribute]] = {}
    for a in attributes:
        groups.setdefault((len(a.domain), (kinds or {}).get(a.name)), []).append(a)
    return [(of, graph.concat([rows[a.name] for a in of], axis=1)) for of in groups.values()]


def transform_groups(
    graph: OnnxGraph, groups: Sequence[Group], transform: Transformation | None
) -> list[Group]:
    """Append a transformation of probabilities, if there is one."""
    if transform is None:
        return list(groups)
    transformed = []
    for attributes, rows in groups:
        size = len(attributes[0].domain)
        distributions = graph.node("Reshape", rows, graph.shape(-1, size))
        degrees = add_transform(graph, distributions, size, transform)
        shape = graph.shape(-1, size * len(attributes))
        transformed.append((attributes, graph.node("Reshape", degrees, shape)))
    return transformed


def program_columns(graph: OnnxGraph, program: Program, groups: Sequence[Group]) -> str:
    """Return the input columns of a program, (input columns, samples)."""
    columns = graph.node("Transpose", graph.concat([rows for _, rows in groups], axis=1))
    order = _column_indices(program, [a for of, _ in groups for a in of])
    is_same = len(order) == sum(len(a.domain) for of, _ in groups for a in of)
    return columns if is_same and (np.diff(order) == 1).all() else graph.take(columns, order)


def _column_indices(program: Program, attributes: Sequence[Attribute]) -> Numbers:
    """Return the index of each column of the program among the columns of attributes."""
    bounds = np.cumsum([0, *(len(a.domain) for a in attributes)]).tolist()
    first = dict(zip((a.name for a in attributes), bounds, strict=False))
    return np.concatenate([first[a.name] + np.arange(len(a.domain)) for a in program.inputs])


def split_outputs(graph: OnnxGraph, program: Program, out: str, names: Sequence[str]) -> list[str]:
    """Return the distribution (samples, size) of each output of a program, by these names."""
    spans = [program.code.columns[a.name] for a in program.outputs]
    indices = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    as_they_are = len(indices) == program.code.n_outputs and (np.diff(indices) == 1).all()
    columns = graph.node("Transpose", out if as_they_are else graph.take(out, indices))
    sizes = graph.shape(*(len(a.domain) for a in program.outputs))
    return graph.node_outputs("Split", [columns, sizes], list(names), axis=1)


def coherence_rows(graph: OnnxGraph, program: Program, out: str) -> dict[str, str]:
    """Return the coherence (samples,) of the outputs that may be contradictory, by name."""
    coherence = program.code.coherence
    return {
        a.name: graph.take(out, coherence[a.name]) for a in program.outputs if a.name in coherence
    }


def add_contradictions(
    graph: OnnxGraph, degrees: Mapping[str, str], coherence: Mapping[str, str]
) -> dict[str, str]:
    """Declare the contradiction of outputs; return the names by attribute."""
    contradictions = {}
    for name, of_output in coherence.items():
        top = graph.node("ReduceMax", degrees[name], graph.shape(1), keepdims=0)
        lowest = graph.node("Min", top, of_output)
        contradictions[name] = graph.unused(f"{name} (contradiction)")
        graph.node("Sub", graph.constant(1.0), lowest, output=contradictions[name])
        graph.output(contradictions[name], np.float64, [SAMPLES])
    return contradictions


def add_card_outputs(graph: OnnxGraph, card: ScoreCard, nodes: CardNodes) -> dict[str, str]:
    """Declare class and probability; return their names, and that of the attribute."""
    names = {key: graph.unused(key) for key in ("class", "probability")}
    refused = graph.node("IsNaN", graph.columns(card.output.name, 0, 1))
    nan = graph.constant(np.nan)
    graph.node("Where", refused, nan, nodes.probability, output=names["probability"])
    no_class = graph.constant(-1, np.int64)
    flat = graph.node("Reshape", refused, graph.shape(-1))
    graph.node("Where", flat, no_class, nodes.best, output=names["class"])
    graph.output(names["class"], np.int64, [SAMPLES])
    graph.output(names["probability"], np.float64, [SAMPLES, len(card.output.domain)])
    return {"attribute": card.output.name, **names}
