"""Numeric attributes: intervals between cuts, blur, comparisons; against exact fractions."""

import pickle
from decimal import Decimal
from fractions import Fraction
from math import inf, nan, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    DomainError,
    If,
    Iff,
    RuleSet,
    RuleSetError,
    backpropagate,
    explain,
    learn,
    load,
    margin,
    posterior,
    save,
    smallest_change,
    why_not,
)
from pinesy.evidence.plain_values import degrees_of_values
from pinesy.evidence.targets import Target

AGE = Attribute.number("age", cuts=[30, 65], blur=2)
BANDS = Attribute.number("age", cuts=[30, 65], names=["young", "adult", "old"])
GRID = st.integers(-40, 40).map(lambda i: i / 4)  # exact floats, so fractions and floats agree


def oracle(x: float, cuts: list[float], blur: float) -> list[float]:
    """Return the degrees of a number by the definition."""
    lows, highs = [None, *cuts], [*cuts, None]
    degrees = []
    for low, high in zip(lows, highs, strict=True):
        below = Fraction(low) - Fraction(x) if low is not None else Fraction(-1)
        above = Fraction(x) - Fraction(high) if high is not None else Fraction(-1)
        inside = below <= 0 and above < 0
        distance = max(below, above, Fraction(0))
        shade = max(Fraction(0), 1 - distance / Fraction(blur)) if blur else Fraction(0)
        degrees.append(float(Fraction(1) if inside else shade))
    return degrees


@given(
    st.lists(GRID, unique=True, max_size=5).map(sorted),
    st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 8.0]),
    st.lists(GRID, max_size=8),
)
@settings(max_examples=100)
def test_degrees(cuts: list[float], blur: float, numbers: list[float]) -> None:
    attribute = Attribute.number("x", cuts, blur=blur)
    expected = [oracle(x, cuts, blur) for x in numbers]
    assert degrees_of_values(np.array(numbers, dtype=float), attribute).tolist() == expected
    mixed = np.array([*numbers, None, Fraction(1, 4)], dtype=object)
    found = degrees_of_values(mixed, attribute).tolist()
    assert found == [*expected, [1.0] * (len(cuts) + 1), oracle(0.25, cuts, blur)]


@pytest.mark.parametrize("blur", [0.0, 2.0])
def test_infinite_and_huge_numbers(blur: float) -> None:
    attribute = Attribute.number("x", [30, 65], blur=blur)
    for low, high in ((-inf, inf), (-(10**400), 10**400), (-1.8e308 / 2, 1e308)):
        degrees = degrees_of_values(np.array([low, high, nan], dtype=object), attribute)
        assert degrees.tolist() == [[1, 0, 0], [0, 0, 1], [1, 1, 1]]


def test_intervals() -> None:
    assert AGE.domain == ("<30", "[30, 65)", ">=65")
    assert Attribute.number("x", ["<=30", 65.5]).domain == ("<=30", "(30, 65.5)", ">=65.5")
    assert Attribute.number("x", [30, "<=30"]).domain == ("<30", "[30, 30]", ">30")
    assert Attribute.number("x").domain == ("any",)
    assert Attribute.number("x", [-0.0, 1e300]).domain == ("<0", "[0, 1e+300)", ">=1e+300")
    assert Attribute.number("x", [nextafter(30.0, inf)]) == Attribute.number("x", ["<=30"])
    assert BANDS.domain == ("young", "adult", "old")


def test_comparisons() -> None:
    assert (AGE < 30) == AGE.isin({"<30"})
    assert (AGE < 65) == ~(AGE >= 65) == AGE.isin({"<30", "[30, 65)"})
    assert (np.float64(30) <= AGE) == (Decimal(30) <= AGE) == AGE.isin({"[30, 65)", ">=65"})
    assert [str(p) for p in (AGE < 30, AGE >= 65)] == ["age < 30", "age >= 65"]
    assert str((AGE >= 30) & (AGE < 65)) == "age >= 30 and age < 65"
    assert str(AGE.isin({"[30, 65)"})) == "30 <= age < 65"
    assert str(BANDS < 30) == "age in {young}"
    closed = Attribute.number("x", ["<=30", 65])
    assert [str(p) for p in (closed <= 30, closed > 30)] == ["x <= 30", "x > 30"]
    digit = Attribute("digit", range(10))
    assert (digit < 3) == digit.isin({0, 1, 2})
    assert (digit >= 7) == digit.isin({7, 8, 9})


def test_chained_comparisons_are_refused_by_name() -> None:
    with raises_saying(RuleSetError, "p & q"):
        30 <= AGE < 65  # noqa: B015


