"""Rules, and whole models, as one graph of ONNX: networks, transformations, rules, guarantees.

The transformations of probabilities have the bits of `pinesy.transforms`, because the same numbers
are added in the same order: `CumSum` adds one after the other, `TopK` sorts with ties by index.
Rows that are no distributions become NaN.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.engine.program import Program
from pinesy.evidence.evidence_form import Transform
from pinesy.exceptions import DataError, DomainError
from pinesy.exchange.onnx_card import add_card
from pinesy.exchange.onnx_columns import (
    SAMPLES,
    Group,
    add_card_outputs,
    add_contradictions,
    add_inputs,
    coherence_rows,
    group_rows,
    new_graph,
    program_columns,
    split_outputs,
    transform_groups,
)
from pinesy.exchange.onnx_graph import OPSET, OnnxGraph
from pinesy.exchange.onnx_guarantees import guaranteed_graph, refuse_groups
from pinesy.exchange.onnx_rules import add_rules
from pinesy.guarantees.decide import SelectiveRules
from pinesy.guarantees.grouped_rules import GroupedRules
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import ScoreCard
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import View, views_of
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.samples import value_texts
from pinesy.transforms import Transformation, as_transform


def to_onnx(
    rules: Cascade | RuleSet | HasRules | NeuroSymbolic | CalibratedRules | SelectiveRules,
    outputs: Iterable[str | Attribute] | None = None,
    *,
    transform: Transform = None,
    inputs_as: Literal["degrees", "values"] = "degrees",
    level: float | None = None,
) -> Any:
    """Return rules, or network, transformation and rules together, as an `onnx.ModelProto`.

    The graph takes and gives what `infer` does, in float64, for any number of samples: an input
    for each input attribute, of shape ``(samples, size of the domain)``, and an output for each
    attribute that is inferred, with its name. Where rules may contradict each other on the way to
    an output `b` there is a second one, ``b (contradiction)``, of shape ``(samples,)``. Samples
    that pinesy refuses get NaN. The metadata ``pinesy`` has, as JSON, the values of attributes.

    Of induced rules there are two more outputs, ``class`` (the index of what `predict` returns, -1
    for refused samples) and ``probability`` (`predict_proba`), by the score card.

    Of calibrated rules the outputs are the calibrated degrees of `CalibratedRules.infer`, and
    ``conformity``. With a `level` there are, of each output `b`, ``b (set)``, the values that are
    not excluded, and ``b (outcome)``, the index of its outcome in `OUTCOMES` (-1 for refused
    samples), as `predict_set` gives them. Of rules with a threshold (`decide`) there are
    ``decided``, ``certainty`` and ``b (best)``, the index of the proposed value; with a `level`,
    sets of their calibration besides.

    Onnxruntime gives the bits of pinesy: minimum and maximum copy numbers, and the transformations
    add them in the same order. What a network says is rounded in another way by each program that
    runs it. Size and time are linear in the length of the compiled program.

    Parameters
    ----------
    rules : rules; what `calibrate` or `decide` returns; a fitted
        `pinesy.estimators.RuleClassifier` (calibrated degrees with a `level` alone); or a model
        whose perceptions are `pinesy.nets.NetworkPerception`; its inputs are images
        ``(samples, 28, 28)`` of uint8
    outputs : what is inferred; by default the attributes that no premise uses
    transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the inputs of the graph are
        probabilities; a model has its own
    inputs_as : ``"values"`` if an input of the graph, of shape ``(samples,)``, has the numbers of a
        numeric attribute, or else the indices of values as the metadata lists them; NaN is unknown
    level : of the prediction sets of calibrated rules, such as 0.95

    Raises
    ------
    DomainError : for calibrations that need more of a sample than its inputs: groups, weights

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
    if level is not None:
        rules = _with_calibration(rules)
    if isinstance(rules, GroupedRules):
        refuse_groups(rules)
    if isinstance(rules, CalibratedRules | SelectiveRules):
        if transform is not None:
            raise DomainError("the model has its own transformation; leave out transform")
        return guaranteed_graph(rules, outputs, inputs_as, level)
    if isinstance(rules, NeuroSymbolic):
        if transform is not None:
            raise DomainError("a model has its own transformation; leave out transform")
        return _model_graph(rules, outputs)
    cascade = as_cascade(rules)
    program = cascade.compile(outputs)
    graph = new_graph(program.inputs, program.outputs)
    groups = group_rows(graph, program.inputs, add_inputs(graph, program.inputs, inputs_as))
    name = None if transform is None else as_transform(transform)
    return _finished(graph, program, groups, name, card_of(cascade))


def _with_calibration(rules: Any) -> Any:
    """Return the calibrated rules of a classifier; raise `DomainError` where there are none."""
    if isinstance(rules, CalibratedRules | SelectiveRules | GroupedRules):
        return rules
    calibrated = getattr(rules, "calibration_", None)
    if isinstance(rules, NeuroSymbolic) and calibrated is not None:
        raise DomainError(
            "the calibration of a model is written without its network: "
            "to_onnx(model.calibration_, level=...) takes the probabilities of the network"
        )
    if calibrated is None:
        raise DomainError("level is of calibrated rules: calibrate the rules, or leave it out")
    return calibrated


def _model_graph(model: NeuroSymbolic, outputs: Iterable[str | Attribute] | None) -> Any:
    """Return the graph of a model; inputs that the outputs do not need are left out."""
    rules = as_cascade(getattr(model, "rules_", model.rules))
    program = rules.compile(outputs)
    graph = new_graph(program.inputs, program.outputs)
    groups: list[Group] = []
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


def _finished(
    graph: OnnxGraph,
    program: Program,
    groups: Sequence[Group],
    transform: Transformation | None,
    card: ScoreCard | None,
) -> Any:
    """Append the transformation, if any, the rules and their card, if any; return the model."""
    columns = program_columns(graph, program, transform_groups(graph, groups, transform))
    out = add_rules(graph, program.code, columns)
    names = [a.name for a in program.outputs]
    split_outputs(graph, program, out, names)
    for a in program.outputs:
        graph.output(a.name, np.float64, [SAMPLES, len(a.domain)])
    degrees = dict(zip(names, names, strict=True))
    texts: dict[str, Any] = {
        "inputs": {a.name: value_texts(a) for a in program.inputs},
        "outputs": {a.name: value_texts(a) for a in program.outputs},
        "contradictions": add_contradictions(graph, degrees, coherence_rows(graph, program, out)),
    }
    if card is not None and card.output in program.outputs:
        nodes = add_card(graph, card, program.inputs, graph.node("Abs", columns))
        texts["card"] = add_card_outputs(graph, card, nodes)
    return graph.model("pinesy", {"pinesy": json.dumps(texts)})
