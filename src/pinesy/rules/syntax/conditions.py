"""A small, safe language of conditions: ``left + right == 7``, ``a in {1, 2} and not b > 3``.

Numbers, texts in quotes, tuples, ``+ - * // %``, comparisons (chained too), ``in {...}``,
``and``, ``or``, ``not`` and the names of the attribute's components; nothing else, and no `eval`.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from pinesy._common.masks import mask_of
from pinesy.exceptions import DomainError
from pinesy.rules.syntax.expressions import FAILURES, Evaluator, Expression, evaluator
from pinesy.rules.syntax.reader import Reader
from pinesy.rules.syntax.value_sets import Grammar
from pinesy.rules.syntax.vectorised import NotVectorisedError, ValueColumn, vectorised_mask

#: Conditions that are cached.
MAX_CACHED = 256


class _Domain(Protocol):
    """What a condition needs of an attribute."""

    @property
    def name(self) -> str: ...
    @property
    def domain(self) -> tuple[Hashable, ...]: ...
    @property
    def factors(self) -> "Sequence[_Domain]": ...
    @property
    def column(self) -> ValueColumn | None: ...
    @property
    def masks(self) -> dict[str, int]: ...


@dataclass(frozen=True)
class Condition:
    """A condition that has been read.

    Attributes
    ----------
    expression : its tree; names are numbered in the order in which they were given
    text : its standard form
    pattern : its text with numbers in place of names: conditions of one pattern hold for the
        same components, whatever these are called
    """

    expression: Expression
    text: str
    pattern: str

    @cached_property
    def holds(self) -> Evaluator:
        """The function from the values of the named components to the expression's."""
        return evaluator(self.expression)


def parse_condition(source: str, names: Sequence[str]) -> Condition:
    """Return the condition, or other expression, that `source` writes; the whole text must be one.

    Examples
    --------
    >>> condition = parse_condition("left+right==7", ["left", "right"])
    >>> condition.holds((3, 4)), condition.holds((3, 5)), condition.text
    (True, False, 'left + right == 7')
    """
    return _parsed(source, tuple(names))


@lru_cache(maxsize=MAX_CACHED)
def _parsed(source: str, names: tuple[str, ...]) -> Condition:
    reader = Reader(source)
    grammar = Grammar(reader, {name: number for number, name in enumerate(names)})
    expression = grammar.either()
    if reader.token.kind != "end":
        reader.fail(f"expected the end of the condition, found {reader.token.text!r:.60}")
    text, pattern = grammar.texts()
    # In a rule, the words and, or, not of a condition stand in brackets.
    return Condition(expression, f"({text})" if grammar.loose else text, pattern)


def read_condition(reader: Reader, names: Sequence[str]) -> Condition:
    """Read a condition inside a rule: one comparison, or any formula in brackets."""
    grammar = Grammar(reader, {name: number for number, name in enumerate(names)})
    expression = grammar.negation()
    return Condition(expression, *grammar.texts())


def condition_mask(condition: Condition | Callable[..., object], attribute: _Domain) -> int:
    """Return the mask of the values that meet a condition, a function or one that was read.

    One that was read is evaluated once for all attributes of one domain.
    """
    if not isinstance(condition, Condition):
        function = condition
        return _mask(lambda parts: function(*parts), attribute, "the condition")
    masks, pattern = attribute.masks, condition.pattern
    if pattern not in masks:
        masks[pattern] = _evaluate(condition, attribute)
    return masks[pattern]


def _evaluate(condition: Condition, attribute: _Domain) -> int:
    parts = attribute.factors or (attribute,)
    columns = [column for part in parts if (column := part.column) is not None]
    if len(columns) == len(parts):
        try:
            return vectorised_mask(condition.expression, columns, bool(attribute.factors))
        except NotVectorisedError:
            pass
    holds = condition.holds
    # A text may use the name of a product too, after those of its components.
    whole = (lambda parts: holds((*parts, parts))) if attribute.factors else holds
    return _mask(whole, attribute, f"'{condition.text:.60}'")


def _mask(holds: Callable[[Any], object], attribute: _Domain, text: str) -> int:
    """Return the mask of the values for which `holds` of the tuple of their components."""
    places = []
    for position, value in enumerate(attribute.domain):
        try:
            answer = holds(value if attribute.factors else (value,))
        except FAILURES as error:
            place = f"attribute {attribute.name!r}, value {value!r}"
            raise DomainError(f"{place}: {text} fails: {error}") from error
        if not isinstance(answer, bool | np.bool_):
            raise DomainError(
                f"attribute {attribute.name!r}, value {value!r}: {text} gives {answer!r:.60}; it "
                "must give true or false"
            )
        if answer:
            places.append(position)
    return mask_of(places)
