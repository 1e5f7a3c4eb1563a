"""Rules, and whole models, as one graph of ONNX: networks, transformations, rules.

The transformations of probabilities have the bits of `pinesy.transforms`, because the same numbers
are added in the same order: `CumSum` adds one after the other, `TopK` sorts with ties by index.
Rows that are no distributions become NaN.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from pinesy.engine.program import Program
from pinesy.evidence.evidence_form import Transform
from pinesy.exceptions import DataError, DomainError
from pinesy.exchange.onnx_card import add_card
from pinesy.exchange.onnx_graph import OPSET, OnnxGraph
from pinesy.exchange.onnx_rules import Numbers, add_rules
from pinesy.exchange.onnx_transforms import add_transform
from pinesy.exchange.onnx_values import add_values
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import ScoreCard
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import View, views_of
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.samples import value_texts
from pinesy.transforms import Transformation, as_transform

#: The name of the axis of samples.
SAMPLES = "samples"


def to_onnx(
    rules: Cascade | RuleSet | HasRules | NeuroSymbolic,
    outputs: Iterable[str | Attribute] | None = None,
    *,
    transform: Transform = None,
    inputs_as: Literal["degrees", "values"] = "degrees",
) -> Any:
    """Return rules, or network, transformation and rules together, as an `onnx.ModelProto`.

    The graph takes and gives what `infer` does, in float64, for any number of samples: an input
    for each input attribute, of shape ``(samples, size of the domain)``, and an output for each
    attribute that is inferred, with its name. Where rules may contradict each other on the way to
    an output `b` there is a second one, ``b (contradiction)``, of shape ``(samples,)``. Samples
    that pinesy refuses get NaN. The metadata ``pinesy`` has, as JSON, the values of attributes.

    Of induced rules there are two more outputs, ``class`` (the index of what `predict` returns, -1
    for refused samples) and ``probability`` (`predict_proba`), by the score card.

    Onnxruntime gives the bits of pinesy: minimum and maximum copy numbers, and the transformations
    add them in the same order. What a network says is rounded in another way by each program that
    runs it. Size and time are linear in the length of the compiled program.

    Parameters
    ----------
    rules : rules, a fitted `pinesy.estimators.RuleClassifier` (its degrees, not calibrated ones),
        or a model whose perceptions are `pinesy.nets.NetworkPerception`; its inputs are images
        ``(samples, 28, 28)`` of uint8
    outputs : what is inferred; by default the attributes that no premise uses
    transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the inputs of the graph are
        probabilities; a model has its own
    inputs_as : ``"values"`` if an input of the graph, of shape ``(samples,)``, has the numbers of a
        numeric attribute, or else the indices of values as the metadata lists them; NaN is unknown

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse("attribute a in {0, 1} attribute b in {0, 1} if a in {1} then b in {1}")
    >>> [o.name for o in to_onnx(rules).graph.output]
    ['b']
    """
    if inputs_as not in ("degrees", "values"):
        raise DomainError(f"unknown inputs_as {inputs_as!r:.60}; give 'values' or 'degrees'")
    if inputs_as == "values" and (transform is not None or isinstance(rules, NeuroSymbolic)):
        raise DomainError("probabilities and images are no values; leave out inputs_as")
    if isinstance(rules, NeuroSymbolic):
        if transform is not None:
            raise DomainError("a model has its own transformation; leave out transform")
        return _model_graph(rules, outputs)
    cascade = as_cascade(rules)
    program = cascade.compile(outputs)
    graph = _graph_of(program)
    columns = {a.name: a.name for a in program.inputs}
    for a in program.inputs:
        is_value = inputs_as == "values"
        graph.input(a.name, np.float64, [SAMPLES] if is_value else [SAMPLES, len(a.domain)])
        if is_value:
            columns[a.name] = add_values(graph, a, a.name)
    groups = [
        (of_size, graph.concat([columns[a.name] for a in of_size], axis=1))
        for of_size in _by_size(program.inputs)
    ]
    name = None if transform is None else as_transform(transform)
    return _finished(graph, program, groups, name, card_of(cascade))


def _model_graph(model: NeuroSymbolic, outputs: Iterable[str | Attribute] | None) -> Any:
    """Return the graph of a model; inputs that the outputs do not need are left out."""
    rules = as_cascade(getattr(model, "rules_", model.rules))
    program = rules.compile(outputs)
    graph = _graph_of(program)
    groups = []
    for view in views_of(model.perception, rules.inputs):
        needed = [a for a in view.attributes if a in program.inputs]
        if needed:
            groups.append((needed, _perceived(graph, view, needed)))
    return _finished(graph, program, groups, as_transform(model.transform), card_of(rules))


def _perceived(graph: OnnxGraph, view: View, attributes: Sequence[Attribute]) -> str:
    """Return the probabilities of attributes side by side, from the images of each."""
    if not hasattr(view.perception, "network"):
        raise DataError(
            f"the perception of {attributes[0].name!r} is a {type(view.perception).__name__}; only "
            "a NetworkPerception can be written as ONNX: write the rules alone, "
            "to_onnx(model.rules, transform=...), and give them its probabilities"
        )
    from pinesy.nets.networks import SIDE, onnx_model, preprocess  # torch is optional

    images = [
        graph.node(
            "Unsqueeze", graph.input(a.name, np.uint8, [SAMPLES, SIDE, SIDE]), graph.shape(1)
        )
        for a in attributes
    ]
    flat = graph.node("Reshape", graph.concat(images, axis=1), graph.shape(-1, SIDE, SIDE))
    # Images are scaled by a table of the shades of grey, as networks take them.
    shades = preprocess(np.resize(np.arange(256, dtype=np.uint8), (1, SIDE, SIDE)))
    table = graph.constant(shades.ravel()[:256].numpy(), np.float32)
    pixels = graph.node("Gather", table, graph.cast(flat, np.int32))
    model = onnx_model(view.perception.network, OPSET)
    scores = graph.append(model, graph.node("Unsqueeze", pixels, graph.shape(1)))
    probabilities = graph.node("Softmax", graph.cast(scores, np.float64), axis=1)
    width = sum(len(a.domain) for a in attributes)
    return graph.node("Reshape", probabilities, graph.shape(-1, width))


def _graph_of(program: Program) -> OnnxGraph:
    for a in program.outputs:
        if a in program.inputs:
            raise DomainError(
                f"{a.name!r} is an input of the graph, so it cannot be an output of it; name "
                "attributes that rules conclude on"
            )
    return OnnxGraph(a.name for a in (*program.inputs, *program.outputs))


def _by_size(attributes: Iterable[Attribute]) -> list[list[Attribute]]:
    """Return attributes with domains of one size together."""
    groups: dict[int, list[Attribute]] = {}
    for a in attributes:
        groups.setdefault(len(a.domain), []).append(a)
    return list(groups.values())


def _finished(
    graph: OnnxGraph,
    program: Program,
    groups: Sequence[tuple[Sequence[Attribute], str]],
    transform: Transformation | None,
    card: ScoreCard | None,
) -> Any:
    """Append the transformation, if any, the rules and their card, if any; return the model.

    Parameters
    ----------
    groups : attributes with domains of one size, and their columns side by side
    """
    if transform is not None:
        groups = [(of, _transformed(graph, of, rows, transform)) for of, rows in groups]
    columns = graph.node("Transpose", graph.concat([rows for _, rows in groups], axis=1))
    order = _column_indices(program, [a for of, _ in groups for a in of])
    if (np.diff(order) != 1).any():
        columns = graph.take(columns, order)
    contradictions = _add_outputs(graph, program, add_rules(graph, program.code, columns))
    texts: dict[str, Any] = {
        "inputs": {a.name: value_texts(a) for a in program.inputs},
        "outputs": {a.name: value_texts(a) for a in program.outputs},
        "contradictions": contradictions,
    }
    if card is not None and card.output in program.outputs:
        texts["card"] = _add_card_outputs(graph, program, card, columns, contradictions)
    return graph.model("pinesy", {"pinesy": json.dumps(texts)})


def _transformed(
    graph: OnnxGraph, attributes: Sequence[Attribute], rows: str, transform: Transformation
) -> str:
    size = len(attributes[0].domain)
    distributions = graph.node("Reshape", rows, graph.shape(-1, size))
    degrees = add_transform(graph, distributions, size, transform)
    return graph.node("Reshape", degrees, graph.shape(-1, size * len(attributes)))


def _column_indices(program: Program, attributes: Sequence[Attribute]) -> Numbers:
    """Return the index of each column of the program among the columns of attributes."""
    bounds = np.cumsum([0, *(len(a.domain) for a in attributes)]).tolist()
    first = dict(zip((a.name for a in attributes), bounds, strict=False))
    return np.concatenate([first[a.name] + np.arange(len(a.domain)) for a in program.inputs])


def _add_outputs(graph: OnnxGraph, program: Program, out: str) -> dict[str, str]:
    """Declare the outputs; return the names of the contradiction outputs by attribute."""
    code, contradictions = program.code, {}
    names = [a.name for a in program.outputs]
    used_names = {*names, *(a.name for a in program.inputs)}
    spans = [code.columns[name] for name in names]
    indices = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    as_they_are = len(indices) == code.n_outputs and (np.diff(indices) == 1).all()
    columns = graph.node("Transpose", out if as_they_are else graph.take(out, indices))
    sizes = graph.shape(*(len(a.domain) for a in program.outputs))
    graph.node_outputs("Split", [columns, sizes], names, axis=1)
    for a in program.outputs:
        graph.output(a.name, np.float64, [SAMPLES, len(a.domain)])
        if a.name in code.coherence:
            coherence = graph.take(out, code.coherence[a.name])
            top = graph.node("ReduceMax", a.name, graph.shape(1), keepdims=0)
            contradictions[a.name] = _free(f"{a.name} (contradiction)", used_names)
            lowest = graph.node("Min", top, coherence)
            graph.node("Sub", graph.constant(1.0), lowest, output=contradictions[a.name])
            graph.output(contradictions[a.name], np.float64, [SAMPLES])
    return contradictions


def _add_card_outputs(
    graph: OnnxGraph,
    program: Program,
    card: ScoreCard,
    columns: str,
    contradictions: dict[str, str],
) -> dict[str, str]:
    """Declare class and probability; return their names, and that of the attribute."""
    used_names = {a.name for a in (*program.inputs, *program.outputs)} | {*contradictions.values()}
    names = {key: _free(key, used_names) for key in ("class", "probability")}
    best, probability = add_card(graph, card, program.inputs, graph.node("Abs", columns))
    refused = graph.node("IsNaN", graph.columns(card.output.name, 0, 1))
    nan = graph.constant(np.nan)
    graph.node("Where", refused, nan, probability, output=names["probability"])
    no_class = graph.constant(-1, np.int64)
    flat = graph.node("Reshape", refused, graph.shape(-1))
    graph.node("Where", flat, no_class, best, output=names["class"])
    graph.output(names["class"], np.int64, [SAMPLES])
    graph.output(names["probability"], np.float64, [SAMPLES, len(card.output.domain)])
    return {"attribute": card.output.name, **names}


def _free(name: str, used_names: set[str]) -> str:
    """Return a name, changed if it is used already, and mark it as used."""
    while name in used_names:
        name += "'"
    used_names.add(name)
    return name
