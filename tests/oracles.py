"""The definitions, naive and exact, in `fractions.Fraction`: what the library is tested against.

Nothing here is shared with pinesy; only the public attributes of its rules are read. A
distribution is a dict from the values of a domain to fractions.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, NamedTuple

from equations.minmax_oracle import Matrix, Vector, box, lowest, row_distances

if TYPE_CHECKING:
    from pinesy import Attribute, Cascade, Premise, Rule, RuleSet

Distribution = Mapping[Hashable, Fraction]
Known = Mapping[str, Distribution]
#: One (s, r) for each rule.
Parameters = Sequence[tuple[Fraction, Fraction]]
#: For each cell and rule, whether the cell lies in the rule's conclusion.
Signs = Sequence[Sequence[bool]]

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
    """Lambda and rho: the min over propositions of Pi(P_j), the max of Pi(not P_j).

    A proposition with all values is true and one with none is false, whatever the distribution.
    """
    held, failed = [], []
    for proposition in premise.propositions:
        pi = known[proposition.attribute.name]
        inside = set(proposition.values)
        outside = [u for u in proposition.attribute.domain if u not in inside]
        held.append(possibility(pi, inside) if outside else ONE)
        failed.append(possibility(pi, outside) if inside else ONE)
    return min(held), max(failed)


def infer_rules(
    rules: Sequence[Rule], known: Known, parameters: Parameters | None = None
) -> dict[Hashable, Fraction]:
    """pi*(u) = min_j (alpha_j if u in Q_j else beta_j), by default with the rules' own (s, r)."""
    if parameters is None:
        parameters = [(Fraction(rule.s), Fraction(rule.r)) for rule in rules]
    terms = [
        (alpha_beta(rule.premise, pair, known), set(rule.conclusion.values))
        for rule, pair in zip(rules, parameters, strict=True)
    ]
    domain = rules[0].conclusion.attribute.domain
    return {u: min(a if u in q else b for (a, b), q in terms) for u in domain}


def alpha_beta(
    premise: Premise, parameters: tuple[Fraction, Fraction], known: Known
) -> tuple[Fraction, Fraction]:
    """alpha = max(s, lambda), beta = max(r, rho)."""
    (lambda_, rho), (s, r) = premise_degrees(premise, known), parameters
    return max(s, lambda_), max(r, rho)


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


# --- learning ----------------------------------------------------------------------------------


class Stacked(NamedTuple):
    """What is learnt from samples that are all kept; `x` is (s_1, r_1, ..., s_n, r_n)."""

    nablas: Vector
    repaired: Matrix
    distance: Fraction
    x: Vector


class Learnt(NamedTuple):
    """What is learnt of one rule set; `nablas` and `reliable` are of all samples."""

    nablas: Vector
    reliable: list[bool]
    distance: Fraction
    s: Vector
    r: Vector


class NoReliableSampleError(Exception):
    """A rule set keeps no sample: its name, and the smallest distance of a sample."""


def decimal(degree: float) -> Fraction:
    """The decimal that a float was written as: 1/10 for 0.1, which `Fraction(0.1)` is not."""
    return Fraction(repr(degree))


def signed_matrix(signs: Signs, lambdas: Vector, rhos: Vector) -> Matrix:
    """Eq. coefredG: the columns of rule j hold (lambda_j, 1) for a cell in Q_j, else (1, rho_j)."""
    pairs = [((lambda_, ONE), (ONE, rho)) for lambda_, rho in zip(lambdas, rhos, strict=True)]
    sides = [[pair[not sign] for sign, pair in zip(row, pairs, strict=True)] for row in signs]
    return [list(chain(*row)) for row in sides]


def learn_stacked_exact(signs: Signs, lambdas: Matrix, rhos: Matrix, targets: Matrix) -> Stacked:
    """Repair each sample, stack the dense systems (eq. stackedES), solve (eq. lowestapproxsol).

    Samples are rows: n degrees in `lambdas` and `rhos`, one for each cell in `targets`.
    """
    nablas, repaired = [], []
    matrices = [signed_matrix(signs, *row) for row in zip(lambdas, rhos, strict=True)]
    for gamma, y in zip(matrices, targets, strict=True):
        nablas.append(max(row_distances(gamma, y)))
        repaired.append(box(gamma, lowest(gamma, y, nablas[-1])))
    stacked, second = list(chain(*matrices)), list(chain(*repaired))
    distance = max(row_distances(stacked, second))
    return Stacked(nablas, repaired, distance, lowest(stacked, second, distance))


def learn_rules(
    rules: Sequence[Rule], known: Sequence[Known], targets: Sequence[Any], tau: Fraction | None
) -> Learnt:
    """Learn one set from the samples whose distance is below tau, or from all."""
    output = rules[0].conclusion.attribute
    cells = inductive_partition(output.domain, [rule.conclusion.values for rule in rules])
    signs = [[number > 0 for number in numbers] for numbers, _ in cells]
    pis = [target_distribution(output, target) for target in targets]
    y = [[possibility(pi, cell) for _, cell in cells] for pi in pis]
    degrees = [[premise_degrees(rule.premise, one) for rule in rules] for one in known]
    lambdas, rhos = ([[pair[side] for pair in row] for row in degrees] for side in (0, 1))
    nablas = learn_stacked_exact(signs, lambdas, rhos, y).nablas
    reliable = [tau is None or nabla < tau for nabla in nablas]
    if not any(reliable):
        raise NoReliableSampleError(output.name, min(nablas))
    kept = (list(compress(rows, reliable)) for rows in (lambdas, rhos, y))
    _, _, distance, x = learn_stacked_exact(signs, *kept)
    return Learnt(nablas, reliable, distance, x[::2], x[1::2])


def target_distribution(output: Attribute, target: Any) -> Distribution:
    """A target as a distribution: of a value alone, 1 for it and 0 for all others."""
    if isinstance(target, list):
        return dict(zip(output.domain, target, strict=True))
    return {u: ONE if u == target else ZERO for u in output.domain}


def learn_cascade_exact(
    cascade: Cascade,
    samples: Sequence[Mapping[str, Sequence[Fraction]]],
    targets: Mapping[str, Sequence[Any]],
    tolerances: Mapping[str, Fraction | None] | None = None,
) -> dict[str, Learnt]:
    """Method meth:learningincascade, for any number of sets; the result is by output name.

    A sample has the degrees of each input in domain order. Targets, where a set has any, are a
    value or a list of degrees for each sample. Sets without tolerance keep all samples; sets
    without target keep their parameters and are not in the result.
    """
    domains = {a.name: a.domain for a in cascade.inputs}
    known: list[dict[str, Distribution]] = [
        {name: dict(zip(domains[name], pi, strict=True)) for name, pi in sample.items()}
        for sample in samples
    ]
    learnt = {}
    for rule_set in in_order(cascade.rule_sets, domains):
        name = rule_set.rules[0].conclusion.attribute.name
        parameters = [(decimal(rule.s), decimal(rule.r)) for rule in rule_set.rules]
        if name in targets:
            found = learn_rules(rule_set.rules, known, targets[name], (tolerances or {}).get(name))
            parameters = list(zip(found.s, found.r, strict=True))
            learnt[name] = found
        for one in known:
            one[name] = infer_rules(rule_set.rules, one, parameters)
    return learnt
