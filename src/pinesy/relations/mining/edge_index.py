"""The facts of a graph as edges, compressed by step and entity."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pinesy.exceptions import DataError
from pinesy.relations.fact_table import EntityIndex, IntArray
from pinesy.relations.graph import Graph


class Triples(NamedTuple):
    """Facts r(x, y) as columns of indices."""

    heads: IntArray
    relations: IntArray
    tails: IntArray


class EdgeIndex:
    """Binary facts as edges. A *step* is a relation or, from ``n_relations`` on, its inverse.

    Attributes
    ----------
    relations : the names of the relations with two arguments
    entities : the entities of the graph
    pointers, targets : row ``step * n + x`` has the entities that a step leads to from x
    """

    def __init__(self, graph: Graph) -> None:
        self.relations = tuple(name for name in graph.relations if graph.arity(name) == 2)
        if not self.relations:
            raise DataError("the graph has no relation of two entities to mine; add triples")
        self.entities: EntityIndex = graph.entities.copy()
        self.n = len(self.entities)
        self.n_relations = len(self.relations)
        self.n_steps = 2 * self.n_relations
        tables = [graph.facts(name) for name in self.relations]
        columns = [table.columns[:, table.certain > 0.0] for table in tables]
        sizes = [part.shape[1] for part in columns]
        heads, tails = np.concatenate(columns, axis=1)
        self.triples = Triples(heads, np.repeat(np.arange(self.n_relations), sizes), tails)
        rows = np.concatenate([self.triples.relations * self.n + heads, self._inverse_rows()])
        ends = np.concatenate([tails, heads])
        order = np.lexsort((ends, rows))
        self.targets: IntArray = ends[order]
        self.pointers: IntArray = np.zeros(self.n_steps * self.n + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=self.n_steps * self.n), out=self.pointers[1:])

    def _inverse_rows(self) -> IntArray:
        return (self.triples.relations + self.n_relations) * self.n + self.triples.tails

    def inverse(self, step: int) -> int:
        """Return the step in the other direction."""
        return (step + self.n_relations) % self.n_steps

    @cached_property
    def facts_by_pair(self) -> tuple[IntArray, IntArray, IntArray]:
        """Facts by first entity: row pointers, second entities (ascending), relations."""
        heads, relations, tails = self.triples
        order = np.lexsort((relations, tails, heads))
        rows = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(heads, minlength=self.n), out=rows[1:])
        return rows, tails[order], relations[order]

    def read_triples(self, graph: Graph, entities: EntityIndex) -> Triples:
        """Return the binary facts of another graph, its entities numbered by `entities`."""
        numbers = (
            entities.add_all(graph.entities.names) if len(graph.entities) else np.zeros(0, int)
        )
        columns: list[Sequence[IntArray]] = []
        for name in graph.relations:
            if name not in self.relations:
                continue
            heads, tails = numbers[graph.facts(name).columns]
            columns.append((heads, np.full(len(heads), self.relations.index(name)), tails))
        empty = np.zeros(0, np.int64)
        parts = zip(*columns, strict=True) if columns else [[empty]] * 3
        return Triples(*(np.concatenate(part).astype(np.int64) for part in parts))
