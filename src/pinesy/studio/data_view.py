"""The Data view: the accuracy of the rules, suspicious rows, changed labels."""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from pinesy import learning
from pinesy._common.files import wrap_read_errors
from pinesy._common.names import column_slices
from pinesy._common.validation import check_integer, check_known
from pinesy.calibration import CalibratedAnswers, coverage
from pinesy.display.images import data_uri
from pinesy.evidence.evidence_form import evidence_rows
from pinesy.exceptions import DataError, PinesyError
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import ScoreCard
from pinesy.learning import Audit, DecisionReport
from pinesy.learning.audit import AuditedRules, Judged, unused_inputs
from pinesy.samples import Batch, columns_of, read_samples, value_texts
from pinesy.studio.learn_view import learned_difference
from pinesy.studio.question import value_index
from pinesy.studio.row_table import LabelEdit
from pinesy.studio.session import (
    Payload,
    Session,
    calibrated_evidence,
    calibrated_of,
    endpoints,
    page_bounds,
)

Order = npt.NDArray[np.intp]
#: Points of a curve; values of a confusion table; pairs of values that are most often confused;
#: rules that decide; images that are shown of a row.
POINTS, TABLE, PAIRS, RULES, IMAGES = 100, 20, 50, 20, 8
#: By which rules labels are judged; ``"auto"`` is out of fold where the rules come from the data.
METHODS: tuple[str, ...] = ("auto", *get_args(Judged))
#: What rows are sorted by.
SORTS = ("worst", "row", "suspicion", "nabla", "support", "label")
#: Seconds that learning may take to show what changed labels change.
SECONDS = 60.0


