"""One sample of a batch, as a person would give it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples.conversion import Batch


def evidence_of(batch: Batch, place: int, inputs: Sequence[Attribute]) -> dict[str, Any]:
    """Return a sample as plain values where the file gives numbers, single values or nothing.

    Parameters
    ----------
    batch : samples whose columns are those of the inputs
    place : of the sample in the batch
    inputs : the attributes, in the order of the columns
    """
    evidence: dict[str, Any] = {}
    slices = column_slices(inputs)
    for a in inputs:
        number = batch.numbers[a.name][place] if a.name in batch.numbers else math.nan
        known = batch.evidence[place, slices[a.name]]
        evidence[a.name] = float(number) if number == number else _content(a, known)
    return evidence


def _content(attribute: Attribute, degrees: FloatArray) -> Any:
    """Return what degrees say: a value, None if all are possible, else a distribution."""
    certain = np.flatnonzero(degrees)
    if len(certain) == 1:
        return attribute.domain[certain[0]]
    unknown = bool((degrees == 1.0).all()) and None not in attribute
    return None if unknown else Possibility(attribute, degrees)
