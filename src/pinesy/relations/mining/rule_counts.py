"""Counts of mined rules: instances of the body, and how many of them have the head."""

from typing import NamedTuple

import numpy as np

from pinesy.exceptions import DataError
from pinesy.relations.fact_table import IntArray
from pinesy.relations.mining.edge_index import EdgeIndex

#: Tables of counts with more numbers are refused.
MAX_COUNTS = 2**28
#: Chains of three steps are kept if at least this share of their instances have the head.
LEAST_SHARE = 0.1


class ChainCounts(NamedTuple):
    """Rules ``if step1(X, Z) and step2(Z, W) and step3(W, Y) then head(X, Y)``, one in each row.

    Attributes
    ----------
    heads : relations
    steps : of shape (rules, 3); -1 after the last one
    least : how many Z there are, for ``at least k Z``; 1 is *exists*
    bodies : pairs (X, Y) for which the body holds
    hits : those of them for which the head holds, too
    """

    heads: IntArray
    steps: IntArray
    least: IntArray
    bodies: IntArray
    hits: IntArray

    def select(self, mask: np.ndarray) -> "ChainCounts":
        """Return some of the rules."""
        return ChainCounts(*(column[mask] for column in self))

    @classmethod
    def concatenate(cls, parts: "list[ChainCounts]") -> "ChainCounts":
        """Return the rules of several tables."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class ConstantCounts(NamedTuple):
    """Rules ``if s(X, d) then r(X, c)``: rows of edges that share entities X.

    Row ``step * n + d`` has the entities that a step leads to from d.
    """

    body_rows: IntArray
    head_rows: IntArray
    bodies: IntArray
    hits: IntArray


def count_single_steps(edges: EdgeIndex) -> tuple[IntArray, IntArray]:
    """Return the pairs of each step, and how many of them are facts of each relation.

    An inverse step counts pairs of different entities only.
    """
    from scipy import sparse

    heads, relations, tails = edges.triples
    n = edges.n
    is_loop = heads == tails
    keys = np.concatenate([heads * n + tails, (tails * n + heads)[~is_loop]])
    steps = np.concatenate([relations, (relations + edges.n_relations)[~is_loop]])
    distinct, columns = np.unique(keys, return_inverse=True)
    shape = (edges.n_steps, len(distinct))
    ones = np.ones(len(keys), np.int64)
    body = sparse.csr_matrix((ones, (steps, columns.reshape(-1))), shape=shape)
    head = body[: edges.n_relations]
    return np.asarray(body.sum(axis=1)).reshape(-1), (body @ head.T).toarray()


def count_chains(edges: EdgeIndex, length: int, levels: int) -> ChainCounts:
    """Return the counts of chains of up to `length` steps that have the head at least once.

    Parameters
    ----------
    levels : chains of two steps are counted with at least 1, ..., `levels` entities Z
    """
    parts = [_single_rules(edges)]
    if length >= 2:
        parts.append(_pair_rules(edges, levels))
    if length >= 3:
        parts += [_triple_rules(edges, step) for step in range(edges.n_steps)]
    return ChainCounts.concatenate(parts)


def _single_rules(edges: EdgeIndex) -> ChainCounts:
    bodies, hits = count_single_steps(edges)
    np.fill_diagonal(hits, 0)  # a fact is no evidence for itself
    steps, heads = np.nonzero(hits)
    return _rules(heads, [steps], np.ones_like(heads), bodies[steps], hits[steps, heads])


def _pair_rules(edges: EdgeIndex, levels: int) -> ChainCounts:
    from pinesy.relations.mining.mining_loops import count_pairs_of_steps

    n_steps = edges.n_steps
    _check_size(n_steps**2 * levels * edges.n_relations, "fewer count levels, or chains=1")
    bodies = np.zeros((n_steps, n_steps, levels), np.int64)
    hits = np.zeros((n_steps, n_steps, levels, edges.n_relations), np.int64)
    count_pairs_of_steps(
        edges.n, n_steps, edges.pointers, edges.targets, *edges.facts_by_pair, bodies, hits
    )
    # From "exactly k" to "at least k".
    bodies = bodies[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    hits = hits[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    first, second, level, heads = np.nonzero(hits)
    return _rules(
        heads,
        [first, second],
        level + 1,
        bodies[first, second, level],
        hits[first, second, level, heads],
    )


def _triple_rules(edges: EdgeIndex, first: int) -> ChainCounts:
    from pinesy.relations.mining.mining_loops import count_triples_of_steps

    n_steps = edges.n_steps
    _check_size(n_steps**2 * edges.n_relations, "chains=2")
    bodies = np.zeros((n_steps, n_steps), np.int64)
    hits = np.zeros((n_steps, n_steps, edges.n_relations), np.int64)
    count_triples_of_steps(
        first, edges.n, n_steps, edges.pointers, edges.targets, *edges.facts_by_pair, bodies, hits
    )
    second, third, heads = np.nonzero((hits > 0) & (hits >= LEAST_SHARE * bodies[:, :, np.newaxis]))
    steps = [np.full_like(second, first), second, third]
    ones = np.ones_like(heads)
    return _rules(heads, steps, ones, bodies[second, third], hits[second, third, heads])


def _rules(
    heads: IntArray, steps: list[IntArray], least: IntArray, bodies: IntArray, hits: IntArray
) -> ChainCounts:
    padded = np.full((len(heads), 3), -1, np.int64)
    for index, column in enumerate(steps):
        padded[:, index] = column
    return ChainCounts(heads, padded, least, bodies, hits)


def count_constants(edges: EdgeIndex, least: int) -> ConstantCounts:
    """Return the counts of rules with constants that have the head at least `least` times."""
    from scipy import sparse

    sizes = np.diff(edges.pointers)
    # Each entity is in some rows; the pairs of these rows are what is counted.
    degrees = np.bincount(edges.targets, minlength=edges.n)
    _check_size(int((degrees**2).sum()), "constants=False")
    shape = (len(sizes), edges.n)
    ones = np.ones(len(edges.targets), np.int64)
    rows = sparse.csr_matrix((ones, edges.targets, edges.pointers), shape=shape)
    shared = (rows @ rows.T).tocoo()
    mask = (shared.data >= least) & (shared.row != shared.col)
    body_rows, head_rows = shared.row[mask].astype(np.int64), shared.col[mask].astype(np.int64)
    return ConstantCounts(body_rows, head_rows, sizes[body_rows], shared.data[mask])


def _check_size(size: int, cure: str) -> None:
    if size > MAX_COUNTS:
        raise DataError(
            f"mining would count {size:,} combinations, more than {MAX_COUNTS:,}; take {cure}"
        )
