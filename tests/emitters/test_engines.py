"""PostgreSQL and Spark give the bits of `infer`; ``make engines`` runs this."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emitters.raw_samples import EXAMPLES, HOSTILE, raw_columns
from emitters.sql_engines import (
    Rows,
    as_columns,
    card_columns,
    check_card,
    check_columns,
    pi_columns,
    run_query,
)
from induction.random_cards import random_card
from pinesy import Attribute, If, RuleSet, parse, to_sql
from pinesy.emitters.sql_dialects import DIALECTS
from pinesy.induction import CardCascade

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif("PINESY_ENGINES" not in os.environ, reason="make engines runs this"),
    pytest.mark.filterwarnings("ignore"),
]
Run = Callable[[str, str, dict[str, Any]], Rows]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Run]:
    """Start a server of PostgreSQL on a socket of its own, and return how to run queries."""
    pytest.importorskip("psycopg")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (str(programs[-1]) if programs else None)
    if found is None:
        pytest.skip("no PostgreSQL: install the package postgresql")
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    user = "postgres" if as_user else os.environ.get("USER", "postgres")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    if as_user:
        shutil.chown(folder, "postgres")
    control = str(Path(found).with_name("pg_ctl"))
    data, log = str(folder / "data"), str(folder / "log")
    subprocess.run([*as_user, found, "-D", data, "-A", "trust", "-E", "UTF8"], check=True, cwd="/")
    options = f"-k {folder} -c listen_addresses="
    start = [control, "-D", data, "-w", "-o", options, "-l", log, "start"]
    subprocess.run([*as_user, *start], check=True, cwd="/")
    os.environ["PINESY_POSTGRESQL"] = f"host={folder} dbname=postgres user={user}"
    try:
        yield lambda query, table, columns: run_query("postgresql", query, table, columns)
    finally:
        stop = [control, "-D", data, "-m", "immediate", "stop"]
        subprocess.run([*as_user, *stop], check=True, cwd="/")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def spark() -> Iterator[Run]:
    """Start Spark on one core, and return how to run queries."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("no Java: Spark needs it")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    types = {float: "double", int: "bigint", str: "string", bool: "boolean"}

    def run(query: str, table: str, columns: dict[str, Any]) -> Rows:
        firsts = {k: next((v for v in c if v is not None), "") for k, c in columns.items()}
        quoted = DIALECTS["spark"].identifier
        schema = ", ".join(f"{quoted(k)} {types[type(v)]}" for k, v in firsts.items())
        rows = list(zip(*columns.values(), strict=True))
        session.createDataFrame(rows, schema).createOrReplaceTempView(quoted(table))
        frame = session.sql(query)
        return [dict(zip(frame.columns, row, strict=True)) for row in frame.collect()]

    yield run
    session.stop()


@pytest.fixture(params=["postgresql", "spark"])
def engine(request: pytest.FixtureRequest) -> tuple[str, Run]:
    """Return the name of a dialect, and how its engine runs queries."""
    return request.param, request.getfixturevalue(request.param)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(engine: tuple[str, Run], path: Path) -> None:
    dialect, run = engine
    cascade = parse(path.read_text())
    columns = {"row": [*range(20)], **raw_columns(cascade, 20, 1)}
    query = to_sql(cascade, dialect, keep=["row"])
    rows = sorted(run(query, "samples", columns), key=lambda row: row["row"])
    found = as_columns(rows)
    del found["row"]
    inputs = {a.name: np.array(columns[a.name], dtype=object) for a in cascade.compile().inputs}
    expected: dict[str, Any] = {}
    for name, pi in cascade.infer(inputs).items():
        expected |= pi_columns(cascade.attributes[name], pi)
    check_columns(found, expected)


def test_numbers_and_texts(engine: tuple[str, Run]) -> None:
    dialect, run = engine
    numbers = [0.1, 1 / 3, 5e-324, 1e300, -2.5, 0.30000000000000004, 1e22]
    writer = DIALECTS[dialect]
    texts = [*HOSTILE, "a\\'b", "\\n", "''"]
    cells = [*map(writer.number, numbers), *map(writer.text, texts)]
    columns = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
    (row,) = run(f"SELECT {columns}", "t", {"a": [1.0]})
    assert [*row.values()] == [*numbers, *texts]


def test_blur_blanks_and_refused_rows(engine: tuple[str, Run]) -> None:
    dialect, run = engine
    x, a = Attribute.number("x", [0.1, 3.0], blur=1 / 3), Attribute("it's \\ a", ["x\\", "y'"])
    b = Attribute('b"', range(3))
    rules = RuleSet(
        [If(x.isin({v}), a.isin({"x\\"})).then(b.isin({i}), 0.1) for i, v in enumerate(x.domain)]
    )
    values = [0.0, 0.1, 3.1, float("nan"), float("inf"), None, 1.0]
    columns: dict[str, Any] = {"x": values, a.name: [*["x\\"] * 4, "y'", None, "z"]}
    found = as_columns(run(to_sql(rules, dialect), "samples", columns))
    pi = rules.infer({k: np.array(v[:-1], dtype=object) for k, v in columns.items()})
    assert {k: c[:-1] for k, c in found.items()} == pi_columns(b, pi)
    assert found['b" outcome'][-1] == "refused"


def test_score_cards(engine: tuple[str, Run]) -> None:
    dialect, run = engine
    for seed in (1, 2):
        card, columns = random_card(seed, 3, n_kept=seed), card_columns(seed, 30)
        rows = run(to_sql(CardCascade(card), dialect), "samples", columns)
        check_card(card, columns, as_columns(rows))


def test_hostile_names_are_only_names(engine: tuple[str, Run]) -> None:
    dialect, run = engine
    for name in (n for n in HOSTILE if n.isprintable() and "`" not in n):
        a, b = Attribute(name, HOSTILE), Attribute(f"{name}!", HOSTILE)
        rules = RuleSet([If(a.isin({text})).then(b.isin({text}), 0.0, 0.25) for text in HOSTILE])
        found = as_columns(run(to_sql(rules, dialect, "t x"), "t x", {name: HOSTILE}))
        assert found == pi_columns(b, rules.infer({name: np.array(HOSTILE, dtype=object)}))


def test_degrees_and_refused_rows(engine: tuple[str, Run]) -> None:
    dialect, run = engine
    a, b = Attribute("a", ["x", "y"]), Attribute("b", [0, 1])
    rules = RuleSet([If(a.isin({"x"})).then(b.isin({0}), 0.1)])
    wrong = [None, 1.5, -0.5, float("nan"), float("inf"), float("-inf")]
    columns = {"a=x": [1.0, 0.3, *wrong], "a=y": [-0.0, 1.0, *[1.0] * len(wrong)]}
    found = run(to_sql(rules, dialect, inputs_as="degrees"), "samples", columns)
    assert [row["b outcome"] for row in found[2:]] == ["refused"] * len(wrong)
    pi = rules.infer({"a": np.array([[1.0, 0.0], [0.3, 1.0]])})
    check_columns(as_columns(found[:2]), pi_columns(b, pi))
