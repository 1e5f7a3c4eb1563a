"""Clauses: conditions ``Pi(a in P) > t`` joined by and, or."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.sample import BoolArray, members
from pinesy.rules.attributes import Proposition

Comparison = Literal[">", ">=", "<", "<="]

_HOLDS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
_OPPOSITE: dict[Comparison, Comparison] = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


@dataclass(frozen=True, eq=False)
class Atom:
    """The condition ``Pi(a in P) > t`` (or ``>=``, ``<``, ``<=``)."""

    proposition: Proposition
    comparison: Comparison
    threshold: float

    def compare(self, degrees: FloatArray) -> BoolArray:
        """Tell of each distribution (a row) whether it meets the condition."""
        inside = members(self.proposition)
        measured = degrees[:, inside].max(axis=1, initial=0.0)
        return np.asarray(_HOLDS[self.comparison](measured, self.threshold))


@dataclass(frozen=True, eq=False)
class AllOf:
    """The conjunction of its parts; true if there are none."""

    parts: "tuple[Clause, ...]"


@dataclass(frozen=True, eq=False)
class AnyOf:
    """The disjunction of its parts; false if there are none."""

    parts: "tuple[Clause, ...]"


Clause = Atom | AllOf | AnyOf


def below(root: Clause) -> Iterator[Clause]:
    """Yield a clause and all behind it, each once, parts before wholes; however deep it is."""
    seen: set[int] = set()
    waiting: list[tuple[Clause, bool]] = [(root, False)]
    while waiting:
        clause, ready = waiting.pop()
        if ready:
            yield clause
        elif id(clause) not in seen:
            seen.add(id(clause))
            waiting.append((clause, True))
            if not isinstance(clause, Atom):
                waiting.extend((part, False) for part in clause.parts)


def negated(root: Clause) -> Clause:
    """Return the negation: and for or, or for and, the opposite comparison."""
    found: dict[int, Clause] = {}
    for clause in below(root):
        if isinstance(clause, Atom):
            opposite = _OPPOSITE[clause.comparison]
            found[id(clause)] = Atom(clause.proposition, opposite, clause.threshold)
        else:
            kind = AnyOf if isinstance(clause, AllOf) else AllOf
            found[id(clause)] = kind(tuple(found[id(part)] for part in clause.parts))
    return found[id(root)]
