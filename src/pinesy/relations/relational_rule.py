"""Declarations and rules on entities: relations, attributes, functions, ``if`` and ``iff``."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pinesy._common.validation import check_degree, cut_repr
from pinesy.exceptions import RuleSetError
from pinesy.relations.literals import (
    Case,
    CountPremise,
    Part,
    RelationLiteral,
    Term,
    TermComparison,
    Variable,
    atom_text,
)
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import from_certainty
from pinesy.rules.syntax.writer import format_name, format_subset


@dataclass(frozen=True)
class Relation:
    """A relation between entities; call it to make a literal.

    Attributes
    ----------
    name : its name
    sorts : the sort of each argument, such as ``("person", "person")``
    closed : whether what is neither listed nor derived is false; else it is unknown

    Examples
    --------
    >>> from pinesy.relations import variables
    >>> X, Y, Z = variables("X Y Z")
    >>> parent = Relation("parent", ("person", "person"))
    >>> grandparent = Relation("grandparent", ("person", "person"))
    >>> grandparent(X, Z).when(parent(X, Y), parent(Y, Z), certainty=0.9)
    if parent(X, Y) and parent(Y, Z) then grandparent(X, Z) [certainty=0.9]
    """

    name: str
    sorts: tuple[str, ...] = ()
    closed: bool = False

    def __post_init__(self) -> None:
        sorts = (self.sorts,) if isinstance(self.sorts, str) else tuple(self.sorts)
        object.__setattr__(self, "sorts", sorts)

    def __call__(self, *terms: Term) -> "Conclusion":
        """Return the literal of some terms."""
        if len(terms) != len(self.sorts):
            raise RuleSetError(
                f"relation {self.name!r} takes {len(self.sorts)} arguments; got {len(terms)}"
            )
        return Conclusion(self.name, terms)

    def __str__(self) -> str:
        return f"{'closed ' * self.closed}relation {_signature(self.name, self.sorts)}"


@dataclass(frozen=True)
class EntityAttribute:
    """An attribute of entities, such as ``attribute digit(image) in {0..9}``."""

    name: str
    sorts: tuple[str, ...]
    domain: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sorts", tuple(self.sorts))
        object.__setattr__(self, "domain", self.as_attribute().domain)

    def as_attribute(self) -> Attribute:
        """Return the attribute of one tuple of entities."""
        return Attribute(self.name, self.domain)

    def literal(self, terms: Iterable[Term], values: Iterable[Any]) -> RelationLiteral:
        """Return the literal ``name(terms) in values``."""
        selected = set(values)
        return RelationLiteral(
            self.name, tuple(terms), False, tuple(v for v in self.domain if v in selected)
        )

    def __str__(self) -> str:
        return f"attribute {_signature(self.name, self.sorts)} in {format_subset(self.domain)}"


@dataclass(frozen=True)
class GuardedFunction:
    """``function total(X, Y) = digit(X) + digit(Y) for next(X, Y)``.

    Attributes
    ----------
    name, variables : of the new attribute
    text : the expression, with each argument in backquotes: ``"`digit(X)` + `digit(Y)`"``
    arguments : the attributes that it uses, with their terms
    guard : the crisp conjunction whose tuples get a value
    domain : the values, or None for all results
    """

    name: str
    variables: tuple[Variable, ...]
    text: str
    arguments: tuple[RelationLiteral, ...]
    guard: Case
    domain: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        text = self.text
        for argument in self.arguments:
            plain = atom_text(argument.name, argument.terms)
            text = text.replace(f"`{plain}`", plain)
        domain = "" if self.domain is None else f" in {format_subset(self.domain)}"
        head = atom_text(self.name, self.variables)
        return f"function {head}{domain} = {text} for {' and '.join(map(str, self.guard))}"


def _signature(name: str, sorts: Iterable[str]) -> str:
    inside = ", ".join(map(format_name, sorts))
    return f"{format_name(name)}({inside})" if inside else format_name(name)


@dataclass(frozen=True)
class RelationalRule:
    """A rule on entities: ``if B then h [certainty=1 - r]`` or ``iff B then h [s=, r=]``.

    Attributes
    ----------
    head : the conclusion
    cases : the premise, a disjunction of conjunctions; variables that are not in the head are
        read *exists*
    s, r : the parameters, as in `pinesy.Rule`; ``s = 1`` is an ``if``
    is_definition : whether it is an ``iff``
    """

    head: RelationLiteral
    cases: tuple[Case, ...]
    s: float = 1.0
    r: float = 0.0
    is_definition: bool = False
    #: For messages of the reader; takes no part in equality.
    position: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("s", "r"):
            degree = check_degree(getattr(self, name), f"parameter {name} of rule '{self.head}'")
            object.__setattr__(self, name, degree)
        if not self.cases or not all(self.cases):
            raise RuleSetError(
                f"the rule on {self.head} has an empty premise; state a fact instead"
            )
        if self.s < 1.0 and not self.is_definition:
            raise RuleSetError(
                f"the rule on {self.head} has s < 1, so it is an equivalence: write iff"
            )

    def __str__(self) -> str:
        premise = " or ".join(" and ".join(map(str, case)) for case in self.cases)
        text = f"{'iff' if self.is_definition else 'if'} {premise} then {self.head}"
        certainty = from_certainty(self.r)
        if self.is_definition and self.s:
            return f"{text} [s={_short(self.s)}, r={_short(self.r)}]"
        if self.r == 0.0:
            return text
        if from_certainty(certainty) != self.r:
            return f"{text} [r={_short(self.r)}]"
        return f"{text} [certainty={_short(certainty)}]"

    __repr__ = __str__

    @property
    def certainty(self) -> float:
        """How certain the rule is: ``1 - r``."""
        return from_certainty(self.r)

    def parts(self) -> Iterator[Part]:
        """Yield the parts of all cases."""
        for case in self.cases:
            yield from case


@dataclass(frozen=True, repr=False)
class Conclusion(RelationLiteral):
    """A literal that can be made the conclusion of a rule in Python."""

    def __invert__(self) -> "Conclusion":
        return Conclusion(self.name, self.terms, not self.negated, self.values)

    def when(self, *premise: Part | Iterable[Part], certainty: float = 1.0) -> RelationalRule:
        """Return the rule ``if premise then self``; give lists for cases of a disjunction."""
        return RelationalRule(plain_literal(self), _cases(premise), 1.0, from_certainty(certainty))

    def exactly_when(
        self, *premise: Part | Iterable[Part], s: float = 0.0, r: float = 0.0
    ) -> RelationalRule:
        """Return the rule ``iff premise then self``; give lists for cases of a disjunction."""
        return RelationalRule(plain_literal(self), _cases(premise), s, r, is_definition=True)


def plain_literal(literal: RelationLiteral) -> RelationLiteral:
    """Return a literal as a plain `RelationLiteral`, so that equal ones compare equal."""
    return RelationLiteral(literal.name, literal.terms, literal.negated, literal.values)


def _cases(premise: tuple[Any, ...]) -> tuple[Case, ...]:
    kinds = (RelationLiteral, TermComparison, CountPremise)
    if all(isinstance(part, kinds) for part in premise):
        premise = (premise,)
    cases = []
    for case in premise:
        parts = list(case) if isinstance(case, list | tuple) else [case]
        for part in parts:
            if not isinstance(part, kinds):
                raise RuleSetError(f"a premise is made of literals; got {cut_repr(part)}")
        cases.append(
            tuple(plain_literal(p) if isinstance(p, RelationLiteral) else p for p in parts)
        )
    return tuple(cases)


def _short(degree: float) -> str:
    return repr(degree).removesuffix(".0")
