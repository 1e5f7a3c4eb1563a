"""`Graph`: entities, and facts on them."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.files import as_path, atomic_text, read_text
from pinesy._common.validation import FloatArray, check_known, cut_repr
from pinesy.exceptions import DataError, ShapeError, placed
from pinesy.relations.fact_forms import check_degrees, check_entities, read_facts, read_rows
from pinesy.relations.fact_table import EntityIndex, FactTable, IntArray, complement
from pinesy.relations.literals import Entity
from pinesy.transforms.transformation import Transformation, as_transform

FORMAT, VERSION = "pinesy graph", 1
#: The header that a file of triples may have.
TRIPLE_HEADERS = ({"head", "relation", "tail"}, {"subject", "predicate", "object"})


class Graph:
    """Entities, and facts on them: relations with certainty and possibility, and distributions.

    Entities are met, not declared: texts and numbers. A fact that is added twice keeps the
    greatest certainty for it and against it, so that contradictions stay visible.

    Parameters
    ----------
    facts : a dict from relations to facts, in any form that `add` takes

    Examples
    --------
    >>> graph = Graph({"parent": [("ann", "bob", 0.8), ("bob", "cleo")]})
    >>> graph
    Graph(3 entities, 2 facts: parent)
    >>> graph.facts("parent").certain
    array([0.8, 1. ])
    """

    def __init__(self, facts: Mapping[str, Any] | None = None) -> None:
        self.entities = EntityIndex()
        self._tables: dict[str, list[FactTable]] = {}
        self._distributions: dict[str, Distributions] = {}
        for name, content in (facts or {}).items():
            self.add(name, content)

    # --- facts in ---

    def add(
        self,
        relation: str,
        facts: Any,
        certainty: Any = None,
        possibility: Any = None,
        both_ways: bool = False,
    ) -> "Graph":
        """Add facts of a relation.

        Parameters
        ----------
        facts : rows such as ``("ann", "bob")`` or, with a certainty, ``("ann", "bob", 0.8)``;
            a data frame (pandas, polars, ...) or the path of a CSV or TSV file, whose columns are
            entities and optionally ``certainty`` and ``possibility``; or a networkx graph
        certainty, possibility : degrees of all facts, or one for each. A certainty that is not
            given is 1, or 0 where a possibility below 1 is given: ``possibility=0.3`` says *not*,
            with certainty 0.7.
        both_ways : whether a fact on (x, y) is one on (y, x) too
        """
        name = self._check_name(relation)
        where = f"relation {name!r}"
        arity = self.arity(name)
        columns, given_certainty, given_possibility = read_facts(facts, where, arity)
        n = len(columns[0]) if columns else 1
        possible = _degrees(possibility, given_possibility, n, f"{where}: the possibility")
        certain = _degrees(certainty, given_certainty, n, f"{where}: the certainty")
        if possible is None:
            possible = np.ones(n)
        elif certain is None or (certainty is None and given_certainty is None):
            certain = np.where(possible < 1.0, 0.0, 1.0)
        if certain is None:
            certain = np.ones(n)
        indices = [self.entities.add_all(column) for column in columns]
        matrix = np.array(indices, np.int64).reshape(len(indices), n)
        table = FactTable(matrix, certain, complement(possible))
        if both_ways:
            if len(matrix) != 2:
                raise DataError(f"{where}: both_ways is for relations of two entities")
            table = FactTable.merge([table, FactTable(matrix[::-1], certain, table.against)])
        self._append(name, table)
        return self

    def _append(self, name: str, table: FactTable) -> None:
        arity = self.arity(name)
        if arity is not None and arity != table.arity:
            raise DataError(
                f"relation {name!r} has facts of {arity} entities; these have {table.arity}"
            )
        self._tables.setdefault(name, []).append(table)

    def add_triples(self, triples: Any, certainty: Any = None) -> "Graph":
        """Add facts as triples ``(head, relation, tail)``, with an optional certainty at the end.

        Parameters
        ----------
        triples : rows, or the path of a TSV or CSV file; a header ``head, relation, tail`` is
            skipped
        """
        where = "triples"
        rows: Sequence[Sequence[Any]]
        if isinstance(triples, str | os.PathLike):
            path = as_path(triples)
            where, rows = str(path), read_rows(path)
            if rows and {field.strip().lower() for field in rows[0][:3]} in TRIPLE_HEADERS:
                rows = rows[1:]
            rows = [[*row[:3], *map(_number, row[3:])] for row in rows]
        else:
            rows = [tuple(row) for row in triples]
        groups: dict[str, list[tuple[Any, ...]]] = {}
        for index, row in enumerate(rows):
            if len(row) not in (3, 4):
                raise DataError(
                    f"{where}, row {index}: {cut_repr(list(row))} has {len(row)} fields; a triple "
                    "is head, relation, tail, and may have a certainty"
                )
            head, relation, tail, *degree = row
            if not isinstance(relation, str) or not relation:
                raise DataError(f"{where}, row {index}: the relation is {cut_repr(relation)}")
            groups.setdefault(relation, []).append((head, tail, *degree))
        for name, facts in groups.items():
            with placed(where):
                entities = [check_entities([f[i] for f in facts], name) for i in (0, 1)]
                degrees = check_degrees([f[2] if len(f) > 2 else 1.0 for f in facts], name)
            matrix = np.array([self.entities.add_all(column) for column in entities], np.int64)
            if certainty is not None:
                degrees = np.minimum(degrees, check_degrees(certainty, "certainty"))
            self._append(name, FactTable(matrix, degrees, np.zeros(len(facts))))
        return self

    def attach(
        self,
        attribute: str,
        distributions: npt.ArrayLike,
        entities: Iterable[Any],
        values: Sequence[Any] | None = None,
        transform: str | Transformation | None = "antipignistic",
    ) -> "Graph":
        """Attach distributions to entities, such as the outputs of a network.

        Parameters
        ----------
        attribute : of entities, as in ``attribute digit(image) in 0..9``; or a relation, with one
            probability for each tuple of entities
        distributions : a row for each entity, a column for each value
        entities : the entities of the rows; tuples for attributes of several
        values : the values of the columns; by default those of the attribute's domain, in order
        transform : how probabilities become possibilities; None where they are possibilities
        """
        name = self._check_name(attribute)
        degrees = np.asarray(distributions, dtype=np.float64)
        rows = [(e,) if isinstance(e, str | int | float) else tuple(e) for e in entities]
        if degrees.ndim not in (1, 2) or len(degrees) != len(rows):
            raise ShapeError(
                f"{name!r}: distributions of shape {degrees.shape} for {len(rows)} entities; give "
                "a row for each"
            )
        arity = len(rows[0]) if rows else 1
        columns = [check_entities([row[i] for row in rows], name) for i in range(arity)]
        matrix = np.array([self.entities.add_all(column) for column in columns], np.int64)
        if degrees.ndim == 1:
            probability = check_degrees(degrees, name)
            pair = np.stack([probability, 1.0 - probability], axis=1)
            pair = pair if transform is None else np.asarray(as_transform(transform)(pair))
            self._append(name, FactTable(matrix, complement(pair[:, 1]), complement(pair[:, 0])))
            return self
        if transform is not None:
            degrees = np.asarray(as_transform(transform)(degrees))
        degrees = check_degrees(degrees, name)
        if name in self._distributions:
            raise DataError(f"{name!r} has distributions already; attach them at once")
        self._distributions[name] = Distributions(
            matrix, degrees, None if values is None else tuple(values)
        )
        return self

    @staticmethod
    def _check_name(name: object) -> str:
        if not isinstance(name, str) or not name:
            raise DataError(f"a relation is named by a text; got {cut_repr(name)}")
        return name

    # --- facts out ---

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the relations that have facts."""
        return tuple(self._tables)

    @property
    def attached(self) -> "Mapping[str, Distributions]":
        """The distributions by attribute."""
        return self._distributions

    def arity(self, relation: str) -> int | None:
        """Return the number of entities of a relation's facts; None if it has none."""
        tables = self._tables.get(relation)
        return tables[0].arity if tables else None

    def facts(self, relation: str) -> FactTable:
        """Return the facts of a relation: columns of entity indices, sorted, each tuple once."""
        check_known(relation, self._tables, f"there are no facts of {relation!r:.60}", DataError)
        tables = self._tables[relation]
        if len(tables) > 1 or not getattr(tables[0], "_is_merged", False):
            merged = FactTable.merge(tables)
            object.__setattr__(merged, "_is_merged", True)
            self._tables[relation] = [merged]
        return self._tables[relation][0]

    def entity_names(self, indices: IntArray) -> list[Entity]:
        """Return the entities of some indices."""
        names = self.entities.names
        return [names[i] for i in indices.tolist()]

    def __len__(self) -> int:
        return sum(len(self.facts(name)) for name in self._tables)

    def __repr__(self) -> str:
        names = ", ".join([*self._tables, *self._distributions])
        return f"Graph({len(self.entities):,} entities, {len(self):,} facts: {names})"

    # --- files ---

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a JSON file."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "entities": self.entities.names,
            "relations": {
                name: {
                    "columns": self.facts(name).columns.tolist(),
                    "certain": self.facts(name).certain.tolist(),
                    "against": self.facts(name).against.tolist(),
                }
                for name in self._tables
            },
            "attributes": {
                name: {
                    "columns": d.columns.tolist(),
                    "possible": d.degrees.tolist(),
                    "values": d.values,
                }
                for name, d in self._distributions.items()
            },
        }
        with atomic_text(as_path(path)) as file:
            json.dump(content, file, separators=(",", ":"), allow_nan=False)
            file.write("\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Graph":
        """Read a graph that `save` wrote."""
        file = as_path(path)
        text = read_text(file)
        with placed(str(file)):
            return cls._from_text(text)

    @classmethod
    def _from_text(cls, text: str) -> "Graph":
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"not whole JSON: {error}; the file may be cut off") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DataError(f'not a file of a graph: "format" must be "{FORMAT}"')
        if content.get("version") != VERSION:
            raise DataError(f"version {content.get('version')!r}; this pinesy reads {VERSION}")
        graph = cls()
        try:
            graph.entities = EntityIndex(check_entities(content["entities"], "entities"))
            n = len(graph.entities)
            if n != len(content["entities"]):
                raise DataError("an entity is listed twice")
            for name, part in content["relations"].items():
                certain, against = (check_degrees(part[k], name) for k in ("certain", "against"))
                columns = _read_columns(part["columns"], len(certain), n, name)
                if len(against) != len(certain):
                    raise DataError(f"{name!r}: columns of unequal lengths")
                graph._append(cls._check_name(name), FactTable(columns, certain, against))
            for name, part in content["attributes"].items():
                degrees = check_degrees(part["possible"], name)
                columns = _read_columns(part["columns"], len(degrees), n, name)
                values = part["values"]
                graph._distributions[name] = Distributions(
                    columns, degrees, None if values is None else tuple(values)
                )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"not of the form it must have: {error!r}") from None
        return graph


