"""The room Learn: parameters or rules from the data, compared with those before, then accepted."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pinesy._common.validation import check_integer
from pinesy.exceptions import DataError
from pinesy.model.storage import save as save_file
from pinesy.studio.background_jobs import Job
from pinesy.studio.data_reports import labelled, with_labels
from pinesy.studio.learning_runs import (
    METHODS,
    LearningOptions,
    ParameterTable,
    Proposal,
    propose_learning,
    propose_rules,
)
from pinesy.studio.session import Asked, Session, endpoints

LEARN = "learn"
#: Rows of a page, and characters of induced rules that are shown, at most.
MOST_ROWS, MOST_TEXT = 200, 200_000
SUFFIXES = (".json", ".rules")
NAME = re.compile(r"\w[\w .-]{0,199}")


def choices(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return what can be learned, and how."""
    rows, rules = session.rows, session.work.rules
    ready = rows is not None and rows.finished and rows.problem is None
    targets = list(labelled(session).targets) if ready else []
    known = [a.name for a in (*rules.outputs, *rules.inputs)]
    return {
        "version": session.version,
        "methods": list(METHODS),
        "targets": targets,
        "columns": list(dict.fromkeys([*targets, *known])),
        "hasData": rows is not None,
        "reading": rows is not None and not rows.finished,
        "edits": len(session.labels),
        "missing": [name for name in ("pandas", "sklearn") if find_spec(name) is None],
    }


def status(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return the learning that runs, or what the last one found and nobody decided on yet."""
    job = session.jobs.last(LEARN)
    return {"job": None if job is None else job.status()}


def start(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to learn: ``method``, ``tolerance``, ``fixed``, ``smoothing``, ``targets``."""
    options = LearningOptions.of(asked)
    work, version, batch = session.work, session.version, with_labels(session)
    options.labels(batch)
    facts = {
        "data": "" if session.data_path is None else session.data_path.name,
        "labels_changed": len(session.labels.of(batch.targets)),
    }
    return _begin(session, lambda: propose_learning(work, version, batch, options, facts))


def induce(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to induce rules: ``target``, ``max_rules``, ``max_conditions``, ``seed``."""
    return _begin(session, lambda: propose_rules(session, asked))


def _begin(session: Session, work: Any) -> dict[str, Any]:
    with session.lock:
        last = session.jobs.last(LEARN)
        if last is not None and not last.over:
            raise DataError("learning is under way already; stop it first, or wait")
        return session.jobs.start(LEARN, work, shown=_shown).status()


def _shown(proposal: Proposal) -> dict[str, Any]:
    induced = proposal.result is None
    before, after = proposal.accuracies
    return {
        "induced": induced,
        "note": proposal.note,
        "accuracyBefore": before,
        "accuracyAfter": after,
        "text": str(proposal.work.rules)[:MOST_TEXT] if induced else None,
        "report": None if induced else str(proposal.result),
    }


def _proposal(session: Session) -> tuple[Job, Proposal]:
    """Return what waits to be accepted."""
    job = session.jobs.last(LEARN)
    if job is None or not isinstance(job.content, Proposal):
        raise DataError("nothing was learned yet")
    return job, job.content


def parameters(session: Session, asked: Asked) -> dict[str, Any]:
    """Return rows of parameters before and after: ``start``, ``count``, ``all``."""
    _, proposal = _proposal(session)
    if proposal.result is None:
        raise DataError("induced rules are new: there are no parameters to compare")
    begin = check_integer(asked.get("start", 0), "start", error=DataError)
    count = min(MOST_ROWS, check_integer(asked.get("count", 50), "count", 1, DataError))
    table = ParameterTable.of(proposal.before, proposal.work.rules)
    return table.page(begin, count, bool(asked.get("all")))


def accept(session: Session, _asked: Asked) -> dict[str, Any]:
    """Go on with what was learned; the studio's undo comes back."""
    job, proposal = _proposal(session)
    with session.lock:
        if session.version != proposal.version:
            raise DataError("the rules have changed since this was learned; learn again")
        session.use(proposal.work)
        job.decided = True
    return {"version": session.version}


def discard(session: Session, _asked: Asked) -> dict[str, Any]:
    """Let what was learned go."""
    job, _ = _proposal(session)
    job.decided = True
    return {"version": session.version}


def save(session: Session, asked: Asked) -> dict[str, Any]:
    """Save what was learned to a new file beside the one that was opened: ``name``."""
    _, proposal = _proposal(session)
    name = asked.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise DataError(f"{name!r:.80} is no name of a file; give one of letters, digits and ._-")
    path = (Path.cwd() if session.path is None else session.path.absolute().parent) / name
    if path.suffix not in SUFFIXES:
        raise DataError(f"{name:.80} must end in {' or '.join(SUFFIXES)}")
    if path.exists():
        raise DataError(f"{path} is there already; give another name")
    is_text = path.suffix == ".rules"
    save_file(proposal.work.rules if is_text else proposal.thing, path)
    return {"path": str(path)}


ENDPOINTS = endpoints(accept, choices, discard, induce, parameters, save, start, status)
