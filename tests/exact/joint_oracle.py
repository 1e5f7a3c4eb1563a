"""The joint distribution of a cascade, listed world by world in fractions; random cascades."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from oracles import decimal
from pinesy import Attribute, Cascade, Premise, Proposition, Rule, RuleSet
from pinesy._common.validation import FloatArray

#: Degrees and parameters; the certain ones are frequent.
GRID = (0.0, 0.0, 0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.0)
Degrees = Mapping[str, Sequence[float]]
World = dict[str, int]


def random_cascade(rng: np.random.Generator, certain: bool = False) -> Cascade:
    """Rule sets on few attributes, so that most cascades have loops; some contradict themselves."""
    grid = (0.0, 0.0, 1.0) if certain else GRID
    attributes = [Attribute(f"x{i}", range(rng.integers(1, 5))) for i in range(rng.integers(1, 4))]
    rule_sets = []
    for k in range(rng.integers(1, 5)):
        output = Attribute(f"b{k}", range(rng.integers(1, 6)))
        rules = []
        for _ in range(rng.integers(1, 5)):
            chosen = [attributes[i] for i in rng.integers(len(attributes), size=rng.integers(1, 4))]
            premise = Premise(
                tuple(Proposition(a, int(rng.integers(0, a.full + 1))) for a in chosen)
            )
            conclusion = Proposition(output, int(rng.integers(1, output.full + 1)))
            rules.append(Rule(premise, conclusion, *map(float, rng.choice(grid, 2))))
        rule_sets.append(RuleSet(rules))
        attributes.append(output)
    return Cascade(*rule_sets)


def random_degrees(
    rng: np.random.Generator, attributes: Sequence[Attribute], n: int
) -> dict[str, FloatArray]:
    """Normalised distributions (n, values) of attributes."""
    degrees = {}
    for a in attributes:
        degrees[a.name] = rng.choice(GRID, size=(n, len(a.domain)))
        degrees[a.name][np.arange(n), rng.integers(len(a.domain), size=n)] = 1.0
    return degrees


def worlds(rule_sets: Sequence[RuleSet]) -> Iterator[tuple[World, Fraction]]:
    """All worlds of rule sets, as indices of values, and their degrees in the rules."""
    used = {a.name: a for s in rule_sets for a in (*s.inputs, s.output)}
    for indices in product(*(range(len(a.domain)) for a in used.values())):
        world = dict(zip(used, indices, strict=True))
        degree = Fraction(1)
        for rule_set in rule_sets:
            for rule in rule_set.rules:
                holds = all(
                    p.mask >> world[p.attribute.name] & 1 for p in rule.premise.propositions
                )
                inside = bool(rule.conclusion.mask >> world[rule_set.output.name] & 1)
                if holds != inside:
                    degree = min(degree, decimal(rule.s if inside else rule.r))
        yield world, degree


def projections(rule_sets: Sequence[RuleSet], *given: Degrees) -> dict[str, dict[int, Fraction]]:
    """The largest degree of the joint for each value of each attribute that is not 0."""
    best: dict[str, dict[int, Fraction]] = {}
    for world, in_rules in worlds(rule_sets):
        degrees = [
            decimal(float(pi[world[n]])) for part in given for n, pi in part.items() if n in world
        ]
        degree = min([in_rules, *degrees])
        for name, index in world.items():
            by_value = best.setdefault(name, {})
            by_value[index] = max(by_value.get(index, Fraction(0)), degree)
    return best
