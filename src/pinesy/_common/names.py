"""Attributes by name: a user may give an attribute or its name, anywhere."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
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


def first_names(attributes: Sequence[Named]) -> str:
    """Return the names of the first attributes."""
    return ", ".join(a.name for a in attributes[:4]) + ", ..." * (len(attributes) > 4)


def by_name(
    content: Mapping[Any, Any], noun: str, error: type[PinesyError] = DataError
) -> dict[Any, Any]:
    """Return a mapping with names for attributes; raise `error` where one is given as both.

    Parameters
    ----------
    noun : what the mapping gives, such as ``"input"``, for the message

    Examples
    --------
    >>> by_name({"rain": 1}, "input")
    {'rain': 1}
    """
    contents = {name_of(key): value for key, value in content.items()}
    if len(contents) < len(content):
        twice = repeated(map(name_of, content))
        raise error(
            f"the {noun} {twice!r} is given twice, by its name and as an attribute; give it once"
        )
    return contents


def repeated(names: Iterable[Any]) -> Any:
    """Return the first name that stands there more than once, or None.

    Examples
    --------
    >>> repeated(["rain", "wind", "wind"])
    'wind'
    """
    return next((name for name, count in Counter(names).items() if count > 1), None)


def column_titles(titles: Iterable[Any], error: type[PinesyError] = DataError) -> dict[str, Any]:
    """Return the titles of a table's columns by their names; raise `error` where two have one."""
    titles = list(titles)
    twice = repeated(map(str, titles))
    if twice is not None:
        raise error(f"the table has two columns {twice!r}; each name may stand there once")
    return {str(title): title for title in titles}


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
