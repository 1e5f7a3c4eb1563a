"""Definite clauses on integers, what all engines evaluate; and tables of their predicates.

A predicate is a relation on one side: how certain it is (``"certain"``), how certain its negation
is (``"against"``), or how possible it is (``"possible"``). Degrees are ranks, 1 to `top`; an atom
that has no row has rank 0, or the default of a lookup. A term is a variable, an index from 0, or an
entity, ``-index - 1``.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from pinesy.exceptions import DataError
from pinesy.relations.fact_table import IntArray, decode, encode

Predicate: TypeAlias = Hashable
#: The signs of comparisons, in the order of the kernels.
SIGNS = ("==", "!=", "<", "<=", ">", ">=")
#: Steps of a plan of the kernel; lookups and comparisons only filter.
FACTS, SETTLED, LOOKUP, COMPARE = 0, 1, 2, 3
#: How an argument of a literal is matched: it binds a variable, or is part of the key of an index,
#: or must equal a variable that the same literal binds.
BIND, KEY, EQUAL = 0, 1, 2
#: Why the kernel stopped.
DONE, TOO_MANY_ATOMS, TOO_MANY_INSTANCES = 0, 1, 2
#: Ground instances and atoms of one evaluation, at most.
MAX_INSTANCES, MAX_ATOMS = 10**9, 10**8


class Goal(NamedTuple):
    """A predicate with its terms; as a premise, it binds variables."""

    predicate: Predicate
    terms: tuple[int, ...]


class Lookup(NamedTuple):
    """A premise whose atoms have a rank without a row too: its variables are bound by others."""

    predicate: Predicate
    terms: tuple[int, ...]
    default: int


class EntityComparison(NamedTuple):
    """A comparison of two terms."""

    left: int
    sign: str
    right: int


@dataclass(frozen=True)
class DefiniteClause:
    """``head <- body, filters``, at most of a rank.

    Attributes
    ----------
    n_variables : the number of variables
    rule : what it was made from, for messages and explanations
    parts : of the rule, the literal that each goal and each filter was made from
    """

    head: Goal
    body: tuple[Goal, ...]
    filters: tuple[Lookup | EntityComparison, ...]
    rank: int
    n_variables: int
    rule: object = None
    parts: tuple[object, ...] = field(default=(), compare=False)


def variables_of(item: Goal | Lookup | EntityComparison) -> Iterator[int]:
    """Yield the variables of a premise."""
    terms = (item.left, item.right) if isinstance(item, EntityComparison) else item.terms
    yield from (term for term in terms if term >= 0)


class FactIndex(NamedTuple):
    """The atoms of a predicate in the order of some of their arguments.

    Attributes
    ----------
    bound : the key of these arguments, ascending
    order : the row of each atom
    rows : row pointers, ``bound == x`` from ``rows[x]`` to ``rows[x + 1]``; None if there are too
        many keys
    """

    bound: IntArray
    order: IntArray
    rows: IntArray | None


class AtomTable:
    """The atoms of a predicate: sorted keys, and ranks above 0."""

    def __init__(self, keys: IntArray, ranks: IntArray, arity: int, radix: int) -> None:
        self.keys, self.ranks, self.arity, self.radix = keys, ranks, arity, radix
        self._columns: list[IntArray] | None = None
        self._indices: dict[tuple[int, ...], FactIndex] = {}
        self._compressed: dict[int, tuple[IntArray, IntArray, IntArray]] = {}

    @classmethod
    def merge(
        cls, parts: Sequence[tuple[IntArray, IntArray]], arity: int, radix: int
    ) -> "AtomTable":
        """Return a table of keys and ranks, each key once with its greatest rank."""
        keys = np.concatenate([np.zeros(0, np.int64), *(k for k, _ in parts)])
        ranks = np.concatenate([np.zeros(0, np.int64), *(r for _, r in parts)])
        return cls(*greatest(keys, ranks), arity, radix)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def columns(self) -> list[IntArray]:
        """The entity indices of each argument."""
        if self._columns is None:
            self._columns = decode(self.keys, self.radix, self.arity)
        return self._columns

    def index(self, positions: tuple[int, ...]) -> FactIndex:
        """Return the index on some arguments."""
        if positions not in self._indices:
            self._indices[positions] = self._make_index(positions)
        return self._indices[positions]

    def _make_index(self, positions: tuple[int, ...]) -> FactIndex:
        columns = [self.columns[p] for p in positions]
        bound = encode(columns, self.radix) if columns else np.zeros(len(self), np.int64)
        if positions == tuple(range(len(positions))):
            order = np.arange(len(self), dtype=np.int64)
        else:
            order = np.argsort(bound, kind="stable")
            bound = bound[order]
        rows = None
        if len(positions) == 1 and self.radix <= 16 * len(self) + 1024:
            rows = np.zeros(self.radix + 1, np.int64)
            np.cumsum(np.bincount(bound, minlength=self.radix), out=rows[1:])
        return FactIndex(bound, order, rows)

    def compressed_rows(self, position: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return a binary predicate by one of its arguments: row pointers, others, ranks."""
        if position not in self._compressed:
            index = self.index((position,))
            rows = index.rows
            if rows is None:
                rows = np.zeros(self.radix + 1, np.int64)
                np.cumsum(np.bincount(index.bound, minlength=self.radix), out=rows[1:])
            others = np.ascontiguousarray(self.columns[1 - position][index.order])
            ranks = np.ascontiguousarray(self.ranks[index.order])
            self._compressed[position] = rows, others, ranks
        return self._compressed[position]

    def lookup(self, keys: IntArray, default: int) -> IntArray:
        """Return the ranks of keys."""
        if not len(self):
            return np.full(len(keys), default, np.int64)
        indices = np.minimum(np.searchsorted(self.keys, keys), len(self) - 1)
        return np.where(self.keys[indices] == keys, self.ranks[indices], default)


