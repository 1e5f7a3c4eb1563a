"""How SQL reads the columns of a table: numbers, categories, NULL; or degrees."""

from collections.abc import Sequence
from math import inf, isfinite
from typing import NamedTuple

from pinesy.emitters.raw_columns import Interval, column_type, intervals_of
from pinesy.emitters.sql_dialects import Dialect, balanced
from pinesy.rules.attributes import Attribute
from pinesy.samples import value_texts


class ReadColumn(NamedTuple):
    """A column of the table as the first layer reads it.

    Attributes
    ----------
    value : its value; NULL where nothing is known
    is_valid : the condition that pinesy takes the value; empty if it takes all
    """

    value: str
    is_valid: str


def read_raw_column(
    attribute: Attribute, column: str, dialect: Dialect, unseen: bool = False
) -> ReadColumn:
    """Return how the column of an attribute is read.

    Parameters
    ----------
    column : its name, quoted
    unseen : whether categories that the attribute does not have are unknown; else they are invalid
    """
    kind = column_type(attribute)
    conditions = []
    value = column
    if kind == "number":
        value = dialect.as_double(column)
        if dialect.checks_types:
            is_number = f"typeof({column}) IN ('integer', 'real', 'null')"
            if unseen and attribute.scale is None:
                value = f"CASE WHEN {is_number} THEN {value} END"
            else:
                conditions.append(is_number)
    if attribute.scale is None:
        known = f"{value} IN ({', '.join(_literals(attribute, dialect))})"
        if unseen:
            value = f"CASE WHEN {known} THEN {value} END"
        else:
            conditions.append(f"({value} IS NULL OR {known})")
    return ReadColumn(value, " AND ".join(conditions))


def _literals(attribute: Attribute, dialect: Dialect) -> list[str]:
    values = [value for value in attribute.domain if value is not None]
    return [literal(value, dialect) for value in values] or ["NULL"]


def literal(value: object, dialect: Dialect) -> str:
    """Return a plain value as SQL; numbers are doubles."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return dialect.text(value) if isinstance(value, str) else dialect.number(float(str(value)))


def value_degrees(attribute: Attribute, value: str, dialect: Dialect) -> list[str]:
    """Return the degree of each value of an attribute, given its value, NULL if it is unknown."""
    if attribute.scale is not None:
        return [
            _interval_degree(interval, value, attribute.scale.blur, dialect)
            for interval in intervals_of(attribute.scale)
        ]
    unit, zero = dialect.number(1.0), dialect.number(0.0)
    if None in attribute:  # then NULL is a value, not unknown
        tests = [
            f"{value} IS NULL" if v is None else f"{value} = {literal(v, dialect)}"
            for v in attribute.domain
        ]
    else:
        tests = [f"{value} IS NULL OR {value} = {literal(v, dialect)}" for v in attribute.domain]
    return [f"CASE WHEN {test} THEN {unit} ELSE {zero} END" for test in tests]


def _interval_degree(interval: Interval, value: str, blur: float, dialect: Dialect) -> str:
    """Return ``max(0, 1 - d / blur)`` at distance `d` outside of an interval, as `Scale.degrees`.

    Distances are compared with `blur` before they are divided: PostgreSQL raises an error where a
    quotient is too large.
    """
    unit, zero = dialect.number(1.0), dialect.number(0.0)
    inside = range_condition(value, interval.low, interval.high, dialect)
    if not inside:
        return unit
    branches, width = f"WHEN {value} IS NULL OR ({inside}) THEN {unit}", dialect.number(blur)
    distances = []
    if isfinite(interval.low) and blur:
        low = f"{value} < {dialect.number(interval.low)}"
        distances.append((low, f"({dialect.number(interval.low_limit)} - {value})"))
    if isfinite(interval.high) and blur:
        high = f"{value} >= {dialect.number(interval.high)}"
        distances.append((high, f"({value} - {dialect.number(interval.high_limit)})"))
    for side, distance in distances:
        branches += f" WHEN {side} AND {distance} < {width} THEN {unit} - {distance} / {width}"
    return f"CASE {branches} ELSE {zero} END"


def range_condition(value: str, low: float, high: float, dialect: Dialect) -> str:
    """Return the condition that a number is in ``[low, high)``; empty if all numbers are."""
    parts = [f"{value} >= {dialect.number(low)}"] if low > -inf else []
    parts += [f"{value} < {dialect.number(high)}"] if high < inf else []
    return " AND ".join(parts)


def degree_columns(attribute: Attribute) -> list[str]:
    """Return the names of the columns with the degrees of an attribute, as in data files."""
    return [f"{attribute.name}={text}" for text in value_texts(attribute)]


def read_degrees(columns: Sequence[str], dialect: Dialect) -> ReadColumn:
    """Return the condition that columns, by their quoted names, hold a normalised distribution."""
    unit, zero = dialect.number(1.0), dialect.number(0.0)
    tests = [f"{column} BETWEEN {zero} AND {unit}" for column in columns]
    tests.append(balanced([f"{column} = {unit}" for column in columns], "OR"))
    if dialect.checks_types:
        tests += [f"typeof({column}) IN ('integer', 'real')" for column in columns]
    return ReadColumn("", balanced(tests, "AND"))
