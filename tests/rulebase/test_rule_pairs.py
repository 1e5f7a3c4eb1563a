"""The look over many rules at once, against looks at every pair of them."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given

from pinesy import Attribute, If, RuleSet, parse
from pinesy._common.masks import contains
from pinesy.engine.rule_set_kinds import circuit_of
from pinesy.rulebase.check import (
    _compatible,
    _find_bounded_values,
    _find_conflicts,
    _redundant_rules,
    _term_range,
)
from pinesy.rules.syntax.writer import show_value
from strategies import rule_sets


def conflicts(rule_set: RuleSet) -> Iterator[str]:
    """Every pair of rules that can both fire and leave no value."""
    for (i, one), (j, two) in combinations(enumerate(rule_set.rules, 1), 2):
        apart = max(one.r, two.r) < 1.0 and one.conclusion.mask & two.conclusion.mask == 0
        if apart and _compatible(one, two):
            yield f"Rules {i} and {j} may contradict each other: no value fits both conclusions."


def bounds(rule_set: RuleSet) -> Iterator[str]:
    """What every rule leaves of every value."""
    for place, value in enumerate(rule_set.output.domain):
        terms = [_term_range(r, contains(r.conclusion.mask, place)) for r in rule_set.rules]
        shown = show_value(value)
        if (high := min(t[1] for t in terms)) < 1.0:
            yield f"{shown} is never fully possible as a value of out: at most {high:g}."
        if min(t[0] for t in terms) == 1.0:
            yield f"No rule excludes {shown} as a value of out."


def redundant(rule_set: RuleSet) -> tuple[int, ...]:
    """Rules that no minimum changes without."""
    kind = rule_set.unit.structure({a.name for a in rule_set.inputs})
    circuit = circuit_of(kind)
    found = []
    for j in range(len(rule_set.rules)):
        idle = True
        for signs in kind.partition.signs:
            row = [
                int((circuit.alphas if sign else circuit.betas)[i]) for i, sign in enumerate(signs)
            ]
            others = circuit.meet(row[:j] + row[j + 1 :])
            idle &= circuit.meet([others, row[j]]) == others
        found += [j] * idle
    return tuple(found)


KNOWN = [Attribute("a", range(3)), Attribute("b", range(3))]


def conflict_texts(rule_set: RuleSet) -> list[str]:
    return [finding.text for finding, _ in _find_conflicts(rule_set, 1)]


@given(rule_sets(KNOWN, Attribute("out", range(4)), max_rules=7))
def test_the_same_as_pair_by_pair(rule_set: RuleSet) -> None:
    assert conflict_texts(rule_set) == [*conflicts(rule_set)]
    assert [f.text for f in _find_bounded_values(rule_set, 1)] == [*bounds(rule_set)]
    kind = rule_set.unit.structure({a.name for a in rule_set.inputs})
    assert _redundant_rules(kind) == redundant(rule_set)


def test_formulas_exclude_pairs() -> None:
    rules = parse("""
        attribute a in {0, 1} attribute b in {0, 1} attribute y in {0, 1}
        if a == 0 or b == 0 then y == 0
        if a == 1 and b == 1 then y == 1
        if a == 1 then y == 1
    """)
    found = [f.text for f in rules.check().findings if f.kind == "contradiction"]
    assert [text[:17] for text in found] == ["Rules 1 and 3 can"]


def many(n: int) -> RuleSet:
    x, y = (Attribute(name, range(n)) for name in "xy")
    z = Attribute("z", range(2))
    rules = [If(x.isin({i})).then(y.isin({i})) for i in range(n)]
    return RuleSet([*rules, *(If(z.isin({i % 2})).then(y.isin({i})) for i in range(n))])


def test_what_is_not_listed_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rule_set = many(12)
    every = [*conflicts(rule_set)]
    monkeypatch.setattr("pinesy.rulebase.check.PAIRS_LISTED", 20)
    *found, last = conflict_texts(rule_set)
    assert found == every[: len(found)]
    assert 20 <= len(found) < len(every)
    assert last.startswith(f"{len(every) - len(found)} more pairs of rules")
    monkeypatch.setattr("pinesy.rulebase.check.PAIRS_WORK", 0)
    assert conflict_texts(rule_set)[-1] == (
        "Too many values and rules to find all contradictions: only pairs with rules 1 to 0 are "
        "looked at."
    )
