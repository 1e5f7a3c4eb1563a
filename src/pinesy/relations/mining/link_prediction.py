"""Link prediction: the ranks of held-out facts among all candidates, filtered, on both sides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.relations.fact_table import IntArray
from pinesy.relations.graph import Graph
from pinesy.relations.mining.candidate_scores import (
    CandidateScores,
    order_keys,
    score_candidates,
    target_ranks,
)
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.rule_strengths import MiningSettings, ScoringTables

#: Questions are scored in blocks with at most so many numbers.
BLOCK = 2**24


@dataclass(frozen=True)
class LinkPrediction:
    """How well held-out facts are ranked: each is asked for twice, ``r(x, ?)`` and ``r(?, y)``.

    Attributes
    ----------
    mrr : the mean reciprocal rank
    hits : the share of ranks up to 1, 3 and 10
    standard_error : of `mrr`, over the facts
    ranks : of shape (2, facts): among the candidates that are not known answers, ties at their
        mean rank
    """

    mrr: float
    hits: dict[int, float]
    standard_error: float
    ranks: FloatArray = field(repr=False, compare=False)

    @classmethod
    def from_ranks(cls, ranks: FloatArray) -> "LinkPrediction":
        """Return the figures of some ranks, of shape (2, facts)."""
        reciprocal = (1.0 / ranks).mean(axis=0)
        n = len(reciprocal)
        deviation = float(reciprocal.std(ddof=1)) if n > 1 else float("nan")
        hits = {k: float((ranks <= k).mean()) for k in (1, 3, 10)}
        return cls(float(reciprocal.mean()), hits, deviation / float(np.sqrt(n)), ranks)

    def __str__(self) -> str:
        hits = ", ".join(f"Hits@{k} {share:.3f}" for k, share in self.hits.items())
        return f"MRR {self.mrr:.3f} +- {self.standard_error:.3f}, {hits}"


class Questions(NamedTuple):
    """Questions whose answers are known; `known` is a sparse matrix of filtered answers."""

    steps: IntArray
    anchors: IntArray
    targets: IntArray
    known: Any

    @classmethod
    def about(cls, edges: EdgeIndex, triples: Any, known: Sequence[Any] = ()) -> "Questions":
        """Return both questions of each triple; facts, triples and `known` are filtered."""
        from scipy import sparse

        entities = edges.entities.copy()
        graph = as_graph(triples)
        unknown = sorted({*graph.relations} - {*edges.relations})
        if unknown:
            raise DataError(f"relation {unknown[0]!r:.60} has no facts in the graph that was mined")
        facts = edges.read_triples(graph, entities)
        if not len(facts.heads):
            raise DataError("there are no triples to evaluate")
        parts = [edges.triples, facts]
        parts += [edges.read_triples(as_graph(other), entities) for other in known]
        heads, relations, tails = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        n, inverse = len(entities), edges.n_relations
        rows = np.concatenate([relations * n + heads, (relations + inverse) * n + tails])
        answers = np.concatenate([tails, heads])
        filtered = sparse.csr_matrix(
            (np.ones(len(rows), bool), (rows, answers)), shape=(edges.n_steps * n, n)
        )
        steps = np.concatenate([facts.relations, facts.relations + inverse])
        anchors = np.concatenate([facts.heads, facts.tails])
        targets = np.concatenate([facts.tails, facts.heads])
        return cls(steps, anchors, targets, filtered[steps * n + anchors])

    def blocks(self, size: int) -> "Iterator[Questions]":
        """Yield the questions, so many at once."""
        for start in range(0, len(self.steps), size):
            part = slice(start, start + size)
            yield Questions(
                self.steps[part], self.anchors[part], self.targets[part], self.known[part]
            )


def as_graph(triples: Any) -> Graph:
    """Return triples as a graph: a `Graph`, rows, or the path of a file."""
    return triples if isinstance(triples, Graph) else Graph().add_triples(triples)


def rank_targets(
    edges: EdgeIndex,
    tables: ScoringTables,
    questions: Questions,
    orders: Sequence[MiningSettings],
) -> list[LinkPrediction]:
    """Return the figures of several orders of the same scores."""
    depth = max(order.depth for order in orders)
    n = questions.known.shape[1]
    ranks: list[list[FloatArray]] = [[] for _ in orders]
    for block in questions.blocks(max(1, BLOCK // (n * (depth + 4)))):
        with_noisy_or = any(order.by == "noisy_or" for order in orders)
        scores = _pad(edges, tables, block, depth, n, with_noisy_or)
        is_known = block.known.toarray()
        for order, blocks in zip(orders, ranks, strict=True):
            blocks.append(target_ranks(order_keys(scores, order), block.targets, is_known))
    return [LinkPrediction.from_ranks(np.concatenate(b).reshape(2, -1)) for b in ranks]


def _pad(
    edges: EdgeIndex,
    tables: ScoringTables,
    questions: Questions,
    depth: int,
    n: int,
    with_noisy_or: bool,
) -> CandidateScores:
    """Return scores also for entities that have no facts: no rule says anything of them."""
    if n == edges.n:
        return score_candidates(
            edges, tables, questions.steps, questions.anchors, depth, with_noisy_or
        )
    rows = np.flatnonzero(questions.anchors < edges.n)
    part = score_candidates(
        edges, tables, questions.steps[rows], questions.anchors[rows], depth, with_noisy_or
    )
    padded = CandidateScores(
        np.zeros((len(questions.steps), n, depth)),
        np.zeros((len(questions.steps), n)),
        np.ones((len(questions.steps), n)),
    )
    for array, scores in zip(padded, part, strict=True):
        if len(scores):
            array[rows, : edges.n] = scores
    return padded
