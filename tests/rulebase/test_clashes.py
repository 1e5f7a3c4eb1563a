"""Rules tried on samples: what is counted, and which rules clash, against plain loops."""

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, Cascade, If, Rule, RuleSet
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.problems import addition
from pinesy.rulebase.clashes import clashing_groups
from strategies import distributions, shaped_cascades

FEVER, RASH, MEASLES = (Attribute(name, ("yes", "no")) for name in ("fever", "rash", "measles"))


def rule(attribute: Attribute, conclusion: Any, s: float, r: float) -> Rule:
    return If(attribute.isin({"yes"})).then(conclusion, s=s, r=r)


YES = MEASLES.isin({"yes"})
EQUIVALENCES = Cascade(RuleSet([rule(FEVER, YES, 0.0, 0.1), rule(RASH, YES, 0.0, 0.0)]))
SAMPLES = {
    "fever": np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]),
    "rash": np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
}


def test_counts_and_clashes() -> None:
    report = EQUIVALENCES.check(SAMPLES, ["yes", "no", "yes", "yes"])
    assert [f.rules for f in report.findings] == [(1, 2)]  # once, though all cases show it too
    assert report.findings[0].case == {"fever": "yes", "rash": "no"}
    assert report.data is not None
    [counts] = report.data.outputs
    assert str(counts) == ("measles: decided 1, no rule decides 1, contradiction 2, right 1")
    [clash] = report.data.clashes
    assert (clash.name, clash.rules, clash.count, clash.row) == ("measles", (1, 2), 2, 0)
    assert str(report.warnings[0]).startswith(
        "Rules 1 and 2 contradict each other on 2 of 4 samples, such as row 0."
    )
    assert "data: 4 samples\n  measles: decided 1, no rule decides 1" in str(report)
    assert "such as line 7." in str(EQUIVALENCES.check(SAMPLES, lines=[7, 8, 9, 10]))


def test_implications_do_not_clash() -> None:
    rules = Cascade(RuleSet([rule(FEVER, YES, 1.0, 0.1), rule(RASH, YES, 1.0, 0.0)]))
    report = rules.check(SAMPLES)
    assert report.data is not None
    assert report.data.clashes == ()
    assert str(report.data.outputs[0]) == "measles: decided 2, no rule decides 2"


def test_a_clash_is_told_where_it_begins() -> None:
    ill = Attribute("ill", ("yes", "no"))
    cascade = Cascade(*EQUIVALENCES.rule_sets, RuleSet([rule(MEASLES, ill.isin({"yes"}), 0, 0)]))
    found = cascade.check(SAMPLES, {"measles": ["no"] * 4, "ill": ["no"] * 4}).data
    assert found is not None
    assert [c.name for c in found.outputs] == ["ill", "measles"]
    assert [c.contradiction for c in found.outputs] == [2, 2]
    assert [c.right for c in found.outputs] == [1, 1]
    assert [(c.name, c.rules, c.count) for c in found.clashes] == [("measles", (1, 2), 2)]


def test_three_rules_that_clash_together() -> None:
    day, inputs = Attribute("day", range(3)), [Attribute(f"a{i}", ("yes", "no")) for i in range(3)]
    rules = [rule(a, day.isin({0, 1, 2} - {i}), 1.0, 0.25) for i, a in enumerate(inputs)]
    report = Cascade(RuleSet(rules)).check({a.name: [1.0, 0.0] for a in inputs}, 1)
    assert report.data is not None
    assert [c.rules for c in report.data.clashes] == [(1, 2, 3)]
    assert "Rules 1, 2 and 3 contradict each other on 1 of 1 samples" in str(report)


def test_a_rule_that_excludes_every_value() -> None:
    only = Attribute("only", ["x"])
    report = Cascade(RuleSet([rule(FEVER, only.isin({"x"}), 0.0, 0.0)])).check({"fever": [0.5, 1]})
    assert "Rule 1 excludes every value on 1 of 1 samples, such as row 0." in str(report)


def test_rules_without_contradictions() -> None:
    rules = addition(2)
    rng = np.random.default_rng(0)
    digits = {a.name: np.eye(10)[rng.integers(10, size=20)] for a in rules.inputs}
    report = rules.check(digits)
    assert report.data is not None
    assert report.warnings == ()
    assert [c.contradiction for c in report.data.outputs] == [0, 0, 0]


def test_samples_and_targets_that_do_not_fit() -> None:
    with raises_saying(DataError, "4 samples of inputs", "2 of the target 'measles'"):
        EQUIVALENCES.check(SAMPLES, ["yes", "no"])
    with raises_saying(UnknownAttributeError, "target for 'measels'", "measles"):
        EQUIVALENCES.check(SAMPLES, {"measels": ["yes"] * 4})


@given(shaped_cascades(), st.data())
@settings(max_examples=20)
def test_counts_and_clashes_of_random_rules(cascade: Cascade, data: st.DataObject) -> None:
    n = 5
    evidence = {
        a.name: np.array([data.draw(distributions(len(a.domain))) for _ in range(n)])
        for a in cascade.inputs
    }
    found = cascade.check(evidence).data
    assert found is not None
    inference = cascade.infer(evidence)
    for counts in found.outputs:
        results = [inference[counts.name].sample(i) for i in range(n)]
        # A contradiction behind the output comes first, even if all degrees are 1.
        undecided = [pi for pi in results if pi.normalised and not pi.decided]
        silent = [bool((pi.degrees == 1.0).all()) for pi in undecided]
        assert counts.contradiction == sum(not pi.normalised for pi in results)
        assert counts.no_rule == sum(silent)
        assert counts.decided == sum(pi.decided for pi in results)
        assert counts.decided + counts.several + counts.no_rule + counts.contradiction == n
    lost = any(counts.contradiction for counts in found.outputs)
    assert bool(found.clashes) == lost
    event(f"contradictory: {lost}")
    for clash in found.clashes:
        rules, first = cascade[clash.name].rules, cascade.rule_number(clash.name, 0)
        alone = RuleSet([rules[number - first] for number in clash.rules])
        behind = cascade.trace({name: rows[clash.row] for name, rows in evidence.items()})
        sees = {
            a.name: behind[a] if a.name in behind else evidence[a.name][clash.row]
            for a in alone.inputs
        }
        assert not alone.infer(sees).normalised


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=6)
    )
)
def test_groups_clash_and_none_of_their_rules_can_be_left_out(rows: list[list[bool]]) -> None:
    low = np.array(rows)
    groups = clashing_groups(low)
    assert bool(groups) == bool(low.any(axis=1).all())
    for group in groups:
        assert low[:, list(group)].any(axis=1).all()
        for left in group:
            others = [j for j in group if j != left]
            assert not low[:, others].any(axis=1).all()


@pytest.mark.parametrize("limit", [0, 1 << 40])
def test_large_rule_sets_give_one_group(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinesy.rulebase.clashes.PAIRS_LIMIT", limit)
    low = np.array([[True, False, True], [False, True, False]])
    assert clashing_groups(low) == ([(0, 1)] if limit == 0 else [(0, 1), (1, 2)])
