"""The Data view: how often the rules are right, coverage, suspicious labels, all rows."""

import hashlib
from dataclasses import replace
from functools import partial
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from pinesy import learning
from pinesy._common.files import wrap_read_errors
from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, check_integer, check_known
from pinesy.calibration import CalibratedAnswers, calibrate, coverage
from pinesy.calibration.coverage_report import CoverageReport
from pinesy.calibration.score_counts import samples_needed
from pinesy.display.images import data_uri
from pinesy.display.report_rows import evidence_text
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, PinesyError
from pinesy.explanations.labels import Wording
from pinesy.guarantees import selective_report
from pinesy.learning import Audit
from pinesy.learning.audit import AuditedRules, Judged, unused_inputs
from pinesy.samples import Batch, columns_of, read_samples, value_texts
from pinesy.studio.learn_view import learned_difference
from pinesy.studio.question import value_index
from pinesy.studio.row_answers import (
    CONTRADICTION,
    STATES,
    UNDECIDED,
    WRONG,
    RowAnswers,
    answered_outputs,
)
from pinesy.studio.row_table import LabelEdit
from pinesy.studio.session import (
    Payload,
    Session,
    calibrated_evidence,
    calibrated_of,
    endpoints,
    page_bounds,
)
from pinesy.verdicts import short_degree

Order = npt.NDArray[np.intp]
#: Points of a curve; images that are shown of a row.
POINTS, IMAGES = 100, 8
#: By which rules labels are judged; ``"auto"`` is out of fold where the rules come from the data.
METHODS: tuple[str, ...] = ("auto", *get_args(Judged))
#: Which rows a page shows.
FILTERS = ("all", "wrong", "undecided", "suspicious")
#: The lowest level whose coverage is reported.
LOWEST_LEVEL = 0.8
#: Seconds that learning may take to show what changed labels change.
SECONDS = 60.0


