"""Variable elimination: tables are multiplied, and attributes summed out one after the other.

It is exact for any graph. Without loops it is message passing, and no table is larger than those of
the rules; loops join attributes in one table, which may become large.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import CascadeError
from pinesy.semantics.semirings import Grouping, Indices

#: The class index of each value of an attribute, in order of first occurrence.
Classes = tuple[int, ...]
#: The default of `largest`, the most entries of a table that joins attributes.
LARGEST = 1 << 20
#: Separates the name of an attribute and the index of a hidden attribute of its rules.
HIDDEN = "\x00"


@dataclass(frozen=True)
class Scope:
    """The axes of a table after the sample axis: attributes, and the classes of their values."""

    names: tuple[str, ...]
    classes: tuple[Classes, ...]

    def of(self, name: str) -> Classes:
        """Return the classes of an attribute's values."""
        return self.classes[self.names.index(name)]


def n_classes(classes: Classes) -> int:
    """Return the number of classes."""
    return max(classes) + 1


def class_indices(labels: Iterable[Any]) -> Classes:
    """Return the class of each label, in order of first occurrence: equal labels form a class."""
    first_classes: dict[Any, int] = {}
    return tuple(first_classes.setdefault(label, len(first_classes)) for label in labels)


@lru_cache(maxsize=4096)
def _common_refinement(parts: tuple[Classes, ...]) -> Classes:
    """Return the common refinement of partitions: classes that are inside one class of each."""
    return parts[0] if len(parts) == 1 else class_indices(zip(*parts, strict=True))


@lru_cache(maxsize=4096)
def _coarse_index(coarse: Classes, fine: Classes) -> Indices | None:
    """Return the coarse class of each fine class; None if the partitions are the same."""
    if coarse == fine:
        return None
    index = np.empty(n_classes(fine), dtype=np.intp)
    index[list(fine)] = coarse
    return index


@dataclass(frozen=True, eq=False)
class AlignedTable:
    """A table, and how it is broadcast to the axes of a product.

    Attributes
    ----------
    slot : the index of the table
    takes : pairs of an axis and the indices to take along it
    order : the permutation of the axes after that
    shape : the shape of the product, with 1 where the table does not have the axis
    """

    slot: int
    takes: tuple[tuple[int, Indices], ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]

    def read(self, ops: Any, tables: Mapping[int, Any]) -> Any:
        """Return the table, broadcastable to the product."""
        x = tables[self.slot]
        for axis, index in self.takes:
            x = ops.take(x, index, axis)
        return ops.permute(x, self.order).reshape((len(x), *self.shape))


@dataclass(frozen=True, eq=False)
class Step:
    """The elimination of one attribute.

    Attributes
    ----------
    n_values : the number of values of the attribute
    unary : the tables of this attribute only, with the class of each value
    grouping : the classes that the other tables distinguish; None if these are all values
    others : the tables with more attributes
    out : the index of the resulting table
    """

    n_values: int
    unary: tuple[tuple[int, Indices | None], ...]
    grouping: Grouping | None
    others: tuple[AlignedTable, ...]
    out: int

    @property
    def slots(self) -> list[int]:
        """The indices of the tables that are multiplied."""
        return [slot for slot, _ in self.unary] + [aligned.slot for aligned in self.others]

    def run(self, ops: Any, tables: Mapping[int, Any]) -> Any:
        """Return the sum over the attribute of the product of its tables."""
        product = multiply_tables(ops, tables, self.unary)
        if product is None:
            product = ops.constant(_ones(self.n_values))
        if not self.others:
            return ops.total(product)
        if self.grouping is not None:
            product = ops.group(product, self.grouping)
        first, *factors = (aligned.read(ops, tables) for aligned in self.others)
        if ops.semiring.adds and not factors and len(first) == 1:
            return (product @ first.reshape(first.shape[1], -1)).reshape(
                len(product), *first.shape[2:]
            )
        x = ops.times(product.reshape(*product.shape, *[1] * (first.ndim - 2)), first)
        for factor in factors:
            x = ops.times(x, factor)
        return ops.total(x)


@lru_cache(maxsize=256)
def _ones(n: int) -> FloatArray:
    """Return a table of ones, always the same object: `constant` caches by identity."""
    return np.ones((1, n))


def multiply_tables(
    ops: Any, tables: Mapping[int, Any], unary: Iterable[tuple[int, Indices | None]]
) -> Any:
    """Return the product (n, values) of tables of one attribute; None without tables."""
    product = None
    for slot, index in unary:
        x = tables[slot] if index is None else ops.take(tables[slot], index, 1)
        product = x if product is None else ops.times(product, x)
    return product


@dataclass(frozen=True, eq=False)
class Plan:
    """An elimination order, and the tables that remain after it.

    Attributes
    ----------
    steps : the eliminations in order
    kept : the tables of the attribute that is kept, if any, with the class of each value
    scalars : the tables without attributes
    entries : the number of entries of the largest table
    """

    steps: tuple[Step, ...]
    kept: tuple[tuple[int, Indices | None], ...]
    scalars: tuple[int, ...]
    entries: int


