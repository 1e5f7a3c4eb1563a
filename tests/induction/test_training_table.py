"""What tables are refused, and how numbers are cut."""

import datetime
import warnings
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, DataError, If, RuleSetError, induce
from pinesy.exceptions import DataWarning
from pinesy.induction.candidate_rules import (
    Feature,
    bin_columns,
    evaluate_boxes,
    quantile_cuts,
    short_between,
)
from pinesy.induction.training_table import TableColumn, read_training_table

GOOD: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}


@pytest.mark.parametrize(
    ("table", "target", "parts"),
    [
        ({**GOOD, "y": ["a"] * 3}, "y", ["every row has the label 'a'", "two classes"]),
        ({**GOOD, "y": ["a", None, "b"]}, "y", ["label 'y' of row 1 is missing"]),
        ({**GOOD, "y": ["a", float("nan"), "b"]}, "y", ["label 'y' of row 1 is missing"]),
        ({"x": [1], "y": ["a"]}, "y", ["two rows or more", "there are 1"]),
        ({**GOOD, "x": [1, "much", 3]}, "y", ["'x'", "row 1", "'much'", "None"]),
        ({**GOOD, "x": ["a", "b", 3]}, "y", ["'x'", "row 2", "3"]),
        ({**GOOD, "x": [1.0, np.inf, 3]}, "y", ["'x', row 1", "infinite"]),
        ({**GOOD, "x": [1.0, 2.0]}, "y", ["'x' has shape (2,)", "3 labels"]),
        ({**GOOD, "x": [None] * 3}, "y", ["every column is missing"]),
        (GOOD, "why", ["no column 'why'", "x"]),
        (GOOD, [1, 2], ["'x' has shape (3,)", "2 labels"]),
        ("a table", "y", ["'a table'", "DataFrame"]),
        ({1: [1, 2], "1": [1, 2], "y": [0, 1]}, "y", ["two columns '1'"]),
    ],
)
def test_bad_tables_are_refused(table: Any, target: Any, parts: list[str]) -> None:
    with raises_saying(DataError, *parts):
        induce(table, target)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"monotone": {"z": 1}}, ["monotone names 'z'"]),
        ({"monotone": {"x": 2}}, ["2 for 'x'", "1 or -1"]),
        ({"ordinal": {"z": [1]}}, ["ordinal names 'z'"]),
        ({"ordinal": {"x": [1.0, 2.0]}}, ["'x', row 2", "3.0"]),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], parts: list[str]) -> None:
    with raises_saying(DataError, *parts):
        induce(GOOD, "y", **options)


def test_kept_rules_are_on_the_columns_and_the_target() -> None:
    x, y = Attribute.number("x", [2], blur=1), Attribute("y", ["a", "b"])
    with raises_saying(RuleSetError, "with a blur"):
        induce(GOOD, "y", keep=[If(x < 2).then(y.isin({"a"}))])
    with raises_saying(RuleSetError, "concludes on", "'y', with the values"):
        other = Attribute("y", ["a", "c"])
        induce(GOOD, "y", keep=[If(x < 2).then(other.isin({"a"}))])
    with raises_saying(RuleSetError, "is on 'z'"):
        induce(GOOD, "y", keep=[If(Attribute.number("z", [2]) < 2).then(y.isin({"a"}))])
    with raises_saying(RuleSetError, "keep has 3"):
        induce(GOOD, "y", keep=[3])


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=60))
def test_cuts_divide_the_values_and_steps_count_them(values: list[int]) -> None:
    numbers = np.array(values) / 8
    cuts = quantile_cuts(numbers, most=7)
    assert len(cuts) <= 7
    assert sorted(set(cuts)) == list(cuts)
    columns = (TableColumn("x", np.append(numbers, np.nan)),)
    steps = bin_columns(columns, (Feature(0, cuts),))
    assert [sum(c <= v for c in cuts) for v in numbers] == steps[:-1, 0].tolist()
    certain, possible = evaluate_boxes(steps, [((0, 0, 2),)])
    assert certain[0].tolist() == [0 < s <= 2 for s in steps[:-1, 0]] + [False]
    assert possible[0].tolist() == [*certain[0, :-1], True]


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
def test_a_short_number_lies_between(low: float, gap: float) -> None:
    high = low + gap
    if high > low:
        assert low < short_between(low, high) <= high


