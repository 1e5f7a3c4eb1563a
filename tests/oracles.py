"""The definitions, naive and exact, in `fractions.Fraction`: what the library is tested against.

Nothing here is shared with pinesy; only the public attributes of its rules are read. A
distribution is a dict from the values of a domain to fractions.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinesy import Premise, Rule, RuleSet

Distribution = Mapping[Hashable, Fraction]
Known = Mapping[str, Distribution]

ZERO, ONE = Fraction(0), Fraction(1)


# --- possibility and necessity -----------------------------------------------------------------


def possibility(pi: Distribution, subset: Iterable[Hashable]) -> Fraction:
    """Pi(A) = max {pi(u) : u in A}, and Pi(empty) = 0."""
    return max((pi[u] for u in subset), default=ZERO)


def necessity(pi: Distribution, subset: Collection[Hashable]) -> Fraction:
    """N(A) = 1 - Pi(not A)."""
    return ONE - possibility(pi, [u for u in pi if u not in subset])


# --- rules -------------------------------------------------------------------------------------


def premise_degrees(premise: Premise, known: Known) -> tuple[Fraction, Fraction]:
    """Lambda and rho: the min over propositions of Pi(P_j), the max of Pi(not P_j)."""
    held, failed = [], []
    for proposition in premise.propositions:
        pi = known[proposition.attribute.name]
        inside = set(proposition.values)
        outside = [u for u in proposition.attribute.domain if u not in inside]
        held.append(possibility(pi, inside))
        failed.append(possibility(pi, outside))
    return min(held), max(failed)


def alpha_beta(rule: Rule, known: Known) -> tuple[Fraction, Fraction]:
    """alpha = max(s, lambda), beta = max(r, rho)."""
    lambda_, rho = premise_degrees(rule.premise, known)
    return max(Fraction(rule.s), lambda_), max(Fraction(rule.r), rho)


def infer_rules(rules: Sequence[Rule], known: Known) -> dict[Hashable, Fraction]:
    """pi*(u) = min_j (alpha_j if u in Q_j else beta_j)."""
    terms = [(alpha_beta(rule, known), set(rule.conclusion.values)) for rule in rules]
    domain = rules[0].conclusion.attribute.domain
    return {u: min(a if u in q else b for (a, b), q in terms) for u in domain}


# --- cascades ----------------------------------------------------------------------------------


@dataclass
class Outcome:
    """Everything there is to know of one sample: distributions, degrees, coherence."""

    distributions: dict[str, Distribution]
    degrees: dict[str, list[tuple[Fraction, Fraction]]] = field(default_factory=dict)
    #: Whether every distribution behind an attribute, its own included, reaches 1.
    coherent: dict[str, bool] = field(default_factory=dict)


def in_order(rule_sets: Iterable[RuleSet], inputs: Iterable[str]) -> list[RuleSet]:
    """Take, again and again, the first set whose inputs are all known."""
    known, waiting, order = set(inputs), list(rule_sets), []
    while waiting:
        ready = next(s for s in waiting if all(name in known for name in _inputs(s)))
        waiting.remove(ready)
        order.append(ready)
        known.add(ready.rules[0].conclusion.attribute.name)
    return order


def _inputs(rule_set: RuleSet) -> list[str]:
    return [p.attribute.name for rule in rule_set.rules for p in rule.premise.propositions]


def infer(rule_sets: Iterable[RuleSet], evidence: Known) -> Outcome:
    """Infer a whole cascade for one sample."""
    outcome = Outcome(dict(evidence), coherent=dict.fromkeys(evidence, True))
    for rule_set in in_order(rule_sets, evidence):
        name = rule_set.rules[0].conclusion.attribute.name
        outcome.degrees[name] = [
            premise_degrees(rule.premise, outcome.distributions) for rule in rule_set.rules
        ]
        pi = infer_rules(rule_set.rules, outcome.distributions)
        outcome.distributions[name] = pi
        outcome.coherent[name] = max(pi.values()) == ONE and all(
            outcome.coherent[a] for a in _inputs(rule_set)
        )
    return outcome


# --- partition ---------------------------------------------------------------------------------


def inductive_partition(
    domain: Sequence[Hashable], subsets: Sequence[Collection[Hashable]]
) -> list[tuple[tuple[int, ...], list[Hashable]]]:
    """The paper's E_k: 2^n sets, each of E^(i-1) cut with Q_i, then each cut with its complement.

    Returns the signed tuple (1, -2, ...) and the values of each non-empty set, in order of k.
    """
    sets: list[tuple[tuple[int, ...], list[Hashable]]] = [((), list(domain))]
    for i, subset in enumerate(subsets, 1):
        inside = [((*signs, i), [u for u in e if u in subset]) for signs, e in sets]
        outside = [((*signs, -i), [u for u in e if u not in subset]) for signs, e in sets]
        sets = inside + outside
    return [(signs, e) for signs, e in sets if e]


# --- probability and possibility ---------------------------------------------------------------


def antipignistic(p: Sequence[Fraction]) -> list[Fraction]:
    """pi_i = sum_j min(p_j, p_i)."""
    return [sum((min(q, x) for q in p), ZERO) for x in p]


def antipignistic_inverse(pi: Sequence[Fraction]) -> list[Fraction]:
    """p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j, with pi sorted down and pi_{m+1} = 0."""
    order = sorted(range(len(pi)), key=lambda i: -pi[i])
    ranked = [pi[i] for i in order] + [ZERO]
    result = [ZERO] * len(pi)
    for rank, i in enumerate(order):
        for j in range(rank, len(pi)):
            result[i] += (ranked[j] - ranked[j + 1]) / (j + 1)
    return result


def minimum_specificity(p: Sequence[Fraction]) -> list[Fraction]:
    """pi_i = sum_{j >= i} p_j, with p sorted down, ties in the order they stand in."""
    order = sorted(range(len(p)), key=lambda i: (-p[i], i))
    result = [ZERO] * len(p)
    for rank, i in enumerate(order):
        result[i] = sum((p[j] for j in order[rank:]), ZERO)
    return result


def minimum_specificity_equal(p: Sequence[Fraction]) -> list[Fraction]:
    """The sum of all p_j <= p_i: ties get one degree."""
    return [sum((q for q in p if q <= x), ZERO) for x in p]


# --- min-max algebra ---------------------------------------------------------------------------


def minmax_product(
    a: Sequence[Sequence[Fraction]], b: Sequence[Sequence[Fraction]]
) -> list[list[Fraction]]:
    """(a box b)[i][k] = min_j max(a[i][j], b[j][k])."""
    return [
        [min(max(row[j], b[j][k]) for j in range(len(b))) for k in range(len(b[0]))] for row in a
    ]
