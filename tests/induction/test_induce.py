"""Rules from tables: the cascade computes what the core does, and says what it was told."""

from typing import Any

import numpy as np
import pandas
import pytest

from pinesy import Attribute, Cascade, If, induce, parse
from pinesy.induction import induce_points, read_training_table
from pinesy.induction.candidate_pool import CandidatePool
from pinesy.induction.rule_selector import RuleSelector


def patients(n: int = 120, seed: int = 1, missing: float = 0.1) -> pandas.DataFrame:
    """Return a table with numbers, an ordinal and a nominal column, holes, and noisy labels."""
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(20, 80, n).astype(float), rng.normal(size=n).round(3)
    size = rng.choice(["small", "medium", "large"], n)
    city = rng.choice(["Rome", "Oslo", "Bonn"], n)
    score = (age > 50) + (size == "large") + (city == "Oslo") + rng.normal(0, 0.4, n)
    sick = np.where(score > 1.2, "yes", "no")
    table = pandas.DataFrame({"age": age, "dose": dose, "size": size, "city": city})
    table = table.astype(object).where(rng.random(table.shape) >= missing, None)
    table["age"], table["dose"] = table["age"].astype(float), table["dose"].astype(float)
    return table.assign(sick=sick)


SIZES = ["small", "medium", "large"]


def induced(table: Any, target: Any = "sick", **options: Any) -> Cascade:
    return induce(table, target, ordinal={"size": SIZES}, **options)


def test_the_cascade_gives_what_the_core_computes_bit_for_bit() -> None:
    table = patients()
    read = read_training_table(table, "sick", {"size": SIZES})
    core = induce_points(read).possibility(read.columns)
    found = induced(table).infer(table)["sick"]
    assert np.array_equal(found.degrees, core)
    assert found.normalised.all()
    assert (np.array(read.classes)[core.argmax(axis=1)] == table["sick"]).mean() > 0.7


def test_three_classes_are_compared_two_by_two() -> None:
    table = patients(90)
    table["sick"] = np.where(table["age"] > 60, "old", table["sick"])
    read = read_training_table(table, "sick", {"size": SIZES})
    core = induce_points(read, max_rules=9).possibility(read.columns)
    found = induced(table, max_rules=9).infer(table)["sick"]
    assert np.array_equal(found.degrees, core)
    assert len(np.unique(core)) > 2


def test_tables_of_all_kinds_give_the_same_rules_and_seeds_others() -> None:
    table = patients(missing=0.0)
    rules = str(induced(table))
    assert str(induced({c: table[c].tolist() for c in table})) == rules
    assert str(induced(table.to_dict("records"))) == rules
    labels = table.pop("sick")
    assert str(induced(table, labels)) == rules
    assert str(induced(table, labels, seed=5)) != rules


def test_limits_on_rules_and_conditions() -> None:
    table = patients()
    rules = induced(table, max_rules=3, max_conditions=1)
    giving = [s for s in rules.rule_sets if s.output.name.startswith("rule ")]
    assert 0 < len(giving) <= 3
    assert all(len(s.rules[0].premise.propositions) == 1 for s in giving)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_monotone_column_never_speaks_against_its_direction(sign: int) -> None:
    table = patients(missing=0.0)
    rules = induced(table, monotone={"age": sign, "dose": sign, "size": sign})
    row = {"age": 20.0, "dose": 0.0, "size": "small", "city": "Oslo"}
    for name, values in (("age", range(20, 80, 3)), ("size", SIZES)):
        rows = pandas.DataFrame([{**row, name: value} for value in values])
        degrees = rules.infer(rows)["sick"].degrees
        lean = sign * (degrees[:, 1] - degrees[:, 0])
        assert (np.diff(lean) >= 0).all()


def test_rules_of_ones_own_are_kept_and_win() -> None:
    table = patients()
    age, city = Attribute.number("age", [33]), Attribute("city", ["Oslo", "Rome", "Bonn"])
    sick = Attribute("sick", ["yes", "no"])
    own = If(age < 33, city.isin({"Oslo"})).then(sick.isin({"yes"}), r=0.1)
    rules = induced(table, keep=own)
    young = table[(table["age"] < 33) & (table["city"] == "Oslo")]
    found = rules.infer(young)["sick"]
    assert len(young)
    assert found.normalised.all()
    assert set(found.best) == {"yes"}
    assert (found.certainty >= 0.9).all()
    assert any("city in {Oslo}" in str(r) for r in rules["sick"].rules)


def test_an_interruption_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    add, calls = RuleSelector._add, []

    def interrupted(selector: RuleSelector) -> bool:
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return add(selector)

    monkeypatch.setattr(RuleSelector, "_add", interrupted)
    read = read_training_table(patients(), "sick", {"size": SIZES})
    assert len(induce_points(read).model.points) == 2


@pytest.mark.parametrize("grown", [0, 1, 3])
def test_an_interruption_while_trees_grow(monkeypatch: pytest.MonkeyPatch, grown: int) -> None:
    """Rules are chosen among the candidates so far; without any the shares of the classes stay."""
    grow = CandidatePool.grow
    calls: list[int] = []

    def interrupted(pool: CandidatePool, residuals: Any) -> None:
        if len(calls) == grown:
            raise KeyboardInterrupt
        calls.append(1)
        grow(pool, residuals)

    monkeypatch.setattr(CandidatePool, "grow", interrupted)
    table = patients(missing=0.0)
    rules = induced(table)
    first = [values[0] for values in rules.infer(table)["sick"].best_values]
    right = (table["sick"] == first).mean()
    assert right > (0.7 if grown else 0.4)
    assert ("rule 1" in rules.attributes) == bool(grown)


def test_columns_that_say_nothing_leave_the_shares_of_the_classes() -> None:
    table = {"same": [1] * 10, "none": [None] * 10, "y": ["a"] * 8 + ["b"] * 2}
    rules = induce(table, "y")
    found = rules.infer(pandas.DataFrame(table))["y"]
    assert set(found.best) == {"a"}
    assert np.array_equal(found.degrees[0], found.degrees[9])


def test_large_tables_are_sampled_and_rare_classes_stay() -> None:
    n = 3000
    x = np.arange(n) % 100
    y = np.where(x > 50, "b", "a").astype(object)
    y[7] = "rare"
    read = read_training_table({"x": x, "y": y}, "y", sample=200)
    assert len(read.labels) == 201
    assert read.classes == ("a", "b", "rare")


def test_names_that_columns_have_are_not_taken() -> None:
    table = {"rule 1": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    rules = induce(table, "y")
    assert rules.infer(pandas.DataFrame(table))["y"].best.tolist() == table["y"]


def test_what_is_written_is_read_again() -> None:
    table = patients(60)
    rules = induced(table)
    again = parse(str(rules))
    assert np.array_equal(again.infer(table)["sick"].degrees, rules.infer(table)["sick"].degrees)
