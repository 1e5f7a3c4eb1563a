"""Titles and units of attributes: text, JSON, copies and page data keep them; equality does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    DataError,
    DomainError,
    If,
    RuleSet,
    RulesTextError,
    load,
    parse,
    save,
)
from pinesy.exchange.page_data import rules_data
from strategies import ODD_TEXTS

LOAN = """
    number debt_ratio "debt ratio" unit "debts by income" cuts {0.45}
    attribute history "credit history" in {good, mixed, bad}
    attribute digit[1..2] "digit" in {0, 1}
    product pair "both digits" = digit[1] * digit[2]
    function total "the sum" unit "points" = digit[1] + digit[2]
    joint both "together" = history * total
    attribute risk unit "level" in {low, high}
    if debt_ratio >= 0.45 and history == bad or pair == (0, 1) then risk == high
"""

TITLES = (st.sampled_from(ODD_TEXTS) | st.text(min_size=1, max_size=8)).filter(
    lambda text: text.strip() and text.isprintable()
)


def titles(cascade: Cascade) -> dict[str, tuple[str | None, str | None]]:
    return {name: (a.title, a.unit) for name, a in cascade.attributes.items() if a.title or a.unit}


EXPECTED = {
    "debt_ratio": ("debt ratio", "debts by income"),
    "history": ("credit history", None),
    "digit_1": ("digit 1", None),
    "digit_2": ("digit 2", None),
    "pair": ("both digits", None),
    "total": ("the sum", "points"),
    "both": ("together", None),
    "risk": (None, "level"),
}


def test_round_trips_keep_titles(tmp_path: Path) -> None:
    rules = parse(LOAN)
    assert titles(rules) == EXPECTED
    assert titles(parse(str(rules))) == EXPECTED
    for name in ("model.json", "model.rules"):
        save(rules, tmp_path / name)
        assert titles(load(tmp_path / name)) == EXPECTED
    assert rules["total"].output.title == "the sum"
    page = {a["name"]: (a.get("title"), a.get("unit")) for a in rules_data(rules)["attributes"]}
    known = {n: pair for n, pair in page.items() if any(pair)}
    assert known == {n: EXPECTED[n] for n in known}
    assert {"total", "risk", "history"} <= set(known)


@given(TITLES, TITLES | st.none(), st.sampled_from(["plain", "number", "product"]))
def test_any_printable_text_is_a_title(title: str, unit: str | None, kind: str) -> None:
    texts: dict[str, Any] = {"title": title, "unit": unit}
    a, y = Attribute("a", [0, 1], **texts), Attribute("y", [0, 1])
    if kind == "number":
        a = Attribute.number("a", [3], **texts)
    elif kind == "product":
        a = Attribute.product("a", *(Attribute(n, [0, 1], **texts) for n in "bc"), **texts)
    rules = Cascade(RuleSet([If(a.isin(a.domain[:1])).then(y.isin({1}))]))
    again = parse(str(rules))
    assert again == rules
    assert str(again) == str(rules)
    assert titles(again) == titles(rules)
    assert titles(again)["a"] == (title, unit)


def test_titles_take_no_part_in_equality() -> None:
    plain, titled = Attribute("a", [0, 1]), Attribute("a", [0, 1], title="an a", unit="m")
    assert plain == titled
    assert hash(plain) == hash(titled)
    y, z = Attribute("y", [0, 1]), Attribute("z", [0, 1])
    first = RuleSet([If(plain.isin({1})).then(y.isin({1}))])
    second = RuleSet([If(titled.isin({1})).then(z.isin({1}))])
    rules = Cascade(first, second)
    assert titles(rules) == {"a": ("an a", "m")}
    assert rules.inputs[0].title == "an a"
    assert titles(parse(str(rules))) == titles(rules)


def test_a_title_of_a_factor_is_kept_wherever_it_stands() -> None:
    left, right = Attribute("left", [0, 1]), Attribute("right", [0, 1])
    pair, y = Attribute.product("pair", left, right), Attribute("y", [0, 1])
    rule = If(pair.isin({(0, 1)})).then(y.isin({1}))
    rules = Cascade(RuleSet([rule]), attributes=[left.with_title("the left one")])
    assert 'attribute left "the left one"' in str(rules)


def test_copies_keep_titles() -> None:
    rules = parse(LOAN).rename({"history": "past"})
    assert rules.attributes["past"].title == "credit history"
    light = Attribute("light_{i}", ["on", "off"], title="lamp {i}")
    alarm = Attribute("alarm", ["on", "off"])
    copies = Cascade(RuleSet([If(light.isin({"on"})).then(alarm.isin({"on"}))])).for_each(i=[1, 2])
    assert titles(copies) == {"light_1": ("lamp 1", None), "light_2": ("lamp 2", None)}


@pytest.mark.parametrize(
    ("text", "column", "cure"),
    [
        ('attribute a "" in {1, 2}', 13, ["title", "leave it out"]),
        ('attribute a "x\\n" in {1, 2}', 13, ["title", "one line"]),
        ("attribute a history in {1, 2}", 13, ["'in'", "quotes"]),
        ("number a years cuts {3}", 10, ["years", "quotes"]),
        ("number a unit years", 15, ['unit "years"', "'years'"]),
        ('number a unit " " cuts {3}', 15, ["unit", "printable"]),
        ('number a cuts {3} "age"', 19, ["after the name"]),
        ('attribute a "\\q" in {1}', 13, ["JSON"]),
    ],
)
def test_mistakes_have_a_column_and_a_cure(text: str, column: int, cure: list[str]) -> None:
    with raises_saying(RulesTextError, f"line 1, column {column}:", *cure):
        parse(text)


def test_bad_titles_are_refused(tmp_path: Path) -> None:
    with raises_saying(DomainError, "title", "'a'", "3"):
        Attribute("a", [0, 1], title=3)  # type: ignore[arg-type]
    with raises_saying(DomainError, "unit", "'a'"):
        Attribute.number("a", [1], unit="two\nlines")
    content = {"format": "pinesy cascade", "version": 2, "rule_sets": []}
    content["attributes"] = [{"name": "a", "title": 3, "domain": [0, 1]}]
    path = tmp_path / "titles.json"
    path.write_text(json.dumps(content))
    with raises_saying(DataError, "attributes[0]", "title", "3"):
        load(path)
