"""Attributes by name: a user may give an attribute or its name, anywhere."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Protocol

from pinesy.exceptions import DataError, PinesyError, UnknownAttributeError


class Named(Protocol):
    """What has a name and a domain, as attributes have."""

    @property
    def name(self) -> str: ...

    @property
    def domain(self) -> tuple[Any, ...]: ...


def name_of(key: Any) -> Any:
    """Return the name of an attribute; a name is returned as it is.

    Examples
    --------
    >>> name_of("rain")
    'rain'
    """
    name = getattr(key, "name", key)
    if not isinstance(name, Hashable):
        raise UnknownAttributeError(f"{key!r:.60} is no attribute, and no name of one")
    return name


def by_name(
    content: Mapping[Any, Any], what: str, error: type[PinesyError] = DataError
) -> dict[Any, Any]:
    """Return a mapping with names for attributes; raise `error` where one is given as both.

    Parameters
    ----------
    what : what the mapping gives, such as ``"input"``, for the message

    Examples
    --------
    >>> by_name({"rain": 1}, "input")
    {'rain': 1}
    """
    named = {name_of(key): value for key, value in content.items()}
    if len(named) < len(content):
        names = [name_of(key) for key in content]
        twice = next(name for name in names if names.count(name) > 1)
        raise error(
            f"the {what} {twice!r} is given twice, by its name and as an attribute; give it once"
        )
    return named


def column_slices(attributes: Iterable[Named]) -> dict[str, slice]:
    """Return the columns of each attribute when their domains stand side by side.

    Examples
    --------
    >>> from pinesy.rules import Attribute
    >>> column_slices([Attribute("left", range(10)), Attribute("carry", range(2))])
    {'left': slice(0, 10, None), 'carry': slice(10, 12, None)}
    """
    slices: dict[str, slice] = {}
    stop = 0
    for attribute in attributes:
        start, stop = stop, stop + len(attribute.domain)
        slices[attribute.name] = slice(start, stop)
    return slices
