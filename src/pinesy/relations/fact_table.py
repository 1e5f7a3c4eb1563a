"""Facts of a relation as columns: entity indices, and how certain they are for and against."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.relations.literals import Entity
from pinesy.rules.rule import from_certainty

IntArray = npt.NDArray[np.int64]
#: Keys of atoms are integers below this.
MAX_KEY = 2**63 - 1


class EntityIndex:
    """Entities and their indices, from 0 in the order in which they are met."""

    def __init__(self, names: Iterable[Entity] = ()) -> None:
        self.names: list[Entity] = []
        self._indices: dict[tuple[bool, Entity], int] = {}
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        return len(self.names)

    def add(self, entity: Entity) -> int:
        """Return the index of an entity, a new one if it is new."""
        # The key tells the text "1" from the number 1; 1 and 1.0 are one number.
        key = isinstance(entity, str), entity
        index = self._indices.setdefault(key, len(self.names))
        if index == len(self.names):
            self.names.append(entity)
        return index

    def find(self, entity: Entity) -> int:
        """Return the index of an entity, or -1; a number also finds the text of it."""
        index = self._indices.get((isinstance(entity, str), entity), -1)
        if index < 0 and not isinstance(entity, str):
            index = self._indices.get((True, repr(entity)), -1)
        return index

    def add_all(self, entities: Sequence[Entity] | npt.NDArray[np.object_]) -> IntArray:
        """Return the indices of entities, all texts or numbers."""
        array = np.asarray(entities)
        if array.dtype.kind in "iuf":
            distinct, inverse = np.unique(array, return_inverse=True)
            indices = np.array([self.add(v) for v in distinct.tolist()], np.int64)
            return indices[inverse.reshape(-1)] if len(indices) else np.zeros(0, np.int64)
        return np.fromiter(map(self.add, entities), np.int64, len(entities))

    def copy(self) -> "EntityIndex":
        """Return a copy that can grow on its own."""
        clone = EntityIndex()
        clone.names, clone._indices = list(self.names), dict(self._indices)
        return clone


@dataclass(frozen=True, eq=False)
class FactTable:
    """The facts of a relation, sorted by their entities, each tuple once.

    Attributes
    ----------
    columns : entity indices, of shape ``(arity, facts)``
    certain : how certain each fact is, N(p)
    against : how certain its negation is, N(not p); the fact is possible at ``1 - against``
    """

    columns: IntArray
    certain: FloatArray
    against: FloatArray

    @classmethod
    def merge(cls, tables: Sequence["FactTable"]) -> "FactTable":
        """Return the facts of several tables; of a tuple that repeats, the maximum of both."""
        columns = np.concatenate([t.columns for t in tables], axis=1)
        certain = np.concatenate([t.certain for t in tables])
        against = np.concatenate([t.against for t in tables])
        arity, n = columns.shape
        if n == 0:
            return cls(columns, certain, against)
        order = np.lexsort(columns[::-1]) if arity else np.arange(n)
        columns = columns[:, order]
        is_first = np.ones(n, bool)
        is_first[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
        starts = np.flatnonzero(is_first)
        return cls(
            np.ascontiguousarray(columns[:, starts]),
            np.maximum.reduceat(certain[order], starts),
            np.maximum.reduceat(against[order], starts),
        )

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return int(self.columns.shape[0])

    def keys(self, radix: int) -> IntArray:
        """Return one integer for each tuple, ascending: its indices as digits in base `radix`."""
        return encode(self.columns, radix)

    @cached_property
    def sources(self) -> IntArray:
        """Of a binary relation, the distinct first entities, ascending."""
        return distinct_keys(self.columns[0])

    def csr(self, n: int, inverse: bool = False) -> tuple[IntArray, IntArray, IntArray]:
        """Return a binary relation as compressed rows: ``indptr``, ``indices``, fact numbers.

        ``indices[indptr[i]:indptr[i + 1]]`` are the entities that `i` is related to; with
        `inverse`, those that are related to `i`.
        """
        first, second = self.columns[::-1] if inverse else self.columns
        order = np.lexsort((second, first)) if inverse else np.arange(len(self))
        indptr = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(first, minlength=n), out=indptr[1:])
        return indptr, second[order], order.astype(np.int64)


def encode(columns: Sequence[IntArray] | IntArray, radix: int) -> IntArray:
    """Return columns of indices below `radix` as one column of keys; raise if they overflow."""
    check_radix(radix, len(columns))
    n = len(columns[0]) if len(columns) else 1
    keys = np.zeros(n, np.int64)
    for column in columns:
        keys = keys * radix + column
    return keys


def distinct_keys(*parts: IntArray) -> IntArray:
    """Return the distinct keys of some arrays, ascending, by one sort.

    Examples
    --------
    >>> distinct_keys(np.array([3, 1]), np.array([3]))
    array([1, 3])
    """
    parts = tuple(part for part in parts if len(part)) or parts[:1]
    keys = np.sort(np.concatenate(parts))
    if not len(keys):
        return keys
    return keys[np.r_[True, keys[1:] != keys[:-1]]]


def check_radix(radix: int, arity: int) -> None:
    """Raise `DataError` where keys do not fit into 64 bits."""
    if radix**arity > MAX_KEY:
        raise DataError(
            f"{radix:,} entities and a relation of {arity} arguments are too many: their tuples "
            "are numbered by 64-bit integers; use relations of fewer arguments"
        )


def decode(keys: IntArray, radix: int, arity: int) -> list[IntArray]:
    """Return the columns of keys."""
    columns = []
    for _ in range(arity):
        keys, column = np.divmod(keys, radix) if radix else (keys, keys)
        columns.append(column)
    return columns[::-1]


def complement(degrees: FloatArray) -> FloatArray:
    """Return ``1 - degrees``, computed in decimals: 1 - 0.9 is 0.1.

    Examples
    --------
    >>> complement(np.array([0.9, 0.0]))
    array([0.1, 1. ])
    """
    distinct, inverse = np.unique(degrees, return_inverse=True)
    return np.array([from_certainty(d) for d in distinct.tolist()], np.float64)[
        inverse.reshape(np.shape(degrees))
    ]
