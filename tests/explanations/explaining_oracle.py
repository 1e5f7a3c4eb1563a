"""Explanations by their definitions, naive and in fractions; nothing is shared with pinesy."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from oracles import ONE, Known, premise_degrees
from pinesy import Premise, Proposition, Rule

Reduced = tuple[int, frozenset[Hashable], Fraction]


@dataclass(frozen=True)
class Justified:
    """Triplets (number, semantics, degree), or the parameters (number, name) that set a degree."""

    triplets: set[tuple[int, str, Fraction]]
    parameters: set[tuple[int, str]]


def justify(rules: Iterable[Rule], known: Known, value: Hashable, tau: Fraction) -> Justified:
    triplets, parameters = set(), set()
    for number, rule in enumerate(rules, 1):
        lambda_, rho = premise_degrees(rule.premise, known)
        if value in rule.conclusion.values:
            z, d, name, triplet = Fraction(rule.s), lambda_, "s", ("P", lambda_)
        else:
            z, d, name, triplet = Fraction(rule.r), rho, "r", ("C", ONE - rho)
        if d == tau and z <= d:
            triplets.add((number, *triplet))
        if z == tau and d < tau:
            parameters.add((number, name))
    return Justified(triplets, parameters if not triplets else set())


def degree(p: Proposition, known: Known, semantics: str) -> Fraction:
    """pi(p) or n(p) = 1 - pi(not p)."""
    held, failed = premise_degrees(Premise((p,)), known)
    return held if semantics == "P" else ONE - failed


def reduce_proposition(
    p: Proposition, known: Known, semantics: str, eta: Fraction
) -> frozenset[Hashable]:
    pi, d = known[p.attribute.name], degree(p, known, semantics)
    if d < eta:
        return frozenset(p.values)
    if semantics == "P":  # what is true whatever the values stays whole
        return frozenset(u for u in p.values if pi[u] == d) or frozenset(p.values)
    return frozenset(u for u in pi if u in p.values or ONE - pi[u] > d)


def reduce_premise(
    premise: Premise, known: Known, semantics: str, eta: Fraction
) -> tuple[set[Reduced], set[Reduced]]:
    """What is kept, and what is unexpected: (place, values, degree) of the propositions."""
    degrees = [degree(p, known, semantics) for p in premise.propositions]
    every = [
        (place, reduce_proposition(p, known, semantics, eta), d)
        for place, (p, d) in enumerate(zip(premise.propositions, degrees, strict=True), 1)
    ]
    if min(degrees) >= eta:
        return set(every), set()
    return {part for part in every if part[2] < eta}, {part for part in every if part[2] >= eta}
