"""The Ask view: a sample, the verdict on it, every value, and the reason chain."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pinesy._common.validation import check_integer
from pinesy.display.images import data_uri
from pinesy.exceptions import DataError, PinesyError
from pinesy.exchange.page_data import NumberedTexts, attribute_data, input_content, questions_of
from pinesy.explanations import explain as explain_value
from pinesy.explanations.labels import Wording
from pinesy.explanations.points_text import card_scores, points_given
from pinesy.explanations.smallest_change import Change, ValueChange
from pinesy.induction.score_card import conjunction_text
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import RawSamples, views_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.readable_rules import equation_of
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import is_number
from pinesy.rules.propositions import Proposition
from pinesy.samples import value_texts
from pinesy.studio.digit_image import SIDE, as_digit
from pinesy.studio.near_rules import near_rules
from pinesy.studio.question import image_of, level_of, output_named, read_sample, value_index
from pinesy.studio.reason_chain import reason_chain
from pinesy.studio.session import (
    Payload,
    Session,
    Work,
    calibrated_evidence,
    calibrated_of,
    endpoints,
)
from pinesy.verdicts import Guarantee, Verdict, verdict
from pinesy.verdicts.sentences import Sentences

#: Of the full justification, values in all, and rules and propositions of each.
NODES, LIMIT = 120, 6
#: Examples that a model of images begins with.
EXAMPLES = 4


def form(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the inputs with the data of their controls, and the attributes to ask about.

    ``pictured`` names the inputs that a network reads; ``examples`` are rows with images.
    """
    work, rules = session.work, session.work.rules
    domains, questions = NumberedTexts(), questions_of(rules)
    described = [
        attribute_data(a, domains.number(tuple(value_texts(a))))
        for a in (*rules.inputs, *questions)
    ]
    wording = Wording.of(None, rules.attributes)
    for attribute, content in zip((*rules.inputs, *questions), described, strict=True):
        content["title"] = wording.name(attribute)
    n_inputs, calibrated = len(rules.inputs), work.calibrated
    pictured = image_inputs(work.model, rules)
    return {
        "version": session.version,
        "domains": list(domains),
        "inputs": described[:n_inputs],
        "questions": described[n_inputs:],
        "pictured": pictured,
        # With weights there are no levels here: those of the samples are not known.
        "calibrated": calibrated is not None and not calibrated.transform.is_weighted,
        "examples": list(range(min(EXAMPLES, len(session.rows)))) if pictured else [],
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


def row(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the evidence of a row of the data, with its ids, images and targets."""
    table, index = session.rows, check_integer(payload.get("row"), "row", error=DataError)
    evidence, images = table.sample(index), table.images
    return {
        "row": index,
        "line": table.line(index),
        "ids": table.ids(index),
        "inputs": {a.name: input_content(a, evidence[a.name]) for a in table.inputs},
        "images": {name: data_uri(rows[index]) for name, rows in images.items()},
        "targets": table.targets(index),
    }


def find(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the row with an id, or with a number from 1 on: ``text``."""
    text = str(payload.get("text", "")).strip()
    index = session.rows.find(text)
    if index is None and text.isascii() and text.isdecimal() and int(text):
        index = int(text) - 1
    if index is None:
        raise DataError(f"no row has the id {text!r:.60}; give an id or the number of a row")
    return row(session, {"row": index})


# --- one sample -----------------------------------------------------------------------------


def digit(_session: Session, payload: Payload) -> dict[str, Any]:
    """Return the image of a drawing or picture as the network gets it."""
    return {"image": as_digit(image_of(payload.get("image"))).tolist()}


def answer(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the verdict on a sample, every value, and the reason chain.

    Payload: ``sample``, ``attribute`` (null for the first output), ``place`` of the value that is
    asked about (null for the answer), ``level`` of the guarantee, ``brief``: true for the answer
    and the degrees alone, which cost one inference, without reasons.
    """
    work = session.work
    attribute = output_named(work.rules, payload.get("attribute"))
    evidence, _ = read_sample(session, payload.get("sample"))
    needed = {a.name: evidence[a.name] for a in work.rules.compile([attribute]).inputs}
    result = verdict(work.rules, needed, attribute)
    shared = {
        "version": session.version,
        "prefix": equation_prefix(result),
        "degrees": result.distribution.degrees.tolist(),
        "readings": {
            a.name: list(evidence[a.name])
            for a in work.rules.inputs
            if isinstance(evidence[a.name], list)
        },
    }
    if payload.get("brief"):
        return shared | {"verdict": result.answer_dict(), "brief": True}
    result = _guaranteed(work, evidence, result, payload)
    exclusion = None
    if payload.get("place") is not None:
        value = attribute.domain[value_index(attribute, payload["place"])]
        exclusion = None if (value,) == result.values else result.why_not(value)
    analysis: Sentences = result if exclusion is None else exclusion
    return shared | {
        "verdict": result.to_dict(),
        "text": result.text(),
        "set": _contents(result.change),
        "deciding": list(result.deciding_inputs),
        "clash": None if result.clash is None else result.clash.attribute.name,
        "chain": reason_chain(analysis),
        "near": [] if exclusion is not None else near_rules(result),
        "card": _card(result),
        "whyNot": None
        if exclusion is None
        else {
            "because": exclusion.because,
            "change": exclusion.what_would_change_it,
            "set": _contents(exclusion.change),
        },
    }


def _guaranteed(
    work: Work, evidence: Mapping[str, Any], result: Verdict, payload: Payload
) -> Verdict:
    """Return the verdict, with a guarantee where the rules are calibrated."""
    if payload.get("level") is None or work.calibrated is None:
        return result
    level, attribute = level_of(payload), result.attribute
    try:
        calibrated = calibrated_of(work)
        sets = calibrated.predict_set(calibrated_evidence(work, evidence), level, [attribute.name])
    except PinesyError as error:
        guarantee = Guarantee(level, attribute.domain, str(error))
    else:
        guarantee = Guarantee.of(level, sets[attribute.name], attribute, result.wording)
        if work.selective is not None and attribute.name in work.selective.outputs:
            decisions = replace(work.selective, transform=None).decisions(evidence)
            text = f"{guarantee.text} This case is {decisions.text(0)}."
            guarantee = replace(guarantee, text=text)
    return Verdict(result.decision, result.wording, guarantee)


def _card(result: Verdict) -> dict[str, Any] | None:
    """Return the points of the first two classes of a score card; those of the first above 0."""
    points, scores = points_given(result.decision), card_scores(result.decision)
    if scores is None or len(points) < 2:
        return None
    first, second = points[:2]
    lines = [
        {
            "text": conjunction_text(line.premise.propositions),
            "points": sign * line.points,
            "state": "unknown" if line.certain < 1.0 else "for" if sign > 0 else "against",
        }
        for side, sign in ((first, 1), (second, -1))
        for line in side.lines
    ]
    lines += [
        {"text": "start", "points": sign * side.start, "state": "for" if sign > 0 else "against"}
        for side, sign in ((first, 1), (second, -1))
        if side.start
    ]
    return {
        "sides": [result.wording.value(result.attribute, side.value) for side in (second, first)],
        "lines": lines,
        "sum": first.low - second.low,
        "class": int(scores.best[0]),
        "probability": scores.probability[0].tolist(),
    }


def _contents(change: Change | None) -> dict[str, Any] | None:
    """Return the changed inputs in the form of the page."""
    if change is None:
        return None
    values = change.values if isinstance(change, ValueChange) else {}
    contents = {}
    for name in change.readings:
        attribute, value = change.new[name].attribute, values.get(name, change.new[name])
        number = float(value) if attribute.scale is not None and is_number(value) else value
        contents[name] = input_content(attribute, number)
    return contents


def equation_prefix(result: Verdict) -> str:
    """Return ``7 + 1 =`` where the answer is a function of attributes that have one value each."""
    decision = result.decision
    equation = equation_of(decision.plan.rule_sets[result.attribute.name])
    if equation is None or result.outcome != "decided":
        return ""
    values = {}
    for factor in equation.factors:
        best = np.flatnonzero(decision.degrees[factor.name] == 1.0)
        if len(best) != 1:
            return ""
        values[factor.name] = result.wording.value(factor, factor.domain[int(best[0])])
    return f"{equation.with_values(values)} ="


def explain(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the full justification of a value, as a tree; payload as for `answer`."""
    rules = session.work.rules
    attribute = output_named(rules, payload.get("attribute"))
    evidence, images = read_sample(session, payload.get("sample"))
    needed = {a.name: evidence[a.name] for a in rules.compile([attribute]).inputs}
    question: Attribute | Proposition = attribute
    if payload.get("place") is not None:
        question = Proposition(attribute, 1 << value_index(attribute, payload["place"]))
    explanation = explain_value(rules, needed, question)
    return {
        "explanation": explanation.to_dict(limit=LIMIT, nodes=NODES),
        "images": {name: data_uri(image) for name, image in images.items()},
    }


ENDPOINTS = endpoints(answer, digit, explain, find, form, row)
