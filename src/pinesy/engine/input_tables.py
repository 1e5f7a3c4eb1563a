"""Tables as evidence: a column of plain values, or columns of degrees, for each input."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError
from pinesy.rules.attributes import Attribute

#: The name of a column that tells samples apart, and says nothing of them.
ID = "id"


def by_input(
    evidence: Any, attributes: Sequence[Attribute], *known: Iterable[str]
) -> Mapping[Any, Any] | None:
    """Return evidence by input where it names the inputs; None for inputs side by side.

    Parameters
    ----------
    attributes : the inputs that are needed
    known : the names of all attributes that a table may hold
    """
    if isinstance(evidence, Mapping):
        return evidence
    # A row of a table has the names of the columns as its index.
    columns = getattr(evidence, "columns", getattr(evidence, "index", None))
    if isinstance(evidence, np.ndarray) or not isinstance(columns, Iterable):
        return None
    titles = list(columns)
    names = {str(title): title for title in titles}
    if not any(a.name in names for a in attributes):
        return None
    if len(names) < len(titles):
        twice = next(name for name in names if [str(t) for t in titles].count(name) > 1)
        raise DataError(f"the table has two columns {twice!r}; each name may stand there once")
    return _by_attribute(evidence, names, attributes, set(chain(*known)))


def _by_attribute(
    table: Any, names: dict[str, Any], attributes: Sequence[Attribute], known: Collection[str]
) -> dict[str, Any]:
    """Return the columns of a table by input: one of values, or those of its degrees together."""
    given: dict[str, Any] = {}
    for attribute in attributes:
        labels = [f"{attribute.name}={value}" for value in attribute.domain]
        if attribute.name in names:
            given[attribute.name] = table[names.pop(attribute.name)]
        elif all(label in names for label in labels):
            parts = [np.asarray(table[names.pop(label)]) for label in labels]
            given[attribute.name] = np.stack(parts, axis=-1)
    for name in names:
        _check_used(name, known)
    return given


def _check_used(name: str, known: Collection[str]) -> None:
    if name not in known and name.lower() != ID:
        raise DataError(
            f"no rule uses the column {name!r} of the table{suggestion(name, known)}; leave it "
            f"out, declare it in the rules, or call it {ID!r} if it tells samples apart"
        )
