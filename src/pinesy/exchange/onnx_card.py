"""Score cards as nodes of ONNX: degrees of inputs in, class and probability out.

The numbers are those of `ScoreCard.score`, computed in its order. Tables have a row for each
condition, line or class, and a column for each sample.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import mask_table
from pinesy._common.names import column_slices
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.exchange.onnx_transforms import add_antipignistic_inverse
from pinesy.induction.portable_exp import (
    COEFFICIENTS,
    HALVINGS,
    LEAST,
    LOG_2_HIGH,
    LOG_2_LOW,
    PER_LOG_2,
)
from pinesy.induction.score_card import ScoreCard
from pinesy.induction.unrounded_scores import log_odds_of_point
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition

Numbers = npt.NDArray[np.int64]


class CardNodes(NamedTuple):
    """A card in a graph.

    Attributes
    ----------
    best : the indices of the classes (samples,)
    probability : (samples, classes)
    height : the highest possibility of a class (samples,)
    """

    best: str
    probability: str
    height: str


def add_card(
    graph: OnnxGraph, card: ScoreCard, attributes: Sequence[Attribute], columns: str
) -> CardNodes:
    """Append a card.

    Parameters
    ----------
    attributes, columns : the inputs, and their degrees, (input columns, samples)
    """
    n_lines, n_classes = len(card.lines), len(card.output.domain)
    possible, negated = _card_measures(graph, card, attributes, columns)
    totals = _rows_of(graph, columns, np.array([*card.start.values()], dtype=np.float64))
    if n_lines:
        lines = graph.take(possible, np.arange(n_lines)), graph.take(negated, np.arange(n_lines))
        gives = np.zeros((n_classes, n_lines))
        gives[[card.output.position(c.value) for c in card.lines], np.arange(n_lines)] = 1.0
        points = _line_points(graph, card, [line.points for line in card.lines], *lines)
        totals = graph.node("Add", totals, graph.node("MatMul", graph.constant(gives), points))
    possibility = _add_user_rules(graph, card, _levels(graph, card, totals), possible, negated)
    top = graph.node("ReduceMax", possibility, graph.shape(0), keepdims=1)
    is_top = graph.node("Equal", possibility, top)
    among = graph.node("Where", is_top, totals, graph.constant(-np.inf))
    best = graph.node("ArgMax", among, axis=0, keepdims=0)
    probability = _probabilities(graph, possibility, top, n_classes)
    return CardNodes(best, probability, graph.node("Reshape", top, graph.shape(-1)))


def add_unrounded(
    graph: OnnxGraph, card: ScoreCard, attributes: Sequence[Attribute], columns: str
) -> str:
    """Append the degrees of classes by points before rounding, (samples, classes).

    They have the bits of `unrounded_degrees`: the same numbers are added in the same order.
    """
    n_classes = len(card.output.domain)
    possible, negated = _card_measures(graph, card, attributes, columns)
    totals = _rows_of(graph, columns, np.array([*card.start.values()], dtype=np.float64))
    if card.lines:
        numbers = np.arange(len(card.lines))
        weights = [line.weight or line.points for line in card.lines]
        lines = graph.take(possible, numbers), graph.take(negated, numbers)
        # Starts first, then points, then zeros (the last row), added one after the other.
        terms = [totals, _line_points(graph, card, weights, *lines)]
        table = graph.concat([*terms, _rows_of(graph, columns, np.zeros(1))], axis=0)
        classes = np.array([card.output.position(line.value) for line in card.lines])
        of_classes = [
            np.array([c, *(n_classes + np.flatnonzero(classes == c))]) for c in range(n_classes)
        ]
        indices = _padded(of_classes, n_classes + len(card.lines))
        sums = graph.node("CumSum", graph.take(table, indices), graph.constant(1, np.int64))
        totals = graph.node("Gather", sums, graph.constant(indices.shape[1] - 1, np.int64), axis=1)
    scaled = graph.node("Mul", graph.constant(log_odds_of_point(card)), totals)
    top = graph.node("ReduceMax", scaled, graph.shape(0), keepdims=1)
    exponentials = _exponentials(graph, graph.node("Sub", scaled, top))
    sums = graph.node("CumSum", exponentials, graph.constant(0, np.int64))
    softmax = graph.node("Div", exponentials, graph.take(sums, [n_classes - 1]))
    by_user_rules = _rows_of(graph, columns, np.full(n_classes, card.levels[0]))
    by_user_rules = _add_user_rules(graph, card, by_user_rules, possible, negated)
    return graph.node("Transpose", graph.node("Min", softmax, by_user_rules))


def _exponentials(graph: OnnxGraph, numbers: str) -> str:
    """Append `portable_exp`."""
    clipped = graph.node("Max", numbers, graph.constant(LEAST))
    k = graph.node("Round", graph.node("Mul", clipped, graph.constant(-PER_LOG_2)))
    remainder = clipped
    for part in (LOG_2_HIGH, LOG_2_LOW):
        remainder = graph.node("Add", remainder, graph.node("Mul", k, graph.constant(part)))
    total = graph.constant(COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:]:
        total = graph.node("Add", graph.node("Mul", total, remainder), graph.constant(coefficient))
    powers = graph.node("Gather", graph.constant(HALVINGS), graph.cast(k, np.int64), axis=0)
    return graph.node("Mul", total, powers)


def _card_measures(
    graph: OnnxGraph, card: ScoreCard, attributes: Sequence[Attribute], columns: str
) -> tuple[str, str]:
    """Return the measures of lines, and after them those of the premises of the user's rules."""
    premises = [line.conditions for line in card.lines]
    premises += [rule.premise.propositions for rule in card.user_rules]
    return _measures(graph, premises, attributes, columns) if premises else ("", "")


