"""Cascades of cascades, under other names, and once for each index."""

from itertools import product
from pathlib import Path

import pytest

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    If,
    Iff,
    RuleSet,
    UnknownAttributeError,
    function,
    joint,
    load,
    parse,
    save,
)
from pinesy.problems import addition

ON = ["on", "off"]
LIGHT, ALARM, CALL = Attribute("light", ON), Attribute("alarm", ON), Attribute("call", ON)
FIRST = RuleSet([If(LIGHT.isin({"on"})).then(ALARM.isin({"on"}), certainty=0.75)])
SECOND = RuleSet([If(ALARM.isin({"on"})).then(CALL.isin({"on"}), certainty=0.5)])


def test_cascades_are_made_of_cascades() -> None:
    whole = Cascade(FIRST, SECOND)
    assert Cascade(FIRST) + Cascade(SECOND) == whole
    assert Cascade(FIRST) + SECOND == whole
    assert Cascade(Cascade(FIRST), whole, SECOND) == whole  # equal rule sets count once
    declared = Cascade(FIRST, attributes=[CALL])
    assert "call" in (declared + Cascade(FIRST)).attributes


def test_other_rules_on_one_attribute_are_refused() -> None:
    other = FIRST.with_parameters([1.0], [0.5])
    with raises_saying(CascadeError, "two rule sets conclude on 'alarm'", "in one set"):
        Cascade(FIRST) + Cascade(other)
    with raises_saying(CascadeError, "made of rule sets and cascades", "got 5"):
        Cascade(FIRST, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", [addition(2), Cascade(FIRST, SECOND)])
def test_renaming_there_and_back(rules: Cascade) -> None:
    names = {name: f"new {name}" for name in rules.attributes}
    there = rules.rename(names)
    assert set(there.attributes) == set(names.values())
    assert there != rules
    assert there.rename({new: old for old, new in names.items()}) == rules
    assert parse(str(there)) == there


def test_renaming_reaches_conditions_and_formulas() -> None:
    left, right = Attribute("left", range(3)), Attribute("right", range(3))
    sums = function("total", joint("pair", left, right), "left + right")
    small = RuleSet([If(left.isin({0}) | right.isin({0})).then(ALARM.isin({"on"}))])
    there = Cascade(sums, small).rename({"left": "first", "pair": "both"})
    assert str(there["total"].rules[1].premise) == "both where first + right == 1"
    assert str(there["alarm"].rules[0].premise) == "first in {0} or right in {0}"
    assert parse(str(there)) == there


def test_bad_renamings() -> None:
    with raises_saying(UnknownAttributeError, "no attribute is called 'ligth'", "'light'"):
        Cascade(FIRST).rename({"ligth": "lamp"})
    with raises_saying(CascadeError, "two attributes would have one name"):
        Cascade(FIRST).rename({"light": "alarm"})


def test_rules_for_each_index() -> None:
    cell = Attribute("cell_{i}_{j}", [0, 1])
    row = Attribute("row_{i}", [0, 1])
    full = Attribute("full", [0, 1])
    template = Cascade(
        RuleSet([If(cell.isin({0})).then(row.isin({0}))]),
        RuleSet([If(row.isin({0})).then(full.isin({0}))]),
    )
    rules = template.for_each(i=range(2), j="ab")
    assert [a.name for a in rules.inputs] == [f"cell_{i}_{j}" for i, j in product(range(2), "ab")]
    assert [len(s.rules) for s in rules.rule_sets] == [2, 2, 2]
    empty = {a: {1: 1.0} for a in rules.inputs}
    assert rules.infer(empty)["full"].outcome == "no_rule"
    assert rules.infer({**empty, rules.inputs[2]: {0: 1.0}})["full"].best == 0


def test_templates_with_formulas() -> None:
    one, two = Attribute("x_{i}", [0, 1]), Attribute("y_{i}", [0, 1])
    out = Attribute("z_{i}", [0, 1])
    template = Cascade(RuleSet([Iff(one.isin({1}) | two.isin({1})).then(out.isin({1}))]))
    rules = template.for_each(i=[1, 2])
    for x, y in product((0, 1), repeat=2):
        seen = {"x_1": {x: 1.0}, "y_1": {y: 1.0}, "x_2": {y: 1.0}, "y_2": {0: 1.0}}
        result = rules.infer(seen)
        assert (result["z_1"].best, result["z_2"].best) == (x | y, y)


def test_bad_indices() -> None:
    with raises_saying(CascadeError, "no attribute's name holds {i}", "digit_{i}"):
        Cascade(FIRST).for_each(i=range(2))
    template = Cascade(FIRST).rename({"light": "light_{i}"})
    with raises_saying(CascadeError, "an index has no values"):
        template.for_each(i=[])


def test_formulas_survive_files(tmp_path: Path) -> None:
    rules = Cascade(RuleSet([If(LIGHT.isin({"on"}) | CALL.isin({"on"})).then(ALARM.isin({"on"}))]))
    for name in ("x.rules", "x.json"):
        save(rules, tmp_path / name)
        assert load(tmp_path / name) == rules
