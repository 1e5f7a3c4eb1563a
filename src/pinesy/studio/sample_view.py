"""The Sample view: the rows of the data, and what the rules make of one sample."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import FloatArray, as_list, check_integer
from pinesy.display.cascade_picture import roles_of
from pinesy.display.images import data_uri
from pinesy.engine.program import Program
from pinesy.exceptions import DataError, PinesyError
from pinesy.exchange.page_data import NumberedTexts, attribute_data, input_content
from pinesy.explanations import explain
from pinesy.explanations.labels import number_text
from pinesy.induction.points_cascade import CardCascade, card_of
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import RawSamples, views_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples import value_texts
from pinesy.studio.question import Image, image_of, read_sample
from pinesy.studio.row_table import RowTable
from pinesy.studio.session import Payload, Session, endpoints, page_bounds

#: Cells of a row, at most, and values of a distribution that a cell shows.
MOST_CELLS, CELL_VALUES = 12, 3
#: Outputs whose paths are lit, and how much of each explanation is followed.
LIT_OUTPUTS, LIT_EACH, LIT_NODES = 8, 3, 200
#: Pixels along a side: of the image, and of the digit in it.
SIDE, DIGIT = 28, 20
#: Grey levels below it are paper.
PAPER = 32


def form(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the attributes, with the data of their controls and bars.

    Roles are those of `roles_of`; `pictured` names the inputs that a network reads. Of induced
    rules the attributes that add and compare points are left out.
    """
    rules = session.work.rules
    card = card_of(rules)
    outputs = [s.output for s in rules.order] if card is None else [card.output]
    domains = NumberedTexts()
    roles = roles_of(rules)
    attributes = [
        attribute_data(a, domains.number(tuple(value_texts(a)))) | {"role": roles[a.name]}
        for a in (*rules.inputs, *outputs)
    ]
    names = image_inputs(session.work.model, rules)
    return {
        "attributes": attributes,
        "domains": list(domains),
        "pictured": names,
        "hasCard": card is not None,
    }


def image_inputs(model: NeuroSymbolic | None, rules: Cascade) -> list[str]:
    """Return the inputs whose perceptions take images of the size of a digit."""
    if model is None:
        return []
    names = []
    for view in views_of(model.perception, rules.inputs):
        blank = np.zeros((1, SIDE, SIDE), np.uint8)
        samples = RawSamples.of({a.name: blank for a in view.attributes}, view.attributes)
        try:
            view.check(samples, {})
            view.perceive(samples)
        except (PinesyError, TypeError, ValueError, RuntimeError):  # it reads something else
            continue
        names += [a.name for a in view.attributes]
    return names


# --- the rows of the data -------------------------------------------------------------------


def rows(session: Session, payload: Payload) -> dict[str, Any]:
    """Return a page of the data as texts: `count` rows from `start` on."""
    table, (start, count) = session.rows, page_bounds(payload)
    total = len(table)
    columns = table.inputs[:MOST_CELLS]
    return {
        "total": total,
        "finished": table.finished,
        "columns": [a.name for a in columns],
        "left": len(table.inputs) - len(columns),
        "rows": [_row(session, table, i, columns) for i in range(start, min(start + count, total))],
    }


def _row(
    session: Session, table: RowTable, index: int, columns: tuple[Attribute, ...]
) -> dict[str, Any]:
    evidence, rules = table.sample(index), session.work.rules
    targets = table.targets(index)
    return {
        "row": index,
        "line": table.line(index),
        "ids": table.ids(index),
        "cells": [_cell(a, input_content(a, evidence[a.name])) for a in columns],
        "images": _pictures(table, index, [a.name for a in columns]),
        "targets": {
            name: _cell(rules[name].output, {"value" if type(t) is int else "degrees": t})
            for name, t in targets.items()
        },
    }


def _cell(attribute: Attribute, content: Mapping[str, Any]) -> str:
    """Return a short text of the evidence on an attribute."""
    texts = value_texts(attribute)
    if "value" in content:
        return texts[int(content["value"])]
    if "number" in content:
        return f"{content['number']:.12g}"
    if "degrees" not in content:
        return "?"
    order = np.argsort(-np.asarray(content["degrees"]), kind="stable")
    best = [(texts[i], content["degrees"][i]) for i in order[:CELL_VALUES]]
    return ", ".join(f"{text} {number_text(d, 3, '<', '>')}" for text, d in best if d > 0)


def _pictures(table: RowTable, index: int, names: list[str]) -> dict[str, str]:
    images = table.images
    return {name: data_uri(images[name][index]) for name in names if name in images}


