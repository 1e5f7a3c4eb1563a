"""A stand-in for a network that reads digits, and a session on it with images."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pinesy import NeuroSymbolic, parse
from pinesy.evidence.targets import Target
from pinesy.samples import Batch
from pinesy.studio import Session
from pinesy.studio.row_table import RowTable
from pinesy.studio.session import Work

SUM = "attribute left in 0..9\nattribute right in 0..9\nfunction sum = left + right\n"


def by_columns(images: Any) -> Any:
    """Stand for a network: the probability of a digit is its share of the ink, by columns."""
    ink = images.reshape(len(images), 28, 28)[:, :, 4:24].astype(float).sum(axis=1)
    parts = ink.reshape(len(images), 10, 2).sum(axis=2) + 1.0
    return parts / parts.sum(axis=1, keepdims=True)


def drawing_session(n_rows: int = 0) -> Session:
    """Return a session on a model that reads drawings, with rows of strokes and their sums.

    The label of each tenth row is wrong.
    """
    rules = parse(SUM)
    model = NeuroSymbolic(by_columns, rules, inputs=["left", "right"])
    work = Work(rules, SUM, model)
    if not n_rows:
        return Session(work)
    rng = np.random.default_rng(0)
    digits = rng.integers(10, size=(n_rows, 2))
    images = np.zeros((n_rows, 2, 28, 28), np.uint8)
    for row, pair in enumerate(digits):
        for side, digit in enumerate(pair):
            images[row, side, 6:22, 4 + 2 * digit : 6 + 2 * digit] = 255
            images[row, side, 6:22, 4 + rng.integers(20)] = 120
    sums = digits.sum(axis=1)
    sums[::10] = (sums[::10] + 3) % 19
    labels = {"sum": Target.of(sums.tolist(), rules["sum"].output)}

    def batches() -> Iterator[Batch]:
        yield Batch(model.evidence(images), range(1, n_rows + 1), 0, labels)

    pictures = {"left": images[:, 0], "right": images[:, 1]}
    session = Session(work, title="Sums", rows=RowTable(batches, rules.inputs, pictures))
    session.rows.wait()
    return session
