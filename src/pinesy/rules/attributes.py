"""Attributes, propositions on them, and premises: what rules speak about."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from pinesy._common.masks import positions
from pinesy._common.validation import suggestion
from pinesy.exceptions import DomainError, RuleSetError
from pinesy.rules.syntax.conditions import Condition, condition_mask, parse_condition
from pinesy.rules.syntax.vectorised import ValueColumn, column_of
from pinesy.rules.syntax.writer import format_name, format_subset, is_run

#: Propositions after which a long premise goes on in a new line.
LINE_PROPOSITIONS = 4
#: Values of a product attribute; more are refused before any is made.
MAX_PRODUCT = 10**7


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Attribute:
    """An attribute `a` and its finite, ordered domain `D_a`.

    Parameters
    ----------
    name : str
    domain : iterable of distinct hashable values

    Examples
    --------
    >>> left = Attribute("left", range(3))
    >>> left
    Attribute('left', {0..2})
    >>> left.isin({2})
    left in {2}
    """

    name: str
    domain: tuple[Hashable, ...]
    #: The attributes that a product attribute is made of; empty for a plain one.
    factors: "tuple[Attribute, ...]"
    _index: dict[Hashable, int]

    def __init__(self, name: str, domain: Iterable[Hashable]) -> None:
        if isinstance(domain, str | bytes | set | frozenset) or not isinstance(domain, Iterable):
            raise DomainError(
                f"the domain of attribute {name!r} is {domain!r:.60}; give an ordered collection "
                "of values, such as a list"
            )
        values = tuple(v.item() if isinstance(v, np.generic) else v for v in domain)
        self._fill(name, values, _positions(name, values), ())

    def _fill(
        self,
        name: str,
        domain: tuple[Hashable, ...],
        index: dict[Hashable, int],
        factors: "tuple[Attribute, ...]",
    ) -> None:
        if not isinstance(name, str) or not name or "`" in name or not name.isprintable():
            raise DomainError(f"an attribute's name is a printable text without `; got {name!r}")
        self.__dict__.update(name=name, domain=domain, factors=factors, _index=index)

    @classmethod
    def product(cls, name: str, *factors: "Attribute") -> "Attribute":
        """Return the attribute whose values are the tuples of the factors' values.

        Examples
        --------
        >>> bit = Attribute("bit", [0, 1])
        >>> Attribute.product("pair", bit, Attribute("other", [0, 1])).domain
        ((0, 0), (0, 1), (1, 0), (1, 1))
        """
        for factor in factors:
            if not isinstance(factor, Attribute):
                raise DomainError(f"a factor of the product {name!r} is {factor!r}, no attribute")
        names = [name, *(f.name for f in factors)]
        if len(factors) < 2 or len(set(names)) < len(names):
            raise DomainError(
                f"the product {name!r} needs two or more factors with names of their own, other "
                f"than the product's; got {', '.join(names[1:]) or 'none'}"
            )
        domains = tuple(f.domain for f in factors)
        if (size := prod(map(len, domains))) > MAX_PRODUCT:
            sizes = " * ".join(str(len(d)) for d in domains[:8]) + " * ..." * (len(domains) > 8)
            raise DomainError(
                f"the product {name!r} would have {sizes} = {size:,} values; at most "
                f"{MAX_PRODUCT:,} are allowed: pair fewer attributes, and compute functions of "
                "many step by step (sum_of, count_of and the like do)"
            )
        attribute = cls.__new__(cls)
        attribute._fill(name, *_product_domain(domains, repr(domains)), factors)
        return attribute

    def isin(self, values: Iterable[Hashable]) -> "Proposition":
        """Return the proposition ``a in P`` for a subset `P` of the domain."""
        return Proposition(self, self.mask(values))

    def where(self, condition: Callable[..., object] | str | Condition) -> "Proposition":
        """Return the proposition of the values that meet a condition, evaluated at once.

        Parameters
        ----------
        condition : a function of the value (of the components, for a product attribute), or a
            text such as ``"left + right == 7"`` in the language of ``.rules`` files, which
            the printed rule keeps.

        Examples
        --------
        >>> pair = Attribute.product("pair", Attribute("x", range(3)), Attribute("y", range(3)))
        >>> pair.where(lambda x, y: x + y == 1) == pair.where("x + y == 1")
        True
        >>> pair.where("x + y == 1")
        pair where x + y == 1
        """
        if isinstance(condition, str):
            condition = parse_condition(condition, self.condition_names)
        mask = condition_mask(condition, self)
        return Proposition(self, mask, getattr(condition, "text", None))

    @cached_property
    def column(self) -> ValueColumn | None:
        """The domain as an array, if its values are of one kind."""
        return column_of(self.domain)

    @property
    def condition_names(self) -> list[str]:
        """The names that a condition's text may use: the factors' and the attribute's own."""
        return [*(f.name for f in self.factors), self.name]

    def mask(self, values: "Iterable[Hashable] | Proposition") -> int:
        """Return the subset as an integer whose bit `i` tells whether ``domain[i]`` is in it."""
        if isinstance(values, Proposition):
            if values.attribute != self:
                raise DomainError(f"{values} is not a proposition on attribute {self.name!r}")
            return values.mask
        lone = isinstance(values, str | bytes) or (isinstance(values, tuple) and values in self)
        if lone or not isinstance(values, Iterable):
            raise DomainError(
                f"attribute {self.name!r}: {values!r} is one value, not a set of values; "
                f"write {{{values!r}}}"
            )
        mask = 0
        for value in values:
            mask |= 1 << self.position(value)
        return mask

    def position(self, value: Hashable) -> int:
        """Return the place of `value` in the domain; raise `DomainError` if it is not there."""
        try:
            return self._index[value]
        except (KeyError, TypeError):
            alike = [v for v in self.domain if str(v) == str(value)]
            hint = suggestion(value, self.domain)
            if alike:
                kinds = (type(alike[0]).__name__, type(value).__name__)
                hint = f"; it has {alike[0]!r} ({kinds[0]}), not {value!r:.60} ({kinds[1]})"
            raise DomainError(f"attribute {self.name!r} has no value {value!r:.60}{hint}") from None

    def subset(self, mask: int) -> tuple[Hashable, ...]:
        """Return the values of a mask, in domain order."""
        return tuple(self.domain[i] for i in positions(mask))

    @property
    def full(self) -> int:
        """The mask of the whole domain."""
        return (1 << len(self.domain)) - 1

    @property
    def declaration(self) -> str:
        """The line that declares this attribute in a ``.rules`` file."""
        if self.factors:
            factors = " * ".join(format_name(f.name) for f in self.factors)
            return f"product {format_name(self.name)} = {factors}"
        return f"attribute {format_name(self.name)} in {format_subset(self.domain)}"

    def __contains__(self, value: object) -> bool:
        try:
            return value in self._index
        except TypeError:
            return False

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Attribute):
            return NotImplemented
        return (self.name, self.domain, self.factors) == (other.name, other.domain, other.factors)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        if len(self.domain) <= 10 or is_run(self.domain):
            return f"Attribute({self.name!r}, {format_subset(self.domain)})"
        shown = format_subset(self.domain[:10]).rstrip("}")
        return f"Attribute({self.name!r}, {shown}, ...}} of {len(self.domain)} values)"


