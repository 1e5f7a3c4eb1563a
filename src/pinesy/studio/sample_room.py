"""The room Sample: what the rules make of one sample."""

from collections.abc import Mapping
from typing import Any

from pinesy.studio.given_sample import sample_evidence
from pinesy.studio.session import Session

Asked = Mapping[str, Any]


def infer(session: Session, asked: Asked) -> dict[str, Any]:
    """Return the degrees of the outputs for a sample."""
    evidence = sample_evidence(session, asked.get("sample"))
    found = session.work.rules.infer(evidence)
    return {"degrees": {name: pi.degrees.tolist() for name, pi in found.items()}}


ENDPOINTS = {"infer": infer}
