"""Numeric attributes in text: declarations, comparisons, and the cuts that they need."""

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    DomainError,
    If,
    Proposition,
    RuleSet,
    RulesTextError,
    parse,
    parse_rule,
)

SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
NUMBERS = st.integers(-8, 8).map(lambda i: i / 2) | st.sampled_from([0.1, 0.3, 1e-9, -2e20])
COMPARISONS = st.tuples(st.sampled_from(sorted(SIGNS)), NUMBERS, st.booleans())
YES_NO = 'attribute y in {"yes", "no"}'


def text_of(comparison: tuple[str, float, bool]) -> str:
    sign, number, turned = comparison
    turn = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
    return f"{number} {turn} x" if turned else f"x {sign} {number}"


@given(
    st.lists(COMPARISONS, min_size=1, max_size=4),
    st.sampled_from([" and ", " or "]),
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.lists(NUMBERS, unique=True, max_size=2).map(sorted),
)
def test_formulas_mean_what_python_says(
    comparisons: list[Any], word: str, numbers: list[float], cuts: list[float]
) -> None:
    formula = word.join(map(text_of, comparisons))
    declared = f"cuts {{{', '.join(map(repr, cuts))}}}"
    rules = parse(f"number x {declared} {YES_NO} iff {formula} then y in {{yes}}")
    assert parse(str(rules)) == rules
    join = all if word == " and " else any
    for x in [*numbers, *(number for _, number, _ in comparisons)]:
        holds = join(SIGNS[sign](x, number) for sign, number, _ in comparisons)
        assert rules.infer({"x": x})["y"].degrees.tolist() == [holds, not holds]


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["<", "<="]), st.sampled_from(["<", "<="]))
def test_between(low: float, high: float, x: float, first: str, second: str) -> None:
    rules = parse(f"number x {YES_NO} iff {low} {first} x {second} {high} then y in {{yes}}")
    holds = SIGNS[first](low, x) and SIGNS[second](x, high)
    assert rules.infer({"x": x})["y"].degrees.tolist() == [holds, not holds]


@given(st.lists(NUMBERS, unique=True, min_size=1, max_size=4).map(sorted), st.data())
def test_every_set_of_intervals_is_written(numbers: list[float], data: st.DataObject) -> None:
    signs = [data.draw(st.sampled_from(["<", "<="])) for _ in numbers]
    cuts = [f"{sign}{number!r}" for sign, number in zip(signs, numbers, strict=True)]
    x, y = Attribute.number("x x", cuts), Attribute("y", ["yes", "no"])
    said = Proposition(x, data.draw(st.integers(0, x.full)))
    rules = Cascade(RuleSet([If(said & y.isin({"yes"})).then(Attribute("z", [0, 1]).isin({1}))]))
    assert parse(str(rules)) == rules
    middle = x.isin(x.domain[1:-1])
    assert (" in " in str(middle)) == (len(numbers) < 2)


def test_a_single_number() -> None:
    x = Attribute.number("x", [5, "<=5", 7])
    assert str(x.isin({"[5, 5]"})) == "x == 5"
    assert str(x.isin({"(5, 7)"})) == "5 < x < 7"
    assert str(x.isin({"[5, 5]", "(5, 7)"})) == "5 <= x < 7"


def test_declarations() -> None:
    rules = parse("""
        number age cuts {30, <= 65} [blur=2]
        number pulse cuts {50, 90} named {slow, normal, fast}
        number temp[1..2]
        number grade cuts {10 * i for i in 1..3}
        attribute ill in {yes, no}
        let fever = 38.5
        for i in 1..2: if temp[i] > fever then ill in {yes}
        if age > 65 and pulse == fast and grade < 20 then ill in {yes}
        if pulse >= 50 then ill in {no} [certainty=0.5]
    """)
    assert rules.attributes["age"] == Attribute.number("age", [30, "<=65"], blur=2)
    assert rules.attributes["temp_2"] == Attribute.number("temp_2", ["<=38.5"])
    assert rules.attributes["grade"].domain == ("<10", "[10, 20)", "[20, 30)", ">=30")
    assert parse(str(rules)) == rules
    text = str(rules)
    assert "number age cuts {30, <= 65} [blur=2]\n" in text
    assert "number pulse cuts {50, 90} named {slow, normal, fast}\n" in text
    assert "if temp_1 > 38.5 then ill in {yes}\n" in text
    assert "if age > 65 and pulse in {fast} and grade < 20 then" in text
    assert "if pulse in {normal, fast} then ill in {no} [certainty=0.5]" in text


