"""Elimination: tables are multiplied and summed out, one attribute after the other.

It is exact for any graph. Without loops it is message passing, and every table stays as small as
those of the rules; loops join attributes in one table, which may become large.
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

#: The class of each value of an attribute; classes are numbered as they first occur.
Classes = tuple[int, ...]
#: The most entries of a table that joins attributes, unless `largest` says otherwise.
LARGEST = 1 << 20


@dataclass(frozen=True)
class Scope:
    """The axes of a table, after that of samples: attributes, and the classes of their values."""

    names: tuple[str, ...]
    classes: tuple[Classes, ...]

    def of(self, name: str) -> Classes:
        """Return the classes of an attribute's values."""
        return self.classes[self.names.index(name)]


def size(classes: Classes) -> int:
    """Return the number of classes."""
    return max(classes) + 1


def numbered(labels: Iterable[Any]) -> Classes:
    """Return classes for labels: values of one label form a class."""
    first_classes: dict[Any, int] = {}
    return tuple(first_classes.setdefault(label, len(first_classes)) for label in labels)


@lru_cache(maxsize=4096)
def _refined(parts: tuple[Classes, ...]) -> Classes:
    """Return the classes of values that all of some partitions put together."""
    return parts[0] if len(parts) == 1 else numbered(zip(*parts, strict=True))


@lru_cache(maxsize=4096)
def _index(coarse: Classes, fine: Classes) -> Indices | None:
    """Return the coarse class of each fine one; None if they are the same."""
    if coarse == fine:
        return None
    index = np.empty(size(fine), dtype=np.intp)
    index[list(fine)] = coarse
    return index


@dataclass(frozen=True, eq=False)
class Aligned:
    """How a table is brought to the axes of a product.

    Attributes
    ----------
    slot : which table
    takes : axes, and the indices along them that are taken
    order : the order of axes then
    shape : that of the product, with 1 where the table does not have the axis
    """

    slot: int
    takes: tuple[tuple[int, Indices], ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]

    def read(self, ops: Any, tables: Mapping[int, Any]) -> Any:
        """Return the table as it is multiplied."""
        x = tables[self.slot]
        for axis, index in self.takes:
            x = ops.take(x, index, axis)
        return ops.permuted(x, self.order).reshape((len(x), *self.shape))


@dataclass(frozen=True, eq=False)
class Step:
    """One attribute is summed out.

    Attributes
    ----------
    values : how many it has
    unary : the tables of this attribute alone, with the class of each value
    grouping : the classes that the other tables tell apart; None if these are all values
    others : the tables with more attributes
    out : where the result goes
    """

    values: int
    unary: tuple[tuple[int, Indices | None], ...]
    grouping: Grouping | None
    others: tuple[Aligned, ...]
    out: int

    @property
    def used(self) -> list[int]:
        """The tables that are used up."""
        return [slot for slot, _ in self.unary] + [aligned.slot for aligned in self.others]

    def run(self, ops: Any, tables: Mapping[int, Any]) -> Any:
        """Return the sum over the attribute of the product of its tables."""
        product = product_of(ops, tables, self.unary)
        if product is None:
            product = ops.constant(_ones(self.values))
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
    """Return a table of ones, always the same: operations keep what they make of arrays."""
    return np.ones((1, n))


def product_of(
    ops: Any, tables: Mapping[int, Any], unary: Iterable[tuple[int, Indices | None]]
) -> Any:
    """Return the product (n, values) of tables of one attribute, None if there is none."""
    product = None
    for slot, index in unary:
        x = tables[slot] if index is None else ops.take(tables[slot], index, 1)
        product = x if product is None else ops.times(product, x)
    return product


@dataclass(frozen=True, eq=False)
class Plan:
    """The order in which attributes are summed out.

    Attributes
    ----------
    steps : in their order
    kept : the tables of the attribute that is left, if one is, with the class of each value
    scalars : the tables without attributes in the end
    entries : of the largest table
    """

    steps: tuple[Step, ...]
    kept: tuple[tuple[int, Indices | None], ...]
    scalars: tuple[int, ...]
    entries: int


