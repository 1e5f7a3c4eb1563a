"""The room Rules: the text of the rules, what is wrong with it, what is odd in it."""

from collections.abc import Mapping
from typing import Any

from pinesy.studio.session import Session

Asked = Mapping[str, Any]


def text(session: Session, _asked: Asked) -> dict[str, Any]:
    """Return the rules as text."""
    return {"text": session.work.text}


ENDPOINTS = {"text": text}