@pytest.mark.parametrize(
    ("compare", "parts"),
    [
        (lambda: AGE < 40, ["no cut for < 40", "<30, [30, 65), >=65", "cuts=[30, 40, 65]"]),
        (lambda: AGE <= 30, ["no cut for <= 30", 'cuts=[30, "<=30", 65]']),
        (lambda: AGE < "40", ["'40' is no cut; cuts are finite numbers"]),
        (lambda: nan > AGE, ["nan is no cut"]),
        (lambda: AGE < True, ["True is no cut"]),
        (lambda: Attribute("drink", ["tea"]) < 3, ["'<' compares numbers", "Attribute.number"]),
        (lambda: AGE.isin({47}), ["are intervals: <30", "47 is none of them: compare"]),
    ],
)
def test_comparisons_that_cannot_be(compare: Any, parts: list[str]) -> None:
    with raises_saying(DomainError, *parts):
        compare()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"cuts": [65, 30]}, ["'age'", "the cut 30 follows 65; cuts must increase"]),
        ({"cuts": [30, 30.0]}, ["the cut 30 follows 30"]),
        ({"cuts": [30, inf]}, ["inf is no cut; cuts are finite numbers"]),
        ({"cuts": [nan]}, ["nan is no cut"]),
        ({"cuts": [True]}, ["True is no cut"]),
        ({"cuts": ["30"]}, ["the cut '30' is no number", "'<=30'"]),
        ({"cuts": ["<=x"]}, ["the cut '<=x' is no number"]),
        ({"cuts": [10**400]}, ["is no cut"]),
        ({"cuts": 30}, ["cuts is 30; give a list of numbers"]),
        ({"cuts": "30"}, ["cuts is '30'; give a list"]),
        ({"blur": -1}, ["the blur of attribute 'age' is -1", "at least 0"]),
        ({"blur": nan}, ["the blur", "nan"]),
        ({"blur": inf}, ["the blur", "inf"]),
        ({"blur": "much"}, ["the blur", "'much'"]),
        ({"cuts": [30], "names": ["young"]}, ["1 names for 2 intervals"]),
        ({"cuts": [30], "names": "ab"}, ["0 names for 2 intervals"]),
        ({"cuts": [30], "names": ["a", "a"]}, ["two intervals have one name"]),
        ({"cuts": [30], "names": ["a", "3"]}, ["'3' is no name of an interval"]),
        ({"cuts": [30], "names": ["a", ""]}, ["'' is no name of an interval"]),
    ],
)
def test_declarations_that_cannot_be(arguments: Any, parts: list[str]) -> None:
    with raises_saying(DomainError, *parts):
        Attribute.number("age", **arguments)


# --- rules with numbers ------------------------------------------------------------------------


RISK, SMOKER = Attribute("risk", ["low", "high"]), Attribute("smoker", ["yes", "no"])
RULES = Cascade(
    RuleSet(
        [
            If(AGE < 30).then(RISK.isin({"low"}), certainty=0.75),
            If(AGE >= 65, SMOKER.isin({"yes"})).then(RISK.isin({"high"})),
        ]
    )
)
NUMBERS = [29.0, 30.0, 31.5, 47.0, 64.0, 65.0, 90.0, nan]
HOT = np.array([[*oracle(x, [30.0, 65.0], 2.0)] if x == x else [1.0] * 3 for x in NUMBERS])


def degrees(evidence: Any) -> Any:
    return RULES.infer(evidence)["risk"].degrees.tolist()


def test_inference() -> None:
    expected = degrees({"age": HOT, "smoker": np.tile([1.0, 0.0], (8, 1))})
    assert degrees({"age": NUMBERS, "smoker": "yes"}) == expected
    assert degrees({"age": np.array(NUMBERS), "smoker": ["yes"] * 8}) == expected
    assert degrees({"age": [*NUMBERS[:-1], None], "smoker": "yes"}) == expected
    for x, row in zip(NUMBERS, expected, strict=True):
        assert degrees({"age": x, "smoker": "yes"}) == row
    assert degrees({"age": 47, "smoker": "no"}) == degrees({"age": "[30, 65)", "smoker": "no"})


def test_three_numbers_are_three_samples() -> None:
    assert len(degrees({"age": [29.0, 47.0, 70.0], "smoker": "no"})) == 3
    assert degrees({"age": {"<30": 1, "[30, 65)": 0.5}, "smoker": "no"}) == degrees(
        {"age": 29, "smoker": "no"}
    )


