"""Recursive clauses by decreasing certainty: lays them out for the kernel."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pinesy.exceptions import DataError
from pinesy.relations.columnar import EntityOrder
from pinesy.relations.definite_clauses import (
    BIND,
    COMPARE,
    DONE,
    EQUAL,
    FACTS,
    KEY,
    LOOKUP,
    MAX_ATOMS,
    MAX_INSTANCES,
    SETTLED,
    SIGNS,
    TOO_MANY_ATOMS,
    AtomTable,
    DefiniteClause,
    EntityComparison,
    Goal,
    Lookup,
    Predicate,
    order_items,
    too_many,
    variables_of,
)
from pinesy.relations.fact_table import MAX_KEY, IntArray


class SettledAtoms(NamedTuple):
    """What the kernel gives.

    Attributes
    ----------
    tables : the atoms of each predicate
    instances : how many rows of facts and atoms were visited
    keys, predicates, clauses, bindings : of each atom, in the order in which they were met: its
        key, the index of its predicate, the clause that gave it its rank (-1 for a fact), and the
        values of the clause's variables
    """

    tables: dict[Predicate, AtomTable]
    instances: int
    keys: IntArray
    predicates: IntArray
    clauses: IntArray
    bindings: IntArray


class ClauseLayout:
    """The arrays of the kernel for some clauses on some predicates."""

    def __init__(
        self,
        clauses: Sequence[DefiniteClause],
        predicates: Mapping[Predicate, int],
        tables: Mapping[Predicate, AtomTable],
        radix: int,
    ) -> None:
        self.tables, self.radix = tables, radix
        self.predicates = {predicate: index for index, predicate in enumerate(predicates)}
        self.arity = list(predicates.values())
        goals = [g for c in clauses for g in (c.head, *c.body)]
        filters = [f for c in clauses for f in c.filters if isinstance(f, Lookup)]
        self.width = max([2, *(len(g.terms) for g in goals), *(len(f.terms) for f in filters)])
        self.fact_indices: dict[tuple[Predicate, tuple[int, ...]], int] = {}
        self.lookups: dict[tuple[Predicate, int], int] = {}
        self.lists: dict[tuple[int, tuple[int, ...]], int] = {}
        occurrences: dict[int, list[tuple[int, list[int], list[int], list[PlanStep]]]] = {
            index: [] for index in range(len(self.arity))
        }
        for number, clause in enumerate(clauses):
            sizes = [self._size(goal) for goal in clause.body]
            for start, goal in enumerate(clause.body):
                if goal.predicate in self.predicates:
                    occurrences[self.predicates[goal.predicate]].append(
                        (number, *self._occurrence(goal), self._steps(clause, start, sizes))
                    )
        # The indices on settled atoms, renumbered so that those of a predicate are neighbours.
        by_predicate = sorted(self.lists, key=lambda item: item[0])
        renumbered = {self.lists[item]: index for index, item in enumerate(by_predicate)}
        rows = [row for index in occurrences for row in occurrences[index]]
        steps = [step for *_, plan in rows for step in plan]
        n_predicates = len(self.arity)
        self.occurrence_start = _starts([len(occurrences[i]) for i in range(n_predicates)])
        self.occurrence_clause = _vector([number for number, *_ in rows])
        self.occurrence_terms = self._matrix([terms for _, terms, _, _ in rows])
        self.occurrence_modes = self._matrix([modes for _, _, modes, _ in rows])
        self.step_start = _starts([len(plan) for *_, plan in rows])
        self.step_kind = _vector([step.kind for step in steps])
        self.step_table = _vector(
            [renumbered[s.table] if s.kind == SETTLED else s.table for s in steps]
        )
        self.step_arity = _vector([len(step.terms) for step in steps])
        self.step_terms = self._matrix([step.terms for step in steps])
        self.step_modes = self._matrix([step.modes for step in steps])
        self.clause_rank = _vector([clause.rank for clause in clauses])
        self.head_predicate = _vector([self.predicates[c.head.predicate] for c in clauses])
        self.head_terms = self._matrix([list(c.head.terms) for c in clauses])
        self.list_start = _starts(
            [sum(item[0] == i for item in by_predicate) for i in range(n_predicates)]
        )
        modes = [
            [KEY if p in positions else BIND for p in range(self.arity[predicate])]
            for predicate, positions in by_predicate
        ]
        self.list_modes = self._matrix(modes)
        self.n_variables = max([1, *(clause.n_variables for clause in clauses)])

    def _size(self, goal: Goal) -> float:
        if goal.predicate in self.predicates:
            return float("inf")
        table = self.tables.get(goal.predicate)
        return 0 if table is None else len(table)

    def _occurrence(self, goal: Goal) -> tuple[list[int], list[int]]:
        """Return the terms of a goal that is matched with an atom, and how each is matched."""
        modes, bound = [], set()
        for term in goal.terms:
            modes.append(BIND if term >= 0 and term not in bound else EQUAL)
            bound.add(term)
        return list(goal.terms), modes

    def _steps(
        self, clause: DefiniteClause, start: int, sizes: Sequence[float]
    ) -> list["PlanStep"]:
        bound = {*variables_of(clause.body[start])}
        steps = []
        for index in order_items(clause, bound, sizes, start):
            if index >= len(clause.body):
                steps.append(self._filter_step(clause.filters[index - len(clause.body)]))
                continue
            goal = clause.body[index]
            positions = tuple(p for p, t in enumerate(goal.terms) if t < 0 or t in bound)
            modes, new = [], set()
            for position, term in enumerate(goal.terms):
                is_repeated = term in new
                new.add(term)
                modes.append(KEY if position in positions else EQUAL if is_repeated else BIND)
            if goal.predicate in self.predicates:
                item = self.predicates[goal.predicate], positions
                table = self.lists.setdefault(item, len(self.lists))
                steps.append(PlanStep(SETTLED, table, list(goal.terms), modes))
            else:
                key = goal.predicate, positions
                table = self.fact_indices.setdefault(key, len(self.fact_indices))
                steps.append(PlanStep(FACTS, table, list(goal.terms), modes))
            bound |= {*variables_of(goal)}
        return steps

    def _filter_step(self, item: Lookup | EntityComparison) -> "PlanStep":
        if isinstance(item, EntityComparison):
            return PlanStep(COMPARE, SIGNS.index(item.sign), [item.left, item.right], [KEY, KEY])
        lookup = self.lookups.setdefault((item.predicate, item.default), len(self.lookups))
        return PlanStep(LOOKUP, lookup, list(item.terms), [KEY] * len(item.terms))

    def _matrix(self, rows: Sequence[Sequence[int]]) -> IntArray:
        matrix = np.zeros((len(rows), self.width), np.int64)
        for index, row in enumerate(rows):
            matrix[index, : len(row)] = row
        return matrix

    def fact_arrays(self) -> list[IntArray]:
        """Return the indices on facts: starts, ends, row offsets, bound keys, keys, ranks, rows."""
        start, end, offsets = [], [], []
        bound, keys, ranks, rows = [], [], [], []
        n_facts = n_rows = 0
        for predicate, positions in self.fact_indices:
            table = self.tables.get(predicate)
            start.append(n_facts)
            if table is None:
                end.append(n_facts)
                offsets.append(-1)
                continue
            index = table.index(positions)
            n_facts += len(table)
            end.append(n_facts)
            offsets.append(-1 if index.rows is None else n_rows)
            bound.append(index.bound)
            keys.append(table.keys[index.order])
            ranks.append(table.ranks[index.order])
            if index.rows is not None:
                rows.append(index.rows)
                n_rows += len(index.rows)
        vectors = [_vector(start), _vector(end), _vector(offsets)]
        return vectors + [_join_arrays(part) for part in (bound, keys, ranks, rows)]

    def lookup_arrays(self) -> list[IntArray]:
        """Return the tables of lookups: starts, ends, defaults, keys, ranks."""
        start, end, defaults, keys, ranks = [], [], [], [], []
        n = 0
        for predicate, default in self.lookups:
            table = self.tables.get(predicate)
            start.append(n)
            n += 0 if table is None else len(table)
            end.append(n)
            defaults.append(default)
            if table is not None:
                keys.append(table.keys)
                ranks.append(table.ranks)
        vectors = [_vector(start), _vector(end), _vector(defaults)]
        return vectors + [_join_arrays(keys), _join_arrays(ranks)]


class PlanStep(NamedTuple):
    """A step of a plan: its kind, its table or sign, its terms, and how each is matched."""

    kind: int
    table: int
    terms: list[int]
    modes: list[int]


def _vector(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _starts(counts: Sequence[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _join_arrays(parts: Sequence[IntArray]) -> IntArray:
    return np.ascontiguousarray(np.concatenate([np.zeros(0, np.int64), *parts]), dtype=np.int64)


def settle(
    clauses: Sequence[DefiniteClause],
    predicates: Mapping[Predicate, int],
    initial: Mapping[Predicate, AtomTable],
    tables: Mapping[Predicate, AtomTable],
    radix: int,
    top: int,
    entities: EntityOrder,
    *,
    stop: int = 1,
    record: bool = False,
    max_instances: int = MAX_INSTANCES,
    max_atoms: int = MAX_ATOMS,
) -> SettledAtoms:
    """Return the least fix-point of clauses.

    Parameters
    ----------
    clauses : each with a goal on one of the predicates
    predicates : those that clauses conclude on, and their arities
    initial : what holds of them to begin with
    tables : facts of the other predicates
    stop : atoms below this rank are not looked for
    record : whether to keep the derivations
    """
    from pinesy.relations.certainty_kernels import settle_atoms  # compiled: imported when used

    layout = ClauseLayout(clauses, predicates, tables, radix)
    n = len(layout.arity)
    n_lists = max(1, len(layout.lists))
    if radix ** max([1, *layout.arity]) * max(n, n_lists) > MAX_KEY:
        raise DataError(
            f"{radix:,} entities and {n} relations of up to {max(layout.arity)} arguments that "
            "depend on each other are too many for 64-bit keys; use relations of fewer arguments"
        )
    first_keys, first_ranks = [], []
    for predicate, index in layout.predicates.items():
        table = initial.get(predicate)
        if table is not None and len(table):
            first_keys.append(table.keys * n + index)
            first_ranks.append(table.ranks)
    settings = _vector(
        [radix, top, max(1, stop), max_atoms, max_instances, record, layout.n_variables]
    )
    keys, ranks, numbers, bindings, instances, status = settle_atoms(
        settings,
        _vector(layout.arity),
        _join_arrays(first_keys),
        _join_arrays(first_ranks),
        layout.occurrence_start,
        layout.occurrence_clause,
        layout.occurrence_terms,
        layout.occurrence_modes,
        layout.step_start,
        layout.step_kind,
        layout.step_table,
        layout.step_arity,
        layout.step_terms,
        layout.step_modes,
        layout.clause_rank,
        layout.head_predicate,
        layout.head_terms,
        *layout.fact_arrays(),
        layout.list_start,
        layout.list_modes,
        *layout.lookup_arrays(),
        entities.number,
        entities.place,
    )
    if status != DONE:
        rule = clauses[0].rule
        if status == TOO_MANY_ATOMS:
            raise too_many(rule, len(keys), max_atoms, "atoms")
        raise too_many(rule, instances, max_instances, "ground instances")
    owner = keys % n
    plain = keys // n
    results = {}
    for predicate, index in layout.predicates.items():
        mask = (owner == index) & (ranks > 0)
        order = np.argsort(plain[mask])
        results[predicate] = AtomTable(
            plain[mask][order], ranks[mask][order], layout.arity[index], radix
        )
    return SettledAtoms(results, int(instances), plain, owner, numbers, bindings)