def test_cuts_of_the_whole_text() -> None:
    rules = parse(
        f"number x {YES_NO} if x < 3 then y in {{no}} iff x >= 7 or x == 5 then y in {{yes}}"
    )
    assert rules.attributes["x"].domain == ("<3", "[3, 5)", "[5, 5]", "(5, 7)", ">=7")


def test_numbers_and_templates() -> None:
    rules = parse("""
        number x attribute band in {0..9}
        for i in 0..9: iff 10 * i <= x < 10 * i + 10 then band == i
    """)
    assert rules.infer({"x": [0, 9.99, 10, 57.5, 99]})["band"].best.tolist() == [0, 0, 1, 5, 9]
    assert len(rules.attributes["x"].domain) == 12


def test_comparisons_of_other_attributes() -> None:
    rules = parse(f"attribute left in {{0..9}} {YES_NO} iff 3 <= left < 6 then y in {{yes}}")
    assert rules.rule_sets[0].rules[0].premise.propositions[0].values == (3, 4, 5)


def test_renaming_keeps_the_scale() -> None:
    rules = parse(f"number `x_{{i}}` {YES_NO} if `x_{{i}}` < 3 then y in {{yes}}")
    assert rules.rename({"x_{i}": "z"}).attributes["z"] == Attribute.number("z", [3])
    many = rules.for_each(i=[1, 2])
    assert isinstance(many, Cascade)
    assert many.attributes["x_2"].scale == Attribute.number("x", [3]).scale


def test_one_rule() -> None:
    x, y = Attribute.number("x", [3]), Attribute("y", ["yes", "no"])
    assert str(parse_rule("if x >= 3 then y == yes", [x, y])) == "if x >= 3 then y in {yes}"
    with raises_saying(RulesTextError, "no cut for >= 4", "cuts=[3, 4]"):
        parse_rule("if x >= 4 then y == yes", [x, y])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("number x cuts {65, 30}", ["line 1, column 8", "the cut 30 follows 65; cuts must inc"]),
        ("number x [blur=-1]", ["line 1, column 16", "blur is -1", "at least 0"]),
        ("number x [width=1]", ["line 1, column 11", "expected blur=, found 'width'"]),
        ("number x cuts {30} named {a}", ["1 names for 2 intervals"]),
        ("number x cuts {a}", ["the cut 'a' is no number"]),
        ("number x cuts {<= a}", ["line 1, column 19", "'a' is no cut"]),
        ("number x cuts 30", ["expected '{', found '30'"]),
        ("number x number x", ["'x' is declared twice"]),
        ("number x cuts {30} named {a, b} if x < 3", ["line 1, column 40", "no cut for < 3"]),
        ("number x if x < y", ["'y' is no cut; cuts are finite numbers"]),
        ("number x if x in {3}", ["are intervals: any; 3 is none of them"]),
        ("number x if x where x < 3", ["'x' is numeric: compare it"]),
        ("number x if 3 then", ["expected a comparison, found 'then'"]),
        (
            "number x attribute a in {1, b} for i in 3..4: if x < i and a < i then a == b",
            ["'<' compares numbers", "with i = 3"],
        ),
    ],
)
def test_errors(text: str, parts: list[str]) -> None:
    with raises_saying(RulesTextError, *parts):
        parse(text)


def test_texts_that_python_refuses_too() -> None:
    with pytest.raises(DomainError, match="is numeric: compare it, x < 30"):
        Attribute.number("x", [3]).where("x < 3")
