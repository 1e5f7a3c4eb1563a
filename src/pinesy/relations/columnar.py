"""The columnar engine: clauses without recursion, joined column by column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pinesy._common.console import check_stop
from pinesy._common.validation import BoolArray
from pinesy.relations.definite_clauses import (
    MAX_INSTANCES,
    AtomTable,
    DefiniteClause,
    EntityComparison,
    Goal,
    Lookup,
    Predicate,
    greatest,
    order_items,
    too_many,
    variables_of,
)
from pinesy.relations.fact_table import IntArray, encode

#: Instances that are made at a time.
BLOCK = 1 << 23


@dataclass
class EntityOrder:
    """What comparisons of entities need: whether each is a number, and its place in the order."""

    number: IntArray
    place: IntArray

    def compare(self, sign: str, left: IntArray, right: IntArray) -> BoolArray:
        """Return where a comparison of entity indices holds."""
        if sign in ("==", "!="):
            return np.asarray((left == right) == (sign == "=="))
        a, b = self.place[left], self.place[right]
        results = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        return np.asarray(results[sign] & (self.number[left] == self.number[right]))


@dataclass
class ColumnarJoin:
    """Joins the premises of clauses over tables.

    Attributes
    ----------
    tables : by predicate; a missing one is empty
    radix : the base of keys
    max_instances : the limit of ground instances
    instances : how many were made
    """

    tables: Mapping[Predicate, AtomTable]
    radix: int
    entities: EntityOrder
    max_instances: int = MAX_INSTANCES
    instances: int = field(default=0)

    def run(self, clauses: Sequence[DefiniteClause]) -> list[tuple[IntArray, IntArray]]:
        """Return the keys and ranks of the heads of clauses on one predicate."""
        return [part for clause in clauses for part in self._run_clause(clause)]

    def _run_clause(self, clause: DefiniteClause) -> Iterator[tuple[IntArray, IntArray]]:
        sizes = [len(self._table(goal)) for goal in clause.body]
        if not all(sizes):
            return
        order = order_items(clause, set(), sizes)
        ranks = np.full(1, clause.rank, np.int64)
        yield from self._extend(clause, order, {}, ranks)

    def _table(self, goal: Goal | Lookup) -> AtomTable:
        table = self.tables.get(goal.predicate)
        if table is None:
            empty = np.zeros(0, np.int64)
            return AtomTable(empty, empty, len(goal.terms), self.radix)
        return table

    def _extend(
        self,
        clause: DefiniteClause,
        order: Sequence[int],
        binding: dict[int, IntArray],
        ranks: IntArray,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the heads of all extensions of some rows by the premises that are left."""
        for step, index in enumerate(order):
            if not len(ranks):
                return
            if index >= len(clause.body):
                binding, ranks = self._filter(
                    clause.filters[index - len(clause.body)], binding, ranks
                )
                continue
            goal = clause.body[index]
            needed = _needed_variables(clause, order[step + 1 :])
            start, end, rows_of = self._ranges(goal, binding, len(ranks))
            total = int((end - start).sum())
            self._count(clause, total)
            if total > BLOCK and len(ranks) > 1:
                # Too many at a time: the rows in parts.
                cuts = np.searchsorted(np.cumsum(end - start), np.arange(BLOCK, total, BLOCK)) + 1
                bounds = np.unique(np.concatenate([[0], cuts, [len(ranks)]])).tolist()
                for low, high in pairwise(bounds):
                    part = {v: column[low:high] for v, column in binding.items()}
                    joined = self._join(
                        goal, part, ranks[low:high], start[low:high], end[low:high], rows_of, needed
                    )
                    yield from self._extend(clause, order[step + 1 :], *joined)
                return
            binding, ranks = self._join(goal, binding, ranks, start, end, rows_of, needed)
        if len(ranks):
            check_stop()
            n = len(ranks)
            columns = [self._column(term, binding, n) for term in clause.head.terms]
            keys = encode(columns, self.radix) if columns else np.zeros(n, np.int64)
            yield greatest(keys, ranks)

    def _count(self, clause: DefiniteClause, total: int) -> None:
        self.instances += total
        if self.instances > self.max_instances:
            raise too_many(clause.rule, self.instances, self.max_instances, "ground instances")

    @staticmethod
    def _column(term: int, binding: Mapping[int, IntArray], n: int) -> IntArray:
        return binding[term] if term >= 0 else np.full(n, -term - 1, np.int64)

    def _filter(
        self, item: Lookup | EntityComparison, binding: dict[int, IntArray], ranks: IntArray
    ) -> tuple[dict[int, IntArray], IntArray]:
        n = len(ranks)
        if isinstance(item, EntityComparison):
            columns = [self._column(t, binding, n) for t in (item.left, item.right)]
            mask = self.entities.compare(item.sign, *columns)
        else:
            columns = [self._column(t, binding, n) for t in item.terms]
            keys = encode(columns, self.radix) if columns else np.zeros(n, np.int64)
            ranks = np.minimum(ranks, self._table(item).lookup(keys, item.default))
            mask = ranks > 0
        if mask.all():
            return binding, ranks
        return {v: column[mask] for v, column in binding.items()}, ranks[mask]

    def _ranges(
        self, goal: Goal, binding: Mapping[int, IntArray], n: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return, for each row, where its atoms begin and end in an index, and its order."""
        positions = tuple(p for p, term in enumerate(goal.terms) if term < 0 or term in binding)
        table = self._table(goal)
        index = table.index(positions)
        if not positions:
            zeros = np.zeros(n, np.int64)
            return zeros, zeros + len(table), index.order
        columns = [self._column(goal.terms[p], binding, n) for p in positions]
        keys = encode(columns, self.radix)
        if index.rows is not None:
            return index.rows[keys], index.rows[keys + 1], index.order
        start = np.searchsorted(index.bound, keys)
        end = np.searchsorted(index.bound, keys, side="right")
        return start, end, index.order

    def _join(
        self,
        goal: Goal,
        binding: Mapping[int, IntArray],
        ranks: IntArray,
        start: IntArray,
        end: IntArray,
        order: IntArray,
        needed: set[int],
    ) -> tuple[dict[int, IntArray], IntArray]:
        """Return the rows, each with every atom of its range; only variables that are needed."""
        from pinesy.relations.path_loops import expand_ranges  # compiled: imported when used

        total = int((end - start).sum())
        rows, indices = expand_ranges(np.ascontiguousarray(start), np.ascontiguousarray(end), total)
        atoms = order[indices]
        table = self._table(goal)
        joined = {v: column[rows] for v, column in binding.items() if v in needed}
        repeats = {t for t in goal.terms if goal.terms.count(t) > 1}
        ranks = np.minimum(ranks[rows], table.ranks[atoms])
        mask = None
        for position, term in enumerate(goal.terms):
            if term < 0 or term in binding or (term not in needed and term not in repeats):
                continue
            column = table.columns[position][atoms]
            if term in joined:  # a variable that repeats in this literal
                equal = joined[term] == column
                mask = equal if mask is None else mask & equal
            else:
                joined[term] = column
        if mask is None:
            return joined, ranks
        return {v: column[mask] for v, column in joined.items()}, ranks[mask]


def _needed_variables(clause: DefiniteClause, order: Sequence[int]) -> set[int]:
    """Return the variables that the head and the premises that are left use."""
    needed = {*variables_of(clause.head)}
    for index in order:
        is_goal = index < len(clause.body)
        item = clause.body[index] if is_goal else clause.filters[index - len(clause.body)]
        needed |= {*variables_of(item)}
    return needed
