"""Evaluates clauses: columnar without recursion, widest paths for closures, else by certainty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pinesy.relations.certainty_order import settle
from pinesy.relations.columnar import ColumnarJoin, EntityOrder
from pinesy.relations.definite_clauses import (
    MAX_ATOMS,
    MAX_INSTANCES,
    AtomTable,
    DefiniteClause,
    Predicate,
    too_many,
)
from pinesy.relations.fact_table import IntArray
from pinesy.relations.strata import strongly_connected


class Closure(NamedTuple):
    """A transitive closure ``t <- e; t <- t, e``.

    Attributes
    ----------
    edges : the predicate of the edges; None for what the other clauses give (``t <- t, t``)
    first : the rank of ``t <- e``
    step : the rank of the recursive clause
    rule : for messages
    """

    edges: Predicate | None
    first: int
    step: int
    rule: object


@dataclass
class ClauseEvaluation:
    """Evaluates clauses over tables, which grow by what was concluded.

    Attributes
    ----------
    tables : the atoms of each predicate
    engines : which engine each predicate was evaluated by: columnar, widest or certainty
    instances : how many ground instances, or rows, were visited
    """

    tables: dict[Predicate, AtomTable]
    radix: int
    top: int
    entities: EntityOrder
    max_instances: int = MAX_INSTANCES
    max_atoms: int = MAX_ATOMS
    engines: dict[Predicate, str] = field(default_factory=dict)
    instances: int = 0

    def run(
        self,
        clauses: Sequence[DefiniteClause],
        predicates: Mapping[Predicate, int],
        initial: Mapping[Predicate, AtomTable],
        engine: str | None = None,
    ) -> None:
        """Evaluate clauses on predicates, given with their arities, and add their tables.

        Parameters
        ----------
        initial : what holds of the predicates to begin with
        engine : ``"certainty"`` to use that for all; by default the fastest that fits
        """
        by_head: dict[Predicate, list[DefiniteClause]] = {predicate: [] for predicate in predicates}
        for clause in clauses:
            by_head[clause.head.predicate].append(clause)
        names = {predicate: str(index) for index, predicate in enumerate(predicates)}
        of_name = {name: predicate for predicate, name in names.items()}
        graph = {
            names[p]: [names[g.predicate] for c in owned for g in c.body if g.predicate in names]
            for p, owned in by_head.items()
        }
        for component in strongly_connected(graph):
            members = {of_name[name]: predicates[of_name[name]] for name in component}
            is_recursive = len(component) > 1 or component[0] in graph[component[0]]
            owned = [clause for predicate in members for clause in by_head[predicate]]
            self._run_component(owned, members, initial, is_recursive, engine)

    def _run_component(
        self,
        clauses: Sequence[DefiniteClause],
        members: Mapping[Predicate, int],
        initial: Mapping[Predicate, AtomTable],
        is_recursive: bool,
        engine: str | None,
    ) -> None:
        exits = [c for c in clauses if not any(g.predicate in members for g in c.body)]
        inner = [c for c in clauses if c not in exits] if is_recursive else []
        closure = None
        if is_recursive and engine is None and len(members) == 1:
            closure = find_closure(clauses, next(iter(members)), initial)
        start = {}
        for predicate, arity in members.items():
            owned = [c for c in exits if c.head.predicate == predicate]
            if closure is not None and closure.edges is not None:
                owned = []
            start[predicate] = self._run_exits(owned, predicate, arity, initial)
        if not is_recursive:
            self.tables |= start
            self.engines |= dict.fromkeys(members, "columnar")
        elif closure is not None:
            (predicate,) = members
            self.tables[predicate] = self.widest(closure, start[predicate])
            self.engines[predicate] = "widest"
        else:
            result = settle(
                inner,
                members,
                start,
                self.tables,
                self.radix,
                self.top,
                self.entities,
                max_instances=self.max_instances,
                max_atoms=self.max_atoms,
            )
            self.instances += result.instances
            self.tables |= result.tables
            self.engines |= dict.fromkeys(members, "certainty")

    def _run_exits(
        self,
        clauses: Sequence[DefiniteClause],
        predicate: Predicate,
        arity: int,
        initial: Mapping[Predicate, AtomTable],
    ) -> AtomTable:
        join = ColumnarJoin(self.tables, self.radix, self.entities, self.max_instances)
        parts = join.run(clauses)
        self.instances += join.instances
        first = initial.get(predicate)
        if first is not None:
            if not any(len(keys) for keys, _ in parts):
                return first
            parts.append((first.keys, first.ranks))
        table = AtomTable.merge(parts, arity, self.radix)
        if len(table) > self.max_atoms:
            raise too_many(clauses[0].rule, len(table), self.max_atoms, "atoms")
        return table

    def widest(
        self,
        closure: Closure,
        start: AtomTable,
        sources: IntArray | None = None,
        inverse: bool = False,
        stop: int = 1,
    ) -> AtomTable:
        """Return the atoms of a closure, from some sources; with `inverse`, to some targets."""
        from pinesy.relations.path_loops import expand_ranges, widest_paths  # compiled

        edges = start if closure.edges is None else self.tables.get(closure.edges)
        empty = np.zeros(0, np.int64)
        if edges is None or not len(edges):
            return AtomTable(empty, empty, 2, self.radix)
        rows, targets, ranks = edges.compressed_rows(int(inverse))
        if sources is None:
            sources = np.flatnonzero(np.diff(rows))
        begin, end, width, visited = widest_paths(
            rows, targets, ranks, sources, self.top, max(1, stop), self.max_atoms
        )
        if visited < 0:
            raise too_many(closure.rule, self.max_atoms + 1, self.max_atoms, "atoms")
        self.instances += visited
        if inverse:
            begin, end = end, begin
        # A path of one edge has the rank of the first clause, a longer one that of both.
        path_keys = begin * self.radix + end
        paths = path_keys, np.minimum(width, min(closure.first, closure.step))
        first, last = rows[sources], rows[sources + 1]
        _, indices = expand_ranges(first, last, int((last - first).sum()))
        edge_rows = edges.index((int(inverse),)).order[indices]
        single = edges.keys[edge_rows], np.minimum(edges.ranks[edge_rows], closure.first)
        table = AtomTable.merge([paths, single], 2, self.radix)
        if stop > 1:
            keep = table.ranks >= stop
            table = AtomTable(table.keys[keep], table.ranks[keep], 2, self.radix)
        return table


def find_closure(
    clauses: Sequence[DefiniteClause], predicate: Predicate, initial: Mapping[Predicate, AtomTable]
) -> Closure | None:
    """Return the transitive closure that the clauses of a predicate are, if they are one."""
    inner = [c for c in clauses if any(g.predicate == predicate for g in c.body)]
    exits = [c for c in clauses if c not in inner]
    if len(inner) != 1 or len(inner[0].head.terms) != 2:
        return None
    (step,) = inner
    edges = _transitive_edges(step, predicate)
    if edges is None:
        return None
    if edges == predicate:
        top = max(c.rank for c in clauses)
        return Closure(None, max(top, 2**31), step.rank, step.rule)
    facts = initial.get(predicate)
    if len(exits) != 1 or (facts is not None and len(facts)):
        return None
    (first,) = exits
    is_copy = (
        not first.filters
        and len(first.body) == 1
        and first.body[0].predicate == edges
        and first.body[0].terms == first.head.terms
        and len({*first.head.terms}) == 2
        and min(first.head.terms) >= 0
    )
    return Closure(edges, first.rank, step.rank, step.rule) if is_copy else None


def _transitive_edges(clause: DefiniteClause, predicate: Predicate) -> Predicate | None:
    """Return e of ``t(X, Z) <- t(X, Y), e(Y, Z)`` or ``t(X, Z) <- e(X, Y), t(Y, Z)``."""
    if clause.filters or len(clause.body) != 2:
        return None
    start, end = clause.head.terms
    goals = {goal.terms: goal.predicate for goal in clause.body}
    for first, second in (clause.body, clause.body[::-1]):
        if len(first.terms) != 2 or len(second.terms) != 2:
            continue
        middle = first.terms[1]
        is_chain = (first.terms[0], second.terms[1]) == (start, end) and second.terms[0] == middle
        if is_chain and len({start, middle, end}) == 3 and min(start, middle, end) >= 0:
            others = [p for p in goals.values() if p != predicate]
            if len(others) > 1 or len(goals) != 2:
                return None
            return others[0] if others else predicate
    return None
