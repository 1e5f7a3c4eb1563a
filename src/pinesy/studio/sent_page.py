"""One file to send: the rules that are worked on, the sample of now, and some rows of the data."""

from collections.abc import Iterator, Mapping
from typing import Any

from pinesy.exchange.page import rules_page
from pinesy.exchange.page_samples import PageSamples
from pinesy.studio.given_sample import sample_evidence, sample_images
from pinesy.studio.session import Session

#: Rows of the data that are sent along, the first.
SENT_ROWS = 100


def sent_page(session: Session, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return the file's name and its content (docs/one-file-page.md)."""
    work = session.work
    title = session.title or ("rules" if session.path is None else session.path.stem)
    samples = []
    for name, given in _given(session, asked.get("sample")):
        one = PageSamples.of_evidence(work.rules, sample_evidence(session, given), [name])
        images = {n: image[None] for n, image in sample_images(session, given).items()}
        samples += one.data(work.rules, images)
    page = rules_page(work.rules, samples, title, network=work.model is not None)
    return {"name": f"{title}.html", "page": page}


def _given(session: Session, sample: Any) -> Iterator[tuple[str, Any]]:
    """Yield samples as the studio's page holds them, that of now first, with their names."""
    if isinstance(sample, Mapping) and sample.get("inputs"):
        yield "as it was set", sample
    for row in range(min(len(session.rows or ()), SENT_ROWS)):
        yield f"row {row + 1}", {"row": row, "inputs": {}}