def greatest(keys: IntArray, ranks: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct keys, ascending, each with its greatest rank; those of rank 0 not.

    Examples
    --------
    >>> greatest(np.array([5, 2, 5]), np.array([1, 3, 2]))
    (array([2, 5]), array([3, 2]))
    """
    if len(ranks) and ranks.min() <= 0:
        keys, ranks = keys[ranks > 0], ranks[ranks > 0]
    if not len(keys):
        return keys.astype(np.int64), ranks.astype(np.int64)
    base = int(ranks.max()) + 1
    if int(keys.max()) < (2**63 - 1) // base - 1:
        # One sort of key and rank in one number; the last of a key is its greatest.
        packed = np.sort(keys * base + ranks)
        keys, ranks = np.divmod(packed, base)
    else:
        order = np.lexsort((ranks, keys))
        keys, ranks = keys[order], ranks[order]
    is_last = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_last[:-1])
    return keys[is_last], ranks[is_last]


def order_items(
    clause: DefiniteClause, bound: set[int], sizes: Sequence[float], start: int | None = None
) -> list[int]:
    """Return the order in which the premises of a clause are joined.

    Filters come as soon as their variables are bound; of the goals, first those with most of their
    arguments bound, then those with few atoms.

    Parameters
    ----------
    bound : variables that have values
    sizes : the number of atoms of each goal
    start : the goal that has values already, if any

    Returns
    -------
    order : indices of goals, then, after ``len(body)``, of filters
    """
    goals = [g for g in range(len(clause.body)) if g != start]
    n_goals = len(clause.body)
    filters = list(range(len(clause.filters)))
    bound = set(bound)
    order: list[int] = []
    while goals or filters:
        ready = [f for f in filters if {*variables_of(clause.filters[f])} <= bound]
        if ready:
            order += [n_goals + f for f in ready]
            filters = [f for f in filters if f not in ready]
            continue
        if not goals:
            raise DataError(f"a variable of '{clause.rule}' is bound by no relation")

        _, _, goal = min((_preference(clause.body[g], bound), sizes[g], g) for g in goals)
        order.append(goal)
        goals.remove(goal)
        bound |= {*variables_of(clause.body[goal])}
    return order


def _preference(goal: Goal, bound: set[int]) -> int:
    """Return how many arguments of a goal are free; more if it shares no variable."""
    free = sum(term >= 0 and term not in bound for term in goal.terms)
    is_apart = 0 < free == len(goal.terms) and bool(bound)
    return free + 10 * is_apart


def too_many(rule: object, count: int, most: int, noun: str) -> DataError:
    """Return the error of a rule that makes too many instances or atoms."""
    return DataError(
        f"'{rule}' makes {count:,} {noun}; the limit is {most:,}: ask with constants, as in "
        "ask('p(ann, X)'), add premises that leave fewer, or close relations that an 'iff' reads"
    )
