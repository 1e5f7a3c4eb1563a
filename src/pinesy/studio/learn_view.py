"""The Learn view: parameters or rules from the data, compared with those before, then accepted."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pinesy import induction
from pinesy._common.console import progress
from pinesy._common.validation import check_integer, check_known, check_number
from pinesy.exceptions import DataError, PinesyError
from pinesy.induction.points_cascade import card_of
from pinesy.learning import (
    LearnedRules,
    LearningResult,
    ParameterEstimate,
    accuracy,
    learn,
    learn_batches,
)
from pinesy.learning.learn import SMOOTHING, Method
from pinesy.model.storage import save as save_file
from pinesy.rulebase.cascade import Cascade
from pinesy.samples import Batch, read_table
from pinesy.studio.background_jobs import Job
from pinesy.studio.session import Payload, Session, Work, endpoints, page_bounds

LEARN = "learn"
METHODS: tuple[str, ...] = get_args(Method)
FIXED = (None, "implications", "s", "r")
#: Characters of induced rules, and rows of a difference, that are shown at most.
MOST_TEXT, SHOWN = 200_000, 20
#: Samples that are learned from between two checks for a stop.
PART = 2000
SUFFIXES = (".json", ".rules")
NAME = re.compile(r"\w[\w .-]{0,199}")


def learning_options(payload: Payload) -> dict[str, Any]:
    """Return the options of learning in a payload, checked, as `learn` takes them."""
    method, fixed, tolerance = (
        payload.get("method", "exact"),
        payload.get("fixed", "implications"),
        None,
    )
    check_known(method, METHODS, f"there is no method {method!r:.60}", DataError)
    if fixed not in FIXED:
        raise DataError(f"fixed is {fixed!r:.60}; it is one of implications, s, r, or null")
    smoothing = check_number(payload.get("smoothing", SMOOTHING), "the smoothing", error=DataError)
    if method != "exact":
        return {"method": method, "fixed": fixed, "smoothing": smoothing}
    if payload.get("tolerance") is not None:
        tolerance = check_number(payload["tolerance"], "the tolerance", 0.0, error=DataError)
    return {"method": method, "fixed": fixed, "tolerance": tolerance or None}


def with_targets(batch: Batch, names: object) -> Batch:
    """Return the samples with the labels that count: those of some attributes, or all."""
    if names in (None, []):
        return batch
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError("targets is a list of names of attributes, or null")
    for name in names:
        if name not in batch.targets:
            raise DataError(f"the data has no labels of {name!r:.60}")
    return replace(batch, targets={name: batch.targets[name] for name in names})


def learned(
    rules: Cascade, batch: Batch, options: Mapping[str, Any]
) -> LearningResult | ParameterEstimate:
    """Learn as `learn` does, to the last bit, in parts."""
    result: LearningResult | ParameterEstimate
    if options["method"] == "gradient":  # needs all samples at once, and can be stopped by itself
        result = learn(rules, batch.evidence, batch.targets, **options)
    else:
        parts = [slice(start, start + PART) for start in range(0, len(batch), PART)]
        batches: list[tuple[Any, Any]] = [
            (batch.evidence[part], {name: t[part] for name, t in batch.targets.items()})
            for part in parts
        ]
        result = learn_batches(rules, batches, **options, progress=True)
    return result


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rules that were learned or induced, and wait to be accepted.

    Attributes
    ----------
    version : of the work that they were learned from
    before : that work's rules
    result : what was learned; None for induced rules
    work : what there would be if they were accepted
    accuracies : before and after; None if unknown
    """

    version: int
    before: Cascade
    result: LearningResult | ParameterEstimate | None
    work: Work
    accuracies: tuple[float | None, float | None]


