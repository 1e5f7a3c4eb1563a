"""Inference in other semantics: from probabilities of the inputs to weights of the outputs."""

from collections.abc import Sequence

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence, EvidenceForm
from pinesy.engine.rows import Rows
from pinesy.exceptions import DegreeError
from pinesy.rules.attributes import Attribute
from pinesy.semantics.semirings import NumpyWeights, Semiring
from pinesy.semantics.world_weights import WorldInference
from pinesy.semantics.worlds import Part, weigh
from pinesy.transforms import SUM_TOLERANCE

#: Samples are taken together for so many numbers of the largest table.
BLOCK_NUMBERS = 1 << 21


def infer_worlds(
    parts: Sequence[Part],
    semiring: Semiring,
    outputs: Sequence[Attribute],
    form: EvidenceForm,
    evidence: Evidence,
) -> WorldInference:
    """Return what the worlds weigh for each value of the outputs.

    Parameters
    ----------
    parts : those of the outputs, `Worlds.parts`
    form, evidence : the inputs; distributions among them are of probabilities, a plain value is
        certain, and where nothing is known all values are equally probable
    """
    rows = form.rows(evidence, "antipignistic")  # which is not applied, but marks probabilities
    inputs = probabilities_of(rows)
    names = [a.name for a in outputs]
    entries = max([len(a.domain) for a in outputs] + [part.plan.entries for part in parts])
    width = max(1, BLOCK_NUMBERS // entries)
    found = {a.name: np.empty((rows.n, len(a.domain))) for a in outputs}
    ops = NumpyWeights(semiring)
    for start in range(0, rows.n, width):
        block = {name: x[start : start + width] for name, x in inputs.items()}
        weights = weigh(parts, ops, block)
        for name in names:
            found[name][start : start + width] = weights[name]
    return WorldInference({a.name: a for a in outputs}, found, semiring.name, rows.is_batch)


def probabilities_of(rows: Rows) -> dict[str, FloatArray]:
    """Return the probabilities (n, values) of each input; rows that are none are refused."""
    given, spans = rows.given(0, rows.n), column_slices(rows.attributes)
    settled = () if rows.transform is None else rows.transform.left_out
    found = {}
    for number, (name, span) in enumerate(spans.items()):
        x = given[:, span]
        total = x.sum(axis=1)
        if number in settled:
            good = (((x == 0.0) | (x == 1.0)).all(axis=1)) & (total > 0.0)
        else:
            good = (x >= 0.0).all(axis=1) & (np.abs(total - 1.0) <= SUM_TOLERANCE)
        if not good.all():
            _refuse(rows, int(np.argmin(good)), name, number in settled)
        found[name] = x / total[:, None]
    return found


def _refuse(rows: Rows, row: int, name: str, is_settled: bool) -> None:
    if not is_settled:
        rows.refuse(row)
    where = f", row {row}" * rows.is_batch
    raise DegreeError(
        f"attribute {name!r}{where} is a possibility distribution, and only the possibilistic "
        "semantics reasons with these: give probabilities (antipignistic_inverse makes them)"
    )
