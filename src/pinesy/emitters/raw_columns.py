"""Raw columns, such as numbers and categories in a table, as emitters read them."""

from itertools import pairwise
from math import inf
from typing import Literal, NamedTuple

from pinesy._common.validation import cut_repr
from pinesy.exceptions import DomainError
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import bound_number
from pinesy.rules.numbers import Scale

#: The type of the values of a column.
ColumnType = Literal["number", "text", "truth"]
#: Integers up to here are floats, too.
MAX_INTEGER = 2**53


class Interval(NamedTuple):
    """An interval ``[low, high)`` of a scale, and the numbers that distances are measured from."""

    low: float
    high: float
    low_limit: float
    high_limit: float


def intervals_of(scale: Scale) -> list[Interval]:
    """Return the intervals of a scale.

    Examples
    --------
    >>> intervals_of(Scale((30.0,)))[0]
    Interval(low=-inf, high=30.0, low_limit=-inf, high_limit=30.0)
    """
    edges = [-inf, *scale.cuts, inf]
    limits = map(bound_number, edges)
    pairs = zip(pairwise(edges), pairwise(limits), strict=True)
    return [Interval(*edge, *limit) for edge, limit in pairs]


def column_type(attribute: Attribute) -> ColumnType:
    """Return the type of the column of an attribute, or raise `DomainError` if it has none.

    Examples
    --------
    >>> column_type(Attribute("dose", [0, 1, 2])), column_type(Attribute("job", ["yes", "no"]))
    ('number', 'text')
    """
    if attribute.scale is not None:
        return "number"
    values = [value for value in attribute.domain if value is not None]
    if all(isinstance(value, bool) for value in values):
        return "truth"
    if all(isinstance(value, str) for value in values):
        return "text"
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DomainError(
                f"the values of attribute {attribute.name!r} are not all texts or all numbers: "
                f"{cut_repr(value)} is not; a column has one type: rename values, or give degrees"
            )
        if not abs(value) <= MAX_INTEGER:
            raise DomainError(
                f"the value {cut_repr(value)} of attribute {attribute.name!r} is too large for a "
                "column of numbers; write it as a text, or give degrees"
            )
    return "number"