def propose_learning(
    work: Work, version: int, batch: Batch, options: Mapping[str, Any], facts: Mapping[str, Any]
) -> Proposal:
    """Learn; return the rules with their parameters.

    Parameters
    ----------
    facts : about the data, for the provenance of the model
    """
    result = learned(work.rules, batch, options)
    provenance = {**facts, "samples": result.samples, "method": options["method"]}
    after = replace(work.with_rules(result.cascade), learned=LearnedRules(result, provenance))
    with progress("accuracy", 2) as bar:
        before = _accuracy(work.rules, batch.evidence, batch.targets)
        bar.advance()
        learned_accuracy = _accuracy(result.cascade, batch.evidence, batch.targets)
        bar.advance()
    return Proposal(version, work.rules, result, after, (before, learned_accuracy))


def propose_rules(session: Session, payload: Payload) -> Proposal:
    """Induce rules from the data file as a table; return them.

    Payload: ``target``, ``max_rules``, ``max_conditions``, ``seed``.
    """
    work, version = session.work, session.version
    if session.data_path is None:
        raise DataError("there is no data to induce rules from")
    options = {"separator": None, "decimal": "."} | dict(session.read_options)
    table = read_table(session.data_path, options["separator"], options["decimal"])
    target = payload.get("target")
    if not isinstance(target, str) or target not in table:
        raise DataError(f"the data has no column {target!r:.60}")
    max_rules = payload.get("max_rules")
    rules = induction.induce(
        table,
        target,
        max_rules=None
        if max_rules is None
        else check_integer(max_rules, "max_rules", 1, DataError),
        max_conditions=check_integer(payload.get("max_conditions", 4), "max_conditions", 1),
        seed=check_integer(payload.get("seed", 0), "seed"),
    )
    evidence = {a.name: table[a.name] for a in rules.inputs}
    share = _accuracy(rules, evidence, {target: table[target].tolist()})
    return Proposal(version, work.rules, None, work.with_rules(rules), (None, share))


def _accuracy(rules: Cascade, evidence: Any, targets: Any) -> float | None:
    """Return the accuracy; None where labels are no values."""
    try:
        return accuracy(rules, evidence, targets)
    except PinesyError:
        return None


def parameter_rows(
    before: Cascade, after: Cascade, start: int, count: int, include_unchanged: bool
) -> dict[str, Any]:
    """Compare rules that differ in nothing but their parameters.

    Returns `count` rows from `start` on: the rules that changed most first, or all in their order.
    """
    old, new = (
        np.concatenate([np.stack([rule_set.s, rule_set.r], axis=1) for rule_set in rules.order])
        for rules in (before, after)
    )
    changes = np.abs(new - old).max(axis=1, initial=0.0)
    changed = int((changes > 0.0).sum())
    order = np.argsort(-changes, kind="stable")[:changed]
    if include_unchanged:
        order = np.arange(len(new))
    rules = [(s.output.name, i, rule) for s in after.order for i, rule in enumerate(s.rules, 1)]
    return {
        "total": len(order),
        "changed": changed,
        "rules": len(new),
        "rows": [
            {
                "set": rules[i][0],
                "rule": rules[i][1],
                "text": rules[i][2].line(5),
                "before": old[i].tolist(),
                "after": new[i].tolist(),
            }
            for i in order[start : start + count].tolist()
        ],
    }


def learned_difference(
    rules: Cascade, before: Batch, after: Batch, method: object
) -> dict[str, Any]:
    """Learn from samples with two kinds of labels; return which parameters differ."""
    options = learning_options({"method": method})
    old, new = (learned(rules, batch, options).cascade for batch in (before, after))
    return parameter_rows(old, new, 0, SHOWN, include_unchanged=False)


# --- endpoints ------------------------------------------------------------------------------------


