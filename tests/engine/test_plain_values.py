"""Plain values in the place of distributions: whatever takes evidence takes them."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas
import pytest

from messages import raises_saying
from named_columns import frames
from pinesy import (
    Attribute,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    UnknownAttributeError,
    audit,
    backpropagate,
    explain,
    learn,
    margin,
    parse,
    posterior,
    smallest_change,
    why_not,
)
from pinesy.exceptions import UnusedColumnsWarning

RULES = parse("""
    attribute smoker in {yes, no}
    attribute stairs in {0..3}
    attribute weather in {sun, rain}
    attribute risk in {low, middle, high}
    attribute advice in {walk, rest}

    if smoker in {yes} then risk in {middle, high} [s=1, r=0.2]
    if smoker in {no} and stairs in {2, 3} then risk in {low} [s=1, r=0]
    if risk in {high, middle} then advice in {rest} [s=0.3, r=0.1]
""")
SMOKER, STAIRS = (RULES.attributes[name] for name in ("smoker", "stairs"))
ONE = {"smoker": "no", "stairs": 2}
ONE_HOT = {"smoker": [0.0, 1.0], "stairs": [0.0, 0.0, 1.0, 0.0]}
MANY: dict[str, list[Any]] = {
    "smoker": ["no", "yes", None, "no", "no"],
    "stairs": [2, 3, 0, None, 1],
}
MANY_HOT = {
    "smoker": np.array([[0, 1], [1, 0], [1, 1], [0, 1], [0, 1.0]]),
    "stairs": np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0.0]]),
}


def inferred(evidence: Any) -> Any:
    return RULES.infer(evidence)["advice"].degrees.tolist()


WANTED, WANTED_ONE = inferred(MANY_HOT), inferred(ONE_HOT)


@pytest.mark.parametrize(
    "evidence",
    [
        ONE,
        {SMOKER: "no", STAIRS: np.int8(2)},
        {"smoker": {"no": 1.0}, "stairs": 2.0},
        {"smoker": np.array("no"), "stairs": np.array(2)},
        {"smoker": [0, 1], "stairs": Decimal(2)},
    ],
)
def test_one_value(evidence: Any) -> None:
    assert inferred(evidence) == WANTED_ONE


@pytest.mark.parametrize("unknown", [None, float("nan"), np.float64("nan"), Decimal("nan")])
def test_nothing_known(unknown: Any) -> None:
    expected = inferred({"smoker": [1.0, 1.0], "stairs": [0, 0, 1, 0]})
    assert inferred({"smoker": unknown, "stairs": 2}) == expected


def test_none_may_be_a_value() -> None:
    rules = parse("attribute a in {none, 1} attribute b in {0, 1} if a in {none} then b in {1}")
    assert rules.infer({"a": None})["b"].best == 1
    assert rules.infer({"a": float("nan")})["b"].degrees.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "evidence",
    [
        MANY,
        {name: tuple(values) for name, values in MANY.items()},
        {name: np.array(values, dtype=object) for name, values in MANY.items()},
        {"smoker": MANY["smoker"], "stairs": [2.0, 3.0, 0.0, np.nan, 1.0]},
        {"smoker": MANY["smoker"], "stairs": MANY_HOT["stairs"]},
    ],
)
def test_a_batch(evidence: Any) -> None:
    assert inferred(evidence) == WANTED


def test_one_value_among_batches_holds_for_all() -> None:
    expected = inferred({"smoker": ["no"] * 5, "stairs": MANY["stairs"]})
    assert inferred({"smoker": "no", "stairs": MANY["stairs"]}) == expected
    unknown = inferred({"smoker": [None] * 5, "stairs": MANY["stairs"]})
    assert inferred({"smoker": None, "stairs": MANY["stairs"]}) == unknown


def test_as_many_numbers_as_the_domain_has_values() -> None:
    four = {"smoker": ["no", "yes", "no", "no"], "stairs": [2, 3, 0, 1]}
    hot = {"smoker": [[0, 1], [1, 0], [0, 1], [0, 1]], "stairs": np.eye(4)[[2, 3, 0, 1]]}
    assert inferred(four) == inferred(hot)  # the other input is a batch of four
    one = {"smoker": "no", "stairs": [0, 0, 1, 0]}
    assert inferred(one) == WANTED_ONE  # else they are degrees
    values = {"smoker": "no", "stairs": np.array([0, 0, 1, 0], dtype=object)}
    assert len(inferred(values)) == 4  # objects are values


def test_tuples_are_values_of_products() -> None:
    rules = parse("""
        attribute x in {0, 1} attribute y in {0, 1} product pair = x * y
        attribute same in {yes, no} if pair where x == y then same in {yes} [s=0, r=0]
    """)
    assert rules.infer({"pair": (1, 1)})["same"].best == "yes"
    best = rules.infer({"pair": [(1, 1), (0, 1), (0, 0)]})["same"].best
    assert best.tolist() == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    "function",
    [
        lambda e: str(explain(RULES, e, "advice")),
        lambda e: explain(RULES, e, "risk").to_dict(),
        lambda e: str(why_not(RULES, e, "rest", "advice", mode="smallest")),
        lambda e: margin(RULES, e, "advice"),
        lambda e: str(smallest_change(RULES, e, "rest", "advice", mode="smallest")),
        lambda e: posterior(RULES, e, {"advice": "walk"})["stairs"].degrees.tolist(),
        lambda e: repr(backpropagate(RULES, e, {"advice": "walk"})),
        lambda e: RULES.trace(e)["risk"].degrees.tolist(),
    ],
)
def test_values_and_distributions_are_the_same(function: Callable[[Any], Any]) -> None:
    assert function(ONE) == function(ONE_HOT)


def test_learning_and_audit() -> None:
    targets = {"risk": ["low", "high", "low", "low", "middle"], "advice": ["walk"] * 5}
    assert learn(RULES, MANY, targets).cascade == learn(RULES, MANY_HOT, targets).cascade
    plain, hot = audit(RULES, MANY, targets), audit(RULES, MANY_HOT, targets)
    assert str(plain) == str(hot)


# --- what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "error", "parts"),
    [
        ({"smoker": "yse", "stairs": 2}, DomainError, ["'smoker'", "did you mean 'yes'"]),
        ({"smoker": 1, "stairs": 2}, DomainError, ["'smoker' has no value 1; known: yes, no"]),
        ({"smoker": "yes", "stairs": "2"}, DomainError, ["it has 2 (int), not '2' (str)"]),
        (
            {"smoker": ["yes", "no", "maybe"], "stairs": [1, 1, 1]},
            DomainError,
            ["attribute 'smoker', row 2: has no value 'maybe'", "known: yes, no"],
        ),
        (
            {"smoker": ["yes", "no", 3, "zz"], "stairs": [1, 1, 1, 1]},
            DomainError,
            ["attribute 'smoker', row 2: has no value 3"],
        ),
        (
            {"smoker": ["yes"] * 5, "stairs": [1, 9, 8, 1, 1]},
            DomainError,
            ["attribute 'stairs', row 1: has no value 9"],
        ),
        (
            {"smoker": ["yes"] * 5, "stairs": [1, [2], 8, 1, 1]},
            DegreeError,
            ["attribute 'stairs'", "neither a dict"],
        ),
        (
            {"smoker": ["yes"] * 3, "stairs": [1, 2]},
            DegreeError,
            ["'stairs' has 2 samples but 'smoker' has 3"],
        ),
        ({"smoker": "yes"}, CascadeError, ["given for stairs", "give None"]),
        ({"smoker": {"yes", "no"}, "stairs": 1}, DegreeError, ["attribute 'smoker'"]),
        (
            {"smoker": np.array([{}, {}, {}]), "stairs": [1, 1, 1]},
            DataError,
            ["attribute 'smoker': row 0 holds {}, which is no value"],
        ),
    ],
)
def test_errors(evidence: Any, error: Any, parts: list[str]) -> None:
    with raises_saying(error, *parts):
        RULES.infer(evidence)


# --- tables ------------------------------------------------------------------------------------


def test_a_table_of_values() -> None:
    for table in frames(MANY):
        assert inferred(table) == WANTED
        assert inferred({name: table[name] for name in MANY}) == WANTED


def test_a_table_of_degrees() -> None:
    hot = {
        f"{name}={value}": degrees[:, index]
        for name, degrees in MANY_HOT.items()
        for index, value in reversed([*enumerate(RULES.attributes[name].domain)])
    }
    for table in frames(hot):
        assert inferred(table) == WANTED
    for table in frames({"no": MANY_HOT["smoker"][:, 1], "yes": MANY_HOT["smoker"][:, 0]}):
        assert inferred({**MANY, "smoker": table}) == WANTED


def test_an_array_of_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert inferred({name: pyarrow.array(values) for name, values in MANY.items()}) == WANTED


def test_titles_that_repeat() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table([["no"], ["no"], [2]], names=["smoker", "smoker", "stairs"])
    with raises_saying(DataError, "two columns 'smoker'"):
        inferred(table)


def test_columns_that_are_ignored() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"id": range(5), **MANY, "risk": "low", "weather": "sun"})
    assert inferred(table) == WANTED
    with pytest.warns(UnusedColumnsWarning, match="no rule uses is ignored: 'patient'"):
        assert inferred(table.rename(columns={"id": "patient"})) == WANTED
    with raises_saying(DataError, "no rule uses the column 'strais'", "did you mean 'stairs'?"):
        inferred(table.rename(columns={"stairs": "strais"}))
    with raises_saying(CascadeError, "no distribution is given for stairs"):
        inferred(table.drop(columns="stairs"))
    with raises_saying(DataError, "two columns 'smoker'"):
        inferred(pandas.concat([table, table[["smoker"]]], axis=1))


def test_columns_of_values_and_of_degrees() -> None:
    pandas = pytest.importorskip("pandas")
    hot = {f"stairs={value}": MANY_HOT["stairs"][:, value] for value in range(4)}
    assert inferred(pandas.DataFrame({**hot, "smoker": MANY["smoker"]})) == WANTED


@pytest.mark.parametrize("kind", ["category", "object", "string", "str"])
def test_kinds_of_columns(kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(MANY).astype({"smoker": kind, "stairs": "Int64"})
    assert inferred(table) == WANTED
    with raises_saying(DomainError, "attribute 'stairs', row 1: has no value 7"):
        table.loc[1, "stairs"] = 7
        inferred(table)


def test_a_column_is_never_one_distribution() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"smoker": ["no", "yes", "no", "no"], "stairs": [0, 0, 1, 0]})
    assert len(inferred({"smoker": "no", "stairs": table["stairs"]})) == 4


def test_a_row_of_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({**MANY, "id": list("abcde"), "risk": "low"})
    assert [inferred(table.iloc[i]) for i in range(5)] == WANTED
    assert str(explain(RULES, table.iloc[0], "advice")) == str(explain(RULES, ONE, "advice"))


def test_learning_from_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    targets = {"risk": ["low", "high", "low", "low", "middle"]}
    table = pandas.DataFrame({**MANY, **targets})
    learned = learn(RULES, table, {"risk": table["risk"].tolist()})
    assert learned.cascade == learn(RULES, MANY_HOT, targets).cascade


def test_a_domain_value_is_looked_up_once() -> None:
    """A million samples take less than a second or so, not a Python loop each."""
    attribute = Attribute("a", [f"value {i}" for i in range(20)])
    rules = parse(
        f'{attribute.declaration} attribute b in {{0, 1}} if a in {{"value 3"}} then b in {{1}}'
    )
    values = np.array(attribute.domain)[np.random.default_rng(0).integers(0, 20, 100_000)]
    best = rules.infer({"a": values})["b"][1]
    assert ((best == 1.0) | (values != "value 3")).all()


def test_a_sample_may_have_what_is_declared_and_unused() -> None:
    """As columns of a table: declared ones and `id` are ignored, others are refused."""
    rules = parse("number age number weight attribute y in {no, yes} if age >= 65 then y in {yes}")
    one = {"age": 70, "weight": 80.5, "id": 7}
    assert rules.infer(one)["y"].best == "yes"
    assert rules.infer(pandas.DataFrame([one]))["y"].best[0] == "yes"
    with raises_saying(UnknownAttributeError, "there is no input 'wieght'"):
        rules.infer({"age": 70, "wieght": 80.5})
    with raises_saying(UnknownAttributeError, "there is no input 'aeg'; did you mean 'age'?"):
        rules.infer({"aeg": 70})
    with raises_saying(CascadeError, "'y' takes no evidence: rules conclude on it"):
        rules.infer({"age": 70, "y": "yes"})
