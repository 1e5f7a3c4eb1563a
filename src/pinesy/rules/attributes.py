"""Attributes, the variables of rules, and their domains."""

from collections.abc import Callable, Hashable, Iterable, Sized
from dataclasses import dataclass
from functools import cached_property, partialmethod
from itertools import product
from math import prod
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from pinesy._common.budgets import ATTRIBUTE, CHARACTERS, take_steps, take_values
from pinesy._common.masks import mask_of
from pinesy._common.validation import cut_repr, is_iterable, listed, size_of, suggestion
from pinesy.exceptions import DataError, DomainError
from pinesy.rules.numbers import Scale, is_number
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.conditions import (
    NODES,
    Condition,
    NotVectorisedError,
    ValueColumn,
    column_of,
    comparison_mask,
    evaluation_cost,
    parse_condition,
    vectorised_mask,
)
from pinesy.rules.syntax.expressions import COMPARISONS, FAILURES
from pinesy.rules.syntax.lexer import MAX_DEPTH, MAX_LEAVES
from pinesy.rules.syntax.writer import format_name, format_subset, format_text, is_run, show_value

#: Values of an attribute, at most; checked before any is created.
MAX_PRODUCT = 10**7


class DomainIndex(dict[Hashable, int]):
    """The index of each value of a domain; equal products share one.

    Attributes
    ----------
    domain : the values, for a product attribute
    """

    domain: tuple[Hashable, ...]

    @cached_property
    def masks(self) -> dict[str, int]:
        """A cache of the masks of conditions, by pattern.

        A Sudoku has thousands of rules, but few patterns.
        """
        return {}

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k == "domain"}


#: The indices of products, by the domains of their factors and the repr of these, as
#: (0, 1) == (False, True).
_PRODUCTS: WeakValueDictionary[tuple[object, str], DomainIndex] = WeakValueDictionary()


def _domain_index(name: str, domain: tuple[Hashable, ...]) -> DomainIndex:
    """Return the index of each value, or raise `DomainError` for duplicates and NaN."""
    if not domain:
        raise DomainError(f"attribute {name!r} has an empty domain; give at least one value")
    index = DomainIndex()
    for i, value in enumerate(domain):
        try:
            is_repeated = value in index or value != value
            index[value] = i
        except TypeError:
            raise DomainError(
                f"attribute {name!r}: the value {cut_repr(value)} is not hashable; use a tuple, "
                "not a list"
            ) from None
        if is_repeated:
            raise DomainError(
                f"attribute {name!r}: the value {cut_repr(value)} at index {i} equals an "
                "earlier one, or is NaN; values must differ (note that 1 == 1.0 == True)"
            )
    return index


