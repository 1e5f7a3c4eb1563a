"""DuckDB and SQLite, independent engines, give the bits of `infer` from the queries of `to_sql`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from emitters.raw_samples import EXAMPLES, HOSTILE, SCRIPTS, raw_columns, script_rules
from emitters.sql_engines import (
    EMBEDDED,
    Rows,
    as_columns,
    check_columns,
    pi_columns,
    run_query,
    run_sqlite,
)
from pinesy import Attribute, Cascade, CascadeError, DomainError, If, RuleSet, parse, to_sql
from pinesy.emitters.sql_dialects import DIALECTS
from pinesy.emitters.sql_inputs import degree_columns
from pinesy.problems import addition, sudoku
from strategies import BatchCase, batches, cascades

pytest.importorskip("duckdb")
engines = pytest.mark.parametrize("dialect", EMBEDDED)


def check_values(cascade: Cascade, dialect: str, columns: dict[str, Any]) -> None:
    n = len(next(iter(columns.values())))
    found = as_columns(
        run_query(
            dialect,
            to_sql(cascade, dialect, keep=["row"]),
            "samples",
            {"row": [*range(n)], **columns},
        )
    )
    assert found.pop("row") == [*range(n)]
    inputs = {a.name: np.array(columns[a.name], dtype=object) for a in cascade.compile().inputs}
    expected: dict[str, Any] = {}
    for name, pi in cascade.infer(inputs).items():
        expected |= pi_columns(cascade.attributes[name], pi)
    check_columns(found, expected)


@engines
@settings(max_examples=15)
@given(case=batches(sizes=(1, 7, 40)))
def test_degrees_have_the_same_bits(dialect: str, case: BatchCase) -> None:
    columns: dict[str, Any] = {}
    for a in case.cascade.inputs:
        columns |= dict(zip(degree_columns(a), case.evidence[a.name].T.tolist(), strict=True))
    found = as_columns(
        run_query(dialect, to_sql(case.cascade, dialect, inputs_as="degrees"), "samples", columns)
    )
    expected: dict[str, Any] = {}
    for name, pi in case.cascade.infer(case.evidence).items():
        expected |= pi_columns(case.cascade.attributes[name], pi)
    check_columns(found, expected)


@engines
@settings(max_examples=15)
@given(cascade=cascades(), seed=st.integers(0, 10**6))
def test_values_of_random_cascades(dialect: str, cascade: Cascade, seed: int) -> None:
    assume(all({type(v) for v in a.domain} in ({int}, {str}) for a in cascade.inputs))
    check_values(cascade, dialect, raw_columns(cascade, 12, seed))


@engines
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_from_raw_columns(dialect: str, path: Path) -> None:
    cascade = parse(path.read_text())
    check_values(cascade, dialect, raw_columns(cascade, 40, 1))


@engines
@pytest.mark.parametrize("name", SCRIPTS)
def test_rules_of_example_scripts(dialect: str, name: str) -> None:
    cascade = script_rules(name)
    check_values(cascade, dialect, raw_columns(cascade, 8, 1))


@engines
@settings(max_examples=15)
@given(
    cuts=st.lists(st.floats(-50, 50), min_size=1, max_size=4, unique=True).map(sorted),
    blur=st.sampled_from([0.0, 0.1, 1 / 3, 2.5, 1e-300, 1e300]),
    seed=st.integers(0, 10**6),
)
def test_cuts_and_blur(dialect: str, cuts: list[float], blur: float, seed: int) -> None:
    x = Attribute.number("x", cuts, blur=blur)
    b = Attribute("b", range(len(x.domain)))
    rules = [If(x.isin({value})).then(b.isin({i}), 0.1, 1 / 3) for i, value in enumerate(x.domain)]
    cascade = Cascade(RuleSet(rules))
    check_values(cascade, dialect, raw_columns(cascade, 30, seed))


def test_numbers_are_exact_in_every_dialect() -> None:
    numbers = [0.1, 1 / 3, 5e-324, 1e300, -2.5, -1e-7, 2.0**53, 0.30000000000000004, 1e22, 123456.7]
    for dialect in EMBEDDED:
        query = "SELECT " + ", ".join(
            f"{DIALECTS[dialect].number(x)} AS n{i}" for i, x in enumerate(numbers)
        )
        (row,) = run_query(dialect, query, "t", {"a": [1.0]})
        assert [*row.values()] == numbers
        assert all(isinstance(value, float) for value in row.values())


@engines
def test_products_and_none_and_truth_values(dialect: str) -> None:
    flag, lost = Attribute("flag", [True, False]), Attribute("lost", ["a", None])
    pair = Attribute.product("pair", flag, lost)
    rules = RuleSet([If(flag.isin({True}), lost.isin({None})).then(pair.isin({(True, None)}))])
    query = to_sql(rules, dialect)
    columns: dict[str, Any] = {"flag": [True, True, False, None], "lost": [None, "a", None, None]}
    found = as_columns(run_query(dialect, query, "samples", columns))
    pi = rules.infer({k: np.array(v, dtype=object) for k, v in columns.items()})
    assert found == pi_columns(pair, pi)


@engines
@pytest.mark.parametrize("name", [n for n in HOSTILE if n.isprintable() and "`" not in n])
def test_hostile_names_are_only_names(dialect: str, name: str) -> None:
    a, b = Attribute(name, [*HOSTILE, ""]), Attribute(f"{name}!", HOSTILE)
    rules = RuleSet([If(a.isin({text})).then(b.isin({text}), 0.0, 0.25) for text in HOSTILE])
    query = to_sql(rules, dialect, name, keep=[f"{name} id"])
    columns: dict[str, Any] = {f"{name} id": [*range(len(a.domain))], name: list(a.domain)}
    found = as_columns(run_query(dialect, query, name, columns))
    assert found.pop(f"{name} id") == columns[f"{name} id"]
    assert found == pi_columns(b, rules.infer({name: np.array(a.domain, dtype=object)}))


#: A sample of `test_refused_rows`.
SURE = {"a": np.array(["x"], dtype=object), "n": np.array([0.0])}


@engines
def test_refused_rows(dialect: str) -> None:
    rules = parse(
        "attribute a in {x, y} number n cuts {1} attribute b in {0, 1} "
        "if a in {x} and n < 1 then b in {0}"
    )
    values: dict[str, Any] = {"a": ["x", "z", None], "n": [0.0, 0.0, float("nan")]}
    found = run_query(dialect, to_sql(rules, dialect), "samples", values)
    assert [row["b outcome"] for row in found] == ["decided", "refused", "no_rule"]
    assert {value for key, value in found[1].items() if key != "b outcome"} == {None}
    wrong = [None, 1.5, -0.5, float("nan"), float("inf"), float("-inf")]
    degrees: dict[str, Any] = {"a=x": [1.0, 0.5, *wrong], "a=y": [-0.0, 0.5, *[1.0] * len(wrong)]}
    degrees |= {"n=<1": [1.0] * 8, "n=>=1": [0.0] * 8}
    found = run_query(dialect, to_sql(rules, dialect, inputs_as="degrees"), "samples", degrees)
    assert [row["b outcome"] for row in found] == ["decided", *["refused"] * 7]
    check_columns(as_columns(found[:1]), pi_columns(rules["b"].output, rules.infer(SURE)["b"]))


def test_sqlite_refuses_texts_for_numbers_and_columns_that_are_missing() -> None:
    rules = parse("number n cuts {1} attribute b in {0, 1} if n < 1 then b in {0}")
    query = to_sql(rules, "sqlite")
    rows: Rows = run_sqlite(query, "samples", {"n": [0, "0", "abc", 0.5]})
    assert [row["b outcome"] for row in rows] == ["decided", "refused", "refused", "decided"]
    with pytest.raises(Exception, match="no such column"):
        run_sqlite(query, "samples", {"m": [0]})


@engines
@pytest.mark.parametrize("rules", [addition(2), sudoku(4)], ids=["addition", "sudoku"])
def test_large_programs(dialect: str, rules: Cascade) -> None:
    check_values(rules, dialect, raw_columns(rules, 12, 3))


def bad(text: str = "attribute a in {x, y} attribute b in {0, 1} if a in {x} then b in {0}") -> Any:
    return parse(text)


@pytest.mark.parametrize(
    ("arguments", "options", "cure"),
    [
        (("oracle",), {}, "'duckdb', 'sqlite', 'postgresql', 'spark'"),
        ((None,), {}, "'duckdb'"),
        (("duckdb",), {"inputs_as": "raw"}, "'values' or 'degrees'"),
        (("duckdb", ""), {}, "rename"),
        (("duckdb", "a\x00"), {}, "rename"),
        (("duckdb",), {"keep": ["B"]}, "rename one"),
        (("postgresql", "t" * 64), {}, "63 bytes"),
    ],
)
def test_bad_arguments(arguments: Any, options: Any, cure: str) -> None:
    with pytest.raises(DomainError, match=cure):
        to_sql(bad(), *arguments, **options)


def test_rules_that_have_no_column() -> None:
    b = Attribute("b", [0, 1])
    for values, cure in (([1, "1"], "give degrees"), ([10**20, 1], "give degrees")):
        a = Attribute("a", values)
        rules = RuleSet([If(a.isin({values[0]})).then(b.isin({0}))])
        with pytest.raises(DomainError, match=cure):
            to_sql(rules, "duckdb")
        assert "a=1" in to_sql(rules, "duckdb", inputs_as="degrees")
    for text in ("x\x00", "x\ud800"):
        a = Attribute("a", [text, "y"])
        for dialect in DIALECTS:
            with pytest.raises(DomainError, match="rename"):
                to_sql(RuleSet([If(a.isin({"y"})).then(b.isin({0}))]), dialect)
    with pytest.raises(DomainError, match="rename"):
        to_sql(bad(), "duckdb", "\udfff")
    upper, lower = Attribute("A", [0, 1]), Attribute("a", [0, 1])
    rules = RuleSet([If(upper.isin({0}), lower.isin({0})).then(b.isin({0}))])
    with pytest.raises(DomainError, match="rename one"):
        to_sql(rules, "sqlite")
    assert '"A"' in to_sql(rules, "postgresql")
    with pytest.raises(CascadeError):
        to_sql("no rules", "duckdb")  # type: ignore[arg-type]
    with pytest.raises(CascadeError, match=r"ground\(graph, atom\)"):
        to_sql(parse("relation p(x, x) if p(X, Y) then q(Y, X)"), "duckdb")
    wide = Attribute("wide", range(3000))
    with pytest.raises(DomainError, match="2,000"):
        to_sql(RuleSet([If(upper.isin({0})).then(wide.isin({v})) for v in range(3)]), "sqlite")