class Planner:
    """Finds how to sum out all attributes but one, the one with the smallest result first.

    Parameters
    ----------
    scopes : those of the tables, which have the numbers 0, 1 and so on
    keep : the attribute that is left, if any
    largest : the most entries of a table; where more are needed, `CascadeError` names attributes
    """

    def __init__(self, scopes: Sequence[Scope], keep: str | None, largest: int) -> None:
        self.keep, self.largest = keep, largest
        self.scopes = dict(enumerate(scopes))
        self.next = len(scopes)
        self.sizes: dict[str, int] = {}  # how many values attributes have
        self.at: dict[str, dict[int, None]] = {}  # the tables of each attribute, in their order
        for slot, scope in self.scopes.items():
            for name, classes in zip(scope.names, scope.classes, strict=True):
                self.sizes[name] = len(classes)
                self.at.setdefault(name, {})[slot] = None

    def plan(self) -> Plan:
        """Return the order."""
        rank = {name: i for i, name in enumerate(self.at)}
        cost = {name: self._cost(name) for name in self.at if name != self.keep}
        heap = [(step_cost, rank[name], name) for name, step_cost in cost.items()]
        heapify(heap)
        steps, entries = [], 1
        while heap:
            step_cost, _, name = heappop(heap)
            if cost.get(name) != step_cost:
                continue  # it has another cost by now
            del cost[name]
            entries = max(entries, step_cost)
            step, neighbours = self._eliminate(name)
            steps.append(step)
            for other in neighbours:
                if other in cost and (now := self._cost(other)) != cost[other]:
                    cost[other] = now
                    heappush(heap, (now, rank[other], other))
        unary = self._unary(self.keep, self.at[self.keep]) if self.keep is not None else ()
        scalars = [slot for slot, scope in self.scopes.items() if not scope.names]
        return Plan(tuple(steps), unary, tuple(scalars), entries)

    def _axes(self, name: str) -> dict[str, Classes]:
        """Return the axes of the product of the tables of an attribute, itself the first."""
        scopes = [self.scopes[slot] for slot in self.at[name]]
        parts: dict[str, list[Classes]] = {name: []}
        for scope in scopes:
            for other, classes in zip(scope.names, scope.classes, strict=True):
                if len(scope.names) > 1:
                    parts.setdefault(other, []).append(classes)
        return {other: _refined(tuple(dict.fromkeys(p))) for other, p in parts.items() if p}

    def _cost(self, name: str) -> int:
        return prod(map(size, self._axes(name).values()))

    def _unary(self, name: str, slots: Iterable[int]) -> tuple[tuple[int, Indices | None], ...]:
        unary = [slot for slot in slots if len(self.scopes[slot].names) == 1]
        values = tuple(range(self.sizes[name]))
        return tuple((slot, _index(self.scopes[slot].of(name), values)) for slot in unary)

    def _eliminate(self, name: str) -> tuple[Step, Collection[str]]:
        axes = self._axes(name)
        entries = prod(map(size, axes.values()))
        if entries > self.largest:
            self._refuse(axes, entries)
        slots, n = list(self.at.pop(name)), self.sizes[name]
        shared = [slot for slot in slots if len(self.scopes[slot].names) > 1]
        others = tuple(self._aligned(slot, axes) for slot in shared)
        is_grouped = bool(axes) and size(axes[name]) < n
        grouping = Grouping.by(axes[name]) if is_grouped else None
        step = Step(n, self._unary(name, slots), grouping, others, self.next)
        remaining = {other: classes for other, classes in axes.items() if other != name}
        for slot in slots:
            for other in self.scopes.pop(slot).names:
                if other != name:
                    del self.at[other][slot]
        self.scopes[self.next] = Scope(tuple(remaining), tuple(remaining.values()))
        for other in remaining:
            self.at[other][self.next] = None
        self.next += 1
        return step, remaining

    def _aligned(self, slot: int, axes: Mapping[str, Classes]) -> Aligned:
        scope = self.scopes[slot]
        takes = []
        for axis, (name, classes) in enumerate(zip(scope.names, scope.classes, strict=True), 1):
            index = _index(classes, axes[name])
            if index is not None:
                takes.append((axis, index))
        order = [0, *(scope.names.index(name) + 1 for name in axes if name in scope.names)]
        shape = [size(axes[name]) if name in scope.names else 1 for name in axes]
        return Aligned(slot, tuple(takes), tuple(order), tuple(shape))

    def _refuse(self, axes: Iterable[str], entries: int) -> None:
        names = sorted({name.partition(HIDDEN)[0] for name in axes})
        listed = ", ".join(names[:8]) + f" and {len(names) - 8} more" * (len(names) > 8)
        raise CascadeError(
            f"loops tie {listed} together, and their joint table would have {entries:,} entries; "
            f"at most {self.largest:,} are allowed: raise largest, ask for other outputs, or take "
            "the possibilistic semantics"
        )


#: What the names of attributes that only tables have hold.
HIDDEN = "\x00"