N = 40
RNG = np.random.default_rng(5)
DAYS = [f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)]
#: Columns that are skipped, by what they hold.
SKIPPED: dict[str, list[Any]] = {
    "dates": [
        DAYS,
        [None, *DAYS[1:]],
        [f"{i % 28 + 1}.3.2024" for i in range(N)],
        [f"{i % 12 + 1}/28/24 10:15" for i in range(N)],
        [f"{day}T08:30:00+01:00" for day in DAYS],
        [datetime.date.fromisoformat(day) for day in DAYS],
        np.array(DAYS, dtype="datetime64[ns]"),
        pandas.to_datetime(pandas.Series(DAYS)),
        pandas.to_datetime(pandas.Series(DAYS), utc=True),
    ],
    "identifiers": [
        [f"P-{i:03d}" for i in range(N)],
        [f"P-{max(i, 1):03d}" for i in range(N)],
        list(range(1000, 1000 + N)),
        RNG.permutation(3 * N)[:N],
        np.arange(N, dtype=float),
        [None, *range(1, N)],
    ],
}
#: Columns that are used: measured numbers, categories, short tables.
USED: list[Any] = [
    RNG.normal(size=N),
    RNG.normal(50, 20, N).round(),
    RNG.choice(10**6, N, replace=False),
    np.arange(N) + 0.5,
    RNG.choice(["a", "b", "2024-01-01"], N),
    RNG.choice([True, False], N),
]


@pytest.mark.parametrize(
    ("kind", "column"), [(kind, column) for kind, columns in SKIPPED.items() for column in columns]
)
def test_dates_and_identifiers_are_not_used(kind: str, column: Any) -> None:
    x = RNG.normal(size=N)
    table = {"x": x, "column": column, "y": np.where(x > 0, "a", "b")}
    with pytest.warns(DataWarning, match=rf"'column' \({kind}\); .*features="):
        read = read_training_table(table, "y")
    assert [c.name for c in read.columns] == ["x"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = read_training_table(table, "y", features=["column", "x"])
        assert [c.name for c in named.columns] == ["column", "x"]
        assert len(read_training_table(table, "y", required=["column"]).columns) == 2
    with raises_saying(DataError, "nothing to induce rules from but 'column'", kind, "features="):
        read_training_table({"column": column, "y": table["y"]}, "y")


@pytest.mark.parametrize("column", USED)
def test_measured_numbers_and_categories_are_used(column: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_training_table({"column": column, "y": ["a", "b"] * (N // 2)}, "y")
    assert [c.name for c in read.columns] == ["column"]
    few = {"column": [f"P{i}" for i in range(10)], "y": ["a", "b"] * 5}
    assert len(read_training_table(few, "y").columns) == 1


def test_columns_that_options_name_are_used() -> None:
    rank, y = list(range(N)), ["a" if i < 20 else "b" for i in range(N)]
    table = {"rank": rank, "x": RNG.normal(size=N), "y": y}
    assert "rank" in induce(table, "y", monotone={"rank": 1}, max_rules=2).attributes
    own = If(Attribute.number("rank", [30]) >= 30).then(Attribute("y", ["a", "b"]).isin({"b"}))
    assert "rank" in induce(table, "y", keep=own, max_rules=2).attributes
    assert [a.name for a in induce(table, "y", features=["rank"], max_rules=2).inputs] == ["rank"]
    with raises_saying(DataError, "features", "'z'"):
        induce(table, "y", features=["z"])
