"""Propositions on attributes, and their combinations: premises and formulas."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, Union, overload

from pinesy._common.budgets import BITS, NODE, PROPOSITION, take_steps
from pinesy._common.masks import positions
from pinesy._common.validation import check_integer, is_integer
from pinesy.exceptions import DomainError, RuleSetError
from pinesy.rules.syntax.lexer import MAX_DEPTH
from pinesy.rules.syntax.writer import format_name, format_subset

if TYPE_CHECKING:
    from pinesy.rules.attributes import Attribute

#: The types that a premise may be built from.
Statement = Union["Proposition", "Premise", "Compound"]

#: Propositions in a line of a long premise.
LINE_PROPOSITIONS = 4


class Logical:
    """Base class of formulas: the operators `&`, `|` and `~`."""

    def __or__(self, other: Statement) -> "Compound":
        return any_of(self, other)  # type: ignore[arg-type]

    def __invert__(self) -> "Proposition | Compound":
        return Compound((self,), 0, 0)  # type: ignore[arg-type]

    def __bool__(self) -> NoReturn:
        raise RuleSetError(
            f"'{self}' is neither true nor false, so Python's `and`, `or`, `not` and `if` cannot "
            "use it: write p & q for a conjunction, p | q for a disjunction, ~p for a negation"
        )

    # Other operators raise an error of ours, not a TypeError of Python.
    def _fail_operator(self, *_other: object) -> NoReturn:
        raise RuleSetError(
            f"'{self}' takes the operators & (and), | (or) and ~ (not), and no others"
        )

    __xor__ = __rxor__ = __add__ = __radd__ = __sub__ = __rsub__ = __neg__ = _fail_operator
    __mul__ = __rmul__ = __lt__ = __le__ = __gt__ = __ge__ = __rand__ = __ror__ = _fail_operator


class Conjoinable(Logical):
    """Base class of propositions and premises: their conjunction is a premise."""

    @overload
    def __and__(self, other: "Proposition | Premise") -> "Premise": ...
    @overload
    def __and__(self, other: "Compound") -> "Compound": ...
    def __and__(self, other: Statement) -> "Premise | Compound":
        return all_of(self, other)  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class Proposition(Conjoinable):
    """The proposition ``a in P``; its negation is ``a in D_a minus P`` (`complement` or ``~``)."""

    attribute: "Attribute"
    #: The subset `P`: bit `i` is 1 if ``domain[i]`` is in it.
    mask: int
    #: The text of the condition that gave the subset, kept for printing.
    condition: str | None = field(default=None, compare=False)

    def __hash__(self) -> int:
        # Hashes of powers of 2, which single values are, repeat after 61 of them.
        return hash((self.attribute, self.mask.bit_length(), self.mask))

    def __post_init__(self) -> None:
        full = getattr(self.attribute, "full", -1)
        if not isinstance(self.mask, int) or not 0 <= self.mask <= full:
            raise DomainError(
                f"{self.attribute!r:.60} has no subset of mask {self.mask!r:.60}; use isin or where"
            )
        take_steps(PROPOSITION + full.bit_length() // BITS)

    @cached_property
    def values(self) -> tuple[Hashable, ...]:
        """The subset `P`, in domain order."""
        return tuple(self.attribute.domain[i] for i in positions(self.mask))

    @property
    def complement(self) -> "Proposition":
        """The negation of this proposition."""
        return Proposition(self.attribute, self.attribute.full & ~self.mask)

    def __invert__(self) -> "Proposition":
        return self.complement

    def __str__(self) -> str:
        formula = self.attribute.formula
        if formula is not None and self.mask in (1, 2):  # of the domain (false, true)
            return formula if self.mask == 2 else f"not ({formula})"
        name = format_name(self.attribute.name)
        if self.condition is not None:
            return f"{name} where {self.condition}"
        scale = self.attribute.scale
        take_steps(5 * self.mask.bit_count())
        comparison = None if scale is None else scale.comparison(name, self.mask)
        return comparison or f"{name} in {format_subset(self.values)}"

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Premise(Conjoinable):
    """A conjunction of propositions, ``p_1 and p_2``, or more; attributes may differ or repeat."""

    propositions: tuple[Proposition, ...]

    def __post_init__(self) -> None:
        if isinstance(self.propositions, Proposition):
            raise RuleSetError("a premise takes a tuple of propositions: Premise((p, ...))")
        if not isinstance(self.propositions, tuple | list):
            kind = type(self.propositions).__name__
            raise RuleSetError(f"a premise takes a tuple of propositions, not a {kind}")
        if not self.propositions:
            raise RuleSetError(
                "a premise needs at least one proposition: If(attribute.isin({...}))"
            )
        for part in self.propositions:
            if not isinstance(part, Proposition):
                cure = " (== is Python's own: write attribute.isin({value}))"
                raise RuleSetError(
                    f"a premise is made of propositions such as attribute.isin({{...}}); "
                    f"got {part!r}{cure if isinstance(part, bool) else ''}"
                )

    @cached_property
    def masks(self) -> Mapping[str, int]:
        """The intersection of the subsets of each attribute, by name."""
        masks: dict[str, int] = {}
        for p in self.propositions:
            masks[p.attribute.name] = masks.get(p.attribute.name, -1) & p.mask
        return masks

    def first(self, most: int) -> str:
        """Return the premise in one line, with at most the first `most` propositions."""
        left = len(self.propositions) - most
        premise = Premise(self.propositions[:most]) if left > 0 else self
        return " ".join(str(premise).split()) + f" and {left} more propositions" * (left > 0)

    def __str__(self) -> str:
        parts = [_bracket(p, len(self.propositions)) for p in self.propositions]
        lines = [
            " and ".join(parts[i : i + LINE_PROPOSITIONS])
            for i in range(0, len(parts), LINE_PROPOSITIONS)
        ]
        return "\n    and ".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Compound(Logical):
    """A formula: from `least` to `most` of the parts hold.

    It is a conjunction if all hold, a disjunction if at least one, a negation if 0 of 1.

    Examples
    --------
    >>> from pinesy import Attribute
    >>> p, q, r = (Attribute(name, [0, 1]).isin({1}) for name in "pqr")
    >>> ~(p & q) | r
    not (p in {1} and q in {1}) or r in {1}
    >>> at_least(2, p, q, r)
    at least 2 of (p in {1}, q in {1}, r in {1})
    """

    parts: tuple[Statement, ...]
    least: int
    most: int
    depth: int = field(init=False, compare=False, default=0)

    def __post_init__(self) -> None:
        if not isinstance(self.parts, tuple) or not self.parts:
            raise RuleSetError("a formula needs at least one proposition: any_of(p, q)")
        if not (is_integer(self.least) and is_integer(self.most)):
            raise RuleSetError(f"from {self.least!r:.60} to {self.most!r:.60} parts; give integers")
        for part in self.parts:
            if not isinstance(part, Logical):
                raise RuleSetError(
                    f"formulas are made of propositions such as attribute.isin({{...}}); got "
                    f"{part!r:.60}"
                )
        take_steps(NODE + 10 * len(self.parts))
        depth = 1 + max(getattr(part, "depth", 0) for part in self.parts)
        if depth > MAX_DEPTH:
            raise RuleSetError(f"a formula nests more than {MAX_DEPTH} deep; name its parts")
        object.__setattr__(self, "depth", depth)

    def __and__(self, other: Statement) -> "Premise | Compound":
        return all_of(self, other)

    def is_gate(self, conjunction: bool) -> bool:
        """Return whether this is a conjunction (if `conjunction`), or a disjunction."""
        n = len(self.parts)
        return self.most == n and self.least == (n if conjunction else 1)

    def __str__(self) -> str:
        n, least, most = len(self.parts), self.least, self.most
        if (n, most) == (1, 0):
            return f"not {_bracket(self.parts[0], 0)}"
        if self.is_gate(True) or self.is_gate(False):
            return (" and " if least == n else " or ").join(_bracket(p, n) for p in self.parts)
        bounds = [f"at least {least}"] * (least > 0) + [f"at most {most}"] * (most < n)
        if least == most:
            bounds = [f"exactly {least}"]
        parts = ", ".join(map(str, self.parts))
        return " and ".join(f"{bound} of ({parts})" for bound in bounds)

    __repr__ = __str__


def _bracket(part: Statement, n: int) -> str:
    """Return the text of one of `n` parts of a formula, in brackets if needed."""
    is_atom = isinstance(part, Proposition) and part.attribute.formula is None
    is_negation = isinstance(part, Compound) and part.most == 0
    if n == 1 or (n and (is_atom or is_negation)):
        return str(part)
    return f"({part})"


def _flatten(parts: tuple[Statement, ...], conjunction: bool) -> Iterator[Statement]:
    """Yield the parts of a conjunction or disjunction; nested ones are flattened."""
    for part in parts:
        if isinstance(part, Premise) and conjunction:
            yield from part.propositions
        elif isinstance(part, Compound) and part.is_gate(conjunction):
            yield from _flatten(part.parts, conjunction)
        else:
            yield part


def all_of(*parts: Statement) -> Premise | Compound:
    """Return ``p and q and ...``: a premise if all parts are propositions."""
    flat = tuple(_flatten(parts, conjunction=True))
    if not any(isinstance(part, Compound) for part in flat):
        return Premise(flat)  # type: ignore[arg-type]  # it raises for any other type
    return Compound(flat, len(flat), len(flat))


def any_of(*parts: Statement) -> Compound:
    """Return ``p or q or ...``.

    Examples
    --------
    >>> from pinesy import Attribute
    >>> any_of(*(Attribute(f"light_{i}", ["on", "off"]).isin({"on"}) for i in (1, 2)))
    light_1 in {on} or light_2 in {on}
    """
    flat = tuple(_flatten(parts, conjunction=False))
    return Compound(flat, 1, len(flat))


def at_least(k: int, *parts: Statement) -> Compound:
    """Return the formula: at least `k` of the parts hold."""
    return Compound(parts, check_integer(k, "the number of parts"), len(parts))


def at_most(k: int, *parts: Statement) -> Compound:
    """Return the formula: at most `k` of the parts hold."""
    return Compound(parts, 0, check_integer(k, "the number of parts"))


def exactly(k: int, *parts: Statement) -> Compound:
    """Return the formula: exactly `k` of the parts hold."""
    return Compound(parts, check_integer(k, "the number of parts"), k)
