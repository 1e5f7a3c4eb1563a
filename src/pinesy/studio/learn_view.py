"""The Learn view: parameters or rules from the data, tried on rows apart, then used or not."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pinesy import induction
from pinesy._common.console import progress
from pinesy._common.validation import check_integer, check_known, check_number, object_array
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.explanations.labels import Wording
from pinesy.learning import LearnedRules, LearningResult, ParameterEstimate, learn, learn_batches
from pinesy.learning.learn import SMOOTHING, Method
from pinesy.model.storage import save as save_file
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.samples import Batch, read_table
from pinesy.studio.background_jobs import Job
from pinesy.studio.row_answers import Indices, RowAnswers, answered_outputs
from pinesy.studio.rule_cards import numbered_rules, rule_data, score_card_data
from pinesy.studio.session import Payload, Session, Work, endpoints, page_bounds

LEARN = "learn"
METHODS: tuple[str, ...] = get_args(Method)
FIXED = (None, "implications", "s", "r")
#: Rows of a difference that are shown at most.
SHOWN = 20
#: The share of the rows that is kept to try new rules on, and the rows that it takes.
TRIED, MIN_TRIED = 1 / 3, 9
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


def split_rows(n: int, share: float) -> tuple[Indices, Indices]:
    """Return the rows to learn from, and those to try the result on: a random share of them.

    Of few rows all are learned from.

    Examples
    --------
    >>> learned_from, tried_on = split_rows(12, 0.25)
    >>> len(learned_from), sorted({*learned_from.tolist(), *tried_on.tolist()}) == list(range(12))
    (9, True)
    """
    n_tried = round(share * n) if n >= MIN_TRIED else 0
    order = np.random.default_rng(0).permutation(n)
    return np.sort(order[n_tried:]), np.sort(order[:n_tried])


def part_of(batch: Batch, rows: Indices) -> Batch:
    """Return some samples with their labels."""
    targets = {name: target[rows] for name, target in batch.targets.items()}
    return replace(batch, evidence=batch.evidence[rows], targets=targets)


@dataclass(frozen=True, eq=False)
class Trial:
    """The answers of rules before and after learning, on the same rows.

    Attributes
    ----------
    before, after : `RowAnswers.counts`; before is None where other questions were answered
    changed : answers that changed
    unseen : whether the rows were not learned from
    """

    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    changed: int
    unseen: bool

    @classmethod
    def of(cls, before: RowAnswers | None, after: RowAnswers, unseen: bool) -> "Trial":
        """Compare answers."""
        if before is None:
            return cls(None, after.counts(), len(after), unseen)
        changed = np.zeros(len(after), dtype=np.bool_)
        for old, new in zip(before.possibilities, after.possibilities, strict=True):
            order = [old.attribute.position(value) for value in new.attribute.domain]
            differs = (old.is_best[:, order] != new.is_best).any(axis=1)
            changed |= differs | (old.decided != new.decided)
        return cls(before.counts(), after.counts(), int(changed.sum()), unseen)

    @property
    def title(self) -> str:
        """What changed, in a few words."""
        right = f"{self.after['right']:,} of {self.after['samples']:,} rows"
        if self.before is None:
            return f"Right: {right}"
        if not self.changed:
            return "The same answers, with other certainties"
        return f"Right: {self.before['right']:,} → {right}"

    @property
    def text(self) -> str:
        """What changed, in a sentence."""
        if self.before is None:
            return "The rules before answer another question, so there is nothing to compare with."
        if not self.changed:
            return "No answer changes. What changes is how certain the rules are."
        moves = []
        for key in ("right", "wrong", "undecided"):
            gain = self.after[key] - self.before[key]
            if gain:
                moves.append(f"{abs(gain):,} {'more' if gain > 0 else 'fewer'} {key}")
        result = ", ".join(moves) or "as many are right, wrong and undecided as before"
        answers = "1 answer changes" if self.changed == 1 else f"{self.changed:,} answers change"
        return f"{answers}: {result}."

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "before": self.before,
            "after": self.after,
            "unseen": self.unseen,
            "title": self.title,
            "text": self.text,
        }


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rules that were learned or induced, and wait to be accepted.

    Attributes
    ----------
    version : of the work that they were learned from
    before : that work's rules
    result : what was learned; None for induced rules
    work : what there would be if they were accepted
    trial : the answers before and after
    """

    version: int
    before: Cascade
    result: LearningResult | ParameterEstimate | None
    work: Work
    trial: Trial


