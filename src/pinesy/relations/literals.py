"""Literals on entities: ``parent(X, ann)``, ``not p(X)``, ``digit(X) in {1, 2}``, ``X != Y``.

A term is a `Variable` or an entity, which is a text or a number. A premise is in disjunctive normal
form: a tuple of cases, each a tuple of literals, comparisons and counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pinesy._common.validation import check_integer, cut_repr
from pinesy.exceptions import RuleSetError
from pinesy.rules.syntax.expressions import COMPARISONS
from pinesy.rules.syntax.lexer import KEYWORDS, WORD
from pinesy.rules.syntax.writer import format_name, format_subset, format_text, format_value

#: An entity: a text or a number.
Entity: TypeAlias = str | int | float
_BARE = re.compile(WORD)


@dataclass(frozen=True)
class Variable:
    """A variable of a rule; its name begins with a capital letter."""

    name: str

    def __post_init__(self) -> None:
        is_word = isinstance(self.name, str) and _BARE.fullmatch(self.name) is not None
        if not is_word or not is_variable_name(self.name):
            raise RuleSetError(
                f"{cut_repr(self.name)} is no name of a variable; begin it with a capital letter"
            )

    def __str__(self) -> str:
        return self.name


Term: TypeAlias = Variable | Entity


def variables(names: str) -> list[Variable]:
    """Return the variables of some names.

    Examples
    --------
    >>> variables("X Y")
    [Variable(name='X'), Variable(name='Y')]
    """
    return [Variable(name) for name in names.split()]


def is_variable_name(text: str) -> bool:
    """Return whether a word in brackets is a variable: it begins with a capital letter."""
    return text[:1].isupper()


def entity_text(entity: Entity) -> str:
    """Return the written form of an entity: quotes where a word would be a variable.

    Examples
    --------
    >>> entity_text("ann"), entity_text("Ann Lee"), entity_text("Ann"), entity_text(3)
    ('ann', '"Ann Lee"', '"Ann"', '3')
    """
    if isinstance(entity, str):
        is_bare = _BARE.fullmatch(entity) and entity not in KEYWORDS
        return entity if is_bare and not is_variable_name(entity) else format_text(entity)
    return format_value(entity)


def term_text(term: Term) -> str:
    """Return the written form of a term."""
    return term.name if isinstance(term, Variable) else entity_text(term)


def atom_text(name: str, terms: Iterable[Term]) -> str:
    """Return the written form of a relation with its terms.

    Examples
    --------
    >>> atom_text("parent", ["ann", Variable("X")])
    'parent(ann, X)'
    """
    inside = ", ".join(map(term_text, terms))
    return f"{format_name(name)}({inside})" if inside else format_name(name)


@dataclass(frozen=True)
class RelationLiteral:
    """A relation, or a subset of an attribute's values, of some terms; or its negation.

    Attributes
    ----------
    name : of the relation or attribute
    terms : variables and entities
    negated : whether it is ``not ...``
    values : of an attribute, the subset of its values, in the order of its domain; else None
    """

    name: str
    terms: tuple[Term, ...]
    negated: bool = False
    values: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        text = atom_text(self.name, self.terms)
        if self.values is not None:
            return f"{text} {'not ' * self.negated}in {format_subset(self.values)}"
        return f"{'not ' * self.negated}{text}"

    __repr__ = __str__

    def __invert__(self) -> "RelationLiteral":
        return replace(self, negated=not self.negated)

    def variables(self) -> Iterator[Variable]:
        """Yield the variables, with repetitions."""
        yield from (term for term in self.terms if isinstance(term, Variable))

    def substitute(self, mapping: Mapping[Variable, Term]) -> "RelationLiteral":
        """Return the literal with variables replaced."""
        return replace(self, terms=_substitute(self.terms, mapping))


@dataclass(frozen=True)
class TermComparison:
    """A comparison of two terms, such as ``X != Y``: it holds or not.

    ``<`` and the like hold between two numbers, or two texts; never between a number and a text.
    """

    left: Term
    sign: str
    right: Term

    def __post_init__(self) -> None:
        if self.sign not in COMPARISONS:
            raise RuleSetError(
                f"unknown comparison {self.sign!r:.20}; write {' '.join(COMPARISONS)}"
            )

    def __str__(self) -> str:
        return f"{term_text(self.left)} {self.sign} {term_text(self.right)}"

    __repr__ = __str__

    def __invert__(self) -> "TermComparison":
        signs = {"==": "!=", "!=": "=="}
        if self.sign not in signs:
            raise RuleSetError(f"'not {self}' is not known; write the opposite comparison")
        return replace(self, sign=signs[self.sign])

    def variables(self) -> Iterator[Variable]:
        """Yield the variables, with repetitions."""
        yield from (term for term in (self.left, self.right) if isinstance(term, Variable))

    def substitute(self, mapping: Mapping[Variable, Term]) -> "TermComparison":
        """Return the comparison with variables replaced."""
        left, right = _substitute((self.left, self.right), mapping)
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class CountPremise:
    """``at least k Z: (...)``: there are k entities Z for which a conjunction holds."""

    least: int
    counted: Variable
    parts: tuple[RelationLiteral | TermComparison, ...]

    def __post_init__(self) -> None:
        check_integer(self.least, "the number after 'at least'", 1, RuleSetError)

    def __str__(self) -> str:
        inside = " and ".join(map(str, self.parts))
        return f"at least {self.least} {self.counted}: ({inside})"

    __repr__ = __str__

    def __invert__(self) -> "CountPremise":
        raise RuleSetError(
            f"'not {self}' is not known; name it by a rule: iff {self} then many(...), and write "
            "not many(...)"
        )

    def variables(self) -> Iterator[Variable]:
        """Yield the variables except the counted one, with repetitions."""
        for part in self.parts:
            yield from (v for v in part.variables() if v != self.counted)

    def substitute(self, mapping: Mapping[Variable, Term]) -> "CountPremise":
        """Return the count with variables replaced; the counted one may only be renamed."""
        counted = mapping.get(self.counted, self.counted)
        assert isinstance(counted, Variable)
        return replace(
            self, counted=counted, parts=tuple(part.substitute(mapping) for part in self.parts)
        )


Part: TypeAlias = RelationLiteral | TermComparison | CountPremise
#: A conjunction.
Case: TypeAlias = tuple[Part, ...]


def _substitute(terms: tuple[Term, ...], mapping: Mapping[Variable, Term]) -> tuple[Term, ...]:
    return tuple(mapping.get(t, t) if isinstance(t, Variable) else t for t in terms)


def literals_of(case: Iterable[Part]) -> Iterator[RelationLiteral]:
    """Yield the literals of a conjunction, those inside counts too."""
    for part in case:
        if isinstance(part, CountPremise):
            yield from literals_of(part.parts)
        elif isinstance(part, RelationLiteral):
            yield part