def _product_index(domains: tuple[tuple[Hashable, ...], ...]) -> DomainIndex:
    """Return the index of a product of domains, shared by all equal products."""
    key = domains, repr(domains)
    index = _PRODUCTS.get(key)
    if index is None:
        values = tuple(product(*domains))
        index = _PRODUCTS[key] = DomainIndex(zip(values, range(len(values)), strict=True))
        index.domain = values
    return index


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Attribute:
    """An attribute `a` and its finite, ordered domain `D_a`.

    Parameters
    ----------
    name : str
    domain : iterable of distinct hashable values
    title : what people call it, such as "credit history"; texts and pictures use it
    unit : of its numbers, such as "years"

    Notes
    -----
    Like comments, titles and units take no part in equality: rules on attributes of other titles
    fit together. Texts, JSON, copies and saved files keep them.

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
    _index: DomainIndex

    #: The text of the formula that defines the attribute; see `pinesy.rules.definitions`.
    formula: ClassVar[str | None] = None
    #: What people call the attribute, and the unit of its numbers; None if not given.
    title: ClassVar[str | None] = None
    unit: ClassVar[str | None] = None
    #: The intervals of a numeric attribute, which are its values; None for others.
    scale: ClassVar[Scale | None] = None
    #: So that ``np.float64(30) < age`` calls the comparison of the attribute.
    __array_ufunc__: ClassVar[None] = None

    def __init__(
        self,
        name: str,
        domain: Iterable[Hashable],
        *,
        title: str | None = None,
        unit: str | None = None,
    ) -> None:
        is_listed = isinstance(domain, list | tuple | range) or is_iterable(domain)
        if isinstance(domain, str | bytes | set | frozenset) or not is_listed:
            raise DomainError(
                f"the domain of attribute {name!r} is {domain!r:.60}; give an ordered collection "
                "of values, such as a list"
            )
        if isinstance(domain, Sized):
            size = size_of(domain)
            if size > MAX_PRODUCT:
                raise DomainError(
                    f"attribute {name!r} would have {size:,} values or more; at most "
                    f"{MAX_PRODUCT:,} are allowed"
                )
            take_values(size, f"attribute {name!r}")
        values = tuple(v.item() if isinstance(v, np.generic) else v for v in domain)
        self._set_fields(name, values, _domain_index(name, values), ())
        self._set_title(title, unit)

    def _set_fields(
        self,
        name: str,
        domain: tuple[Hashable, ...],
        index: DomainIndex,
        factors: "tuple[Attribute, ...]",
    ) -> None:
        if not isinstance(name, str) or not name or "`" in name or not name.isprintable():
            raise DomainError(f"an attribute's name is a printable text without `; got {name!r}")
        take_steps(ATTRIBUTE + len(name) // CHARACTERS)
        self.__dict__.update(name=name, domain=domain, factors=factors, _index=index)

    def _set_title(self, title: str | None, unit: str | None) -> None:
        for kind, text in (("title", title), ("unit", unit)):
            if text is not None:
                self.__dict__[kind] = check_title(kind, text, self.name)

    @classmethod
    def product(
        cls, name: str, *factors: "Attribute", title: str | None = None, unit: str | None = None
    ) -> "Attribute":
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
        if len(factors) < 2 or len(set(map(str, names))) < len(names):
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
        depth, leaves = 1 + max(f.nesting[0] for f in factors), sum(f.nesting[1] for f in factors)
        if depth > MAX_DEPTH or leaves > MAX_LEAVES:
            raise DomainError(
                f"the values of the product {name!r} would be tuples of {leaves:,} values, {depth} "
                f"deep; at most {MAX_LEAVES:,} and {MAX_DEPTH} are allowed: pair fewer attributes"
            )
        take_values(size, f"the product {name!r}")
        attribute = cls.__new__(cls)
        index = _product_index(domains)
        attribute._set_fields(name, index.domain, index, factors)
        attribute._set_title(title, unit)
        return attribute

    @classmethod
    def number(
        cls,
        name: str,
        cuts: Iterable[float | str] = (),
        names: Iterable[str] | None = None,
        blur: float = 0.0,
        *,
        title: str | None = None,
        unit: str | None = None,
    ) -> "Attribute":
        """Return a numeric attribute: its values are the intervals that cuts divide numbers into.

        Evidence on it may be plain numbers. Its comparisons with numbers are propositions.

        Parameters
        ----------
        cuts : increasing numbers; `c` divides those below `c` from those from `c` on, a text such
            as ``"<=30"`` those up to 30 from those above
        names : of the intervals, one more than cuts
        blur : the imprecision of measurements: a number at distance `d` outside an interval has
            possibility ``max(0, 1 - d/blur)`` of being in it
        title, unit : in texts, such as "age of the patient" and "years"

        Examples
        --------
        >>> age = Attribute.number("age", cuts=[30, 65], blur=2)
        >>> age.domain
        ('<30', '[30, 65)', '>=65')
        >>> age < 30, 65 <= age
        (age < 30, age >= 65)
        """
        scale = Scale.of(name, cuts, names, blur)
        attribute = cls(name, scale.domain, title=title, unit=unit)
        attribute.__dict__["scale"] = scale
        return attribute

    def renamed(self, name: str, factors: "tuple[Attribute, ...]" = ()) -> "Attribute":
        """Return a copy with another name, and with other factors of the same domains."""
        attribute = type(self).__new__(type(self))
        attribute.__dict__.update(self.__dict__)
        attribute._set_fields(name, self.domain, self._index, factors)
        return attribute

    def with_title(self, title: str | None = None, unit: str | None = None) -> "Attribute":
        """Return a copy with a title and a unit; those that are None stay as they are.

        Examples
        --------
        >>> Attribute("history", ["good", "bad"]).with_title("credit history")
        Attribute('history', {good, bad}, title='credit history')
        """
        attribute = self.renamed(self.name, self.factors)
        attribute._set_title(title, unit)
        return attribute

    def isin(self, values: Iterable[Hashable]) -> Proposition:
        """Return the proposition ``a in P`` for a subset `P` of the domain."""
        return Proposition(self, self.mask(values))

    def where(self, condition: Callable[..., object] | str | Condition) -> Proposition:
        """Return the proposition of the values that meet a condition.

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
        if self.scale is not None and not callable(condition):
            raise DomainError(f"attribute {self.name!r} is numeric: compare it, {self.name} < 30")
        if isinstance(condition, str):
            condition = parse_condition(condition, self.condition_names)
        mask = _condition_mask(condition, self)
        return Proposition(self, mask, getattr(condition, "text", None))

    def compared(self, sign: str, number: Any) -> Proposition:
        """Return the proposition of a comparison, such as ``age < 30``, with a number.

        Parameters
        ----------
        sign : ``<``, ``<=``, ``>``, ``>=``, ``==`` or ``!=``
        """
        if self.scale is not None:
            signs = ("<=", "<") if sign in ("==", "!=") else (sign,)
            masks = [(1 << self.scale.below(s, number, self.name)) - 1 for s in signs]
            mask = masks[0] & ~masks[1] if len(masks) > 1 else masks[0]
            return Proposition(self, mask if sign in ("<", "<=", "==") else self.full & ~mask)
        plain = comparison_mask(self.column, sign, number)
        if plain is not None:
            return Proposition(self, plain)
        if not all(map(is_number, (*self.domain, number))):
            raise DomainError(
                f"{sign!r} compares numbers; attribute {self.name!r} and {number!r:.60} are not "
                "all numbers: list the values after in, or make it a number (Attribute.number)"
            )
        test = COMPARISONS[sign]
        return self.isin([value for value in self.domain if test(value, number)])

    __lt__ = partialmethod(compared, "<")
    __le__ = partialmethod(compared, "<=")
    __gt__ = partialmethod(compared, ">")
    __ge__ = partialmethod(compared, ">=")

    @cached_property
    def column(self) -> ValueColumn | None:
        """The domain as an array, if its values are of one type; else None."""
        return column_of(self.domain)

    @property
    def masks(self) -> dict[str, int]:
        """A cache of the masks of conditions, by pattern, for all attributes with this domain."""
        return self._index.masks

    @cached_property
    def nesting(self) -> tuple[int, int]:
        """The nesting depth of the values, and the number of single values in each."""
        parts = [factor.nesting for factor in self.factors]
        return (1 + max(p[0] for p in parts), sum(p[1] for p in parts)) if parts else (0, 1)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The names that a condition may use: those of the factors, and of the attribute."""
        return (*(f.name for f in self.factors), self.name)

    def mask(self, values: Iterable[Hashable] | Proposition) -> int:
        """Return the subset as an integer whose bit `i` is 1 if ``domain[i]`` is in it."""
        if isinstance(values, Proposition):
            if values.attribute != self:
                raise DomainError(f"{values} is not a proposition on attribute {self.name!r}")
            return values.mask
        is_collection = isinstance(values, list | set | frozenset | range) or is_iterable(values)
        is_value = isinstance(values, str | bytes) or (isinstance(values, tuple) and values in self)
        if is_value or not is_collection:
            raise DomainError(
                f"attribute {self.name!r}: {values!r} is one value, not a set of values; "
                f"write {{{values!r}}}"
            )
        if isinstance(values, Sized):
            take_steps(2 * len(values))
        return mask_of([self.position(value) for value in values])

    def position(self, value: Hashable) -> int:
        """Return the index of `value` in the domain; raise `DomainError` if it is not there."""
        try:
            return self._index[value]
        except (KeyError, TypeError):
            if self.scale is not None:
                values = listed(self.scale.domain)
                raise DomainError(
                    f"the values of attribute {self.name!r} are intervals: {values}; {value!r:.60} "
                    f"is none of them: compare numbers, such as {self.name} < 30"
                ) from None
            try:
                text = str(value)
            except RecursionError:
                text = ""
            alike = [v for v in self.domain if text in (str(v), show_value(v))]
            hint = suggestion(value, self.domain)
            if alike:
                kinds = (type(alike[0]).__name__, type(value).__name__)
                hint = f"; it has {alike[0]!r} ({kinds[0]}), not {cut_repr(value)} ({kinds[1]})"
            raise DomainError(
                f"attribute {self.name!r} has no value {cut_repr(value)}{hint}"
            ) from None

    @cached_property
    def full(self) -> int:
        """The mask of the whole domain."""
        return (1 << len(self.domain)) - 1

    @property
    def declaration(self) -> str:
        """The line that declares this attribute in a ``.rules`` file."""
        name = format_name(self.name) + self.title_declaration
        if self.factors:
            return f"product {name} = {' * '.join(format_name(f.name) for f in self.factors)}"
        if self.scale is not None:
            return f"number {name}{self.scale.declaration}"
        return f"attribute {name} in {format_subset(self.domain)}"

    @property
    def title_declaration(self) -> str:
        """The title and the unit as they follow the name in a ``.rules`` file."""
        title = "" if self.title is None else f" {format_text(self.title)}"
        return title if self.unit is None else f"{title} unit {format_text(self.unit)}"

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
        same = (self.name, self.domain, self.factors) == (other.name, other.domain, other.factors)
        return same and self.scale == other.scale

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        texts = {"title": self.title, "unit": self.unit}
        titles = "".join(f", {key}={text!r}" for key, text in texts.items() if text is not None)
        if self.scale is not None:
            return f"Attribute.number({self.name!r}:{self.scale.declaration}{titles})"
        if len(self.domain) <= 10 or is_run(self.domain):
            return f"Attribute({self.name!r}, {format_subset(self.domain)}{titles})"
        values = format_subset(self.domain[:10]).rstrip("}")
        return f"Attribute({self.name!r}, {values}, ...}} of {len(self.domain)} values{titles})"

    def _repr_html_(self) -> str:
        from pinesy.display.rules_html import attribute_html

        return attribute_html(self)


def check_title(kind: str, text: object, attribute: str) -> str:
    """Return the title or the unit of an attribute, or raise `DomainError`."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise DomainError(
            f"the {kind} of attribute {attribute!r} is {cut_repr(text)}; give a printable text on "
            "one line, or leave it out"
        )
    take_steps(len(text) // CHARACTERS)
    return str.__str__(text)


def _condition_mask(condition: Condition | Callable[..., object], attribute: Attribute) -> int:
    """Return the mask of the values that meet a condition, which may be a function.

    A parsed condition is evaluated once for all attributes with one domain.
    """
    if not isinstance(condition, Condition):
        function = condition
        return _evaluate_each(lambda parts: function(*parts), attribute, "the condition")
    masks, pattern = attribute.masks, condition.pattern
    if pattern not in masks:
        masks[pattern] = _evaluate_condition(condition, attribute)
    return masks[pattern]


def _evaluate_condition(condition: Condition, attribute: Attribute) -> int:
    """Return the mask of the values that meet a condition: by NumPy, or else value by value."""
    parts = attribute.factors or (attribute,)
    size, (nodes, n_listed) = len(attribute.domain), evaluation_cost(condition.expression)
    take_steps(size * nodes // NODES + n_listed)
    columns = [column for part in parts if (column := part.column) is not None]
    if len(columns) == len(parts):
        try:
            return vectorised_mask(condition.expression, columns, bool(attribute.factors))
        except NotVectorisedError:
            pass
    holds = condition.holds
    take_steps(2 * size * nodes)
    # A text may use the name of a product too, after those of its components.
    holds_with_product = (lambda parts: holds((*parts, parts))) if attribute.factors else holds
    return _evaluate_each(holds_with_product, attribute, f"'{condition.text:.60}'")


def _evaluate_each(holds: Callable[[Any], object], attribute: Attribute, text: str) -> int:
    """Return the mask of the values for which `holds` of the tuple of their components."""
    indices = []
    for index, value in enumerate(attribute.domain):
        try:
            answer = holds(value if attribute.factors else (value,))
        except FAILURES as error:
            source = f"attribute {attribute.name!r}, value {value!r}"
            raise DomainError(f"{source}: {text} fails: {error}") from error
        if not isinstance(answer, bool | np.bool_):
            raise DomainError(
                f"attribute {attribute.name!r}, value {value!r}: {text} gives {answer!r:.60}; it "
                "must give true or false"
            )
        if answer:
            indices.append(index)
    return mask_of(indices)


def check_attribute(attribute: object) -> None:
    """Raise `DataError` unless `attribute` is an `Attribute`."""
    if not isinstance(attribute, Attribute):
        raise DataError(f"{attribute!r:.60} is no attribute")
