"""What a question is answered by: an atom, or a table of atoms with their degrees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from pinesy._common.reports import text_table
from pinesy._common.validation import FloatArray, printable
from pinesy.exceptions import DataError, needing
from pinesy.relations.fact_table import EntityIndex, IntArray, complement
from pinesy.relations.literals import Entity, atom_text
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility

#: Rows that a table prints.
ROWS = 20


@dataclass(frozen=True)
class GroundAtom:
    """An atom with its degrees.

    Attributes
    ----------
    name, entities : the relation and its arguments
    certain : N(p), how certain it is
    against : N(not p), how certain its negation is
    """

    name: str
    entities: tuple[Entity, ...]
    certain: float
    against: float

    @property
    def possible(self) -> float:
        """How possible it is: ``1 - against``."""
        return float(complement(np.array([self.against]))[0])

    @property
    def contradiction(self) -> float:
        """The least of what speaks for it and what speaks against it."""
        return min(self.certain, self.against)

    def __str__(self) -> str:
        text = atom_text(self.name, self.entities)
        degrees = f"certain {self.certain:.6g}, possible {self.possible:.6g}"
        note = f", contradiction {self.contradiction:.6g}" if self.contradiction else ""
        return printable(f"{text}: {degrees}{note}")

    __repr__ = __str__


class Table:
    """The atoms of a relation, or the answers of a question, with their degrees.

    Attributes
    ----------
    name : of the relation
    titles : of the columns of entities
    indices : the entity indices of each column
    certain, against : how certain each atom is, and its negation
    """

    def __init__(
        self,
        name: str,
        titles: Sequence[str],
        indices: Sequence[IntArray],
        certain: FloatArray,
        against: FloatArray,
        entities: EntityIndex,
        pattern: Sequence[Entity | int] | None = None,
    ) -> None:
        self.name, self.titles, self.indices = name, tuple(titles), list(indices)
        self.certain, self.against, self._entities = certain, against, entities
        # Of an answer: for each argument its entity, or the number of its column.
        self._pattern = pattern

    @property
    def possible(self) -> FloatArray:
        """How possible each atom is."""
        return complement(self.against)

    @property
    def contradiction(self) -> FloatArray:
        """The least of what speaks for each atom and against it."""
        return np.minimum(self.certain, self.against)

    def __len__(self) -> int:
        return len(self.certain)

    def columns(self) -> dict[str, list[Entity]]:
        """Return the entities of each column."""
        names = self._entities.names
        return {
            title: [names[i] for i in column.tolist()]
            for title, column in zip(self.titles, self.indices, strict=True)
        }

    def rows(self) -> list[tuple[Entity, ...]]:
        """Return the entities of each atom."""
        if not self.titles:
            return [()] * len(self)
        return list(zip(*self.columns().values(), strict=True))

    def __iter__(self) -> Iterator[tuple[Entity, ...]]:
        return iter(self.rows())

    def __getitem__(self, entities: Any) -> GroundAtom:
        """Return the atom of some entities, which must be in the table."""
        key = entities if isinstance(entities, tuple) else (entities,)
        if len(key) != len(self.indices):
            raise DataError(f"{self.name!r}: give {len(self.indices)} entities; got {key!r:.60}")
        mask = np.ones(len(self), bool)
        for column, entity in zip(self.indices, key, strict=True):
            mask &= column == self._entities.find(entity)
        if not mask.any():
            raise DataError(f"{atom_text(self.name, key)} is not in this table; ask for it")
        row = int(np.argmax(mask))
        return GroundAtom(self.name, key, float(self.certain[row]), float(self.against[row]))

    def sorted(self) -> "Table":
        """Return the table by decreasing certainty, then possibility."""
        order = np.lexsort((self.against, -self.certain))
        return self.select(order)

    def select(self, rows: Any) -> "Table":
        """Return some rows, by a mask or by indices."""
        indices = [column[rows] for column in self.indices]
        certain, against = self.certain[rows], self.against[rows]
        return Table(self.name, self.titles, indices, certain, against, self._entities)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns: entities, certain, possible, contradiction."""
        content: dict[str, list[Any]] = dict(self.columns())
        content["certain"] = self.certain.tolist()
        content["possible"] = self.possible.tolist()
        content["contradiction"] = self.contradiction.tolist()
        return content

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        with needing("frame", "a data frame needs"):
            return import_module("pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """Return the table as a polars data frame."""
        with needing("frame", "a polars data frame needs", "; or pip install polars"):
            return import_module("polars").DataFrame(self.to_dict())

    def to_networkx(self) -> Any:
        """Return a binary relation as a directed graph of networkx, with degrees on its edges."""
        if len(self.titles) != 2:
            raise DataError(f"{self.name!r} has {len(self.titles)} columns; a graph needs two")
        with needing("frame", "a networkx graph needs", "; or pip install networkx"):
            networkx = import_module("networkx")
        content = networkx.DiGraph()
        degrees = zip(self.certain.tolist(), self.possible.tolist(), strict=True)
        for (first, second), (certain, possible) in zip(self.rows(), degrees, strict=True):
            content.add_edge(first, second, certainty=certain, possibility=possible)
        return content

    def lines(self, most: int | None = None) -> list[list[str]]:
        """Return the titles, and the first rows as texts."""
        has_contradiction = bool(self.contradiction.any())
        head = [*self.titles, "certain", "possible"] + ["contradiction"] * has_contradiction
        first = self.select(slice(0, most))
        columns = [[printable(str(e)) for e in column] for column in first.columns().values()]
        degrees = [first.certain, first.possible] + [first.contradiction] * has_contradiction
        columns += [[f"{d:.6g}" for d in column.tolist()] for column in degrees]
        return [head, *(list(row) for row in zip(*columns, strict=True))]

    def __str__(self) -> str:
        if not len(self):
            return f"{self.name}: no atom"
        left = len(self) - ROWS
        note = f"\n... and {left:,} more" if left > 0 else ""
        return text_table(self.lines(ROWS)) + note

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from pinesy.display.markup import html_table

        head, *lines = self.lines(ROWS)
        return str(html_table(head, lines))


class AttributeTable:
    """The distributions of an attribute of entities.

    Attributes
    ----------
    attribute : its name and its domain
    indices : the entity indices of each argument
    degrees : possibilities, of shape ``(tuples, values)``
    """

    def __init__(
        self,
        attribute: Attribute,
        indices: Sequence[IntArray],
        degrees: FloatArray,
        entities: EntityIndex,
    ) -> None:
        self.attribute, self.indices, self.degrees = attribute, list(indices), degrees
        self._entities = entities

    def __len__(self) -> int:
        return len(self.degrees)

    def rows(self) -> list[tuple[Entity, ...]]:
        """Return the entities of each distribution."""
        names = self._entities.names
        return list(zip(*([names[i] for i in c.tolist()] for c in self.indices), strict=True))

    def __getitem__(self, entities: Any) -> Possibility:
        """Return the distribution of some entities; all values are possible where none is known."""
        key = entities if isinstance(entities, tuple) else (entities,)
        if len(key) != len(self.indices):
            raise DataError(f"{self.attribute.name!r}: give {len(self.indices)} entities")
        mask = np.ones(len(self), bool)
        for column, entity in zip(self.indices, key, strict=True):
            mask &= column == self._entities.find(entity)
        row = self.degrees[int(np.argmax(mask))] if mask.any() else np.ones(self.degrees.shape[1])
        return Possibility(self.attribute, row)

    def __repr__(self) -> str:
        return f"AttributeTable({self.attribute.name}, {len(self):,} distributions)"
