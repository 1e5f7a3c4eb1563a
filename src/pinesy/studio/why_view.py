"""The Why view: why a value is as possible and as certain, why not another, and how far it is."""

from typing import Any

from pinesy._common.validation import check_known, check_limit, check_number
from pinesy.calibration import LevelWhyNot
from pinesy.display.images import data_uri
from pinesy.exceptions import DataError
from pinesy.exchange.page_data import input_content
from pinesy.explanations import Change, ValueChange, WhyNot, why_not
from pinesy.explanations.explanation_report import LIMITS
from pinesy.induction.points_cascade import card_of
from pinesy.rules.numbers import is_number
from pinesy.samples import value_texts
from pinesy.studio.question import LIMIT, Question, level_of
from pinesy.studio.session import Payload, Session, calibrated_evidence, calibrated_of, endpoints

#: Seconds that the search for a change may take, unless the page asks for others, and at most.
SECONDS, MOST_SECONDS = 10.0, 600.0
#: Values of a tree, in all: the page is for looking, copies have more.
NODES = 120
MODES = ("smallest", "fewest", "values")


def conclusions(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the attributes that rules conclude on, outputs first."""
    rules, calibrated = session.work.rules, session.work.calibrated
    final = [a.name for a in rules.outputs]
    others = [s.output.name for s in reversed(rules.order) if s.output.name not in final]
    if card_of(rules) is not None:  # the others add and compare points
        others = []
    return {
        "version": session.version,
        "final": final,
        "others": others,
        "inputs": [a.name for a in rules.inputs],
        # With weights there are no levels here: those of the samples are not known.
        "guarantee": None
        if calibrated is None or calibrated.transform.is_weighted
        else calibrated.guarantee,
    }


def explain(session: Session, payload: Payload) -> dict[str, Any]:
    """Explain a value: the tree, the margin, the images, and levels if the rules are calibrated.

    Of induced rules `points` has what their score card gave, in words; null for others.

    Payload: ``sample``, ``attribute``, ``place`` (null for the most possible value), ``eta``,
    ``depth``, ``limit``, ``level`` (null for none).
    """
    question = Question.of(session, payload)
    eta = check_number(payload.get("eta", 0.1), "eta", 0.0, 1.0, DataError)
    limit = check_limit(payload.get("limit", LIMIT), "limit")
    explanation = question.explanation(eta, check_limit(payload.get("depth"), "depth"))
    report = question.report(explanation, limit=limit)
    has_levels = payload.get("level") is not None and question.work.calibrated is not None
    return {
        "values": value_texts(question.attribute),
        "explanation": explanation.to_dict(limit=limit, nodes=NODES),
        "points": None if explanation.probability is None else explanation.text(limit=limit),
        "margin": report.margin_dict(),
        "marginText": report.margin_text(),
        "images": {name: data_uri(image) for name, image in question.images.items()},
        "levels": _levels(question, level_of(payload)) if has_levels else None,
    }


def _levels(question: Question, level: float) -> dict[str, Any]:
    """Return the values that remain at a level, and the highest level that excludes each."""
    calibrated, name = calibrated_of(question.work), question.attribute.name
    evidence = calibrated_evidence(question.work, question.evidence)
    sets = calibrated.predict_set(evidence, level, [name])
    return {
        "level": level,
        "members": sets.members(name).tolist(),
        "excludedAt": sets.excluded_at(name).tolist(),
        "outcome": sets.outcomes[name],
        "verdict": sets.verdict(name),
        "guarantee": calibrated.guarantee,
    }


def ask_why_not(session: Session, payload: Payload) -> dict[str, Any]:
    """Start the job of "why not this value"; return its status.

    Payload: as for `explain`, with ``place``; ``mode``, ``keep`` (inputs that may not change),
    ``seconds`` that the search for a change may take, ``instead`` (a job that nobody waits for).
    """
    question = Question.of(session, payload)
    if question.index is None:
        raise DataError("say which value: place is missing")
    seconds = check_number(payload.get("seconds", SECONDS), "seconds", 0.0, MOST_SECONDS, DataError)
    value = question.attribute.domain[question.index]
    mode: Any = payload.get("mode")
    if mode is not None:
        check_known(mode, MODES, f"there is no mode {mode!r:.60}", DataError)
    changes = {"mode": mode, "keep": _fixed_inputs(payload.get("keep"), question)}
    level = None if payload.get("level") is None else level_of(payload)
    if payload.get("instead") is not None:
        session.jobs.job(payload["instead"]).stop()

    def work() -> WhyNot | LevelWhyNot:
        if level is None or question.work.calibrated is None:
            rules = question.work.rules
            return why_not(rules, question.needed_evidence, value, question.attribute, **changes)
        evidence = calibrated_evidence(question.work, question.evidence)
        calibrated = calibrated_of(question.work)
        return calibrated.why_not(evidence, value, question.attribute, level=level, **changes)

    return session.jobs.start("why not", work, seconds=seconds, to_json=_why_not_data).status()


def _why_not_data(answer: WhyNot | LevelWhyNot) -> dict[str, Any]:
    reason = answer.reason if isinstance(answer, LevelWhyNot) else answer
    attribute = reason.attribute
    content = reason.to_dict(LIMIT)
    of_level = answer.to_dict() if isinstance(answer, LevelWhyNot) else None
    # Calibrated inputs are p-values, which nobody sets.
    of_p_values = isinstance(answer, LevelWhyNot) and answer.of_inputs
    index = attribute.position(reason.value)
    return content | {
        "place": index,
        "title": value_texts(attribute)[index],
        "answer": str(answer),
        "set": None if reason.change is None or of_p_values else _contents(reason.change),
        "levels": of_level,
    }


def _contents(change: Change) -> dict[str, Any]:
    """Return the changed inputs in the form of the page."""
    values = change.values if isinstance(change, ValueChange) else {}
    contents = {}
    for name in change.readings:
        attribute, value = change.new[name].attribute, values.get(name, change.new[name])
        number = float(value) if attribute.scale is not None and is_number(value) else value
        contents[name] = input_content(attribute, number)
    return contents


def _fixed_inputs(names: object, question: Question) -> list[str] | None:
    """Return the inputs that may not change, among those that the attribute depends on."""
    if names is None:
        return None
    if not isinstance(names, list):
        raise DataError("keep is a list of names of inputs")
    known = question.work.rules.compile([question.attribute]).inputs
    return [a.name for a in known if a.name in names] or None


def copy(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the full explanation as text, JSON or SVG, to copy or save.

    Payload: as for `explain`, with ``form``, and ``job`` of a why-not that belongs to it.
    """
    form = payload.get("form")
    if not isinstance(form, str) or form not in LIMITS:
        raise DataError(f"there is no form {form!r:.60}; take one of {', '.join(LIMITS)}")
    question = Question.of(session, payload)
    rival = None if payload.get("job") is None else session.jobs.job(payload["job"]).content
    if isinstance(rival, LevelWhyNot):
        rival = rival.reason
    report = question.report(question.explanation(), why_not=rival, limit=LIMITS[form])
    return {"content": report.write(form, question.images)}


ENDPOINTS = endpoints(ask_why_not, conclusions, copy, explain)
