"""A small, safe language of conditions: ``left + right == 7``, ``a in {1, 2} and not b > 3``.

Numbers, texts in quotes, tuples, ``+ - * // %``, comparisons (chained too), ``in {...}``,
``and``, ``or``, ``not`` and the names of the attribute's components; nothing else, and no `eval`.

Conditions are vectorised with NumPy over whole domains wherever the result is that of Python:
numbers and texts become arrays, and a condition on a product broadcasts the arrays of its factors,
each along its own axis. Where NumPy may differ from Python (integers beyond 64 bits, division by
zero, mixed types, an operand that is not a bool), `NotVectorisedError` is raised, and the condition
is evaluated value by value.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import and_, or_
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.budgets import open_budget, take_steps
from pinesy.rules.syntax.expressions import (
    ARITHMETIC,
    COMPARISONS,
    RANGES,
    Evaluator,
    Expression,
    Membership,
    evaluator,
)
from pinesy.rules.syntax.reader import ExpressionReader, Reader

#: Conditions that are cached.
MAX_CACHED = 256
#: Whole numbers up to here are exact in 64 bits, also in a sum of two; and in a double.
MAX_INTEGER, MAX_EXACT = 2**62, 2**53
#: Nodes of a condition that NumPy evaluates for one value in a step; a set counts as several.
NODES, IS_IN = 20, 5
#: Tuples of a set, at most: they are compared one after the other.
MAX_TUPLES = 16


@dataclass(frozen=True)
class Condition:
    """A parsed condition.

    Attributes
    ----------
    expression : the syntax tree; names are indices in the order in which they were given
    text : the standard form
    pattern : the text with indices in place of names: conditions with the same pattern have the
        same mask, whatever the components are called
    """

    expression: Expression
    text: str
    pattern: str

    @cached_property
    def holds(self) -> Evaluator:
        """The function from the values of the names to the value of the expression."""
        return evaluator(self.expression)


@lru_cache(maxsize=MAX_CACHED)
def parse_condition(source: str, names: tuple[str, ...]) -> Condition:
    """Parse a condition, or another expression, which must be the whole text.

    Examples
    --------
    >>> condition = parse_condition("left+right==7", ("left", "right"))
    >>> condition.holds((3, 4)), condition.holds((3, 5)), condition.text
    (True, False, 'left + right == 7')
    """
    reader = Reader(source)
    grammar = ExpressionReader(reader, {name: index for index, name in enumerate(names)})
    with open_budget():
        expression = grammar.disjunction()
    reader.expect_end("the end of the condition")
    text, pattern = grammar.texts()
    # In a rule, the words and, or, not of a condition stand in brackets.
    return Condition(expression, f"({text})" if grammar.loose else text, pattern)


def read_condition(reader: Reader, names: Sequence[str]) -> Condition:
    """Read a condition inside a rule: one comparison, or any formula in brackets."""
    grammar = ExpressionReader(reader, {name: index for index, name in enumerate(names)})
    expression = grammar.negation()
    return Condition(expression, *grammar.texts())


def evaluation_cost(expression: Expression) -> tuple[int, int]:
    """Return the number of nodes of an expression, and the number of values in its sets."""
    counts = [evaluation_cost(part) for part in expression.parts]
    tests = expression.content if expression.kind == "compare" else ()
    sets = [test for test in tests if isinstance(test, Membership)]
    listed = sum(len(test.inside) for test in sets)
    return 1 + IS_IN * len(sets) + sum(n for n, _ in counts), listed + sum(n for _, n in counts)


# --- over whole domains ---


class NotVectorisedError(Exception):
    """NumPy may differ from Python here."""


class ValueColumn(NamedTuple):
    """Values of one type: an array, a scalar, or (type tuple) a column for each component.

    `low` and `high` bound the values of type int and bool.
    """

    values: Any
    kind: type
    low: int = 0
    high: int = 1


def column_of(domain: Sequence[Hashable]) -> ValueColumn | None:
    """Return the values of a domain as a column, or None if they are not of one type.

    Examples
    --------
    >>> column_of((3, -1, 5))
    ValueColumn(values=array([ 3, -1,  5]), kind=<class 'int'>, low=-1, high=5)
    >>> column_of((3, "low")) is None
    True
    """
    kinds = set(map(type, domain))
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        return None
    kind = kinds.pop()
    values: Sequence[Any] = domain
    if kind is int:
        low, high = min(values), max(values)
        if low <= -MAX_INTEGER or high >= MAX_INTEGER:
            return None
        return ValueColumn(np.array(values, dtype=np.int64), int, low, high)
    if kind is str and any("\0" in text for text in values):  # which NumPy drops at the end
        return None
    return ValueColumn(np.array(values), kind)


def comparison_mask(column: ValueColumn | None, sign: str, number: Any) -> int | None:
    """Return the mask of a comparison of a column with a number; None if it is not vectorised.

    Examples
    --------
    >>> comparison_mask(column_of((3, -1, 5)), "<", 4)
    3
    """
    if column is None or column.kind not in (int, float) or type(number) not in (int, float):
        return None
    terms = Expression("name", content=0), Expression("constant", content=number)
    take_steps(column.values.size * (1 + len(terms)) // NODES)
    try:
        return vectorised_mask(Expression("compare", terms, (sign,)), [column], is_product=False)
    except NotVectorisedError:
        return None


def vectorised_mask(
    expression: Expression, factors: Sequence[ValueColumn], is_product: bool
) -> int:
    """Return the mask of the values of a product, or plain attribute, that meet a condition.

    Parameters
    ----------
    expression : the condition; its names are indices of factors
    factors : the columns of the factors, or the one of a plain attribute
    is_product : whether the name after those of the factors is the tuple of all
    """
    columns, n = list(factors), len(factors)
    for i, (values, kind, low, high) in enumerate(factors if n > 1 else ()):
        shape = [1] * n
        shape[i] = -1
        columns[i] = ValueColumn(values.reshape(shape), kind, low, high)
    if is_product:
        columns.append(ValueColumn(tuple(columns), tuple))
    answer = _compute(expression, columns)
    if answer.kind is not bool:
        raise NotVectorisedError
    values = answer.values
    sizes = tuple(column.values.size for column in factors)
    if np.shape(values) != sizes:
        values = np.broadcast_to(values, sizes)
    return int.from_bytes(np.packbits(values, bitorder="little").tobytes(), "little")


def _compute(expression: Expression, columns: Sequence[ValueColumn]) -> ValueColumn:
    """Return the values of an expression, given those of its names."""
    kind = expression.kind
    if kind == "constant":
        return _constant(expression.content)
    if kind == "name":
        return columns[int(expression.content)]
    if kind == "compare":
        return _comparison(expression, columns)
    parts = [_compute(part, columns) for part in expression.parts]
    if kind == "tuple":
        return ValueColumn(tuple(parts), tuple)
    if kind in ("and", "or", "not"):
        return _connective(kind, parts)
    if kind == "negative":
        return _arithmetic("-", _constant(0), parts[0])
    return _arithmetic(kind, *parts)


def _constant(value: Hashable) -> ValueColumn:
    if isinstance(value, tuple):
        return ValueColumn(tuple(map(_constant, value)), tuple)
    if type(value) is int and -MAX_INTEGER < value < MAX_INTEGER:
        return ValueColumn(value, int, value, value)
    if type(value) in (bool, float) or (type(value) is str and "\0" not in value):
        return ValueColumn(value, type(value))
    raise NotVectorisedError


def _connective(kind: str, parts: Sequence[ValueColumn]) -> ValueColumn:
    if any(part.kind is not bool for part in parts):
        raise NotVectorisedError
    if kind == "not":
        return ValueColumn(np.logical_not(parts[0].values), bool)
    columns = (part.values for part in parts)
    return ValueColumn(reduce(and_ if kind == "and" else or_, columns), bool)


def _arithmetic(sign: str, left: ValueColumn, right: ValueColumn) -> ValueColumn:
    left, right = _as_number(left), _as_number(right)
    if float in (left.kind, right.kind):
        # -x is not 0 - x for a zero, but no comparison tells the zeros apart.
        if sign in ("//", "%") or not (_is_exact(left) and _is_exact(right)):
            raise NotVectorisedError
        with np.errstate(all="ignore"):  # as Python does
            return ValueColumn(ARITHMETIC[sign](left.values, right.values), float)
    if sign in ("//", "%") and right.low <= 0 <= right.high:
        raise NotVectorisedError
    bounding = left if sign == "//" else right  # of a result whose limits are not known
    size = max(abs(bounding.low), abs(bounding.high))
    low, high = RANGES[sign]((left.low, left.high), (right.low, right.high)) or (-size, size)
    if low <= -MAX_INTEGER or high >= MAX_INTEGER:
        raise NotVectorisedError
    return ValueColumn(ARITHMETIC[sign](left.values, right.values), int, low, high)


def _as_number(column: ValueColumn) -> ValueColumn:
    if column.kind is bool:
        return ValueColumn(column.values * 1, int, 0, 1)
    if column.kind not in (int, float):
        raise NotVectorisedError
    return column


def _is_exact(column: ValueColumn) -> bool:
    """Return whether the numbers of a column are exact in float64."""
    return column.kind is float or (column.low >= -MAX_EXACT and column.high <= MAX_EXACT)


def _comparison(expression: Expression, columns: Sequence[ValueColumn]) -> ValueColumn:
    results: list[Any] = []
    left: ValueColumn | None = _compute(expression.parts[0], columns)
    for test, part in zip(expression.content, expression.parts[1:], strict=True):
        if left is None:  # a test after in {...}
            raise NotVectorisedError
        if isinstance(test, Membership):
            results.append(_membership(left, test))
            left = None
        else:
            right = _compute(part, columns)
            results.append(_compare(test, left, right))
            left = right
    return ValueColumn(reduce(and_, results), bool)


def _compare(sign: str, left: ValueColumn, right: ValueColumn) -> Any:
    if left.kind is tuple and right.kind is tuple and sign in ("==", "!="):
        same: Any = len(left.values) == len(right.values)
        for first, second in zip(left.values, right.values, strict=False):
            same = same & _compare("==", first, second)
        return same if sign == "==" else np.logical_not(same)
    if left.kind is right.kind is int:  # the common case
        return COMPARISONS[sign](left.values, right.values)
    numbers = [column.kind in (bool, int, float) for column in (left, right)]
    if left.kind is right.kind is str or all(numbers):
        if left.kind is not right.kind and not (_is_exact(left) and _is_exact(right)):
            raise NotVectorisedError
        return COMPARISONS[sign](left.values, right.values)
    if sign not in ("==", "!="):
        raise NotVectorisedError
    return sign == "!="  # a number, a text and a tuple never equal each other


def _membership(left: ValueColumn, test: Membership) -> Any:
    if left.kind is bool:
        left = _as_number(left)
    if left.kind is tuple:
        if len(test.inside) > MAX_TUPLES:
            raise NotVectorisedError
        result: Any = False
        for value in test.inside:
            result = result | _compare("==", left, _constant(value))
    else:
        kinds = (str,) if left.kind is str else (int, float)
        alike = [value for value in test.inside if isinstance(value, kinds)]
        result = _isin(left, alike)
    return np.logical_not(result) if test.negated else result


def _isin(left: ValueColumn, alike: list[Any]) -> Any:
    if not isinstance(left.values, np.ndarray):
        return left.values in alike
    if left.kind is str:
        return np.isin(left.values, np.array(alike, dtype=str))
    if left.kind is float or not all(isinstance(value, int) for value in alike):
        if not _is_exact(left) or not all(abs(value) <= MAX_EXACT for value in alike):
            raise NotVectorisedError
        return np.isin(left.values, np.array(alike, dtype=float))
    within = [value for value in alike if left.low <= value <= left.high]
    return np.isin(left.values, np.array(within, dtype=np.int64))