def propose_learning(
    work: Work,
    version: int,
    batch: Batch,
    options: Mapping[str, Any],
    facts: Mapping[str, Any],
    share: float = 0.0,
) -> Proposal:
    """Learn from some rows, try it on the others; return the rules with their parameters.

    Parameters
    ----------
    facts : about the data, for the provenance of the model
    share : of the rows that are not learned from
    """
    known, trial_rows = split_rows(len(batch), share)
    part = part_of(batch, known) if len(trial_rows) else batch
    result = learned(work.rules, part, options)
    provenance = {**facts, "samples": result.samples, "method": options["method"]}
    after = replace(work.with_rules(result.cascade), learned=LearnedRules(result, provenance))
    names = answered_outputs(work.rules, batch.targets, None)
    rows = part_of(batch, trial_rows) if len(trial_rows) else batch
    answers = []
    with progress("trying", 2) as bar:
        for rules in (work.rules, result.cascade):
            answers.append(RowAnswers.of(rules, rows.evidence, rows.targets, names))
            bar.advance()
    trial = Trial.of(answers[0], answers[1], unseen=len(trial_rows) > 0)
    return Proposal(version, work.rules, result, after, trial)


def propose_rules(session: Session, payload: Payload) -> Proposal:
    """Induce rules from some rows of the data file as a table, and try them on the others.

    Payload: ``target``, ``max_rules``, ``max_conditions``, ``seed``, ``share``.
    """
    work, version = session.work, session.version
    if session.data_path is None:
        raise DataError("there is no data to induce rules from")
    options = {"separator": None, "decimal": "."} | dict(session.read_options)
    table = read_table(session.data_path, options["separator"], options["decimal"])
    target = payload.get("target")
    if not isinstance(target, str) or target not in table:
        raise DataError(f"the data has no column {target!r:.60}")
    ids = [*(options.get("ids") or ()), *(name for name in table if name.lower() == "id")]
    table = {name: column for name, column in table.items() if name not in ids}
    known, trial_rows = split_rows(len(table[target]), _share(payload))
    max_rules, max_conditions = (
        None if limit is None else check_integer(limit, name, 1, DataError)
        for name in ("max_rules", "max_conditions")
        for limit in [payload.get(name)]
    )
    rules = induction.induce(
        {name: np.asarray(column)[known] for name, column in table.items()},
        target,
        max_rules=max_rules,
        max_conditions=max_conditions,
        seed=check_integer(payload.get("seed", 0), "seed"),
    )
    after = work.with_rules(rules)
    trial = _tried_rules(session, after.rules, table, target, trial_rows)
    return Proposal(version, work.rules, None, after, trial)


def _tried_rules(
    session: Session, rules: Cascade, table: Mapping[str, Any], target: str, trial_rows: Indices
) -> Trial:
    """Try induced rules on rows, beside the present ones if they answer the same question."""
    rows = trial_rows if len(trial_rows) else np.arange(len(table[target]))
    output = rules[target].output
    labels = [*np.asarray(table[target])[rows].tolist()]
    rows = rows[[label in output for label in labels]]
    evidence = {a.name: known_values(a, np.asarray(table[a.name])[rows]) for a in rules.inputs}
    targets = {target: Target.of([label for label in labels if label in output], output)}
    after = RowAnswers.of(rules, evidence, targets, [target])
    before, old = None, session.work.rules
    if target in old.sets and session.rows.finished and len(session.rows) == len(table[target]):
        batch = part_of(session.labelled(), rows)
        if {*old[target].output.domain} == {*output.domain} and target in batch.targets:
            before = RowAnswers.of(old, batch.evidence, batch.targets, [target])
    return Trial.of(before, after, unseen=len(trial_rows) > 0)


def known_values(attribute: Attribute, column: Any) -> Any:
    """Return a column with None where a category is unknown to an attribute."""
    if attribute.scale is not None:
        return column
    return object_array([value if value in attribute else None for value in column.tolist()])


