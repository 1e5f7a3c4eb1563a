"""The Learn view: parameters or rules from the data, compared with those before, then accepted."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pinesy import induction
from pinesy._common.console import progress
from pinesy._common.validation import FloatArray, check_integer, check_known, check_number
from pinesy.exceptions import DataError, PinesyError
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
from pinesy.studio.session import Asked, Session, Work, endpoints, page_asked

LEARN = "learn"
METHODS: tuple[str, ...] = get_args(Method)
FIXED = (None, "implications", "s", "r")
#: Characters of induced rules, and rows of a difference, that are shown at most.
MOST_TEXT, SHOWN = 200_000, 20
#: Samples that are learned from between two looks at the wish to stop.
PART = 2000
SUFFIXES = (".json", ".rules")
NAME = re.compile(r"\w[\w .-]{0,199}")


def learning_options(asked: Asked) -> dict[str, Any]:
    """Return how the page asks to learn, checked, as `learn` takes it."""
    method, fixed, tolerance = (
        asked.get("method", "exact"),
        asked.get("fixed", "implications"),
        None,
    )
    check_known(method, METHODS, f"there is no method {method!r:.60}", DataError)
    if fixed not in FIXED:
        raise DataError(f"fixed is {fixed!r:.60}; it is one of implications, s, r, or null")
    smoothing = check_number(asked.get("smoothing", SMOOTHING), "the smoothing", error=DataError)
    if method != "exact":
        return {"method": method, "fixed": fixed, "smoothing": smoothing}
    if asked.get("tolerance") is not None:
        tolerance = check_number(asked["tolerance"], "the tolerance", 0.0, error=DataError)
    return {"method": method, "fixed": fixed, "tolerance": tolerance or None}


def labels_asked(batch: Batch, names: object) -> Batch:
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
    rules: Cascade, batch: Batch, how: Mapping[str, Any]
) -> LearningResult | ParameterEstimate:
    """Learn as `learn` does, to the last bit, in parts."""
    result: LearningResult | ParameterEstimate
    if how["method"] == "gradient":  # needs all samples at once, and can be stopped by itself
        result = learn(rules, batch.evidence, batch.targets, **how)
    else:
        result = learn_batches(rules, list(_parts(batch)), **how, progress=True)
    return result


def _parts(batch: Batch) -> Iterator[tuple[Any, Any]]:
    for begin in range(0, len(batch), PART):
        part = slice(begin, begin + PART)
        targets = {name: target[part] for name, target in batch.targets.items()}
        yield batch.evidence[part], targets


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rules that were learned or induced, and wait to be accepted.

    Attributes
    ----------
    version : of the work that they were learned from
    before : that work's rules
    result : what was learned; None for induced rules
    work : what there would be if they were accepted
    accuracies : the share of the samples that is right, before and after; None if it is not known
    """

    version: int
    before: Cascade
    result: LearningResult | ParameterEstimate | None
    work: Work
    accuracies: tuple[float | None, float | None]


def propose_learning(
    work: Work, version: int, batch: Batch, how: Mapping[str, Any], facts: Mapping[str, Any]
) -> Proposal:
    """Learn; return the rules with their parameters.

    Parameters
    ----------
    facts : about the data, for the provenance of the model
    """
    result = learned(work.rules, batch, how)
    noted = {**facts, "samples": result.samples, "method": how["method"]}
    after = replace(work.with_rules(result.cascade), learned=LearnedRules(result, noted))
    with progress("accuracy", 2) as bar:
        before = _accuracy(work.rules, batch.evidence, batch.targets)
        bar.advance()
        now = _accuracy(result.cascade, batch.evidence, batch.targets)
        bar.advance()
    return Proposal(version, work.rules, result, after, (before, now))