def overview(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the attributes with labels, and the edited labels."""
    batch = session.labelled()
    return {
        "targets": [
            {"name": name, "values": value_texts(t.attribute), "graded": t.is_graded}
            for name, t in batch.targets.items()
        ],
        "edits": [_edit(batch, edit) for edit in session.labels.of(batch.targets)],
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


def evaluate(session: Session, payload: Payload) -> dict[str, Any]:
    """Start to evaluate predictions on ``attribute`` (null for the last one with labels)."""
    name = payload.get("attribute")
    if name is not None and not isinstance(name, str):
        raise DataError(f"an attribute is named by a text; got {name!r:.60}")
    return session.jobs.start("evaluate", lambda: decision_report(session, name)).status()


def audit(session: Session, payload: Payload) -> dict[str, Any]:
    """Start to audit the labels by a ``method``; then `page` returns rows."""
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
    """Return some rows of the audit, sorted.

    Payload: ``method``, ``sort``, ``reversed``, ``start`` and ``count``.
    """
    method, (start, count) = payload.get("method", "auto"), page_bounds(payload)
    audited, batch = audit_of(session, method), session.labelled()
    order = order_of(session, method, payload.get("sort", "worst"))
    if payload.get("reversed"):
        order = order[::-1]
    return {
        "total": len(order),
        "start": start,
        "rows": [
            _row(session, batch, audited.row(i)) for i in order[start : start + count].tolist()
        ],
    }


def _row(session: Session, batch: Batch, row: Mapping[str, Any]) -> dict[str, Any]:
    i, name = int(row["sample"]), str(row["set"])
    target, images = batch.targets[name], session.rows.images
    return {
        **{key: row[key] for key in ("suspicion", "nabla", "label", "best", "reason")},
        "suspicious": row["suspicious"],
        "row": i,
        "line": int(batch.lines[i]),
        "ids": session.rows.ids(i),
        "attribute": name,
        "place": None if target.is_graded else int(target.labels[i]),
        "repaired": row["repaired"],
        "images": {n: data_uri(images[n][i]) for n in list(images)[:IMAGES]},
    }


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


def decision_report(session: Session, name: str | None) -> dict[str, Any]:
    """Return accuracy, selective accuracy, confusions, deciding rules, and coverage of sets.

    Long lists are cut to their first entries.
    """

    def make() -> dict[str, Any]:
        batch = session.with_labels()
        report = learning.evaluate(session.work.rules, batch.evidence, batch.targets, output=name)
        content, card = report.to_dict(), card_of(session.work.rules)
        has_card = card is not None and card.output.name == report.attribute
        rules = _card_lines(session, batch, card) if card and has_card else content["rules"]
        deciding = sorted(rules, key=lambda rule: -rule["decides"])[:RULES]
        return content | {
            "has_card": has_card,
            "curve": _curve(report),
            "confusion": content["confusion"] if len(report.values) <= TABLE else None,
            "confused": _confused(report),
            "rules": [rule for rule in deciding if rule["decides"]],
            "coverage": _coverage(session, batch),
        }

    return session.report(("evaluate", name), make)


def _card_lines(session: Session, batch: Batch, card: ScoreCard) -> list[dict[str, Any]]:
    """Return the lines of a score card with the rows in which they hold, and are right."""
    rows = evidence_rows(session.work.rules, batch.evidence)
    counts = card.line_counts(rows, batch.targets[card.output.name].labels)
    return [
        {"rule": line.text, "decides": int(holds), "right": int(right)}
        for line, holds, right in zip(card.lines, *counts, strict=True)
    ]


def _curve(report: DecisionReport) -> list[list[float]]:
    """Return the selective accuracy: shares of the samples, most certain first, and accuracies."""
    counts = np.unique(np.linspace(1, report.samples, POINTS).round().astype(int))
    accuracies = report.selective_accuracy[counts - 1]
    pairs = zip(counts / report.samples, accuracies, strict=True)
    return [[float(share), float(right)] for share, right in pairs]


def _confused(report: DecisionReport) -> list[dict[str, Any]]:
    """Return the most frequent pairs of a true and a wrong predicted value."""
    wrong = report.confusion.copy()
    np.fill_diagonal(wrong, 0)
    names = [*report.values, "undecided"]
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(index), wrong.shape[1]) for index in order if wrong.flat[index]]
    return [
        {"true": names[u], "predicted": names[v], "samples": int(wrong[u, v])} for u, v in pairs
    ]


def _coverage(session: Session, batch: Batch) -> dict[str, Any] | None:
    """Return the coverage of the sets of values, if the rules are calibrated."""
    work = session.work
    if work.calibrated is None:
        return None
    columns = column_slices(work.rules.inputs)
    inputs = {name: batch.evidence[:, part] for name, part in columns.items()}
    names = [a.name for a in work.rules.outputs]
    if isinstance(work.calibrated, CalibratedAnswers):
        names = list(work.calibrated.outputs)
    targets = {name: t for name, t in batch.targets.items() if name in names} or batch.targets
    try:
        evidence = calibrated_evidence(work, inputs)
        return coverage(calibrated_of(work), evidence, targets).to_dict()
    except PinesyError as error:
        return {"error": str(error)}


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


def order_of(session: Session, method: object, sort: object) -> Order:
    """Return the rows sorted: descending by a score, or ascending by row or label."""
    check_known(sort, SORTS, f"rows cannot be sorted by {sort!r:.60}", DataError)
    audited = audit_of(session, method)
    keys: Mapping[str, Callable[[], Any]] = {
        "row": lambda: np.arange(len(audited)),
        "suspicion": lambda: -audited.suspicion,
        "nabla": lambda: -audited.worst,
        "support": lambda: audited.support,
        "label": lambda: _label_keys(session.labelled()),
    }

    def make() -> Order:
        if sort == "worst":
            return audited.order
        return np.argsort(keys[str(sort)](), kind="stable")

    return session.report(("order", method, sort), make)


def _label_keys(batch: Batch) -> Any:
    """Return the indices of the labels of the last attribute that has labels."""
    target = list(batch.targets.values())[-1]
    return target.distributions.argmax(axis=1) if target.is_graded else target.labels


ENDPOINTS = endpoints(audit, consequences, evaluate, label, overview, page, undo_label)
