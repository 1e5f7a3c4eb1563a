"""How queries are run by the engines that they are for."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol

import numpy as np
import pytest

from pinesy import Possibility
from pinesy.emitters.sql_dialects import DIALECTS
from pinesy.induction import ScoreCard

Rows = list[dict[str, Any]]
#: Engines that are there in every run of the tests; the others in `make engines`.
EMBEDDED = ("duckdb", "sqlite")
#: The types of columns by the type of their first value that is not None.
TYPES = {float: "DOUBLE PRECISION", int: "BIGINT", str: "VARCHAR", bool: "BOOLEAN"}


class Cursor(Protocol):
    description: Any

    def fetchall(self) -> list[Any]: ...


def run_query(dialect: str, query: str, table: str, columns: Mapping[str, Sequence[Any]]) -> Rows:
    """Return the rows of a query on a table of one engine."""
    with _connected(dialect) as connection:
        return _run(connection, dialect, query, table, columns)


def run_sqlite(query: str, table: str, columns: Mapping[str, Sequence[Any]]) -> Rows:
    """Return the rows of a query on a table of SQLite whose columns have no type."""
    with closing(sqlite3.connect(":memory:")) as connection:
        names = ", ".join(DIALECTS["sqlite"].identifier(name) for name in columns)
        connection.execute(f"CREATE TABLE {DIALECTS['sqlite'].identifier(table)} ({names})")
        return _run(connection, "sqlite", query, table, columns, is_created=True)


@contextmanager
def _connected(dialect: str) -> Iterator[Any]:
    if dialect == "sqlite":
        with closing(sqlite3.connect(":memory:")) as connection:
            yield connection
    elif dialect == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(config={"threads": 1}) as connection:
            yield connection
    else:
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(os.environ["PINESY_POSTGRESQL"]) as connection:
            yield connection
            connection.rollback()


def _run(
    connection: Any,
    dialect: str,
    query: str,
    table: str,
    columns: Mapping[str, Sequence[Any]],
    is_created: bool = False,
) -> Rows:
    quoted = DIALECTS[dialect].identifier
    if not is_created:
        names = ", ".join(f"{quoted(name)} {_type(c)}" for name, c in columns.items())
        connection.execute(f"CREATE TABLE {quoted(table)} ({names})")
    marks = ", ".join(["%s" if dialect == "postgresql" else "?"] * len(columns))
    rows = list(zip(*map(_plain, columns.values()), strict=True))
    cursor = connection.cursor()
    if rows:
        cursor.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
    cursor = connection.execute(query)
    titles = [column[0] for column in cursor.description]
    return [dict(zip(titles, row, strict=True)) for row in cursor.fetchall()]


def _plain(column: Sequence[Any]) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _type(column: Sequence[Any]) -> str:
    first = next((value for value in _plain(column) if value is not None), "")
    return TYPES[type(first)]


def pi_columns(attribute: Any, pi: Any) -> dict[str, list[Any]]:
    """Return the columns that a query has of an inferred attribute."""
    from pinesy.samples import value_texts

    name, kinds = attribute.name, {type(value) for value in attribute.domain}
    texts = dict(zip(attribute.domain, value_texts(attribute), strict=True))
    is_plain = kinds in ({int}, {float}, {bool})
    best = [
        None if v is None else v if is_plain else texts[v] for v in np.asarray(pi.best).tolist()
    ]
    degrees = zip(value_texts(attribute), pi.degrees.T.tolist(), strict=True)
    return {
        name: best,
        f"{name} outcome": pi.outcome.tolist(),
        f"{name} certainty": [None if np.isnan(c) else c for c in pi.certainty.tolist()],
        f"{name} contradiction": pi.contradiction.tolist(),
        **{f"{name}={text}": column for text, column in degrees},
    }


def check_columns(found: dict[str, list[Any]], expected: dict[str, list[Any]]) -> None:
    """Assert that columns are equal, and that no zero is negative: `infer` returns none."""
    assert found == expected
    numbers = [v for column in found.values() for v in column if isinstance(v, float)]
    assert not np.signbit(np.array(numbers)).any()


def card_columns(seed: int, n: int) -> dict[str, list[Any]]:
    """Return random values of the inputs of `random_card`, with blanks and levels never seen."""
    rng = np.random.default_rng(seed)
    return {
        "age": rng.choice([10.0, 30.0, 49.9, 70.0, np.nan, np.inf], n).tolist(),
        "city": rng.choice(np.array(["Bonn", "Oslo", "Rome", "Kiel", None]), n).tolist(),
        "dose": rng.choice(np.array([0, 1, 2, 3, 9, None]), n).tolist(),
    }


def check_card(card: ScoreCard, columns: dict[str, list[Any]], found: dict[str, list[Any]]) -> None:
    """Assert that columns are what a card gives; the best value is the class of `predict`."""
    read = {
        a.name: np.array(columns[a.name], dtype=object) for a in card.inputs if a.name in columns
    }
    scores = card.score(read or {card.inputs[0].name: np.array(columns["age"])})
    expected = pi_columns(card.output, Possibility(card.output, scores.possibility))
    expected[card.output.name] = [card.output.domain[i] for i in scores.best]
    assert found == expected


def as_columns(rows: Rows) -> dict[str, list[Any]]:
    """Return rows as columns by name."""
    return {name: [row[name] for row in rows] for name in rows[0]}