def row(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the evidence of a row of the data, with its images and targets."""
    table, index = session.rows, check_integer(payload.get("row"), "row", error=DataError)
    evidence = table.sample(index)
    return {
        "line": table.line(index),
        "inputs": {a.name: input_content(a, evidence[a.name]) for a in table.inputs},
        "images": _pictures(table, index, [a.name for a in table.inputs]),
        "targets": table.targets(index),
    }


# --- one sample -----------------------------------------------------------------------------


def digit(_session: Session, payload: Payload) -> dict[str, Any]:
    """Return the image of a drawing or picture as the network gets it."""
    return {"image": as_digit(image_of(payload.get("image"))).tolist()}


def infer(session: Session, payload: Payload) -> dict[str, Any]:
    """Return degrees, heights and outcomes of the attributes in `shown`.

    A height below 1 is a contradiction; `outcomes` has codes, `verdicts` has them in words. `card`
    is what the score card of induced rules predicts, null for other rules. Cost: the inference of
    all attributes, and the reading of those shown.
    """
    rules = session.work.rules
    evidence, _ = read_sample(session, payload.get("sample"))
    inference = _full_program(rules).infer(evidence)
    names = as_list(payload.get("shown", []), "shown")
    degrees = {
        name: inference[name] for name in names if isinstance(name, str) and name in inference
    }
    return {
        "version": session.version,
        "degrees": {name: pi.degrees.tolist() for name, pi in degrees.items()},
        "heights": {n: min(pi.coherence, pi.degrees.max().item()) for n, pi in degrees.items()},
        "outcomes": {name: pi.outcome for name, pi in degrees.items()},
        "verdicts": {name: _verdict(rules, evidence, pi) for name, pi in degrees.items()},
        "card": prediction(rules, evidence) if isinstance(rules, CardCascade) else None,
    }


def prediction(rules: CardCascade, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the class that a score card predicts, by its index, and why."""
    scores, output = rules.score(evidence), rules.card.output
    return {
        "attribute": output.name,
        "class": int(scores.best[0]),
        "probability": scores.probability[0].tolist(),
        "totals": scores.totals[0].tolist(),
        "text": explain(rules, evidence, output).text(),
    }


def _verdict(rules: Cascade, evidence: Mapping[str, Any], pi: Possibility) -> str:
    """Return an outcome as text; for a contradiction, with the rules that clash."""
    name = pi.attribute.name
    if pi.outcome == "contradiction":
        return explain(rules, evidence, name).verdict
    return "not given" if name not in rules.sets and pi.outcome == "no_rule" else pi.verdict


@cached_on_owner
def _full_program(rules: Cascade) -> Program:
    """Return the program of all attributes, including inputs, which may be images or numbers."""
    return rules.compile([*rules.inputs, *(s.output for s in rules.order)])


def path(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the attributes, and links, that the explanations of the outputs use.

    Where rules contradict each other, `clashes` names the attributes that they do on.
    """
    rules = session.work.rules
    evidence, _ = read_sample(session, payload.get("sample"))
    nodes: dict[str, None] = {}
    links: dict[tuple[str, str], None] = {}
    clashes: dict[str, None] = {}
    for output in rules.outputs[:LIT_OUTPUTS]:
        explanation = explain(rules, evidence, output)
        clashes |= {clash.attribute.name: None for clash in explanation.clashes}
        for node, _ in explanation.walk(limit=LIT_EACH, nodes=LIT_NODES):
            nodes[node.attribute.name] = None
            for child in node.first_children(LIT_EACH)[0]:
                links[child.attribute.name, node.attribute.name] = None
    return {"attributes": list(nodes), "links": list(links), "clashes": list(clashes)}


def as_digit(image: Image) -> Image:
    """Return a drawing, or a picture of any size, as an image like those of MNIST.

    A digit of MNIST is ink on black paper (0 paper, 255 ink), its larger side scaled to 20 pixels,
    in an image of 28 x 28 whose middle is the ink's centre of mass.
    Dark ink on light paper is inverted: the paper is what most of the border is.

    Examples
    --------
    >>> drawing = np.zeros((50, 50), np.uint8)
    >>> drawing[5:45, 20:24] = 255
    >>> seen = as_digit(drawing)
    >>> seen.shape, np.flatnonzero(seen.any(axis=1))[[0, -1]].tolist()
    ((28, 28), [4, 23])
    """
    border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    ink = image.astype(np.float64) if np.median(border) < 128 else 255.0 - image
    rows, columns = (np.flatnonzero((ink >= PAPER).any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        raise DataError("there is nothing on this picture: draw a digit")
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    factor = DIGIT / max(ink.shape)
    height, width = (max(1, round(size * factor)) for size in ink.shape)
    small = averages(ink.shape[0], height) @ ink @ averages(ink.shape[1], width).T
    return _centred(np.rint(small).astype(np.uint8))


def averages(size: int, new: int) -> FloatArray:
    """Return the matrix (new, size) that resamples pixels by area averaging.

    Examples
    --------
    >>> averages(3, 2).round(3).tolist()
    [[0.667, 0.333, 0.0], [0.0, 0.333, 0.667]]
    """
    edges = np.arange(new + 1) * (size / new)
    starts, ends = edges[:-1, None], edges[1:, None]
    pixels = np.arange(size)
    overlap = np.minimum(ends, pixels + 1) - np.maximum(starts, pixels)
    return np.asarray(np.maximum(overlap, 0.0) * (new / size))


def _centred(digit: Image) -> Image:
    """Return an image with the centre of mass of a digit in the middle."""
    image = np.zeros((SIDE, SIDE), np.uint8)
    starts = []
    for axis, size in enumerate(digit.shape):
        masses = digit.sum(axis=1 - axis, dtype=np.float64)
        centre = (masses @ np.arange(size) + 0.5 * masses.sum()) / masses.sum()
        starts.append(min(max(round(SIDE / 2 - centre), 0), SIDE - size))
    top, left = starts
    image[top : top + digit.shape[0], left : left + digit.shape[1]] = digit
    return image


ENDPOINTS = endpoints(digit, form, infer, path, row, rows)
