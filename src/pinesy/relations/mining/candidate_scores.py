"""Scores of the candidates of questions ``r(x, ?)`` and ``r(?, y)``."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.relations.fact_table import IntArray
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.rule_strengths import MiningSettings, ScoringTables


class CandidateScores(NamedTuple):
    """What rules say of each candidate of each question.

    Attributes
    ----------
    best : the greatest strengths, descending, of shape (questions, candidates, depth)
    noisy_or : 1 - the product of 1 - strength, a score; without rows if nobody asks for it
    possible : the least lift of a step between anchor and candidate, at most 1
    """

    best: FloatArray
    noisy_or: FloatArray
    possible: FloatArray


def score_candidates(
    edges: EdgeIndex,
    tables: ScoringTables,
    steps: IntArray,
    anchors: IntArray,
    depth: int,
    with_noisy_or: bool,
) -> CandidateScores:
    """Score all entities as answers to questions: which entities a step leads to from an anchor."""
    # Here, because importing Numba takes long.
    from pinesy.relations.mining.mining_loops import (
        score_chains,
        score_constants,
        score_exclusions,
    )

    n, n_relations = edges.n, edges.n_relations
    best = np.zeros((len(steps), n, depth))
    noisy = np.zeros((len(steps) if with_noisy_or else 0, n))
    possible = np.ones((len(steps), n))
    graph = (n, n_relations, edges.pointers, edges.targets)
    rules = (tables.rule_rows, tables.steps, tables.strengths)
    score_chains(steps, anchors, *graph, *rules, best, noisy)
    constants = (*tables.constants_by_body, *tables.constants_by_head)
    score_constants(steps, anchors, *graph, *constants, best, noisy)
    score_exclusions(steps, anchors, *graph, tables.lifts, possible)
    return CandidateScores(best, -np.expm1(noisy), possible)


def order_keys(scores: CandidateScores, settings: MiningSettings) -> FloatArray:
    """Return the keys that candidates are ordered by, the first one first, greater is better."""
    if settings.by == "noisy_or":
        keys = scores.noisy_or[:, :, np.newaxis]
    else:
        keys = scores.best[:, :, : 1 if settings.by == "max" else settings.depth]
    if settings.exclusions is None:
        return keys
    is_possible = scores.possible[:, :, np.newaxis] > settings.exclusions
    return np.concatenate([is_possible.astype(np.float64), keys], axis=2)


def target_ranks(
    keys: FloatArray, targets: IntArray, is_known: npt.NDArray[np.bool_]
) -> FloatArray:
    """Return the rank of each question's target among the candidates that are not known answers.

    Ties are at their mean rank: 1 + those before it + half of those beside it.
    """
    rows = np.arange(len(targets))
    is_before = np.zeros(keys.shape[:2], bool)
    is_equal = np.ones(keys.shape[:2], bool)
    for column in np.moveaxis(keys, 2, 0):
        level = column[rows, targets][:, np.newaxis]
        is_before |= is_equal & (column > level)
        is_equal &= column == level
    is_rival = ~is_known
    is_rival[rows, targets] = False
    before = (is_before & is_rival).sum(axis=1)
    return np.asarray(1.0 + before + (is_equal & is_rival).sum(axis=1) / 2.0)
