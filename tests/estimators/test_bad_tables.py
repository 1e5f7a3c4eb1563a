"""Tables as they come: blanks, infinite numbers, types of categories, odd labels and weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from estimators.patients import patients
from messages import raises_saying
from pinesy import induce
from pinesy.estimators import RuleClassifier
from pinesy.exceptions import DataWarning, TableError

TABLE, LABELS = patients()
LEVEL = pandas.cut(TABLE.glucose, [0, 100, 130, 400], labels=["low", "middle", "high"])
LEVELS = LEVEL.astype(str).tolist()


def fitted(x: Any, y: Any = LABELS, **options: Any) -> RuleClassifier:
    return RuleClassifier(max_rules=4, random_state=0).fit(x, y, **options)


@pytest.fixture(scope="module")
def model() -> RuleClassifier:
    return fitted(TABLE)


# --- blanks ------------------------------------------------------------------------------------


def test_a_row_of_blanks(model: RuleClassifier) -> None:
    blank = pandas.DataFrame({"glucose": [np.nan], "bmi": [np.nan], "smoker": [None]})
    assert (model.predict_possibility(blank) == 1.0).any()
    assert model.predict(blank)[0] in model.classes_
    assert model.outcomes(blank)[0] != "decided"
    table = pandas.concat([blank, TABLE], ignore_index=True)
    assert fitted(table, ["sick", *LABELS]).score(TABLE, LABELS) > 0.85
    numbers = TABLE[["glucose", "bmi"]].to_numpy(copy=True)
    numbers[0] = np.nan
    assert fitted(numbers).predict(numbers)[0] in ("sick", "well")


@pytest.mark.parametrize("blank", [np.nan, None, pandas.NA])
def test_a_column_of_blanks(model: RuleClassifier, blank: Any) -> None:
    table = TABLE.assign(empty=pandas.Series([blank] * len(TABLE), dtype=object))
    found = fitted(table)
    assert found.get_rules().infer(TABLE)[found.target_] is not None
    assert str(found) == str(model)
    assert (found.predict(table.assign(empty="now")) == model.predict(TABLE)).all()
    unknown = TABLE.assign(glucose=pandas.Series([blank] * len(TABLE), dtype=object))
    assert (model.predict_possibility(unknown).max(axis=1) == 1.0).all()
    with raises_saying(TableError, "every column is missing throughout"):
        fitted(table[["empty"]])


# --- numbers, truth values, categories ---------------------------------------------------------


@pytest.mark.parametrize("number", [np.inf, -np.inf])
def test_infinite_numbers(model: RuleClassifier, number: float) -> None:
    table = TABLE.copy()
    table.loc[7, "bmi"] = number
    for ask in (lambda: fitted(table), lambda: model.predict(table)):
        with raises_saying(TableError, "'bmi', row 7", "infinite", "write NaN"):
            ask()
    for other in (polars.from_pandas(table), table.astype({"bmi": object})):
        with raises_saying(TableError, "'bmi', row 7"):
            model.predict_proba(other)
    with raises_saying(TableError, "'x1', row 7", "write NaN"):
        fitted(table[["glucose", "bmi"]].to_numpy())
    with raises_saying(TableError, "'bmi'", "write NaN"):
        model.explain(table.iloc[7])


def test_truth_values() -> None:
    flags = pandas.DataFrame({"flag": TABLE.glucose > 125, "other": TABLE.bmi > 27})
    found = fitted(flags)
    assert found.get_rules().attributes["flag"].domain == (False, True)
    array = fitted(flags.to_numpy())
    assert array.get_rules().attributes["x0"].domain == (False, True)
    expected = found.predict_possibility(flags)
    for same in (flags.astype("boolean"), flags.astype(int), polars.from_pandas(flags)):
        assert np.array_equal(found.predict_possibility(same), expected)
    assert np.array_equal(array.predict_possibility(flags.to_numpy()), expected)
    blank = flags.astype("boolean").mask(TABLE.bmi.isna())
    assert fitted(blank).get_rules().attributes["flag"].domain == (False, True)
    assert np.array_equal(
        fitted(blank).predict_possibility(blank),
        fitted(polars.from_pandas(blank)).predict_possibility(blank),
    )


ORDERED: list[Callable[[], Any]] = [
    lambda: pandas.DataFrame({"level": LEVEL}),
    lambda: polars.DataFrame(
        {"level": polars.Series(LEVELS, dtype=polars.Enum(["low", "middle", "high"]))}
    ),
]
UNORDERED: list[Callable[[], Any]] = [
    lambda: pandas.DataFrame({"level": pandas.Categorical(LEVELS)}),
    lambda: polars.DataFrame({"level": polars.Series(LEVELS, dtype=polars.Categorical)}),
]


@pytest.mark.parametrize("table", ORDERED)
def test_ordered_categories(table: Callable[[], Any]) -> None:
    found = fitted(table())
    assert found.get_rules().attributes["level"].domain == ("low", "middle", "high")
    by_name = RuleClassifier(max_rules=4, ordinal={"level": ["low", "middle", "high"]})
    text = pandas.DataFrame({"level": LEVELS})
    assert str(found) == str(by_name.fit(text, LABELS))
    assert np.array_equal(found.predict_possibility(table()), found.predict_possibility(text))


@pytest.mark.parametrize("table", UNORDERED)
def test_unordered_categories(table: Callable[[], Any]) -> None:
    found, text = fitted(table()), pandas.DataFrame({"level": LEVELS})
    assert str(found) == str(fitted(text))
    assert np.array_equal(found.predict_possibility(table()), found.predict_possibility(text))


def test_numbers_that_are_categories() -> None:
    codes = pandas.DataFrame({"ward": LEVEL.cat.codes.astype("category")})
    found = fitted(codes)
    assert found.get_rules().attributes["ward"].domain == (0, 1, 2)
    assert (found.predict(codes) == found.predict(codes.astype(int))).all()
    blank = codes.mask(TABLE.bmi.isna())
    assert set(fitted(blank).get_rules().attributes["ward"].domain) == {0, 1, 2}
    rules = induce(codes.assign(state=LABELS), "state")
    assert rules.attributes["ward"].domain == (0, 1, 2)


def test_weights_select_rows_of_categories() -> None:
    table = TABLE.assign(level=LEVEL)
    weights = np.arange(len(table)) % 3
    kept = weights > 0
    found = fitted(table, sample_weight=weights)
    again = fitted(table[kept], LABELS[kept], sample_weight=weights[kept])
    assert found.get_rules() == again.get_rules()


@pytest.mark.parametrize("table", [*ORDERED, *UNORDERED])
def test_levels_never_seen_are_unknown(table: Callable[[], Any]) -> None:
    found = fitted(table())
    new = pandas.DataFrame({"level": pandas.Categorical(["very high", "low"])})
    with pytest.warns(DataWarning, match="'level': 1 of 2 values were never seen"):
        pi = found.predict_possibility(new)
    blank = pandas.DataFrame({"level": [None, "low"]})
    assert np.array_equal(pi, found.predict_possibility(blank))


# --- labels and weights ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        pandas.Series(LABELS, dtype="string").mask(TABLE.bmi.isna()),
        pandas.Series(LABELS, dtype="category").mask(TABLE.bmi.isna()),
        pandas.Series(LABELS == "sick", dtype="boolean").mask(TABLE.bmi.isna()),
        pandas.Series(LABELS == "sick", dtype=float).mask(TABLE.bmi.isna()),
        polars.from_pandas(pandas.Series(LABELS, dtype="string").mask(TABLE.bmi.isna())),
    ],
)
def test_labels_with_blanks(model: RuleClassifier, labels: Any) -> None:
    first, count = int(TABLE.bmi.isna().to_numpy().argmax()), int(TABLE.bmi.isna().sum())
    parts = (f"row {first} is missing", f"and {count - 1} more", "leave out")
    with raises_saying(TableError, *parts):
        fitted(TABLE, labels)
    with raises_saying(TableError, *parts):
        model.calibrate(TABLE, labels)


def test_labels_that_are_no_classes() -> None:
    with raises_saying(TableError, "Unknown label type: continuous", "pandas.cut"):
        fitted(TABLE, TABLE.glucose + 0.5)
    with raises_saying(TableError, "several types", "int", "make all of them text"):
        fitted(TABLE, np.array([1, *LABELS[1:]], dtype=object))
    with raises_saying(TableError, "the label of row 2 is infinity"):
        fitted(TABLE, [0.0, 1.0, np.inf] + [0.0] * (len(TABLE) - 3))


def test_types_of_labels(model: RuleClassifier) -> None:
    expected = model.predict(TABLE)
    for labels in (
        pandas.Series(LABELS, dtype="category"),
        pandas.Series(LABELS, dtype="string"),
        polars.Series(LABELS.tolist(), dtype=polars.Enum(["well", "sick"])),
    ):
        found = fitted(TABLE, labels)
        assert found.classes_.tolist() == ["sick", "well"]
        assert (found.predict(TABLE) == expected).all()
    assert fitted(TABLE, LABELS == "sick").classes_.tolist() == [False, True]


def test_one_class() -> None:
    with raises_saying(TableError, "one class only, 'well'", "two classes or more"):
        fitted(TABLE, ["well"] * len(TABLE))
    with raises_saying(TableError, "one class only, 'well'", "weight 0"):
        fitted(TABLE, sample_weight=np.where(LABELS == "sick", 0.0, 1.0))


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (np.zeros(len(TABLE)), "all weights are 0"),
        (np.full(len(TABLE), np.nan), "NaN"),
        (np.full(len(TABLE), np.inf), "infinity"),
        (-np.ones(len(TABLE)), "Negative"),
        ([1.0, 2.0], "(2,)"),
    ],
)
def test_weights_that_count_no_rows(model: RuleClassifier, weights: Any, problem: str) -> None:
    with raises_saying(TableError, problem):
        fitted(TABLE, sample_weight=weights)
    with raises_saying(TableError, problem):
        model.calibrate(TABLE, LABELS, sample_weight=weights)
