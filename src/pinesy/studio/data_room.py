"""The room Data: how right the rules are on the data, which rows are suspicious, other labels."""

from collections.abc import Mapping
from typing import Any

from pinesy._common.pages import data_uri
from pinesy._common.validation import check_integer
from pinesy.exceptions import DataError
from pinesy.rulebase.targets import Target
from pinesy.samples import Batch, value_texts
from pinesy.studio.data_reports import audit_of, decision_report, labelled, order_of, with_labels
from pinesy.studio.learning_runs import learned_difference
from pinesy.studio.question import place_of
from pinesy.studio.row_table import LabelEdit
from pinesy.studio.session import Asked, Session, endpoints

#: Rows of a page, at most; images that are shown of a row.
MOST_ROWS, IMAGES = 200, 8
#: Seconds that learning may take to tell what other labels change.
SECONDS = 60.0


def overview(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return which labels there are, and those that were changed."""
    batch = labelled(session)
    return {
        "version": session.version,
        "labelVersion": session.labels.version,
        "rows": len(batch),
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


def evaluate(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to compare predictions with the labels of ``attribute`` (null for the last one)."""
    name = asked.get("attribute")
    if name is not None and not isinstance(name, str):
        raise DataError(f"an attribute is named by a text; got {name!r:.60}")
    return session.jobs.start("evaluate", lambda: decision_report(session, name)).status()


def audit(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to judge the labels by a ``method``; then `page` shows the rows."""
    method = asked.get("method", "given")

    def work() -> dict[str, Any]:
        found = audit_of(session, method)
        return {
            "samples": len(found),
            "contradicting": int((found.worst > 0.0).sum()),
            "suspicious": int((found.suspicion > 0.0).sum()),
            "impossible": int(found.impossible.sum()),
        }

    return session.jobs.start("audit", work).status()


def page(session: Session, asked: Asked) -> dict[str, Any]:
    """Return some rows of the audit, sorted.

    Asked: ``method``, ``sort``, ``reversed``, ``start`` and ``count``.
    """
    method, start = asked.get("method", "given"), asked.get("start", 0)
    start = check_integer(start, "start", error=DataError)
    count = min(MOST_ROWS, check_integer(asked.get("count", 20), "count", 1, DataError))
    found, batch = audit_of(session, method), labelled(session)
    order = order_of(session, method, asked.get("sort", "worst"))
    if asked.get("reversed"):
        order = order[::-1]
    chosen = order[start : start + count].tolist()
    return {
        "total": len(order),
        "start": start,
        "rows": [_row(session, batch, found.row(i)) for i in chosen],
    }


def _row(session: Session, batch: Batch, row: Mapping[str, Any]) -> dict[str, Any]:
    i, name = int(row["sample"]), str(row["set"])
    target = batch.targets[name]
    images = (session.rows.images if session.rows is not None else None) or {}
    return {
        **{key: row[key] for key in ("suspicion", "nabla", "support", "label", "reason")},
        "row": i,
        "line": int(batch.lines[i]),
        "ids": {title: str(entries[i]) for title, entries in batch.ids.items()},
        "attribute": name,
        "place": _place(target, i),
        "repaired": row["repaired"],
        "images": {n: data_uri(images[n][i]) for n in list(images)[:IMAGES]},
    }


def _place(target: Target, i: int) -> int | None:
    """Return the place of a label; None for a distribution."""
    return None if target.is_graded else int(target.labels[i])


def label(session: Session, asked: Asked) -> dict[str, Any]:
    """Change the label of ``row`` and ``attribute`` to the value at ``place``."""
    batch, name = labelled(session), asked.get("attribute")
    if not isinstance(name, str) or name not in batch.targets:
        raise DataError(f"the data has no labels of {name!r:.60}")
    place = place_of(batch.targets[name].attribute, asked.get("place"))
    row = check_integer(asked.get("row"), "row", error=DataError)
    if row >= len(batch):
        raise DataError(f"there is no row {row + 1:,}; the data has {len(batch):,}")
    assert session.rows is not None  # `labelled` needs it
    session.labels.add(session.rows.batch(), row, name, place)
    return overview(session, asked)


def undo_label(session: Session, asked: Asked) -> dict[str, Any]:
    """Take the last change of a label back."""
    session.labels.undo()
    return overview(session, asked)


def consequences(session: Session, asked: Asked) -> dict[str, Any]:
    """Begin to learn with the labels of the file and as they were changed; tell what differs.

    Asked: ``method`` of learning.
    """
    method = asked.get("method", "exact")
    rules, edited = session.work.rules, with_labels(session)
    assert session.rows is not None  # `labelled` needs it
    before = session.rows.batch()

    def work() -> dict[str, Any]:
        return learned_difference(rules, before, edited, method)

    return session.jobs.start("consequences", work, seconds=SECONDS).status()


ENDPOINTS = endpoints(audit, consequences, evaluate, label, overview, page, undo_label)
