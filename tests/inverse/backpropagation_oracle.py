"""Backpropagation by its definitions, in fractions and by trying everything."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import oracles
from oracles import ONE, ZERO, Distribution
from pinesy import Attribute, Cascade, Possibility, RuleSet

Pi = dict[Hashable, Fraction]


def fractions(pi: Possibility) -> Pi:
    """A distribution in exact fractions."""
    return {value: Fraction(degree) for value, degree in pi.to_dict().items()}


class Premises(NamedTuple):
    """The system (Omega) of a rule set and a target, by its definition with the dense matrix."""

    cells: list[list[Hashable]]
    target: list[Fraction]
    down: list[Fraction]
    up: list[Fraction]
    #: M box F^up, a cell each.
    reached: list[Fraction]
    #: s_1, r_1, ..., s_n, r_n.
    parameters: list[Fraction]

    @property
    def bounds(self) -> list[Fraction]:
        """The degrees x for which max(parameter, x) <= max(parameter, up): no harm is done."""
        return list(map(max, self.parameters, self.up))

    @property
    def grid(self) -> list[Fraction]:
        """The degrees that tell solutions from others."""
        return sorted({ZERO, ONE, *self.reached, *self.parameters})


def premises(rule_set: RuleSet, target: Distribution) -> Premises:
    rules, domain = rule_set.rules, rule_set.output.domain
    cells = oracles.inductive_partition(domain, [rule.conclusion.values for rule in rules])
    signs = [[number > 0 for number in numbers] for numbers, _ in cells]
    s, r = [Fraction(rule.s) for rule in rules], [Fraction(rule.r) for rule in rules]
    matrix = oracles.signed_matrix(signs, s, r)
    o = [oracles.possibility(target, values) for _, values in cells]
    down = [
        max(y if row[column] < y else ZERO for row, y in zip(matrix, o, strict=True))
        for column in range(2 * len(rules))
    ]
    up = [
        max((y for row, y in zip(signs, o, strict=True) if row[j] is side), default=ZERO)
        for j in range(len(rules))
        for side in (True, False)
    ]
    reached = [min(max(m, x) for m, x in zip(row, up, strict=True)) for row in matrix]
    parameters = [z for pair in zip(s, r, strict=True) for z in pair]
    return Premises([values for _, values in cells], o, down, up, reached, parameters)


def spread(system: Premises, degrees: Sequence[Fraction]) -> Pi:
    """The distribution with the given degree for all values of a cell."""
    return {u: d for values, d in zip(system.cells, degrees, strict=True) for u in values}


def inputs_on(grid: Sequence[Fraction], attributes: Sequence[Attribute]) -> Iterator[dict[str, Pi]]:
    """All normalised distributions of some attributes with degrees on a grid."""
    each = [
        [dict(zip(a.domain, d, strict=True)) for d in product(grid, repeat=len(a.domain))
         if max(d) == ONE]
        for a in attributes
    ]  # fmt: skip
    for choice in product(*each):
        yield {a.name: pi for a, pi in zip(attributes, choice, strict=True)}


def solutions(rule_set: RuleSet, target: Distribution, within: bool = True) -> list[dict[str, Pi]]:
    """All inputs on the grid that give the target, `within` the bounds of their premise degrees.

    The target is the one that can be reached. A solution stays one if every degree is raised to
    the next on the grid of its degrees, so that none is missed.
    """
    first = premises(rule_set, target)
    used = spread(first, first.reached)
    system = premises(rule_set, used)
    found = []
    for known in inputs_on(first.grid, rule_set.inputs):
        degrees = [oracles.premise_degrees(rule.premise, known) for rule in rule_set.rules]
        x = [d for pair in degrees for d in pair]
        allowed = not within or all(d <= up for d, up in zip(x, system.bounds, strict=True))
        if allowed and oracles.infer_rules(rule_set.rules, known) == used:
            found.append(known)
    return found


def greatest_without_choices(
    cascade: Cascade, targets: Mapping[str, Distribution]
) -> dict[str, Pi]:
    """The least bound that any rule behind the targets sets for each value, set by set back."""
    pis: dict[str, Pi] = {}
    behind = set(targets)
    order = oracles.in_order(cascade.rule_sets, [a.name for a in cascade.inputs])
    for rule_set in reversed(order):
        name = rule_set.output.name
        if name not in behind:
            continue
        target: Distribution = pis[name] if name not in targets else targets[name]
        system = premises(rule_set, target)
        if name in targets:
            system = premises(rule_set, spread(system, system.reached))
        for j, rule in enumerate(rule_set.rules):
            parts = set(rule.premise.propositions)
            for part in parts:
                a = part.attribute
                behind.add(a.name)
                pi = pis.setdefault(a.name, dict.fromkeys(a.domain, ONE))
                for v in a.domain:
                    inside = system.bounds[2 * j] if len(parts) == 1 else ONE
                    bound = inside if v in part.values else system.bounds[2 * j + 1]
                    pi[v] = min(pi[v], bound)
    return {a.name: pis.get(a.name, dict.fromkeys(a.domain, ONE)) for a in cascade.inputs}