@dataclass(frozen=True, repr=False)
class Proposition:
    """The proposition ``a in P``; its negation is ``a in D_a minus P`` (`complement` or ``~``)."""

    attribute: Attribute
    #: The subset `P`: bit `i` tells whether ``domain[i]`` is in it.
    mask: int
    #: The text of the condition that gave the subset, kept for printing.
    condition: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.attribute, Attribute) or not 0 <= self.mask <= self.attribute.full:
            raise DomainError(
                f"{self.attribute!r} has no subset of mask {self.mask!r}; use isin or where"
            )

    @cached_property
    def values(self) -> tuple[Hashable, ...]:
        """The subset `P`, in domain order."""
        return self.attribute.subset(self.mask)

    @property
    def complement(self) -> "Proposition":
        """The negation of this proposition."""
        return Proposition(self.attribute, self.attribute.full & ~self.mask)

    def __invert__(self) -> "Proposition":
        return self.complement

    def __and__(self, other: "Proposition | Premise") -> "Premise":
        return Premise((self,)) & other

    def __or__(self, other: object) -> "Premise":
        raise RuleSetError(
            "premises are conjunctions; for 'or' on one attribute use one set of values, else "
            "write one rule for each case"
        )

    def __bool__(self) -> bool:
        raise RuleSetError(
            f"the proposition '{self}' is neither true nor false, so Python's `and`, `or`, `not` "
            "and `if` cannot use it: write p & q (or If(p, q)) for a conjunction, ~p for a negation"
        )

    def __str__(self) -> str:
        name = format_name(self.attribute.name)
        if self.condition is not None:
            return f"{name} where {self.condition}"
        return f"{name} in {format_subset(self.values)}"

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Premise:
    """A conjunction ``p_1 and ... and p_k`` of propositions; attributes may differ or repeat."""

    propositions: tuple[Proposition, ...]

    def __post_init__(self) -> None:
        if isinstance(self.propositions, Proposition):
            raise RuleSetError("a premise takes a tuple of propositions: Premise((p, ...))")
        if not self.propositions:
            raise RuleSetError(
                "a premise needs at least one proposition: If(attribute.isin({...}))"
            )
        for part in self.propositions:
            if not isinstance(part, Proposition):
                raise RuleSetError(
                    f"a premise is made of propositions such as attribute.isin({{...}}); "
                    f"got {part!r}"
                )

    def __and__(self, other: "Proposition | Premise") -> "Premise":
        return Premise(conjunction((self, other)))

    def __bool__(self) -> bool:
        return bool(self.propositions[0])  # raises, naming the cure

    def __str__(self) -> str:
        lines = [
            " and ".join(map(str, self.propositions[i : i + LINE_PROPOSITIONS]))
            for i in range(0, len(self.propositions), LINE_PROPOSITIONS)
        ]
        return "\n    and ".join(lines)

    __repr__ = __str__


