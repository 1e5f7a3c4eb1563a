"""What the page around the rooms asks for: the state of the work, its files, undo."""

from collections.abc import Iterator, Mapping
from typing import Any

from pinesy.exchange.page import rules_page
from pinesy.exchange.page_data import evidence_batch, samples_data
from pinesy.studio.background_jobs import PATIENCE
from pinesy.studio.question import sample_evidence, sample_images
from pinesy.studio.session import Asked, Session, endpoints

#: Rows of the data that are sent along, the first.
SENT_ROWS = 100


def state(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return what the header shows, and what tells rooms to look again.

    ``changed`` names the files that are no longer what was read.
    """
    rows = session.rows
    return {
        "version": session.version,
        "source": session.title or ("" if session.path is None else session.path.name),
        "data": "data" if session.data_path is None else session.data_path.name,
        "rows": 0 if rows is None else len(rows),
        "reading": rows is not None and not rows.finished,
        "problem": None if rows is None else rows.problem,
        "changed": session.changed_files(),
        "canUndo": session.can_undo,
        "hasModel": session.work.model is not None,
    }


def reload(session: Session, asked: Asked) -> dict[str, Any]:
    """Read the files that changed on disk again."""
    session.reload()
    return state(session, asked)


def keep(session: Session, asked: Asked) -> dict[str, Any]:
    """Go on with what was read, though the files changed."""
    session.accept_files()
    return state(session, asked)


def undo(session: Session, asked: Asked) -> dict[str, Any]:
    """Go back to the work before."""
    session.undo()
    return state(session, asked)


def job(session: Session, asked: Asked) -> dict[str, Any]:
    """Return how far a job is."""
    return session.jobs.job(asked.get("job")).status()


def stop(session: Session, asked: Asked) -> dict[str, Any]:
    """Stop a job; it ends when it looks next."""
    found = session.jobs.job(asked.get("job"))
    found.stop()
    found.wait(PATIENCE)
    return found.status()


def page(session: Session, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return one file to send, its name and content: rules, the sample of now, and some rows.

    See docs/one-file-page.md.
    """
    work = session.work
    title = session.title or ("rules" if session.path is None else session.path.stem)
    samples = []
    for name, given in _given(session, asked.get("sample")):
        one = evidence_batch(work.rules, sample_evidence(session, given))
        images = {n: image[None] for n, image in sample_images(session, given).items()}
        samples += samples_data(work.rules, one, [name], images)
    content = rules_page(work.rules, samples, title, network=work.model is not None)
    return {"name": f"{title}.html", "page": content}


def _given(session: Session, sample: Any) -> Iterator[tuple[str, Any]]:
    """Yield samples as the studio's page holds them, that of now first, with their names."""
    if isinstance(sample, Mapping) and sample.get("inputs"):
        yield "as it was set", sample
    for row in range(min(len(session.rows or ()), SENT_ROWS)):
        yield f"row {row + 1}", {"row": row, "inputs": {}}


ENDPOINTS = endpoints(job, keep, page, reload, state, stop, undo)
