"""Triplets: premises that set a degree, reduced to what matters, and what is unexpected."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.sample import Sample
from pinesy.explanations.tables import BoolArray, IntArray, RuleTable
from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import Rule

Semantics = Literal["P", "C"]

#: The order of a premise of one proposition, which is kept.
_ALONE: tuple[IntArray, IntArray] = (np.zeros(1, np.intp), np.zeros(0, np.intp))
#: Certainties are differences ``1 - rho``: this much rounding must not carry one across `eta`.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Part:
    """A proposition of a triplet's premise, as the sample sees it.

    Attributes
    ----------
    number : its place in the premise, from 1
    proposition : as the rule has it
    reduced : what is left of it (under possibility: the values that attain its degree), or what
        it is widened to (under certainty: with the values that are excluded more surely)
    degree : ``pi(p_j)`` under possibility, ``n(p_j)`` under certainty
    decides : whether it attains the degree of the premise
    values : the values that attain its degree: in `P` under possibility, outside under certainty
    """

    number: int
    proposition: Proposition
    reduced: Proposition
    degree: float
    decides: bool
    values: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class Triplet:
    """A triplet ``(p, semantics, degree)`` of a justification.

    Attributes
    ----------
    rule, number : the rule with premise `p`, and its number in its set, from 1
    semantics : ``"P"``: `p` is possible at `degree` ``= lambda``; ``"C"``: `p` is certain at
        `degree` ``= 1 - rho``
    possibility : the degree of the conclusion that it justifies: ``lambda``, or ``rho``
    eta : the threshold under which a degree counts as nothing
    """

    rule: Rule
    number: int
    semantics: Semantics
    possibility: float
    eta: float
    _sample: Sample = field(repr=False)
    _table: RuleTable = field(repr=False)

    @property
    def premise(self) -> Premise:
        """The premise `p`, as the rule has it."""
        return self.rule.premise

    @property
    def degree(self) -> float:
        """The possibility ``lambda`` of the premise, or its certainty ``1 - rho``."""
        return self.possibility if self.semantics == "P" else 1.0 - self.possibility

    @cached_property
    def _span(self) -> IntArray:
        return self._table.span(self.number - 1)

    @cached_property
    def _measures(self) -> FloatArray:
        """``Pi(P_j)`` under possibility, ``Pi(not P_j)`` under certainty, of each proposition."""
        measured = self._sample.measured(self._table.output.name)
        side = measured.held if self.semantics == "P" else measured.failed
        found: FloatArray = side[self._span]
        return found

    @cached_property
    def _low(self) -> BoolArray:
        """Whether each proposition's degree is below eta."""
        found: BoolArray = self._below_eta(self._measures)
        return found

    def _below_eta(self, measures: Any) -> Any:
        if self.semantics == "P":
            return measures < self.eta
        return measures - (1.0 - self.eta) > ROUNDING

    @property
    def holds(self) -> bool:
        """Whether the premise's degree reaches eta; if not, it is its lack that justifies."""
        return not self._below_eta(self.possibility)

    @property
    def _is_alone(self) -> bool:
        return len(self.rule.premise.propositions) == 1

    @cached_property
    def _order(self) -> tuple[IntArray, IntArray]:
        """The places that are kept, those that decide first; and the unexpected ones."""
        if self._is_alone:
            return _ALONE
        nearest = np.argsort(np.abs(self._measures - self.possibility), kind="stable")
        if self.holds:
            return nearest, nearest[:0]
        low = self._low[nearest]
        return nearest[low], nearest[~low][::-1]

    @cached_property
    def reduced(self) -> tuple[Part, ...]:
        """The reduced premise: those that decide its degree first, then the nearest to it.

        All propositions where the degree of the premise reaches eta, else those below eta.
        """
        return self.first(self.n_reduced)

    @cached_property
    def unexpected(self) -> tuple[Part, ...]:
        """The propositions that reach eta though the premise does not: "even if ...".

        The farthest from the premise's degree come first.
        """
        return self.first_unexpected(self.n_unexpected)

    @property
    def n_reduced(self) -> int:
        """The number of propositions that are kept."""
        return 1 if self._is_alone else len(self._order[0])

    @property
    def n_unexpected(self) -> int:
        """The number of unexpected propositions."""
        return 0 if self._is_alone or self.holds else len(self._order[1])

    def first(self, limit: int | None) -> tuple[Part, ...]:
        """Return the first parts of `reduced`, without making the others."""
        return tuple(self._parts[place] for place in self._order[0][:limit].tolist())

    def first_unexpected(self, limit: int | None) -> tuple[Part, ...]:
        """Return the first parts of `unexpected`, without making the others."""
        return tuple(self._parts[place] for place in self._order[1][:limit].tolist())

    def degrees(self, unexpected: bool = False) -> FloatArray:
        """Return the degrees of all parts of `reduced` (or `unexpected`), in their order."""
        found: FloatArray = self._measures[self._order[unexpected]]
        return found if self.semantics == "P" else 1.0 - found

    def behind(self, limit: int | None) -> Iterator[tuple[Attribute, list[int]]]:
        """Yield what the deciding ones of the first parts rest on, without making the parts.

        That is for each its attribute and the positions of the values that attain its degree.
        """
        deciding = self._order[0][:limit]
        if not self._is_alone:
            deciding = deciding[self._measures[deciding] == self.possibility]
        for place in deciding.tolist():
            attribute = self.rule.premise.propositions[place].attribute
            attaining = self._sample.attaining(attribute.name, self.possibility)
            inside = self._table.masks[self._span[place]]
            side = inside if self.semantics == "P" else ~inside
            yield attribute, (attaining & side).nonzero()[0][:limit].tolist()

    @property
    def n_deciding(self) -> int:
        """The number of propositions that attain the degree of the premise."""
        return int((self._measures == self.possibility).sum())

    @cached_property
    def _parts(self) -> "_Parts":
        return _Parts(self._part)

    def _part(self, place: int) -> Part:
        proposition = self.premise.propositions[place]
        measure = float(self._measures[place])
        pi = self._sample.degrees(proposition.attribute.name)
        inside = self._table.masks[self._span[place]]
        attaining = (inside if self.semantics == "P" else ~inside) & (pi == measure)
        return Part(
            place + 1,
            proposition,
            self._reduce(proposition, bool(self._low[place]), attaining, ~inside & (pi < measure)),
            measure if self.semantics == "P" else 1.0 - measure,
            measure == self.possibility,
            _values(proposition.attribute, attaining),
        )

    def _reduce(
        self, proposition: Proposition, low: bool, attaining: BoolArray, surer: BoolArray
    ) -> Proposition:
        """Keep the attaining values (possibility) or add those excluded more surely (certainty)."""
        if low:
            return proposition
        attribute = proposition.attribute
        changed = _mask(attaining) if self.semantics == "P" else proposition.mask | _mask(surer)
        same = changed == proposition.mask
        return proposition if same else Proposition(attribute, changed)


class _Parts(dict[int, Part]):
    """Parts by place, each made when it is asked for."""

    def __init__(self, make: Callable[[int], Part]) -> None:
        self._make = make

    def __missing__(self, place: int) -> Part:
        self[place] = found = self._make(place)
        return found


def _mask(chosen: BoolArray) -> int:
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def _values(attribute: Attribute, chosen: BoolArray) -> tuple[Hashable, ...]:
    return tuple(attribute.domain[i] for i in np.flatnonzero(chosen).tolist())