class Distributions:
    """Possibility distributions of an attribute.

    Attributes
    ----------
    columns : entity indices, of shape ``(arity, rows)``
    degrees : possibilities, of shape ``(rows, values)``
    values : the values of the columns; None for those of the domain
    """

    def __init__(
        self, columns: IntArray, degrees: FloatArray, values: tuple[Any, ...] | None
    ) -> None:
        self.columns, self.degrees, self.values = columns, degrees, values


def _degrees(setting: Any, column: FloatArray | None, n: int, where: str) -> FloatArray | None:
    """Return degrees: those of an argument, else those of the table; None if there are none."""
    if setting is None:
        return column
    degrees = check_degrees(setting, where)
    if degrees.ndim > 1 or (degrees.ndim == 1 and len(degrees) != n):
        raise ShapeError(f"{where} has shape {degrees.shape}; there are {n} facts")
    return np.broadcast_to(degrees, (n,)).copy()


def _number(text: str) -> Any:
    """Return the number of a field, or the text if it is none."""
    try:
        return float(text)
    except ValueError:
        return text


def _read_columns(content: Any, n_rows: int, n_entities: int, name: str) -> IntArray:
    columns = np.array(content, dtype=np.int64).reshape(len(content), n_rows)
    if columns.size and not (columns.min() >= 0 and columns.max() < n_entities):
        raise DataError(f"{name!r}: an entity index is out of range")
    return columns


def load_facts(path: str | os.PathLike[str], relations: Iterable[str]) -> Graph:
    """Return the graph of a path: a saved graph, a directory of tables, a table, or triples.

    Parameters
    ----------
    path : a ``.json`` file of `Graph.save`; a directory with a CSV or TSV file for each relation;
        one such file, named like a relation; or a file of triples
    relations : the names of the relations of the rules
    """
    source, known = as_path(path), {*relations}
    if source.suffix == ".json":
        return Graph.load(source)
    graph = Graph()
    if source.is_dir():
        files = sorted(f for f in source.iterdir() if f.suffix in (".csv", ".tsv"))
        if not files:
            raise DataError(f"{source}: there is no .csv or .tsv file in this directory")
        for file in files:
            check_known(file.stem, known, f"{file}: no relation has this name", DataError)
            with placed(str(file)):
                graph.add(file.stem, file)
        return graph
    if source.stem in known:
        with placed(str(source)):
            return graph.add(source.stem, Path(source))
    return graph.add_triples(source)