def propose_rules(session: Session, asked: Asked) -> Proposal:
    """Induce rules from the data file as a table; return them.

    Asked: ``target``, ``max_rules``, ``max_conditions``, ``seed``.
    """
    work, version = session.work, session.version
    if session.data_path is None:
        raise DataError("there is no data to induce rules from")
    how = {"separator": None, "decimal": "."} | dict(session.how)
    table = read_table(session.data_path, how["separator"], how["decimal"])
    target = asked.get("target")
    if not isinstance(target, str) or target not in table:
        raise DataError(f"the data has no column {target!r:.60}")
    most = asked.get("max_rules")
    rules = induction.induce(
        table,
        target,
        max_rules=None if most is None else check_integer(most, "max_rules", 1, DataError),
        max_conditions=check_integer(asked.get("max_conditions", 4), "max_conditions", 1),
        seed=check_integer(asked.get("seed", 0), "seed"),
    )
    evidence = {a.name: table[a.name] for a in rules.inputs}
    right = _accuracy(rules, evidence, {target: table[target].tolist()})
    return Proposal(version, work.rules, None, work.with_rules(rules), (None, right))


def _accuracy(rules: Cascade, evidence: Any, targets: Any) -> float | None:
    """Return the share of samples that is right; None where labels are no values."""
    try:
        return accuracy(rules, evidence, targets)
    except PinesyError:
        return None


def parameter_rows(
    before: Cascade, after: Cascade, start: int, count: int, every: bool
) -> dict[str, Any]:
    """Compare rules that differ in nothing but their parameters.

    Returns `count` rows from `start` on: the rules that changed most first, or all in their order.
    """
    old, new = _parameters(before), _parameters(after)
    changes = np.abs(new - old).max(axis=1, initial=0.0)
    changed = int((changes > 0.0).sum())
    chosen = np.arange(len(new)) if every else np.argsort(-changes, kind="stable")[:changed]
    places = [(s, i) for s in after.order for i in range(len(s.rules))]
    return {
        "total": len(chosen),
        "changed": changed,
        "rules": len(new),
        "rows": [
            {
                "set": places[i][0].output.name,
                "rule": places[i][1] + 1,
                "text": places[i][0].rules[places[i][1]].line(5),
                "before": old[i].tolist(),
                "after": new[i].tolist(),
            }
            for i in chosen[start : start + count].tolist()
        ],
    }


def _parameters(rules: Cascade) -> FloatArray:
    pairs = [np.stack([one.s, one.r], axis=1) for one in rules.order]
    return np.concatenate(pairs)


def learned_difference(
    rules: Cascade, before: Batch, after: Batch, method: object
) -> dict[str, Any]:
    """Learn from samples with two kinds of labels; return which parameters differ."""
    how = learning_options({"method": method})
    one, other = (learned(rules, batch, how).cascade for batch in (before, after))
    return parameter_rows(one, other, 0, SHOWN, every=False)


# --- what the page asks ---------------------------------------------------------------------------


def choices(session: Session, _asked: Asked) -> dict[str, Any]:
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


def status(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return the learning that runs, or what the last one found and nobody decided on yet."""
    job = session.jobs.last(LEARN)
    return {"job": None if job is None else job.status()}


def start(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to learn: ``method``, ``tolerance``, ``fixed``, ``smoothing``, ``targets``."""
    how, work, version = learning_options(asked), session.work, session.version
    every = session.with_labels()
    batch = labels_asked(every, asked.get("targets"))
    facts = {
        "data": "" if session.data_path is None else session.data_path.name,
        "labels_changed": len(session.labels.of(every.targets)),
    }
    return _begin(session, lambda: propose_learning(work, version, batch, how, facts))


def induce(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to induce rules: ``target``, ``max_rules``, ``max_conditions``, ``seed``."""
    return _begin(session, lambda: propose_rules(session, asked))


def _begin(session: Session, work: Callable[[], Proposal]) -> dict[str, Any]:
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
    every = bool(asked.get("all"))
    return parameter_rows(proposal.before, proposal.work.rules, *page_asked(asked, 50), every)


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
    learned = None if path.suffix == ".rules" else proposal.work.learned
    save_file(learned or proposal.work.rules, path)
    return {"path": str(path)}


ENDPOINTS = endpoints(accept, choices, discard, induce, parameters, save, start, status)
