"""The forms in which facts are given: rows, data frames, files, networkx graphs."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.files import read_text
from pinesy._common.validation import FloatArray, cut_repr, is_iterable, listed
from pinesy.exceptions import DataError, DegreeError
from pinesy.relations.literals import Entity

#: Columns of a table that hold degrees, not entities.
DEGREES = ("certainty", "possibility")


class FactColumns(NamedTuple):
    """Columns of entities, and the degrees that were given; None for those that were not."""

    entities: list[list[Entity]]
    certainty: FloatArray | None
    possibility: FloatArray | None


def read_facts(content: Any, where: str, arity: int | None) -> FactColumns:
    """Return facts in any form as columns.

    Parameters
    ----------
    content : a path of a CSV or TSV file with a header, a data frame, a networkx graph, or rows:
        tuples of entities, where a float at the end is a certainty
    where : for messages, such as ``"relation 'parent'"``
    arity : of the relation, if it is known
    """
    if isinstance(content, Path) or (
        isinstance(content, str) and content.endswith((".csv", ".tsv", ".txt"))
    ):
        return _named_columns(*read_fact_file(Path(content)), where)
    if isinstance(content, str):
        raise DataError(
            f"{where}: {content!r:.60} is no table; give rows such as [('ann', 'bob')], a data "
            "frame, or the path of a .csv or .tsv file"
        )
    if hasattr(content, "edges") and hasattr(content, "nodes"):
        return _networkx_columns(content, where)
    if hasattr(content, "columns"):
        return _frame_columns(content, where)
    if isinstance(content, Mapping) or not is_iterable(content):
        raise DataError(f"{where}: {cut_repr(content)} is no table of facts; give a list of tuples")
    return _row_columns(content, where, arity)


def _row_columns(content: Iterable[Any], where: str, arity: int | None) -> FactColumns:
    rows = [(row,) if isinstance(row, str | int | float) else tuple(row) for row in content]
    degrees: list[float] = []
    has_degrees = False
    for index, row in enumerate(rows):
        has_degree = bool(row) and isinstance(row[-1], float) and len(row) != arity
        degrees.append(float(row[-1]) if has_degree else 1.0)
        if has_degree:
            rows[index] = row[:-1]
            has_degrees = True
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        expected = arity if arity is not None else len(rows[0])
        index = next(i for i, row in enumerate(rows) if len(row) != expected)
        raise DataError(
            f"{where}, row {index}: {cut_repr(rows[index])} has {len(rows[index])} entities, "
            f"others {expected}; give the same number for all, and a certainty as a float last"
        )
    n = lengths.pop() if lengths else (arity or 0)
    columns = [check_entities([row[i] for row in rows], where) for i in range(n)]
    certainty = check_degrees(degrees, where) if has_degrees else None
    if not n and rows and certainty is not None:  # a proposition
        certainty = certainty.max(keepdims=True)
    return FactColumns(columns, certainty, None)


def read_fact_file(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the columns of a CSV or TSV file."""
    header, *rows = read_rows(path) or [[]]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(
                f"{path}, line {number}: {len(row)} fields, {len(header)} titles: {row!r:.60}"
            )
    return header, [[row[i] for row in rows] for i in range(len(header))]


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a CSV or TSV file, without empty lines."""
    text = read_text(path)
    try:
        if path.suffix == ".csv":
            rows = list(csv.reader(io.StringIO(text)))
        else:
            rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as a table: {error}") from None
    return [row for row in rows if any(field.strip() for field in row)]


def _named_columns(
    header: Sequence[str], columns: Sequence[Sequence[Any]], where: str
) -> FactColumns:
    if len({*header}) < len(header):
        raise DataError(f"{where}: two columns have one name: {listed(list(header))}")
    by_name = dict(zip(header, columns, strict=True))
    entities = [
        check_entities(list(content), f"{where}, column {name!r}")
        for name, content in by_name.items()
        if name not in DEGREES
    ]
    degrees = [
        None if name not in by_name else check_degrees(by_name[name], f"{where}, column {name!r}")
        for name in DEGREES
    ]
    return FactColumns(entities, *degrees)


def _frame_columns(frame: Any, where: str) -> FactColumns:
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(f"{where}: {type(frame).__name__} is no data frame that is known") from None
    names = [str(name) for name in table.columns]
    return _named_columns(names, [table[name].to_list() for name in table.columns], where)


def _networkx_columns(graph: Any, where: str) -> FactColumns:
    edges = list(graph.edges(data=True))
    columns = [check_entities([edge[i] for edge in edges], where) for i in (0, 1)]
    certainty = [edge[2].get("certainty", 1.0) for edge in edges]
    possibility = [edge[2].get("possibility", 1.0) for edge in edges]
    return FactColumns(columns, check_degrees(certainty, where), check_degrees(possibility, where))


def check_entities(entities: list[Any], where: str) -> list[Entity]:
    """Return entities as texts and numbers, or raise `DataError` with the row."""
    kinds = {*map(type, entities)}
    if kinds == {str} and all(entities):
        return entities
    if kinds == {int}:
        return entities
    return [_check_entity(entity, where, row) for row, entity in enumerate(entities)]


def _check_entity(entity: Any, where: str, row: int) -> Entity:
    if isinstance(entity, np.generic):
        entity = entity.item()
    is_missing = entity is None or entity == "" or (isinstance(entity, float) and isnan(entity))
    if is_missing:
        raise DataError(f"{where}, row {row}: the entity is missing; drop the row or fill it in")
    if isinstance(entity, bool) or not isinstance(entity, str | int | float):
        raise DataError(
            f"{where}, row {row}: {cut_repr(entity)} is no entity; entities are texts and numbers"
        )
    return str(entity) if isinstance(entity, str) else entity


def check_degrees(content: Any, where: str) -> FloatArray:
    """Return degrees in [0, 1] as an array, or raise `DegreeError` with the row."""
    try:
        degrees = np.asarray(content, dtype=np.float64)
    except (TypeError, ValueError):
        for row, degree in enumerate(content):
            try:
                float(degree)
            except (TypeError, ValueError):
                raise DegreeError(
                    f"{where}, row {row}: {cut_repr(degree)} is no number in [0, 1]"
                ) from None
        raise DegreeError(f"{where}: the degrees must be numbers in [0, 1]") from None
    wrong = ~((degrees >= 0.0) & (degrees <= 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        degree = float(degrees.reshape(-1)[row])
        raise DegreeError(f"{where}, row {row}: {degree!r:.40} is not in [0, 1]")
    return degrees + 0.0