def choices(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return what can be learned, and how."""
    rows, rules = session.rows, session.work.rules
    ready = session.has_data and rows.finished and rows.problem is None
    targets = list(session.labelled().targets) if ready else []
    known = [a.name for a in (*rules.outputs, *rules.inputs)]
    return {
        "version": session.version,
        "methods": list(METHODS),
        "targets": targets,
        "columns": list(dict.fromkeys([*targets, *known])),
        "hasData": session.has_data,
        "reading": not rows.finished,
        "edits": len(session.labels),
        "missing": [name for name in ("pandas", "sklearn") if find_spec(name) is None],
    }


def status(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the status of the last job of learning."""
    job = session.jobs.last(LEARN)
    return {"job": None if job is None else job.status()}


def start(session: Session, payload: Payload) -> dict[str, Any]:
    """Begin to learn: ``method``, ``tolerance``, ``fixed``, ``smoothing``, ``targets``."""
    options, work, version = learning_options(payload), session.work, session.version
    labelled = session.with_labels()
    batch = with_targets(labelled, payload.get("targets"))
    facts = {
        "data": "" if session.data_path is None else session.data_path.name,
        "labels_changed": len(session.labels.of(labelled.targets)),
    }
    return _begin(session, lambda: propose_learning(work, version, batch, options, facts))


def induce(session: Session, payload: Payload) -> dict[str, Any]:
    """Begin to induce rules: ``target``, ``max_rules``, ``max_conditions``, ``seed``."""
    return _begin(session, lambda: propose_rules(session, payload))


def _begin(session: Session, work: Callable[[], Proposal]) -> dict[str, Any]:
    with session.lock:
        last = session.jobs.last(LEARN)
        if last is not None and not last.over:
            raise DataError("learning is under way already; stop it first, or wait")
        return session.jobs.start(LEARN, work, to_json=_proposal_data).status()


def _proposal_data(proposal: Proposal) -> dict[str, Any]:
    induced = proposal.result is None
    before, after = proposal.accuracies
    return {
        "induced": induced,
        "accuracyBefore": before,
        "accuracyAfter": after,
        "text": _rules_text(proposal.work.rules) if induced else None,
        "report": None if induced else str(proposal.result),
    }


def _rules_text(rules: Cascade) -> str:
    """Return induced rules as their score card, up to a length."""
    card = card_of(rules)
    return str(rules if card is None else card)[:MOST_TEXT]


def _proposal(session: Session) -> tuple[Job, Proposal]:
    """Return what waits to be accepted."""
    job = session.jobs.last(LEARN)
    if job is None or not isinstance(job.content, Proposal):
        raise DataError("nothing was learned yet")
    return job, job.content


def parameters(session: Session, payload: Payload) -> dict[str, Any]:
    """Return rows of parameters before and after: ``start``, ``count``, ``all``."""
    _, proposal = _proposal(session)
    if proposal.result is None:
        raise DataError("induced rules are new: there are no parameters to compare")
    bounds = page_bounds(payload, 50)
    include_unchanged = bool(payload.get("all"))
    return parameter_rows(proposal.before, proposal.work.rules, *bounds, include_unchanged)


def accept(session: Session, _payload: Payload) -> dict[str, Any]:
    """Go on with what was learned; the studio's undo comes back."""
    job, proposal = _proposal(session)
    with session.lock:
        if session.version != proposal.version:
            raise DataError("the rules have changed since this was learned; learn again")
        session.use(proposal.work)
        job.decided = True
    return {"version": session.version}


def discard(session: Session, _payload: Payload) -> dict[str, Any]:
    """Discard what was learned."""
    job, _ = _proposal(session)
    job.decided = True
    return {"version": session.version}


def save(session: Session, payload: Payload) -> dict[str, Any]:
    """Save what was learned to a new file beside the one that was opened: ``name``."""
    _, proposal = _proposal(session)
    name = payload.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise DataError(f"{name!r:.80} is no name of a file; give one of letters, digits and ._-")
    path = (Path.cwd() if session.path is None else session.path.absolute().parent) / name
    if path.suffix not in SUFFIXES:
        raise DataError(f"{name:.80} must end in {' or '.join(SUFFIXES)}")
    if path.exists():
        raise DataError(f"{path} is there already; give another name")
    learned = None if path.suffix == ".rules" else proposal.work.learned
    save_file(learned or proposal.work.rules, path)
    return {"path": str(path)}


ENDPOINTS = endpoints(accept, choices, discard, induce, parameters, save, start, status)