def _add_user_rules(
    graph: OnnxGraph, card: ScoreCard, possibility: str, possible: str, negated: str
) -> str:
    """Return the possibility of each class, at most what the rules of the user leave it."""
    inside = mask_table(len(card.output.domain), [rule.conclusion.mask for rule in card.user_rules])
    rules = zip(card.user_rules, inside.T, strict=True)
    for index, (rule, is_in) in enumerate(rules, len(card.lines)):
        alpha = graph.node("Max", graph.take(possible, [index]), graph.constant(rule.s))
        beta = graph.node("Max", graph.take(negated, [index]), graph.constant(rule.r))
        bounds = graph.take(graph.concat([alpha, beta], axis=0), np.where(is_in, 0, 1))
        possibility = graph.node("Min", possibility, bounds)
    return possibility


def _rows_of(graph: OnnxGraph, columns: str, numbers: npt.NDArray[np.float64]) -> str:
    """Return numbers as rows, the same for all samples."""
    n = graph.node("Shape", columns, start=1, end=2)
    shape = graph.concat([graph.shape(len(numbers)), n], axis=0)
    return graph.node("Expand", graph.constant(numbers[:, None]), shape)


def _measures(
    graph: OnnxGraph,
    premises: Sequence[Sequence[Proposition]],
    attributes: Sequence[Attribute],
    columns: str,
) -> tuple[str, str]:
    """Return ``min_j Pi(p_j)`` and ``max_j Pi(not p_j)`` of conjunctions."""
    distinct = list(dict.fromkeys(p for premise in premises for p in premise))
    indices = {p: i for i, p in enumerate(distinct)}
    slices = column_slices(attributes)
    width = sum(len(a.domain) for a in attributes)
    degrees = graph.concat([columns, _rows_of(graph, columns, np.zeros(1))], axis=0)
    members: tuple[list[Numbers], list[Numbers]] = ([], [])
    for p in distinct:
        inside = mask_table(len(p.attribute.domain), [p.mask])[:, 0]
        for side, is_in in zip(members, (inside, ~inside), strict=True):
            side.append(slices[p.attribute.name].start + np.flatnonzero(is_in))
    of_premises = [np.array([indices[p] for p in premise]) for premise in premises]
    measures = []
    for side, reduction in zip(members, ("ReduceMin", "ReduceMax"), strict=True):
        # The row of zeros, which is the last one, fills rows up: it changes no maximum.
        table = graph.take(degrees, _padded(side, width))
        conditions = graph.node("ReduceMax", table, graph.shape(1), keepdims=0)
        parts = graph.take(conditions, _padded(of_premises, None))
        measures.append(graph.node(reduction, parts, graph.shape(1), keepdims=0))
    return measures[0], measures[1]


def _padded(rows: Sequence[Numbers], filler: int | None) -> Numbers:
    """Return rows of indices as a table; shorter ones end in a filler, or repeat their first."""
    longest = max(1, *map(len, rows))
    table = np.empty((len(rows), longest), dtype=np.int64)
    for i, row in enumerate(rows):
        table[i] = row[0] if filler is None else filler
        table[i, : len(row)] = row
    return table


def _line_points(
    graph: OnnxGraph, card: ScoreCard, weights: Sequence[float], possible: str, negated: str
) -> str:
    """Return ``points * N + undetermined * (P - N)`` of each line, for these points."""
    certain = graph.node("Sub", graph.constant(1.0), negated)
    points = graph.constant([[weight] for weight in weights])
    undetermined = graph.constant([[line.undetermined] for line in card.lines])
    open_part = graph.node("Mul", undetermined, graph.node("Sub", possible, certain))
    return graph.node("Add", graph.node("Mul", points, certain), open_part)


def _levels(graph: OnnxGraph, card: ScoreCard, totals: str) -> str:
    """Return the possibility of each class, as `interpolate_levels` has it."""
    last = len(card.levels) - 1
    top = graph.node("ReduceMax", totals, graph.shape(0), keepdims=1)
    lead = graph.node("Min", graph.node("Sub", top, totals), graph.constant(float(last)))
    floor = graph.node("Floor", lead)
    below = graph.cast(floor, np.int64)
    above = graph.node("Add", below, graph.constant(1, np.int64))
    above = graph.node("Min", above, graph.constant(last, np.int64))
    levels = graph.constant(card.levels)
    low, high = (graph.node("Gather", levels, index, axis=0) for index in (below, above))
    step = graph.node("Mul", graph.node("Sub", high, low), graph.node("Sub", lead, floor))
    return graph.node("Add", low, step)


def _probabilities(graph: OnnxGraph, possibility: str, top: str, n_classes: int) -> str:
    """Return `pinesy.transforms.probabilities`, (samples, classes)."""
    unit = graph.constant(1.0)
    has_height = graph.node("Greater", top, graph.constant(0.0))
    height = graph.node("Where", has_height, top, unit)
    scaled = graph.node("Where", has_height, graph.node("Div", possibility, height), unit)
    return add_antipignistic_inverse(graph, graph.node("Transpose", scaled), n_classes)
