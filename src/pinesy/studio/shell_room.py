"""What the page around the rooms asks for: the state of the work, its files, undo."""

from collections.abc import Mapping
from typing import Any

from pinesy.studio.background_jobs import PATIENCE
from pinesy.studio.sent_page import sent_page
from pinesy.studio.session import Session

Asked = Mapping[str, Any]


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


ENDPOINTS = {
    "job": job,
    "keep": keep,
    "page": sent_page,
    "reload": reload,
    "state": state,
    "stop": stop,
    "undo": undo,
}
