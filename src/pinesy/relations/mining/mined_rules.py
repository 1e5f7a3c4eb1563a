"""`MinedRules`: rules that were mined from a graph, and what they predict."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.files import as_path, atomic_text
from pinesy._common.validation import check_integer, check_known
from pinesy.exceptions import DataError
from pinesy.relations.graph import Graph
from pinesy.relations.literals import Entity, Variable
from pinesy.relations.mining.candidate_scores import order_keys, score_candidates
from pinesy.relations.mining.edge_index import EdgeIndex
from pinesy.relations.mining.link_prediction import LinkPrediction, Questions, rank_targets
from pinesy.relations.mining.rule_strengths import (
    CountTables,
    MiningSettings,
    ScoringTables,
    scoring_tables,
)
from pinesy.relations.mining.rule_texts import MinedRule, readable_rules
from pinesy.relations.relational_rule import Relation
from pinesy.relations.relational_rules import RelationalRules
from pinesy.relations.relational_text import parse_atom


class RankedEntity(NamedTuple):
    """A candidate answer.

    Attributes
    ----------
    entity : the answer
    certain : how certain the best rule makes it, ``max(0, 2 q - 1)``
    strength : the strength q of the best rule; by noisy-or, the score
    is_excluded : whether another relation of the same entities speaks against it
    """

    entity: Entity
    certain: float
    strength: float
    is_excluded: bool


class MinedRules:
    """Rules with their counts, mined by `pinesy.mine`.

    Attributes
    ----------
    settings : the `MiningSettings`, chosen on validation if there was one
    validation_mrr : the filtered MRR on validation; None without it
    """

    def __init__(
        self,
        edges: EdgeIndex,
        counts: CountTables,
        settings: MiningSettings,
        validation_mrr: float | None = None,
        known: Sequence[Graph] = (),
    ) -> None:
        self._edges, self._counts, self._known = edges, counts, tuple(known)
        self.settings, self.validation_mrr = settings, validation_mrr

    @cached_property
    def _tables(self) -> ScoringTables:
        return scoring_tables(self._edges, self._counts, self.settings)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that rules may conclude on."""
        return self._edges.relations

    def with_settings(self, **changes: Any) -> "MinedRules":
        """Return the same counts under other settings, such as ``exclusions=None``.

        Settings select from what was counted: they do not mine more.
        """
        return MinedRules(
            self._edges, self._counts, replace(self.settings, **changes), known=self._known
        )

    def rules(self, relation: str | None = None, least: float = 0.0) -> Iterator[MinedRule]:
        """Yield the rules on a relation, or on all, whose strength is greater than `least`."""
        if relation is not None:
            check_known(relation, self.relations, f"no relation {relation!r:.60}", DataError)
        return readable_rules(self._edges, self._counts, self.settings, relation, least)

    def top(self, relation: str, n: int = 10, negated: bool = False) -> list[MinedRule]:
        """Return the strongest rules for a relation, or against it: its exclusions.

        Of equal ones, those with more support come first.
        """
        check_integer(n, "n", 1)
        rules = [rule for rule in self.rules(relation) if rule.head.negated == negated]
        return sorted(rules, key=lambda rule: (-rule.strength, -rule.support))[:n]

    def evaluate(self, triples: Any, known: Sequence[Any] = ()) -> LinkPrediction:
        """Rank held-out facts among all candidates, filtered, on both sides, ties at their mean.

        Parameters
        ----------
        triples : a `Graph`, rows, or the path of a file
        known : further facts that are no wrong answers; those that were mined, those of validation
            and `triples` itself are known anyway
        """
        questions = Questions.about(self._edges, triples, [*self._known, *known])
        return rank_targets(self._edges, self._tables, questions, [self.settings])[0]

    def rank(self, question: str, by: str | None = None, n: int = 10) -> list[RankedEntity]:
        """Return the best answers to a question, such as ``sibling(ann, Y)``, without known facts.

        Parameters
        ----------
        by : ``"max"`` or ``"leximax"`` (possibilistic) or ``"noisy_or"`` (a score); None for that
            of the settings
        """
        check_integer(n, "n", 1)
        if by not in (None, "max", "leximax", "noisy_or"):
            raise DataError(f"unknown by={by!r:.40}; expected 'max', 'leximax' or 'noisy_or'")
        settings = self.settings if by is None else replace(self.settings, by=by)
        step, anchor = self._read_question(question)
        edges = self._edges
        scores = score_candidates(
            edges,
            self._tables,
            np.array([step]),
            np.array([anchor]),
            settings.depth,
            settings.by == "noisy_or",
        )
        keys = order_keys(scores, settings)[0]
        order = np.lexsort(keys.T[::-1])[::-1]
        row = step * edges.n + anchor
        known = edges.targets[edges.pointers[row] : edges.pointers[row + 1]]
        order = order[~np.isin(order, known)]
        best = scores.best[0, :, 0]
        strengths = scores.noisy_or[0] if settings.by == "noisy_or" else best
        limit = settings.exclusions if settings.exclusions is not None else -1.0
        return [
            RankedEntity(
                edges.entities.names[i],
                max(0.0, 2.0 * float(best[i]) - 1.0),
                float(strengths[i]),
                bool(scores.possible[0, i] <= limit),
            )
            for i in order[:n].tolist()
            if strengths[i] > 0.0
        ]

    def _read_question(self, question: str) -> tuple[int, int]:
        """Return the step and the anchor of a question with one variable."""
        literal = parse_atom(question)
        name = literal.name
        check_known(name, self.relations, f"no relation {name!r:.60}", DataError)
        is_variable = [isinstance(term, Variable) for term in literal.terms]
        if sorted(is_variable) != [False, True]:
            raise DataError(
                f"{question!r:.60}: ask with one entity and one variable: {name}(ann, Y)"
            )
        entity = literal.terms[is_variable.index(False)]
        assert not isinstance(entity, Variable)
        anchor = self._edges.entities.find(entity)
        if anchor < 0:
            raise DataError(f"there are no facts on {entity!r:.60}")
        relation = self.relations.index(name)
        return (self._edges.inverse(relation) if is_variable[0] else relation), anchor

    def to_rules(self, prefix: str = "predicted_") -> RelationalRules:
        """Return the rules that state something: those of a strength above 1/2, and exclusions.

        Conclusions are on relations of their own, such as ``predicted_parent``, so that rules do
        not feed each other: chains of weakest links do not fade. An empty prefix makes them
        recursive.
        """
        names = self.relations
        sorts = ("entity", "entity")
        heads = dict.fromkeys(prefix + name for name in names) if prefix else {}
        clashes = [name for name in heads if name in names]
        if clashes:
            raise DataError(f"the graph has a relation {clashes[0]!r:.60}; choose another prefix")
        rules = [mined.as_rule(prefix) for mined in self.rules(least=0.5)]
        return RelationalRules([Relation(name, sorts) for name in (*names, *heads)], rules)

    def save(self, path: str | os.PathLike[str], prefix: str = "predicted_") -> None:
        """Write the rules of `to_rules` to a ``.rules`` file."""
        with atomic_text(as_path(path)) as file:
            file.write(str(self.to_rules(prefix)))

    def __repr__(self) -> str:
        n = len(self._tables.steps) + len(self._tables.constants_by_body[1])
        mrr = "" if self.validation_mrr is None else f", validation MRR {self.validation_mrr:.3f}"
        return f"MinedRules({n:,} rules on {len(self.relations)} relations{mrr})"
