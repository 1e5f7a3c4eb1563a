"""Remappings of concepts, and all of those that keep observed answers right."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from pinesy._common.markup import counted
from pinesy._common.names import by_name
from pinesy._common.validation import BoolArray, FloatArray, suggestion
from pinesy.concepts.concept_check import ConceptCheck
from pinesy.concepts.concept_kinds import ConceptKind
from pinesy.concepts.observed_answers import ObservedAnswers, Positions
from pinesy.exceptions import DegreeError, UnknownAttributeError
from pinesy.rules.syntax.writer import show_value

#: What values of each kind are read as, by the name of the kind.
Readings = dict[str, dict[Hashable, Hashable]]


@dataclass(frozen=True)
class Remapping:
    """What each observed value is read as, by the name of its kind."""

    readings: Readings

    @cached_property
    def wrong(self) -> Readings:
        """What is read as another value."""
        each = {
            kind: {value: read for value, read in pairs.items() if value != read}
            for kind, pairs in self.readings.items()
        }
        return {kind: pairs for kind, pairs in each.items() if pairs}

    @property
    def is_true(self) -> bool:
        """Whether every value is read as what it is."""
        return not self.wrong

    def __str__(self) -> str:
        """Say what is read wrongly, such as ``"2 as 3, 3 as 2, 4 as 3"``."""
        if self.is_true:
            return "all right"
        parts = {
            kind: ", ".join(f"{show_value(v)} as {show_value(r)}" for v, r in pairs.items())
            for kind, pairs in self.wrong.items()
        }
        if len(self.readings) == 1:
            return next(iter(parts.values()))
        return "; ".join(f"{kind}: {part}" for kind, part in parts.items())


@dataclass(frozen=True, eq=False)
class GroupRemappings:
    """The remappings of values that observed combinations join.

    Attributes
    ----------
    variables : the numbers of the values among all
    maps : what each is read as (n, variables), as positions; the true remapping is the first
    exact : whether these are all
    labels : the numbers of a smallest set of values whose labels leave the true one alone
    """

    variables: Positions
    maps: Positions
    exact: bool
    labels: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Shortcuts:
    """The remappings of concepts that keep all observed answers right.

    Attributes
    ----------
    kinds : the kinds of inputs; those of a kind are read by one network
    combinations : how many different combinations of values were observed
    groups : remappings of values that do not depend on those of other groups
    limit : how many are listed
    """

    kinds: tuple[ConceptKind, ...]
    combinations: int
    groups: tuple[GroupRemappings, ...]
    limit: int
    _answers: ObservedAnswers = field(repr=False)

    @property
    def count(self) -> int:
        """How many remappings there are, the true one included; at least so many if not `exact`."""
        return prod(len(group.maps) for group in self.groups)

    @property
    def exact(self) -> bool:
        """Whether `count` is the exact number."""
        return all(group.exact for group in self.groups)

    @property
    def remappings(self) -> list[Remapping]:
        """The first `limit` remappings; the very first is the true one."""
        return list(islice(self._remappings(), self.limit))

    def _remappings(self) -> Iterator[Remapping]:
        for choice in product(*(group.maps for group in self.groups)):
            read = self._answers.truth.copy()
            for group, one in zip(self.groups, choice, strict=True):
                read[group.variables] = one
            yield self._remapping(read)

    def _remapping(self, read: Positions) -> Remapping:
        readings: Readings = {}
        for (k, value), other in zip(self._answers.variables, read.tolist(), strict=True):
            kind = self.kinds[k]
            readings.setdefault(kind.name, {})[kind.domain[value]] = kind.domain[other]
        return Remapping(readings)

    def _by_kind(self, variables: Iterable[tuple[int, int]]) -> dict[str, tuple[Hashable, ...]]:
        found: dict[str, tuple[Hashable, ...]] = {}
        for k, value in variables:
            kind = self.kinds[k]
            found[kind.name] = (*found.get(kind.name, ()), kind.domain[value])
        return found

    @property
    def labels(self) -> dict[str, tuple[Hashable, ...]]:
        """A smallest set of values, by kind, whose labels would leave only the true remapping."""
        chosen = sorted(number for group in self.groups for number in group.labels)
        return self._by_kind(self._answers.variables[number] for number in chosen)

    @property
    def unobserved(self) -> dict[str, tuple[Hashable, ...]]:
        """Values, by kind, that were never observed: no answer says what they are read as."""
        every = ((k, i) for k, kind in enumerate(self.kinds) for i in range(len(kind.domain)))
        known = set(self._answers.variables)
        return self._by_kind(variable for variable in every if variable not in known)

    # --- networks ------------------------------------------------------------------------------

    def looks_like(
        self, checks: ConceptCheck | Mapping[Any, ConceptCheck]
    ) -> tuple[Remapping, float]:
        """Return the remapping that a network comes nearest to, and the share that fits it.

        Parameters
        ----------
        checks : what `check_concepts` says of the network of each kind, by the name of the kind or
            of an input; for one kind, this alone
        """
        confusions = {k: check.confusion for k, check in self._for_kinds(checks).items()}
        read, variables = self._answers.truth.copy(), np.array(self._answers.variables)
        for group in self.groups:
            agreeing = np.zeros(len(group.maps))
            for column, number in enumerate(group.variables):
                k, value = variables[number]
                agreeing += confusions[k][value, group.maps[:, column]]
            read[group.variables] = group.maps[int(agreeing.argmax())]
        rows = [confusions[k][value] for k, value in variables]
        seen = sum(int(row.sum()) for row in rows)
        fits = sum(int(row[r]) for row, r in zip(rows, read, strict=True))
        return self._remapping(read), fits / max(1, seen)

    def _for_kinds(self, given: Any) -> dict[int, Any]:
        """Return what is given for each kind, by its number."""
        if not isinstance(given, Mapping):
            given = {self.kinds[0].name: given}
        named, found = by_name(given, "kind"), {}
        for name in named:
            found[self._kind_number(name)] = named[name]
        missing = [kind.name for k, kind in enumerate(self.kinds) if k not in found]
        if missing:
            raise UnknownAttributeError(
                f"nothing is given for the kind {missing[0]!r}; give a dict with all kinds"
            )
        return found

    def _kind_number(self, name: Hashable) -> int:
        for k, kind in enumerate(self.kinds):
            if name == kind.name or name in [a.name for a in kind.inputs]:
                return k
        known = [kind.name for kind in self.kinds]
        raise UnknownAttributeError(f"there is no kind of inputs {name!r}{suggestion(name, known)}")

    @cached_property
    def _may_be_read(self) -> list[BoolArray]:
        """For each kind, whether a value (rows) is read as another by some remapping.

        One that was not observed may be read as anything, and so are those of which not all
        remappings were found.
        """
        relation = [np.ones((len(kind.domain),) * 2, dtype=bool) for kind in self.kinds]
        for k, value in self._answers.variables:
            relation[k][value] = np.arange(len(relation[k])) == value
        for group in self.groups:
            for column, number in enumerate(group.variables):
                k, value = self._answers.variables[number]
                relation[k][value, group.maps[:, column] if group.exact else slice(None)] = True
        return relation

    def cautious(self, evidence: Mapping[Any, Any]) -> dict[str, FloatArray]:
        """Return what a network sees, as far as answers alone tell what it means by it.

        A value is as possible as any that some remapping reads it as: ``max_alpha
        pi(alpha(v))``. Whichever of the remappings the network has learned, the true value is as
        possible as what it reads.

        Parameters
        ----------
        evidence : for inputs the possibilities (n, |domain|), or of one sample (|domain|,)

        Returns
        -------
        degrees : by the names of the inputs, as `infer` takes them
        """
        found: dict[str, FloatArray] = {}
        for name, given in by_name(evidence, "input").items():
            relation = self._may_be_read[self._kind_number(name)]
            degrees = np.asarray(given, dtype=np.float64)
            if degrees.ndim not in (1, 2) or degrees.shape[-1] != len(relation):
                raise DegreeError(
                    f"the input {name!r} has {len(relation)} values, so it takes degrees of shape "
                    f"({len(relation)},) or (n, {len(relation)}); got shape {degrees.shape}"
                )
            found[name] = np.where(relation, degrees[..., None, :], 0.0).max(axis=-1)
        return found

    # --- words -------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return the count, the remappings and the labels, for reading."""
        few = "" if self.exact else "at least "
        maps, combos = counted(self.count, "remapping"), counted(self.combinations, "combination")
        keep = "keeps" if self.count == 1 else "keep"
        each = [f"{'' if g.exact else 'at least '}{len(g.maps):,}" for g in self.groups]
        how = (
            f" ({' x '.join(each)})" if len([g for g in self.groups if len(g.maps) > 1]) > 1 else ""
        )
        lines = [f"{few}{maps} of concepts{how} {keep} the answers to {combos} right"]
        if self.count == 1:
            return "\n".join([*lines, "no shortcut: the answers tell the concepts", *self._notes()])
        lines += [f"{i + 1:>5}. {one}" for i, one in enumerate(self.remappings)]
        if self.count > self.limit:
            lines.append(f"       ... and {self.count - self.limit:,} more (limit={self.limit})")
        labels = sum(map(len, self.labels.values()))
        lines.append(
            f"{counted(labels, 'label')} would leave only the true one: {_listed(self.labels)}"
        )
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        if not self.unobserved:
            return []
        return [f"never observed, so read as anything: {_listed(self.unobserved)}"]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with values as they are."""
        return {
            "count": self.count,
            "exact": self.exact,
            "combinations": self.combinations,
            "kinds": {kind.name: [a.name for a in kind.inputs] for kind in self.kinds},
            "groups": [len(group.maps) for group in self.groups],
            "remappings": [
                {kind: list(map(list, read.items())) for kind, read in one.readings.items()}
                for one in self.remappings
            ],
            "labels": {kind: list(values) for kind, values in self.labels.items()},
            "unobserved": {kind: list(values) for kind, values in self.unobserved.items()},
        }


def _listed(values: Mapping[str, Iterable[Hashable]]) -> str:
    each = (f"{', '.join(map(show_value, those))} ({kind})" for kind, those in values.items())
    return "; ".join(each)
