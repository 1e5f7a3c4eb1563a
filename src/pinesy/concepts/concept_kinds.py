"""Kinds of inputs: those that one network reads, so that it mistakes their values alike."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinesy._common.names import by_name, name_of
from pinesy._common.validation import as_list, check_known, listed
from pinesy.exceptions import DataError, DomainError
from pinesy.rules.attributes import Attribute

#: From names of kinds, or from inputs, to values of which labels are known.
Labelled = Mapping[Any, Iterable[Hashable]]


@dataclass(frozen=True)
class ConceptKind:
    """Inputs that share a network.

    Attributes
    ----------
    name : what it is called
    inputs : the attributes that are read by it; their domains are equal
    """

    name: str
    inputs: tuple[Attribute, ...]

    @property
    def domain(self) -> tuple[Hashable, ...]:
        """The values that can be read."""
        return self.inputs[0].domain

    def __post_init__(self) -> None:
        for other in self.inputs:
            if _typed(other) != _typed(self.inputs[0]):
                raise DomainError(
                    f"the kind {self.name!r} has {self.inputs[0]!r} and {other!r}; inputs that "
                    "share a network have equal domains"
                )


def _typed(attribute: Attribute) -> tuple[tuple[type, Hashable], ...]:
    """Return the values of a domain so that True is not 1."""
    return tuple((type(value), value) for value in attribute.domain)


def kinds_of(
    inputs: Sequence[Attribute], given: Mapping[str, Iterable[Any]] | None
) -> tuple[ConceptKind, ...]:
    """Return the kinds of inputs: those given, or one for each domain.

    With some given, each of the inputs left out is a kind of its own.
    """
    groups: dict[Any, list[Attribute]] = {}
    if given is None:
        for attribute in inputs:
            groups.setdefault(_typed(attribute), []).append(attribute)
        return tuple(ConceptKind(listed([a.name for a in g]), tuple(g)) for g in groups.values())
    if not isinstance(given, Mapping):
        raise DomainError(
            f"kinds is {given!r:.60}; give a dict from the name of each kind to its inputs"
        )
    left = {a.name: a for a in inputs}
    kinds = [
        ConceptKind(name, _taken(name, members, left, inputs)) for name, members in given.items()
    ]
    return (*kinds, *(ConceptKind(a.name, (a,)) for a in left.values()))


def _taken(
    kind: str, members: Iterable[Any], left: dict[str, Attribute], inputs: Sequence[Attribute]
) -> tuple[Attribute, ...]:
    """Take the inputs of a kind out of those that are left."""
    if isinstance(members, str | Attribute) or not isinstance(members, Iterable):
        raise DomainError(f"the kind {kind!r} is {members!r:.60}; give a list of inputs")
    names, known = [name_of(member) for member in members], [a.name for a in inputs]
    for name in names:
        check_known(name, known, f"the kind {kind!r}: there is no input {name!r}")
        if name not in left or names.count(name) > 1:
            raise DomainError(f"the kind {kind!r}: the input {name!r} is in a kind already")
    if not names:
        raise DomainError(f"the kind {kind!r} has no inputs; leave it out")
    return tuple(left.pop(name) for name in names)


def labelled_positions(
    kinds: Sequence[ConceptKind], labelled: Labelled | None
) -> set[tuple[int, int]]:
    """Return the kind and the position in its domain of each value that is labelled."""
    places = {a.name: k for k, kind in enumerate(kinds) for a in kind.inputs}
    places |= {kind.name: k for k, kind in enumerate(kinds)}
    found: set[tuple[int, int]] = set()
    if not isinstance(labelled, Mapping | None):
        raise DataError(f"labelled is {labelled!r:.60}; give a mapping from kinds to values")
    for name, values in by_name({} if labelled is None else labelled, "kind").items():
        check_known(name, places, f"labelled: there is no kind of inputs {name!r}")
        attribute = kinds[places[name]].inputs[0]
        found |= {
            (places[name], attribute.position(value)) for value in as_list(values, f"{name!r}")
        }
    return found