def test_tables() -> None:
    pandas = pytest.importorskip("pandas")
    expected = degrees({"age": HOT, "smoker": np.tile([1.0, 0.0], (8, 1))})
    for kind in ("float64", "Float64", "object"):
        table = pandas.DataFrame({"age": pandas.Series(NUMBERS, dtype=kind), "smoker": "yes"})
        assert degrees(table) == expected
    with raises_saying(DomainError, "attribute 'age', row 1", "takes numbers", "'old'"):
        degrees(pandas.DataFrame({"age": [1, "old"], "smoker": "yes"}))


@pytest.mark.parametrize(
    ("evidence", "parts"),
    [
        ({"age": "47", "smoker": "yes"}, ["'age' takes numbers, or the intervals <30", "'47'"]),
        ({"age": True, "smoker": "yes"}, ["'age' takes numbers", "True"]),
        ({"age": [47, "x"], "smoker": "yes"}, ["'age', row 1", "takes numbers", "'x'"]),
        ({"age": 47, "smoker": 1}, ["'smoker' has no value 1; known: yes, no"]),
    ],
)
def test_wrong_values(evidence: Any, parts: list[str]) -> None:
    with raises_saying(DomainError, *parts):
        RULES.infer(evidence)


def test_numbers_are_their_distributions_elsewhere() -> None:
    plain, hot = {"age": 29, "smoker": "no"}, {"age": [[1, 0.5, 0]], "smoker": [[0, 1]]}
    one = {"age": {"<30": 1, "[30, 65)": 0.5}, "smoker": [0, 1]}
    texts = [explain(RULES, sample, "risk").justification() for sample in (plain, one)]
    assert texts[0] == texts[1]
    assert "age is below 30 (rule 1)" in str(explain(RULES, plain, "risk"))
    assert "age is below 30 or at least 65 (rule 1)" in str(explain(RULES, plain, "risk"))
    same = str(why_not(RULES, plain, "high", mode="smallest"))
    assert same == str(why_not(RULES, one, "high"))
    assert repr(backpropagate(RULES, plain, "high")) == repr(backpropagate(RULES, one, "high"))
    fit = posterior(RULES, plain, "high")["age"].degrees
    assert fit.tolist() == posterior(RULES, one, "high")["age"].degrees.tolist()
    assert margin(RULES, plain) == margin(RULES, one)
    changed = smallest_change(RULES, plain, "high", mode="smallest")
    assert str(changed) == str(smallest_change(RULES, one, "high"))
    targets = {"risk": ["high"]}
    numbers = {"age": [29], "smoker": ["no"]}
    assert learn(RULES, numbers, targets).cascade == learn(RULES, hot, targets).cascade


def test_numbers_as_targets() -> None:
    sharp = Attribute.number("x", [1, 2])
    assert Target.of([0.5, 1, 7], sharp).labels.tolist() == [0, 1, 2]
    assert Target.of(["<1", ">=2"], sharp).labels.tolist() == [0, 2]
    blurred = Attribute.number("x", [1, 2], blur=1)
    assert Target.of([0.5, 1.5], blurred).degrees.tolist() == [[1, 0.5, 0], [0.5, 1, 0.5]]
    rules = RuleSet([Iff(SMOKER.isin({"yes"})).then(sharp >= 2)])
    assert rules.equations({"smoker": "yes"}, 3).distance == 0.0


# --- equality and files ------------------------------------------------------------------------


def test_equality() -> None:
    assert Attribute.number("age", [30.0, 65], blur=2.0) == AGE
    assert hash(AGE) == hash(Attribute.number("age", [30, 65], blur=2))
    for other in (
        Attribute("age", AGE.domain),
        Attribute.number("age", [30, 65]),
        Attribute.number("age", [30, 66], blur=2),
    ):
        assert other != AGE
    assert pickle.loads(pickle.dumps(AGE)) == AGE
    assert AGE.renamed("years").scale == AGE.scale
    assert repr(AGE) == "Attribute.number('age': cuts {30, 65} [blur=2])"


def test_json(tmp_path: Any) -> None:
    for attribute in (AGE, BANDS, Attribute.number("age", [30, "<=65"], blur=0.1)):
        rules = Cascade(RuleSet([If(attribute < 30).then(RISK.isin({"low"}))]))
        save(rules, tmp_path / "rules.json")
        assert load(tmp_path / "rules.json") == rules


def test_a_number_at_a_closed_cut_has_no_distance_from_what_is_above() -> None:
    scale = Attribute.number("alcohol", cuts=["<=14.5"], blur=0.5).scale
    assert scale is not None
    assert scale.degrees(np.array([14.5, 14.25])).tolist() == [[1.0, 1.0], [1.0, 0.5]]
