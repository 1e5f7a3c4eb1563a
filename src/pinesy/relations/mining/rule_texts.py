"""Mined rules as rules that can be read: text, certainty, support and counter-examples."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pinesy.relations.literals import CountPremise, Part, RelationLiteral, TermComparison, Variable
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.rule_strengths import (
    CountTables,
    MiningSettings,
    exclusion_lifts,
    selected_chains,
    selected_constants,
    smooth,
)
from pinesy.relations.relational_rule import RelationalRule

X, Y, Z, W = (Variable(name) for name in "XYZW")


class MinedRule(NamedTuple):
    """A rule that was mined.

    Attributes
    ----------
    head : the conclusion
    body : the premise
    strength : the smoothed share q of instances with the head
    support : the instances with the head
    counterexamples : those without it
    """

    head: RelationLiteral
    body: tuple[Part, ...]
    strength: float
    support: int
    counterexamples: int

    @property
    def certainty(self) -> float:
        """How certain the rule is as a statement: ``max(0, 2 q - 1)``."""
        return max(0.0, 2.0 * self.strength - 1.0)

    @property
    def text(self) -> str:
        """The rule, as it is written, without its certainty."""
        return f"if {' and '.join(map(str, self.body))} then {self.head}"

    def as_rule(self, prefix: str = "") -> RelationalRule:
        """Return the rule with its certainty, its conclusion renamed."""
        head = RelationLiteral(prefix + self.head.name, self.head.terms, self.head.negated)
        r = min(1.0, max(0.0, 2.0 * (1.0 - self.strength)))
        return RelationalRule(head, (self.body,), 1.0, r)

    def __str__(self) -> str:
        return (
            f"{self.text} [certainty={self.certainty:.3g}]  # {self.support} for, "
            f"{self.counterexamples} against"
        )


def readable_rules(
    edges: EdgeIndex,
    counts: CountTables,
    settings: MiningSettings,
    relation: str | None,
    least: float,
) -> Iterator[MinedRule]:
    """Yield the rules that settings select, on one relation or all, stronger than `least`."""
    index = -1 if relation is None else edges.relations.index(relation)
    yield from _chain_rules(edges, counts, settings, index, least)
    yield from _constant_rules(edges, counts, settings, index, least)
    yield from _exclusion_rules(edges, counts, settings, index, least)


def _literal(edges: EdgeIndex, step: int, start: object, end: object) -> RelationLiteral:
    """Return the literal of a step from one term to another."""
    name = edges.relations[step % edges.n_relations]
    terms = (start, end) if step < edges.n_relations else (end, start)
    return RelationLiteral(name, terms)  # type: ignore[arg-type]


def _chain_rules(
    edges: EdgeIndex, counts: CountTables, settings: MiningSettings, relation: int, least: float
) -> Iterator[MinedRule]:
    chains = selected_chains(counts.chains, settings)
    strengths = smooth(chains.hits, chains.bodies, settings.smoothing)
    mask = strengths > least
    if relation >= 0:
        mask &= chains.heads == relation
    for row in np.flatnonzero(mask).tolist():
        steps = [step for step in chains.steps[row].tolist() if step >= 0]
        yield MinedRule(
            RelationLiteral(edges.relations[chains.heads[row]], (X, Y)),
            chain_body(edges, steps, int(chains.least[row])),
            float(strengths[row]),
            int(chains.hits[row]),
            int(chains.bodies[row] - chains.hits[row]),
        )


def chain_body(edges: EdgeIndex, steps: list[int], least: int) -> tuple[Part, ...]:
    """Return the premise of a chain from X to Y."""
    nodes = {1: [X, Y], 2: [X, Z, Y], 3: [X, Z, W, Y]}[len(steps)]
    literals = [_literal(edges, s, nodes[i], nodes[i + 1]) for i, s in enumerate(steps)]
    pairs = {1: [(X, Y)], 2: [(Z, X), (Z, Y)], 3: [(Z, X), (Z, Y), (W, X), (W, Y), (Z, W)]}
    if len(steps) == 1 and steps[0] < edges.n_relations:
        return tuple(literals)
    different = [TermComparison(left, "!=", right) for left, right in pairs[len(steps)]]
    if least > 1:
        return (CountPremise(least, Z, (*literals, *different)),)
    return (*literals, *different)


def _constant_rules(
    edges: EdgeIndex, counts: CountTables, settings: MiningSettings, relation: int, least: float
) -> Iterator[MinedRule]:
    constants = selected_constants(counts.constants, settings)
    strengths = smooth(constants.hits, constants.bodies, settings.constant_smoothing)
    head_steps, head_entities = np.divmod(constants.head_rows, edges.n)
    body_steps, body_entities = np.divmod(constants.body_rows, edges.n)
    mask = strengths > least
    if relation >= 0:
        mask &= head_steps % edges.n_relations == relation
    names = edges.entities.names
    for row in np.flatnonzero(mask).tolist():
        yield MinedRule(
            _literal(edges, int(head_steps[row]), names[head_entities[row]], X),
            (_literal(edges, int(body_steps[row]), names[body_entities[row]], X),),
            float(strengths[row]),
            int(constants.hits[row]),
            int(constants.bodies[row] - constants.hits[row]),
        )


def _exclusion_rules(
    edges: EdgeIndex, counts: CountTables, settings: MiningSettings, relation: int, least: float
) -> Iterator[MinedRule]:
    if settings.exclusions is None:
        return
    bodies = counts.single_bodies[:, np.newaxis]
    misses = bodies - counts.single_hits
    strengths = smooth(misses, bodies, settings.smoothing)
    mask = (exclusion_lifts(edges, counts) <= settings.exclusions) & (strengths > least)
    for step, head in np.argwhere(mask).tolist():
        if relation in (-1, head):
            yield MinedRule(
                RelationLiteral(edges.relations[head], (X, Y), negated=True),
                chain_body(edges, [step], 1),
                float(strengths[step, head]),
                int(misses[step, head]),
                int(counts.single_hits[step, head]),
            )
