"""Fuzzy relational equations by their definitions, in fractions, to test `System` against.

Nothing here is shared with pinesy, and no formula of a distance: a distance is checked by what it
means. A matrix is a list of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Vector = list[Fraction]
Matrix = list[Vector]
Operation = Callable[[Fraction, Fraction], Fraction]

ZERO, ONE = Fraction(0), Fraction(1)


# --- t-norms, and what is derived from them ----------------------------------------------------


def product_of(a: Fraction, x: Fraction) -> Fraction:
    return a * x


def lukasiewicz(a: Fraction, x: Fraction) -> Fraction:
    return max(a + x - 1, ZERO)


def dual(norm: Operation) -> Operation:
    return lambda a, x: 1 - norm(1 - a, 1 - x)


def goedel_implication(a: Fraction, c: Fraction) -> Fraction:
    """The greatest x with min(a, x) <= c."""
    return ONE if a <= c else c


def goguen_implication(a: Fraction, c: Fraction) -> Fraction:
    """The greatest x with a x <= c."""
    return ONE if a <= c else c / a


def lukasiewicz_implication(a: Fraction, c: Fraction) -> Fraction:
    """The greatest x with max(a + x - 1, 0) <= c."""
    return min(1 - a + c, ONE)


@dataclass(frozen=True)
class Kind:
    """A composition: its operation, the extreme x of one coefficient, and whether it is a max."""

    operation: Operation
    extreme: Operation
    is_max: bool

    def apply(self, a: Matrix, x: Sequence[Fraction]) -> Vector:
        reduce = max if self.is_max else min
        return [reduce(map(self.operation, row, x)) for row in a]

    def candidate(self, a: Matrix, b: Vector) -> Vector:
        """The greatest x with A x <= b; of a minimum the lowest x with A x >= b."""
        reduce = min if self.is_max else max
        return [reduce(map(self.extreme, column, b)) for column in zip(*a, strict=True)]

    def is_feasible(self, a: Matrix, b: Vector, d: Fraction) -> bool:
        """Whether some x has a residual of at most d: the extreme one within b + d (b - d) does."""
        low, high = [max(y - d, ZERO) for y in b], [min(y + d, ONE) for y in b]
        values = self.apply(a, self.candidate(a, high if self.is_max else low))
        return all(p <= v <= q for p, v, q in zip(low, values, high, strict=True))


NORMS: dict[str, tuple[Operation, Operation]] = {
    "min": (min, goedel_implication),
    "product": (product_of, goguen_implication),
    "lukasiewicz": (lukasiewicz, lukasiewicz_implication),
}
DUALS = {"min": "max", "product": "probabilistic-sum", "lukasiewicz": "bounded-sum"}
IMPLICATIONS = {"min": "goedel", "product": "goguen", "lukasiewicz": "lukasiewicz"}
KINDS: dict[str, Kind] = {}
for name, (norm, implication) in NORMS.items():
    KINDS[f"max-{name}"] = Kind(norm, implication, True)
    KINDS[f"min-{DUALS[name]}"] = Kind(dual(norm), dual(implication), False)
    KINDS[f"min-{IMPLICATIONS[name]}-implication"] = Kind(implication, norm, False)


# --- brute force -------------------------------------------------------------------------------


def grid(steps: int, size: int) -> Iterator[tuple[Fraction, ...]]:
    """All vectors with entries 0, 1/steps, ..., 1."""
    return product([Fraction(i, steps) for i in range(steps + 1)], repeat=size)


def residual(kind: Kind, a: Matrix, b: Vector, x: Sequence[Fraction]) -> Fraction:
    return max(abs(u - v) for u, v in zip(kind.apply(a, x), b, strict=True))


def candidates(kind: Kind, a: Matrix, goals: Vector, bounds: Vector) -> Iterator[Vector]:
    """All vectors of the entries that may occur in minimal (maximal) solutions.

    An entry is the start, or the least x that brings one coefficient to a goal: there are so few x
    that are a sum, difference, quotient or product of a coefficient and a goal that all are tried.
    """
    start = ZERO if kind.is_max else ONE
    choices = []
    for j in range(len(bounds)):
        entries = {start, bounds[j]}
        for row, goal in zip(a, goals, strict=True):
            c = row[j]
            tried = {goal, goal - c, goal + 1 - c, goal + c - 1, goal * c}
            tried |= {goal / c} if c else set()
            tried |= {(goal - c) / (1 - c)} if c < 1 else set()
            entries |= {x for x in tried if 0 <= x <= 1}
        inside = (x <= bounds[j] if kind.is_max else x >= bounds[j] for x in entries)
        choices.append([x for x, is_inside in zip(entries, inside, strict=True) if is_inside])
    return map(list, product(*choices))


def extreme_elements(vectors: list[Vector], is_max: bool) -> set[tuple[Fraction, ...]]:
    """The minimal vectors, for a minimum the maximal ones."""

    def beats(x: Vector, y: Vector) -> bool:
        return x != y and all((u <= v if is_max else u >= v) for u, v in zip(x, y, strict=True))

    return {tuple(x) for x in vectors if not any(beats(y, x) for y in vectors)}


def solutions(kind: Kind, a: Matrix, lower: Vector, upper: Vector) -> list[Vector]:
    """All vectors of `candidates` within the bounds."""
    bounds = kind.candidate(a, upper if kind.is_max else lower)
    tried = candidates(kind, a, lower if kind.is_max else upper, bounds)
    return [
        x
        for x in tried
        if all(p <= v <= q for p, v, q in zip(lower, kind.apply(a, x), upper, strict=True))
    ]
