"""Names of attributes: wherever a name is expected, the attribute itself may be given."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from pinesy.exceptions import DataError, PinesyError, UnknownAttributeError


class Named(Protocol):
    """Protocol of attributes: a name and a domain."""

    @property
    def name(self) -> str: ...

    @property
    def domain(self) -> tuple[Any, ...]: ...


def name_of(key: Any) -> Any:
    """Return the name of an attribute, which may be given by its name.

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
    """Return the names of the first four attributes, joined by commas."""
    return ", ".join(a.name for a in attributes[:4]) + ", ..." * (len(attributes) > 4)


def by_name(
    content: Mapping[Any, Any], noun: str, error: type[PinesyError] = DataError
) -> dict[Any, Any]:
    """Return a mapping with names in place of attributes; raise `error` for duplicates.

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
        twice = first_duplicate(map(name_of, content))
        raise error(
            f"the {noun} {twice!r} is given twice, by its name and as an attribute; give it once"
        )
    return contents


def first_duplicate(names: Iterable[Any]) -> Any:
    """Return the first name that occurs more than once, or None.

    Examples
    --------
    >>> first_duplicate(["rain", "wind", "wind"])
    'wind'
    """
    return next((name for name, count in Counter(names).items() if count > 1), None)


def column_titles(titles: Iterable[Any], error: type[PinesyError] = DataError) -> dict[str, Any]:
    """Return ``{str(title): title}`` of a table's columns; raise `error` for duplicates."""
    titles = list(titles)
    twice = first_duplicate(map(str, titles))
    if twice is not None:
        raise error(f"the table has two columns {twice!r}; column names must differ")
    return {str(title): title for title in titles}


def column_slices(attributes: Iterable[Named]) -> dict[str, slice]:
    """Return the columns of each attribute in an array of concatenated domains.

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
