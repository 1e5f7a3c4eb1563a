"""Strengths of mined rules: smoothed shares, in the form that scoring reads.

The strength of a rule is q = k / (n + K): n instances of the body, k with the head, and K
instances without it that nobody saw (the smoothing). It is ordinal: the order of answers by max
and leximax is the same for any increasing map of all strengths. As a statement, a rule is certain
at ``max(0, 2 q - 1)``, the antipignistic transformation of (q, 1 - q).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.relations.fact_table import IntArray
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.rule_counts import (
    ChainCounts,
    ConstantCounts,
    count_chains,
    count_constants,
    count_single_steps,
)

#: The smoothing that lifts of exclusions are shrunk to 1 with.
LIFT_SMOOTHING = 5.0


@dataclass(frozen=True)
class MiningSettings:
    """What is mined, and how strengths are computed and combined.

    Attributes
    ----------
    chains : the most steps of a chain, 1 to 3
    counting : the greatest k of ``at least k Z`` in chains of two steps; 1 for *exists* alone
    constants : whether there are rules with constants, ``if s(X, d) then r(X, c)``
    exclusions : the lift P(r | s) / P(r) up to which s(X, Y) excludes r(X, Y); None for none
    smoothing : K in the strength k / (n + K) of chains
    constant_smoothing : the same for rules with constants, whose bodies have few instances
    least : rules with a smaller strength are dropped
    by : how the strengths of several rules are combined: ``"max"``, ``"leximax"`` (the best
        strengths, ties by the next ones) or ``"noisy_or"`` (a score, not possibilistic)
    depth : how many strengths leximax compares
    """

    chains: int = 2
    counting: int = 1
    constants: bool = False
    exclusions: float | None = None
    smoothing: float = 5.0
    constant_smoothing: float = 5.0
    least: float = 0.0
    by: str = "leximax"
    depth: int = 3


class CountTables(NamedTuple):
    """Everything that is counted on a graph; settings select from it."""

    chains: ChainCounts
    constants: ConstantCounts
    single_bodies: IntArray
    single_hits: IntArray


class ScoringTables(NamedTuple):
    """Rules as arrays that the loops of scoring read."""

    rule_rows: IntArray
    steps: IntArray
    strengths: FloatArray
    constants_by_body: tuple[IntArray, IntArray, FloatArray]
    constants_by_head: tuple[IntArray, IntArray, FloatArray]
    lifts: FloatArray


def count_rules(edges: EdgeIndex, chains: int, counting: int, constants: bool) -> CountTables:
    """Return the counts of all rules with the facts of a graph."""
    empty = np.zeros(0, np.int64)
    return CountTables(
        count_chains(edges, chains, counting),
        count_constants(edges, 2) if constants else ConstantCounts(empty, empty, empty, empty),
        *count_single_steps(edges),
    )


def smooth(hits: IntArray, bodies: IntArray, smoothing: float) -> FloatArray:
    """Return the strengths k / (n + K)."""
    return np.asarray(hits / (bodies + smoothing))


def scoring_tables(
    edges: EdgeIndex, counts: CountTables, settings: MiningSettings
) -> ScoringTables:
    """Return the rules that settings select, with their strengths."""
    from scipy import sparse

    chains = selected_chains(counts.chains, settings)
    strengths = smooth(chains.hits, chains.bodies, settings.smoothing)
    # One row for each head and chain, and in it the best strength for each number of Z.
    radix = edges.n_steps + 1
    keys = chains.heads
    for column in chains.steps.T:
        keys = keys * radix + column + 1
    _, first, rows = np.unique(keys, return_index=True, return_inverse=True)
    by_level = np.zeros((len(first), settings.counting))
    by_level[rows.reshape(-1), chains.least - 1] = strengths
    by_level = np.maximum.accumulate(by_level, axis=1)
    sizes = np.bincount(chains.heads[first], minlength=edges.n_relations)
    rule_rows = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    constants = selected_constants(counts.constants, settings)
    by_body = sparse.csr_matrix(
        (
            smooth(constants.hits, constants.bodies, settings.constant_smoothing),
            (constants.body_rows, constants.head_rows),
        ),
        shape=(edges.n_steps * edges.n,) * 2,
    )
    return ScoringTables(
        rule_rows,
        np.ascontiguousarray(chains.steps[first]),
        by_level,
        _compressed(by_body),
        _compressed(by_body.T.tocsr()),
        exclusion_lifts(edges, counts),
    )


def _compressed(matrix: Any) -> tuple[IntArray, IntArray, FloatArray]:
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


def selected_chains(chains: ChainCounts, settings: MiningSettings) -> ChainCounts:
    """Return the chains that settings select."""
    lengths = (chains.steps >= 0).sum(axis=1)
    strengths = smooth(chains.hits, chains.bodies, settings.smoothing)
    return chains.select(
        (lengths <= settings.chains)
        & (chains.least <= settings.counting)
        & (strengths >= settings.least)
    )


def selected_constants(constants: ConstantCounts, settings: MiningSettings) -> ConstantCounts:
    """Return the rules with constants that settings select."""
    strengths = smooth(constants.hits, constants.bodies, settings.constant_smoothing)
    mask = (strengths >= settings.least) & settings.constants
    return ConstantCounts(*(column[mask] for column in constants))


def exclusion_lifts(edges: EdgeIndex, counts: CountTables) -> FloatArray:
    """Return P(r(X, Y) | step(X, Y)) / P(r(X, Y)), shrunk to 1 where there are few instances."""
    n_facts = np.bincount(edges.triples.relations, minlength=edges.n_relations)
    base = n_facts / max(1, edges.n) ** 2
    bodies = counts.single_bodies[:, np.newaxis]
    shrunk = (counts.single_hits + LIFT_SMOOTHING * base) / (bodies + LIFT_SMOOTHING)
    return np.divide(shrunk, base, out=np.ones_like(shrunk), where=base > 0.0)
