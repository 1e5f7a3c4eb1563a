"""Categories that rules do not know, read as unknown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from warnings import warn

import numpy as np

from pinesy._common.names import by_name
from pinesy._common.validation import listed, object_array
from pinesy.evidence.evidence_form import Evidence, contents_by_input
from pinesy.evidence.frames import is_column
from pinesy.evidence.plain_values import is_missing, is_scalar
from pinesy.exceptions import DataWarning, DegreeError
from pinesy.rules.attributes import Attribute


def without_unseen(
    evidence: Evidence, attributes: Sequence[Attribute], known: Iterable[str] = ()
) -> Evidence:
    """Return evidence in which plain values outside the domains of attributes are unknown.

    A `DataWarning` says how many these are. Degrees and numbers stay as they are.

    Parameters
    ----------
    evidence : one sample or several
    attributes : the inputs that are needed
    known : the names of all attributes that a data frame may hold
    """
    if isinstance(evidence, np.ndarray):
        return evidence
    contents = contents_by_input(evidence, attributes, known)
    if contents is None:
        return evidence
    contents = by_name(contents, "input", DegreeError)
    nominal = (a for a in attributes if a.scale is None and a.name in contents)
    return {**contents, **{a.name: _known_values(a, contents[a.name]) for a in nominal}}


def _known_values(attribute: Attribute, content: Any) -> Any:
    """Return the content of an attribute; None for values that are not in its domain."""
    if is_scalar(content, attribute):
        unseen = _unseen(attribute, [content])
        _warn(attribute, unseen, 1)
        return None if unseen else content
    if isinstance(content, Mapping) or not (
        is_column(content) or isinstance(content, list | np.ndarray)
    ):
        return content
    array = np.asarray(content, dtype=object)
    are_degrees = not is_column(content) and len(array) == len(attribute.domain)
    if array.ndim != 1 or (are_degrees and all(isinstance(v, int | float) for v in array)):
        return content
    values = array.tolist()
    unseen = _unseen(attribute, dict.fromkeys(values))
    if not unseen:
        return content
    _warn(attribute, unseen, sum(v in unseen for v in values))
    return object_array([None if v in unseen else v for v in values])


def _unseen(attribute: Attribute, values: Iterable[Any]) -> set[Any]:
    return {v for v in values if not is_missing(v) and v not in attribute}


def _warn(attribute: Attribute, unseen: set[Any], count: int) -> None:
    if unseen:
        texts = listed(sorted(map(repr, unseen)))
        warn(
            f"attribute {attribute.name!r}: {count} values that the rules do not have are taken as "
            f"unknown ({texts:.80})",
            DataWarning,
            stacklevel=4,
        )