def overview(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the outputs that can be looked at, the attributes with labels, and edited labels."""
    batch, rules = session.labelled(), session.work.rules
    wording = Wording.of(None, rules.attributes)
    return {
        "version": session.version,
        "outputs": [
            {"name": name, "title": wording.name(rules.attributes[name])}
            for name in dict.fromkeys([*(a.name for a in rules.outputs), *batch.targets])
        ],
        "targets": [
            {"name": name, "values": value_texts(t.attribute), "graded": t.is_graded}
            for name, t in batch.targets.items()
        ],
        "edits": [_edit(batch, edit) for edit in session.labels.of(batch.targets)],
        "columns": [a.name for a in (*rules.inputs, *rules.outputs)],
    }


def _edit(batch: Batch, edit: LabelEdit) -> dict[str, Any]:
    texts = value_texts(edit.attribute)
    return {
        "row": edit.row,
        "line": int(batch.lines[edit.row]),
        "attribute": edit.attribute.name,
        "was": texts[edit.was],
        "now": texts[edit.now],
    }


def figures(session: Session, payload: Payload) -> dict[str, Any]:
    """Start to count right answers and coverage of ``attribute`` (null for the final outputs)."""
    name = payload.get("attribute")
    return session.jobs.start("figures", lambda: data_figures(session, name)).status()


def audit(session: Session, payload: Payload) -> dict[str, Any]:
    """Start to audit the labels by a ``method``; then `page` can filter suspicious rows."""
    method = payload.get("method", "auto")

    def work() -> dict[str, Any]:
        audited = audit_of(session, method)
        return {
            "samples": len(audited),
            "suspicious": int(audited.suspicious.sum()),
            "impossible": int(audited.impossible.sum()),
            "basis": audited.basis,
        }

    return session.jobs.start("audit", work).status()


def page(session: Session, payload: Payload) -> dict[str, Any]:
    """Return some rows with their answers.

    Payload: ``attribute``, ``filter`` (one of `FILTERS`), ``method`` of the audit, ``start`` and
    ``count``. Suspicious rows come worst first, others in the order of the file.
    """
    kind, method = payload.get("filter", "all"), payload.get("method", "auto")
    check_known(kind, FILTERS, f"there is no filter {kind!r:.60}", DataError)
    start, count = page_bounds(payload)
    answers, batch = answers_of(session, payload.get("attribute")), session.labelled()
    audited = audit_of(session, method) if kind == "suspicious" else None
    rows = _filtered(answers, str(kind), audited)
    return {
        "total": len(rows),
        "start": start,
        "rows": [_row(session, batch, answers, i, audited) for i in rows[start : start + count]],
    }


def _filtered(answers: RowAnswers, kind: str, audited: Audit | None) -> list[int]:
    """Return the rows that a filter selects."""
    if audited is not None:
        order: list[int] = audited.order[: int(audited.suspicious.sum())].tolist()
        return order
    masks: dict[str, BoolArray] = {
        "all": np.ones(len(answers), dtype=np.bool_),
        "wrong": answers.states == WRONG,
        "undecided": np.isin(answers.states, (UNDECIDED, CONTRADICTION)),
    }
    rows: list[int] = np.flatnonzero(masks[kind]).tolist()
    return rows


def _row(
    session: Session, batch: Batch, answers: RowAnswers, i: int, audited: Audit | None
) -> dict[str, Any]:
    rules, images = session.work.rules, session.rows.images
    wording = Wording.of(None, rules.attributes)
    remark, name = answers.remark(i, wording), answers.possibilities[0].attribute.name
    is_edited = len(answers.possibilities) == 1 and answers.labels is not None
    content: dict[str, Any] = {
        "row": i,
        "line": int(batch.lines[i]),
        "ids": {title: str(entry) for title, entry in batch.ids_of(i).items()},
        "known": evidence_text(rules.inputs, session.rows.sample(i), wording),
        "label": answers.label(i, wording),
        "attribute": name if is_edited else None,
        "place": int(answers.labels[i, 0]) if is_edited and answers.labels is not None else None,
        "answer": answers.answer(i, wording),
        "certainty": float(answers.certainties[i]),
        "state": STATES[answers.states[i]],
        "images": {n: data_uri(images[n][i]) for n in list(images)[:IMAGES]},
    }
    if audited is not None:
        judged = audited.row(i)
        degree = float(judged["possibility"])
        possible = "impossible" if degree == 0 else f"possible at {short_degree(degree)} only"
        by = f" (rule {judged['rule']})" if judged["rule"] is not None else ""
        remark = f"The label is {possible}{by}."
        content["reason"] = judged["reason"]
    return content | {"remark": remark}


def label(session: Session, payload: Payload) -> dict[str, Any]:
    """Change the label of ``row`` and ``attribute`` to the value at ``place``."""
    batch, name = session.labelled(), payload.get("attribute")
    if not isinstance(name, str) or name not in batch.targets:
        raise DataError(f"the data has no labels of {name!r:.60}")
    index = value_index(batch.targets[name].attribute, payload.get("place"))
    row = check_integer(payload.get("row"), "row", error=DataError)
    session.rows.line(row)  # raises if there is none
    session.labels.add(session.rows.batch(), row, name, index)
    return overview(session, payload)


def undo_label(session: Session, payload: Payload) -> dict[str, Any]:
    """Undo the last edit of a label."""
    session.labels.undo()
    return overview(session, payload)


def consequences(session: Session, payload: Payload) -> dict[str, Any]:
    """Start to learn from the original and from the edited labels; report the difference.

    Payload: ``method`` of learning.
    """
    method = payload.get("method", "exact")
    rules, edited, before = session.work.rules, session.with_labels(), session.rows.batch()
    work = partial(learned_difference, rules, before, edited, method)
    return session.jobs.start("consequences", work, seconds=SECONDS).status()


# --- reports on the data with the present rules and labels: computed once, then cached -----------


def answers_of(session: Session, name: object) -> RowAnswers:
    """Return the answers to all rows, cached until rules or labels change."""
    batch, rules = session.labelled(), session.work.rules
    names = answered_outputs(rules, batch.targets, name)

    def make() -> RowAnswers:
        return RowAnswers.of(rules, batch.evidence, batch.targets, names)

    return session.report(("answers", *names), make)


def data_figures(session: Session, name: object) -> dict[str, Any]:
    """Return the counts of answers, the accuracy on the surest rows, and the coverage."""
    answers = answers_of(session, name)
    outputs = tuple(pi.attribute.name for pi in answers.possibilities)

    def make() -> dict[str, Any]:
        return {
            "outputs": list(outputs),
            "counts": answers.counts(),
            "curve": answers.selective_accuracy(POINTS) if answers.labels is not None else [],
            "coverage": _coverage(session, session.labelled(), outputs),
            "decisions": _decisions(session, session.labelled()),
            "confusion": answers.confusion(Wording.of(None, session.work.rules.attributes)),
        }

    return session.report(("figures", *outputs), make)


def _coverage(session: Session, batch: Batch, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the observed coverage at each level, or why there is none, as ``missing``."""
    targets = {n: batch.targets[n] for n in names if n in batch.targets}
    if len(targets) < len(names) or any(t.is_graded for t in targets.values()):
        return {"missing": "It takes rows with labels."}
    try:
        if session.work.calibrated is not None:
            report = _observed_coverage(session, batch)
            basis = f"tried on {report.samples:,} rows"
        else:
            report, n_calibrated = _split_coverage(session, batch, targets)
            basis = f"calibrated on {n_calibrated:,} rows, tried on the other {report.samples:,}"
    except PinesyError as error:
        return {"missing": str(error)}
    return {
        "how": basis,
        "samples": report.samples,
        "verdict": report.verdict,
        "levels": [
            {key: getattr(row, key) for key in ("level", "observed", "low", "high", "single")}
            for row in report.rows
            if row.scope == "all"
        ],
    }


def _decisions(session: Session, batch: Batch) -> dict[str, Any] | None:
    """Return how many rows the model decides alone, and how many of these wrongly.

    None if it has no threshold; without labels ``wrong`` is None; with ``missing``, why there are
    no decisions.
    """
    selective = session.work.selective
    if selective is None:
        return None
    columns = column_slices(session.work.rules.inputs)
    inputs = {name: batch.evidence[:, part] for name, part in columns.items()}
    try:
        decisions = replace(selective, transform=None).decisions(inputs)
        targets = {n: batch.targets[n] for n in selective.outputs if n in batch.targets}
        content: dict[str, Any] = {
            "promise": selective.promise,
            "samples": len(decisions.decided),
            "decided": int(decisions.decided.sum()),
            "wrong": None,
            "range": None,
        }
        has_labels = len(targets) == len(selective.outputs)
        is_counted = selective.threshold.max_cost is None  # costs of answers are not known here
        if is_counted and has_labels and not any(t.is_graded for t in targets.values()):
            row = selective_report(decisions, targets).rows[0]
            content |= {"wrong": row.wrong, "range": [row.low, row.high]}
    except PinesyError as error:
        return {"missing": str(error)}
    return content


def _observed_coverage(session: Session, batch: Batch) -> CoverageReport:
    """Return the coverage of rules that are calibrated."""
    work = session.work
    columns = column_slices(work.rules.inputs)
    inputs = {name: batch.evidence[:, part] for name, part in columns.items()}
    names = [a.name for a in work.rules.outputs]
    if isinstance(work.calibrated, CalibratedAnswers):
        names = list(work.calibrated.outputs)
    targets = {name: t for name, t in batch.targets.items() if name in names} or batch.targets
    return coverage(calibrated_of(work), calibrated_evidence(work, inputs), targets)


def _split_coverage(
    session: Session, batch: Batch, targets: dict[str, Target]
) -> tuple[CoverageReport, int]:
    """Calibrate on a random half of the rows, and return the coverage of the other half."""
    needed = 2 * samples_needed(LOWEST_LEVEL)
    if len(batch) < needed:
        raise DataError(f"It takes {needed} rows with labels; there are {len(batch)}.")
    order = np.random.default_rng(0).permutation(len(batch))
    rules, half = session.work.rules, len(batch) // 2
    (first, known), (second, unseen) = (
        (batch.evidence[part], {name: t[part] for name, t in targets.items()})
        for part in (order[:half], order[half:])
    )
    return coverage(calibrate(rules, first, known), second, unseen), half


def audit_of(session: Session, method: object) -> Audit:
    """Return the audit by a method, cached until rules or labels change."""
    check_known(method, METHODS, f"there is no method {method!r:.60}", DataError)

    def make() -> Audit:
        batch, judged = session.with_labels(), cast("Judged", method)
        return learning.audit(
            audited_rules(session),
            table_columns(session, batch),
            batch.targets,
            method=None if method == "auto" else judged,
        )

    return session.report(("audit", method), make)


def audited_rules(session: Session) -> AuditedRules:
    """Return the rules, with their learning if it may have used the data."""
    learned, path = session.work.learned, session.data_path
    if learned is None or path is None:
        return session.work.rules
    with wrap_read_errors(path), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return learned if learned.may_know(digest) else session.work.rules


def table_columns(session: Session, batch: Batch) -> dict[str, Any]:
    """Return the columns of the samples, with those that induced rules do not use."""
    rules = session.work.rules
    columns, unused = columns_of(batch, rules.inputs), unused_inputs(rules)
    if session.data_path is None or not unused:
        return columns
    batches = read_samples(
        session.data_path,
        unused,
        known=rules.attributes.values(),
        optional=[a.name for a in unused],
        **session.read_options,
    )
    return columns | columns_of(Batch.joined(list(batches)), unused)


ENDPOINTS = endpoints(audit, consequences, figures, label, overview, page, undo_label)
