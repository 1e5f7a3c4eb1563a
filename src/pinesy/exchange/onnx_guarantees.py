"""Calibrated rules and thresholds of certainty as graphs of ONNX.

From raw columns, degrees or probabilities to calibrated degrees, prediction sets and decisions,
with the bits of `CalibratedRules.infer`, `predict_set` and `SelectiveRules.decisions`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from pinesy._common.names import name_of
from pinesy._common.validation import check_known
from pinesy.calibration.calibrated_points import CalibratedPoints
from pinesy.calibration.calibrated_rules import CalibratedAnswers, CalibratedRules
from pinesy.calibration.conformal_transform import ConformalTransform
from pinesy.calibration.score_counts import DIGITS, significance
from pinesy.engine.program import Program
from pinesy.exceptions import DomainError
from pinesy.exchange.onnx_card import add_card, add_unrounded
from pinesy.exchange.onnx_columns import (
    SAMPLES,
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
from pinesy.exchange.onnx_conformal import add_calibration
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.exchange.onnx_rules import add_rules, valid_samples
from pinesy.guarantees.decide import SelectiveRules
from pinesy.guarantees.grouped_rules import GroupedRules
from pinesy.induction.points_cascade import card_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import OUTCOMES
from pinesy.samples import value_texts
from pinesy.transforms import Transformation, as_transform


class Answers(NamedTuple):
    """Distributions in a graph.

    Attributes
    ----------
    degrees : by output, (samples, size)
    coherence : by output that may be contradictory, (samples,)
    conformity : (samples,), of calibrated rules
    """

    degrees: Mapping[str, str]
    coherence: Mapping[str, str]
    conformity: str = ""


def guaranteed_graph(
    model: CalibratedRules | SelectiveRules,
    outputs: Iterable[str | Attribute] | None,
    inputs_as: Literal["degrees", "values"],
    level: float | None,
) -> Any:
    """Return the graph of calibrated rules, or of rules with a threshold of certainty."""
    calibrated, selective = _checked(model, inputs_as, level)
    cascade = model.rules
    names = _output_names(cascade, calibrated, selective, outputs)
    attributes = [cascade.attributes[name] for name in names]
    together = calibrated.outputs if isinstance(calibrated, CalibratedAnswers) else names
    program = cascade.compile(together)
    deciding = program if selective is None else cascade.compile(selective.outputs)
    needed = {a.name for a in (*program.inputs, *deciding.inputs)}
    if calibrated is not None and not isinstance(calibrated, CalibratedAnswers):
        needed = {a.name for a in cascade.inputs}  # the least conforming input counts
    inputs = [a for a in cascade.inputs if a.name in needed]
    graph = new_graph(inputs, attributes)
    rows = add_inputs(graph, inputs, inputs_as)
    transform = None if selective is None else _transform(selective.transform)
    answers = (
        _inferred(graph, program, rows, transform)
        if calibrated is None
        else _calibrated_answers(graph, calibrated, program, rows)
    )
    texts = _add_distributions(graph, attributes, answers)
    texts = {"inputs": {a.name: value_texts(a) for a in inputs}, **texts}
    card = card_of(cascade)
    if card is not None and card.output in attributes:
        columns = graph.node("Abs", _columns(graph, program, rows, transform))
        nodes = add_card(graph, card, program.inputs, columns)
        texts["card"] = add_card_outputs(graph, card, nodes)
    if calibrated is not None:
        texts |= _add_sets(graph, calibrated, attributes, answers, texts["contradictions"], level)
    if selective is not None:
        texts["decisions"] = _add_decisions(graph, selective, deciding, rows)
    return graph.model("pinesy", {"pinesy": json.dumps(texts)})


# --- what is written -----------------------------------------------------------------------------


def _checked(
    model: CalibratedRules | SelectiveRules,
    inputs_as: Literal["degrees", "values"],
    level: float | None,
) -> tuple[CalibratedRules | None, SelectiveRules | None]:
    """Return the calibration to write, and the threshold, if any; raise `DomainError` for others.

    A calibration that a threshold comes with is written for a level alone.
    """
    calibrated: object = model
    selective = None
    if isinstance(model, SelectiveRules):
        selective, calibrated = model, None if level is None else model.model
    if isinstance(calibrated, GroupedRules):
        refuse_groups(calibrated)
    if level is not None and not isinstance(calibrated, CalibratedRules):
        raise DomainError("level is of calibrated rules: calibrate the rules, or leave it out")
    transforms = [None if selective is None else selective.transform]
    if isinstance(calibrated, CalibratedAnswers):
        transforms.append(calibrated.probabilities)
    transform = next(filter(None, transforms), None)
    if inputs_as == "values" and transform is not None:
        raise DomainError(
            f"the model takes probabilities ({transform}), which are no values; leave out inputs_as"
        )
    if not isinstance(calibrated, CalibratedRules):
        return None, selective
    _check_writable(calibrated.transform)
    if level is not None:
        calibrated.transform.check_level(level)
    return calibrated, selective


def refuse_groups(model: GroupedRules) -> None:
    """Raise `DomainError`, with the cure."""
    name = next(iter(model.groups))
    raise DomainError(
        "a calibration by groups is not written as ONNX, as the group of a sample is no input of "
        f"rules; write a graph for each group, such as to_onnx(model.groups[{name!r}], level=...), "
        "or the calibration by all samples, model.base"
    )


def _check_writable(transform: ConformalTransform) -> None:
    """Raise `DomainError` for calibrations that a graph cannot hold."""
    if type(transform) is not ConformalTransform:
        raise DomainError(
            f"a {type(transform).__name__} is not written as ONNX, as it is of the samples of one "
            "batch; write the calibration of one group"
        )
    if transform.is_weighted:
        raise DomainError(
            "a calibration with sample weights is not written as ONNX, as every new sample needs a "
            "weight of its own; calibrate without weights, or use predict_set(..., weights=...)"
        )


def _output_names(
    cascade: Cascade,
    calibrated: CalibratedRules | None,
    selective: SelectiveRules | None,
    outputs: Iterable[str | Attribute] | None,
) -> list[str]:
    """Return the names of the outputs whose distributions the graph has."""
    if isinstance(calibrated, CalibratedAnswers):
        names = calibrated.outputs if outputs is None else [str(name_of(o)) for o in outputs]
        for name in names:
            check_known(name, calibrated.outputs, f"{name!r} was not calibrated")
        return list(names)
    if selective is not None and outputs is None:
        return list(selective.outputs)
    return [a.name for a in cascade.compile(outputs).outputs]


# --- parts of the graph --------------------------------------------------------------------------


def _transform(name: str | None) -> Transformation | None:
    return None if name is None else as_transform(name)


def _columns(
    graph: OnnxGraph, program: Program, rows: Mapping[str, str], transform: Transformation | None
) -> str:
    """Return the input columns of a program, as possibilities."""
    groups = group_rows(graph, program.inputs, rows)
    return program_columns(graph, program, transform_groups(graph, groups, transform))


def _inferred(
    graph: OnnxGraph, program: Program, rows: Mapping[str, str], transform: Transformation | None
) -> Answers:
    """Append what `Cascade.infer` does."""
    return _concluded(graph, program, _columns(graph, program, rows, transform))


def _concluded(graph: OnnxGraph, program: Program, columns: str) -> Answers:
    out = add_rules(graph, program.code, columns)
    values = split_outputs(graph, program, out, [graph.fresh() for _ in program.outputs])
    names = [a.name for a in program.outputs]
    return Answers(dict(zip(names, values, strict=True)), coherence_rows(graph, program, out))


def _calibrated_answers(
    graph: OnnxGraph, calibrated: CalibratedRules, program: Program, rows: Mapping[str, str]
) -> Answers:
    """Append what `CalibratedRules.infer_with_conformity` does."""
    transform = calibrated.transform
    if not isinstance(calibrated, CalibratedAnswers):
        groups = group_rows(graph, calibrated.rules.inputs, rows, transform.kinds)
        possibilities, conformity = add_calibration(graph, transform, groups)
        answers = _concluded(graph, program, program_columns(graph, program, possibilities))
        return answers._replace(conformity=conformity)
    if isinstance(calibrated, CalibratedPoints):
        answers = _points(graph, calibrated, program, rows)
    else:
        answers = _inferred(graph, program, rows, _transform(calibrated.probabilities))
    groups = group_rows(graph, program.outputs, answers.degrees, transform.kinds)
    possibilities, conformity = add_calibration(graph, transform, groups)
    degrees = {}
    for attributes, values in possibilities:
        size = len(attributes[0].domain)
        for index, attribute in enumerate(attributes):
            degrees[attribute.name] = graph.columns(values, index * size, (index + 1) * size)
    return Answers(degrees, answers.coherence, conformity)


def _points(
    graph: OnnxGraph, calibrated: CalibratedPoints, program: Program, rows: Mapping[str, str]
) -> Answers:
    """Append what `CalibratedPoints.answers` does; NaN for refused samples."""
    card = card_of(calibrated.rules)
    assert card is not None
    columns = _columns(graph, program, rows, None)
    degrees = graph.node("Abs", columns)
    unrounded = add_unrounded(graph, card, program.inputs, degrees)
    valid = graph.node("Unsqueeze", valid_samples(graph, program.code, columns), graph.shape(1))
    checked = graph.node("Where", valid, unrounded, graph.constant(np.nan))
    height = add_card(graph, card, program.inputs, degrees).height
    return Answers({card.output.name: checked}, {card.output.name: height})


def _add_distributions(
    graph: OnnxGraph, attributes: Sequence[Attribute], answers: Answers
) -> dict[str, Any]:
    """Declare the distributions of outputs and their contradictions; return the names."""
    names = {a.name for a in attributes}
    for a in attributes:
        graph.named(a.name, answers.degrees[a.name], np.float64, SAMPLES, len(a.domain))
    coherence = {name: row for name, row in answers.coherence.items() if name in names}
    return {
        "outputs": {a.name: value_texts(a) for a in attributes},
        "contradictions": add_contradictions(graph, answers.degrees, coherence),
    }


def _add_sets(
    graph: OnnxGraph,
    calibrated: CalibratedRules,
    attributes: Sequence[Attribute],
    answers: Answers,
    contradictions: Mapping[str, str],
    level: float | None,
) -> dict[str, Any]:
    """Declare the conformity and, for a level, the sets of outputs; return the names."""
    conformity = graph.unused("conformity")
    graph.named(conformity, answers.conformity, np.float64, SAMPLES)
    texts: dict[str, Any] = {
        "calibration": {"conformity": conformity, "guarantee": calibrated.guarantee}
    }
    if level is not None:
        sets = {a.name: _add_set(graph, a, answers, contradictions, level) for a in attributes}
        texts["sets"] = {"level": level, "outcomes": list(OUTCOMES), "of": sets}
    return texts


def _add_set(
    graph: OnnxGraph,
    attribute: Attribute,
    answers: Answers,
    contradictions: Mapping[str, str],
    level: float,
) -> dict[str, str]:
    """Declare which values are in the set of an output, and its outcome; return the names."""
    limit = graph.constant(significance(level) + 0.5 * 10.0**-DIGITS)  # as `exceeds` has it
    degrees = answers.degrees[attribute.name]
    members = graph.node("Greater", degrees, limit)
    count = graph.node("ReduceSum", graph.cast(members, np.int64), graph.shape(1), keepdims=0)
    least = graph.node("ReduceMin", degrees, graph.shape(1), keepdims=0)
    is_novel = graph.node("Not", graph.node("Greater", answers.conformity, limit))
    conditions: list[tuple[str, int]] = [
        (graph.node("Equal", least, graph.constant(1.0)), OUTCOMES.index("no_rule")),
        (graph.node("Equal", count, graph.constant(1, np.int64)), OUTCOMES.index("decided")),
        (is_novel, OUTCOMES.index("novel")),
    ]
    if attribute.name in contradictions:
        clash = graph.node("Greater", contradictions[attribute.name], graph.constant(0.0))
        conditions.append((clash, OUTCOMES.index("contradiction")))
    conditions.append((graph.node("IsNaN", answers.conformity), -1))
    outcome = graph.constant(OUTCOMES.index("several"), np.int64)
    for condition, index in conditions:
        outcome = graph.node("Where", condition, graph.constant(index, np.int64), outcome)
    names = {key: graph.unused(f"{attribute.name} ({key})") for key in ("set", "outcome")}
    graph.named(names["set"], members, np.bool_, SAMPLES, len(attribute.domain))
    graph.named(names["outcome"], outcome, np.int64, SAMPLES)
    return names


def _add_decisions(
    graph: OnnxGraph, selective: SelectiveRules, program: Program, rows: Mapping[str, str]
) -> dict[str, Any]:
    """Declare what `SelectiveRules.decisions` returns; return the names."""
    transform, card = _transform(selective.transform), card_of(selective.rules)
    best: dict[str, str] = {}
    if card is not None and selective.outputs == (card.output.name,):
        columns = _columns(graph, program, rows, transform)
        degrees = graph.node("Abs", columns)
        nodes = add_card(graph, card, program.inputs, degrees)
        best[card.output.name] = nodes.best
        unrounded = add_unrounded(graph, card, program.inputs, degrees)
        index = graph.node("Unsqueeze", nodes.best, graph.shape(1))
        ahead = _lead(graph, unrounded, index, len(card.output.domain))
        is_whole = graph.node("Equal", nodes.height, graph.constant(1.0))
        certainty = graph.node("Where", is_whole, ahead, graph.constant(0.0))
        refused = graph.node("Not", valid_samples(graph, program.code, columns))
    else:
        answers = _inferred(graph, program, rows, transform)
        certainties = []
        for a in program.outputs:
            values = answers.degrees[a.name]
            best[a.name] = graph.node("ArgMax", values, axis=1, keepdims=0)
            certainties.append(_margin(graph, values, len(a.domain), answers.coherence.get(a.name)))
        certainty = graph.node("Min", *certainties)
        first = graph.columns(answers.degrees[program.outputs[0].name], 0, 1)
        refused = graph.node("IsNaN", graph.node("Reshape", first, graph.shape(-1)))
    certainty = graph.node("Where", refused, graph.constant(np.nan), certainty)
    threshold = selective.threshold.threshold
    limit = graph.constant(np.inf if threshold is None else threshold)
    decided = graph.node(
        "And",
        graph.node("GreaterOrEqual", certainty, limit),
        graph.node("Greater", certainty, graph.constant(0.0)),
    )
    names = {key: graph.unused(key) for key in ("decided", "certainty")}
    graph.named(names["decided"], decided, np.bool_, SAMPLES)
    graph.named(names["certainty"], certainty, np.float64, SAMPLES)
    proposed = {}
    for name, index in best.items():
        proposed[name] = graph.unused(f"{name} (best)")
        checked = graph.node("Where", refused, graph.constant(-1, np.int64), index)
        graph.named(proposed[name], checked, np.int64, SAMPLES)
    return {**names, "best": proposed, "threshold": threshold, "promise": selective.promise}


def _lead(graph: OnnxGraph, degrees: str, index: str, n_classes: int) -> str:
    """Return how far the class of an index (samples, 1) is ahead of the others, at least 0."""
    is_best = graph.node("Equal", index, graph.constant(np.arange(n_classes), np.int64))
    zero = graph.constant(0.0)
    parts = (
        graph.node("Where", is_best, degrees, zero),
        graph.node("Where", is_best, zero, degrees),
    )
    highest, rival = (graph.node("ReduceMax", part, graph.shape(1), keepdims=0) for part in parts)
    return graph.node("Max", graph.node("Sub", highest, rival), zero)


def _margin(graph: OnnxGraph, degrees: str, size: int, coherence: str | None) -> str:
    """Return the margin between the two best values (samples,); 0 where rules contradict."""
    flat, top = graph.shape(-1), degrees
    if size > 1:
        names = [graph.fresh(), graph.fresh()]
        top, _ = graph.node_outputs("TopK", [degrees, graph.shape(2)], names, axis=1)
    first = graph.node("Reshape", graph.columns(top, 0, 1), flat)
    margin = first
    if size > 1:
        second = graph.node("Reshape", graph.columns(top, 1, 2), flat)
        margin = graph.node("Sub", first, second)
    height = first if coherence is None else graph.node("Min", first, coherence)
    is_whole = graph.node("Equal", height, graph.constant(1.0))
    return graph.node("Where", is_whole, margin, graph.constant(0.0))
