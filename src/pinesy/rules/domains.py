"""Domains of attributes: where each value stands, and what attributes of one domain share."""

from collections.abc import Hashable
from functools import cached_property
from itertools import product
from weakref import WeakValueDictionary

from pinesy._common.validation import cut_repr
from pinesy.exceptions import DomainError


class DomainIndex(dict[Hashable, int]):
    """The place of each value of a domain; equal products share one.

    Attributes
    ----------
    domain : of a product, its values
    """

    domain: tuple[Hashable, ...]

    @cached_property
    def masks(self) -> dict[str, int]:
        """Masks of conditions by their pattern: they go with the last attribute of the domain.

        A Sudoku has thousands of rules of a few patterns.
        """
        return {}

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k == "domain"}


#: Those of products that some attribute has, by the domains of their factors and how these are
#: written, because (0, 1) == (False, True).
_PRODUCTS: WeakValueDictionary[tuple[object, str], DomainIndex] = WeakValueDictionary()


def positions_of(name: str, domain: tuple[Hashable, ...]) -> DomainIndex:
    """Return the place of each value, or raise `DomainError` if they are not distinct."""
    if not domain:
        raise DomainError(f"attribute {name!r} has an empty domain; give at least one value")
    index = DomainIndex()
    for position, value in enumerate(domain):
        try:
            twice = value in index or value != value
            index[value] = position
        except TypeError:
            raise DomainError(
                f"attribute {name!r}: the value {cut_repr(value)} is not hashable; use a tuple, "
                "not a list"
            ) from None
        if twice:
            raise DomainError(
                f"attribute {name!r}: the value {cut_repr(value)} at position {position} equals an "
                "earlier one, or not even itself; values must differ (note that 1 == 1.0 == True)"
            )
    return index


def product_index(domains: tuple[tuple[Hashable, ...], ...]) -> DomainIndex:
    """Return the product of domains, with its index: the same for all equal products."""
    key = domains, repr(domains)
    index = _PRODUCTS.get(key)
    if index is None:
        values = tuple(product(*domains))
        index = _PRODUCTS[key] = DomainIndex(zip(values, range(len(values)), strict=True))
        index.domain = values
    return index