def parameter_rows(
    before: Cascade,
    after: Cascade,
    start: int,
    count: int,
    include_unchanged: bool,
    result: LearningResult | ParameterEstimate | None = None,
) -> dict[str, Any]:
    """Compare rules that differ in nothing but their parameters.

    Returns `count` rows from `start` on: the rules that changed most first, or all in their order.

    Parameters
    ----------
    result : the counts of samples in which rules held, if it has them
    """
    old, new = (
        np.array([(rule.s, rule.r) for _, _, rule in numbered_rules(rules)]).reshape(-1, 2)
        for rules in (before, after)
    )
    changes = np.abs(new - old).max(axis=1, initial=0.0)
    changed = int((changes > 0.0).sum())
    order = np.argsort(-changes, kind="stable")[:changed]
    if include_unchanged:
        order = np.arange(len(new))
    rules, wording = numbered_rules(after), Wording.of(None, after.attributes)
    held_counts = _held_counts(after, result)
    return {
        "total": len(order),
        "changed": changed,
        "rules": len(new),
        "rows": [
            rule_data(rules[i], wording)
            | {"before": old[i].tolist(), "after": new[i].tolist(), "held": held_counts.get(i)}
            for i in order[start : start + count].tolist()
        ],
    }


def _held_counts(
    rules: Cascade, result: LearningResult | ParameterEstimate | None
) -> dict[int, list[float]]:
    """Return in how many samples rules held, and to how many they applied, by index of the rule."""
    if not isinstance(result, ParameterEstimate):
        return {}
    counts: dict[int, list[float]] = {}
    firsts: dict[str, int] = {}
    for index, (_, rule_set, _) in enumerate(numbered_rules(rules)):
        first = firsts.setdefault(rule_set.output.name, index)
        if rule_set.output.name in result.sets:
            right, wrong = result.sets[rule_set.output.name].counts.weights[index - first, :2]
            counts[index] = [float(right), float(right + wrong)]
    return counts


def learned_difference(
    rules: Cascade, before: Batch, after: Batch, method: object
) -> dict[str, Any]:
    """Learn from samples with two kinds of labels; return which parameters differ."""
    options = learning_options({"method": method})
    old, new = (learned(rules, batch, options).cascade for batch in (before, after))
    return parameter_rows(old, new, 0, SHOWN, include_unchanged=False)


# --- endpoints ------------------------------------------------------------------------------------


def choices(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return what can be learned, and from what."""
    rows, rules = session.rows, session.work.rules
    ready = session.has_data and rows.finished and rows.problem is None
    batch = session.labelled() if ready else None
    targets = [] if batch is None else list(batch.targets)
    known = [a.name for a in (*rules.outputs, *rules.inputs)]
    learned_from, tried_on = split_rows(len(rows), TRIED)
    return {
        "version": session.version,
        "methods": list(METHODS),
        "targets": targets,
        "columns": list(dict.fromkeys([*targets, *known])),
        "file": "" if session.data_path is None else session.data_path.name,
        "rows": {"all": len(rows), "learned": len(learned_from), "tried": len(tried_on)},
        "hasData": session.has_data,
        "hasCard": score_card_data(rules) is not None,
        "reading": not rows.finished,
        "problem": rows.problem,
        "edits": len(session.labels),
        "missing": [name for name in ("pandas", "sklearn") if find_spec(name) is None],
    }


def _share(payload: Payload) -> float:
    """Return the share of rows to try rules on."""
    return check_number(payload.get("share", TRIED), "the share of rows", 0.0, 0.9, DataError)


def status(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the status of the last job of learning."""
    job = session.jobs.last(LEARN)
    return {"job": None if job is None else job.status()}


def start(session: Session, payload: Payload) -> dict[str, Any]:
    """Begin to learn: ``method``, ``tolerance``, ``fixed``, ``smoothing``, ``targets``, ``share``.

    ``share`` of the rows are not learned from; the new rules are tried on them.
    """
    options, work, version = learning_options(payload), session.work, session.version
    share = _share(payload)
    labelled = session.with_labels()
    batch = with_targets(labelled, payload.get("targets"))
    facts = {
        "data": "" if session.data_path is None else session.data_path.name,
        "labels_changed": len(session.labels.of(labelled.targets)),
    }
    return _begin(session, lambda: propose_learning(work, version, batch, options, facts, share))


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
    return {
        "induced": proposal.result is None,
        "trial": proposal.trial.to_dict(),
        "card": score_card_data(proposal.work.rules),
        "report": None if proposal.result is None else str(proposal.result),
    }


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
    return parameter_rows(
        proposal.before, proposal.work.rules, *bounds, include_unchanged, proposal.result
    )


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