def conjunction(parts: "Sequence[Proposition | Premise]") -> tuple[Proposition, ...]:
    """Return the propositions of `parts`, premises taken apart."""
    flat: list[Proposition] = []
    for part in parts:
        flat.extend(part.propositions if isinstance(part, Premise) else [part])
    return tuple(flat)


def _positions(name: str, domain: tuple[Hashable, ...]) -> dict[Hashable, int]:
    if not domain:
        raise DomainError(f"attribute {name!r} has an empty domain; give at least one value")
    index: dict[Hashable, int] = {}
    for position, value in enumerate(domain):
        try:
            twice = value in index or value != value
            index[value] = position
        except TypeError:
            raise DomainError(
                f"attribute {name!r}: the value {value!r} is not hashable; use a tuple, not a list"
            ) from None
        if twice:
            raise DomainError(
                f"attribute {name!r}: the value {value!r} at position {position} equals an earlier "
                "one, or not even itself; values must differ (note that 1 == 1.0 == True)"
            )
    return index


@lru_cache(maxsize=256)
def _product_domain(
    domains: tuple[tuple[Hashable, ...], ...],
    _shown: str,  # part of the cache's key, because (0, 1) == (False, True)
) -> tuple[tuple[Hashable, ...], dict[Hashable, int]]:
    """Return the product of the domains and its index, shared by all equal products."""
    domain = tuple(product(*domains))
    return domain, {value: position for position, value in enumerate(domain)}