class Planner:
    """Plans the elimination of all attributes but one, greedily by the size of the joint table.

    Parameters
    ----------
    scopes : the scopes of the tables 0, 1, ...
    keep : the attribute that is not eliminated, if any
    largest : the most entries of a table; `CascadeError` if more are needed
    """

    def __init__(self, scopes: Sequence[Scope], keep: str | None, largest: int) -> None:
        self.keep, self.largest = keep, largest
        self.scopes = dict(enumerate(scopes))
        self.next = len(scopes)
        self.sizes: dict[str, int] = {}  # the number of values of each attribute
        self.slots: dict[str, dict[int, None]] = {}  # the ordered set of tables of each attribute
        for slot, scope in self.scopes.items():
            for name, classes in zip(scope.names, scope.classes, strict=True):
                self.sizes[name] = len(classes)
                self.slots.setdefault(name, {})[slot] = None

    def plan(self) -> Plan:
        """Return the elimination order."""
        rank = {name: i for i, name in enumerate(self.slots)}
        cost = {name: self._cost(name) for name in self.slots if name != self.keep}
        heap = [(step_cost, rank[name], name) for name, step_cost in cost.items()]
        heapify(heap)
        steps, entries = [], 1
        while heap:
            step_cost, _, name = heappop(heap)
            if cost.get(name) != step_cost:
                continue  # the cost has changed
            del cost[name]
            entries = max(entries, step_cost)
            step, neighbours = self._eliminate(name)
            steps.append(step)
            for other in neighbours:
                if other in cost and (now := self._cost(other)) != cost[other]:
                    cost[other] = now
                    heappush(heap, (now, rank[other], other))
        unary = (
            self._unary_tables(self.keep, self.slots[self.keep]) if self.keep is not None else ()
        )
        scalars = [slot for slot, scope in self.scopes.items() if not scope.names]
        return Plan(tuple(steps), unary, tuple(scalars), entries)

    def _axes(self, name: str) -> dict[str, Classes]:
        """Return the axes of the product of the tables of an attribute, which is the first axis."""
        scopes = [self.scopes[slot] for slot in self.slots[name]]
        parts: dict[str, list[Classes]] = {name: []}
        for scope in scopes:
            for other, classes in zip(scope.names, scope.classes, strict=True):
                if len(scope.names) > 1:
                    parts.setdefault(other, []).append(classes)
        return {
            other: _common_refinement(tuple(dict.fromkeys(p))) for other, p in parts.items() if p
        }

    def _cost(self, name: str) -> int:
        """Return the number of entries of the product of the tables of an attribute."""
        return prod(map(n_classes, self._axes(name).values()))

    def _unary_tables(
        self, name: str, slots: Iterable[int]
    ) -> tuple[tuple[int, Indices | None], ...]:
        """Return the tables of one attribute only, with the class of each value."""
        unary = [slot for slot in slots if len(self.scopes[slot].names) == 1]
        values = tuple(range(self.sizes[name]))
        return tuple((slot, _coarse_index(self.scopes[slot].of(name), values)) for slot in unary)

    def _eliminate(self, name: str) -> tuple[Step, Collection[str]]:
        """Return the elimination of an attribute, and the attributes of the resulting table."""
        axes = self._axes(name)
        entries = prod(map(n_classes, axes.values()))
        if entries > self.largest:
            names = sorted({axis.partition(HIDDEN)[0] for axis in axes})
            listed = ", ".join(names[:8]) + f" and {len(names) - 8} more" * (len(names) > 8)
            raise CascadeError(
                f"loops tie {listed} together, and their joint table would have {entries:,} "
                f"entries; at most {self.largest:,} are allowed: raise largest, ask for other "
                "outputs, take the possibilistic semantics, or find the most probable world with "
                "best_world"
            )
        slots, n = list(self.slots.pop(name)), self.sizes[name]
        shared = [slot for slot in slots if len(self.scopes[slot].names) > 1]
        others = tuple(self._align(slot, axes) for slot in shared)
        is_grouped = bool(axes) and n_classes(axes[name]) < n
        grouping = Grouping.by(axes[name]) if is_grouped else None
        step = Step(n, self._unary_tables(name, slots), grouping, others, self.next)
        remaining = {other: classes for other, classes in axes.items() if other != name}
        for slot in slots:
            for other in self.scopes.pop(slot).names:
                if other != name:
                    del self.slots[other][slot]
        self.scopes[self.next] = Scope(tuple(remaining), tuple(remaining.values()))
        for other in remaining:
            self.slots[other][self.next] = None
        self.next += 1
        return step, remaining

    def _align(self, slot: int, axes: Mapping[str, Classes]) -> AlignedTable:
        """Return how a table is broadcast to some axes."""
        scope = self.scopes[slot]
        takes = []
        for axis, (name, classes) in enumerate(zip(scope.names, scope.classes, strict=True), 1):
            index = _coarse_index(classes, axes[name])
            if index is not None:
                takes.append((axis, index))
        order = [0, *(scope.names.index(name) + 1 for name in axes if name in scope.names)]
        shape = [n_classes(axes[name]) if name in scope.names else 1 for name in axes]
        return AlignedTable(slot, tuple(takes), tuple(order), tuple(shape))
