"""Samples, and images of what is seen, as the plain data of a page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pinesy._common.names import column_slices, name_of
from pinesy._common.pages import data_uri
from pinesy._common.validation import FloatArray, check_distributions, check_known
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, placed
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.cascade_evidence import evidence_rows
from pinesy.samples import Batch


@dataclass(frozen=True, eq=False)
class PageSamples:
    """Samples for a page.

    Attributes
    ----------
    degrees : array (n_samples, columns), the inputs of the cascade side by side
    titles : what tells each sample apart
    numbers : of numeric inputs, by name, the numbers that degrees were made of; NaN for others
    """

    degrees: FloatArray
    titles: Sequence[str]
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of_file(cls, batch: Batch) -> "PageSamples":
        """Return samples of a file, which were read for all inputs: their lines and ids."""
        ids = [", ".join(map(str, row)) for row in zip(*batch.ids.values(), strict=True)]
        titles = [str(line) for line in batch.lines]
        if ids:
            titles = [f"{line}: {own}" for line, own in zip(titles, ids, strict=True)]
        return cls(batch.evidence, titles, batch.numbers)

    @classmethod
    def of_evidence(
        cls, cascade: Cascade, evidence: Evidence, titles: Iterable[object] | None
    ) -> "PageSamples":
        """Return samples that a program has at hand, checked; without titles they are counted."""
        rows = evidence_rows(cascade, evidence)
        degrees: FloatArray = rows.block(0, rows.n)
        slices = column_slices(cascade.inputs)
        for a in cascade.inputs:
            check_distributions(degrees[:, slices[a.name]], a.domain, f"attribute {a.name!r}")
        shown = range(1, rows.n + 1) if titles is None else titles
        texts = [str(title) for title in shown]
        if len(texts) != rows.n:
            raise DataError(f"{len(texts)} titles for {rows.n} samples; give one each")
        return cls(degrees, texts, _plain_numbers(cascade, evidence, rows.n))

    def data(self, cascade: Cascade, images: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return them as plain data.

        Of each input: null for unknown, the place of a value that is certain, ``{"number": x}``, or
        a list of degrees. `images` are arrays (n_samples, height, width) by the names of inputs.
        """
        seen = _checked_images(cascade, images, len(self.titles))
        found: list[dict[str, Any]] = []
        for row, title in enumerate(self.titles):
            found.append({"title": title, "inputs": self._inputs(cascade, row)})
            if seen:
                with placed(f"image {row + 1}"):
                    found[-1]["images"] = {i: data_uri(rows[row]) for i, rows in seen.items()}
        return found

    def _inputs(self, cascade: Cascade, row: int) -> list[Any]:
        found = []
        for name, columns in column_slices(cascade.inputs).items():
            number = float(self.numbers[name][row]) if name in self.numbers else np.nan
            finite = bool(np.isfinite(number))
            found.append({"number": number} if finite else _setting(self.degrees[row, columns]))
        return found


def _setting(degrees: FloatArray) -> Any:
    """Return what degrees say: null for unknown, a place, or all of them."""
    certain = np.flatnonzero(degrees)
    if len(certain) == 1 and len(degrees) > 1:
        return int(certain[0])
    return None if (degrees == 1.0).all() else degrees.tolist()


def _plain_numbers(cascade: Cascade, evidence: Evidence, n: int) -> dict[str, FloatArray]:
    """Return the numbers that evidence gives of numeric inputs, where it gives plain ones."""
    found: dict[str, FloatArray] = {}
    given = evidence if isinstance(evidence, Mapping) else {}
    for a in cascade.inputs:
        content = np.asarray(given.get(a.name)) if a.scale is not None else np.empty(0)
        if content.dtype.kind in "if" and content.size == n and content.ndim < 2:
            found[a.name] = content.reshape(n).astype(np.float64)
    return found


def _checked_images(cascade: Cascade, images: Mapping[str, Any], n: int) -> dict[int, Any]:
    """Return the images by the places of inputs, or raise."""
    known = [a.name for a in cascade.inputs]
    found: dict[int, Any] = {}
    for key, rows in images.items():
        name = name_of(key)
        check_known(name, known, f"images are given of {name!r}, which is no input")
        if np.ndim(rows) != 3 or getattr(rows, "dtype", None) != np.uint8:
            kind = getattr(rows, "dtype", type(rows).__name__)
            raise DataError(
                f"the images of {name!r} are {kind} {np.shape(rows)}; give a uint8 array "
                "(samples, height, width)"
            )
        if len(rows) < n:
            raise DataError(
                f"there are {len(rows)} images of {name!r} for {n} samples; give one each"
            )
        found[known.index(name)] = rows
    return found
