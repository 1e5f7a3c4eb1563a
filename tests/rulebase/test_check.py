"""The look over a rule base: each finding on a small example, and what it costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy import Attribute, Cascade, If, Iff, Rule, RuleSet, parse
from pinesy.problems import addition
from pinesy.rulebase.check_report import FIRST_KINDS
from strategies import distributions, rule_sets

A, B, C = Attribute("a", range(3)), Attribute("b", range(3)), Attribute("c", range(2))
IMPLICATIONS = [If(A.isin({d})).then(B.isin({d}), r=0.1) for d in range(3)]
FINE = [Iff(A.isin({d})).then(B.isin({d}), r=0.1) for d in range(3)]


def findings(*rules: Rule, **unused: Attribute) -> list[str]:
    cascade = Cascade(RuleSet(rules), attributes=unused.values())
    return [f"{f.level}: {f.kind}: {f.attribute}: {f.text}" for f in cascade.check().findings]


def test_a_good_rule_base_has_no_findings() -> None:
    assert findings(*FINE) == []


def one_of(found: list[str], *parts: str) -> bool:
    return any(all(part in line for part in parts) for line in found)


@pytest.mark.parametrize(
    ("rules", "parts"),
    [
        ([*FINE, FINE[0]], ["warning: duplicate", "Rules 1 and 4 are the same."]),
        (
            [*FINE, Iff(A.isin({0})).then(B.isin({0}), s=0.5)],
            ["warning: duplicate", "the same up to their certainty"],
        ),
        (IMPLICATIONS[:2], ["note: unconcluded", "No rule concludes that b is 2."]),
        (FINE[:1], ["note: one cell", "{1, 2}"]),
        (
            [*FINE, Iff(C.isin({0})).then(B.isin({1}))],
            [
                "warning: contradiction",
                "Rules 1 and 4 can contradict each other: when a is 0 and c is 0.",
            ],
        ),
        (
            [*FINE, Iff(C.isin([])).then(B.isin({1}))],
            ["warning: trivial premise", "In rule 4", "never holds"],
        ),
        (
            [*FINE, Iff(C.isin({0, 1})).then(B.isin({1}))],
            ["warning: trivial premise", "In rule 4", "always holds"],
        ),
        (
            [*FINE, Iff(C.isin({0})).then(B.isin({1}), 1, 1)],
            ["warning: never decides", "Rule 4", "not certain"],
        ),
        (
            [Iff(A.isin([])).then(B.isin({1}), s=0.25)],
            ["warning: never possible", "1 is never fully possible", "at most 0.25"],
        ),
        (
            [Iff(A.isin({0})).then(B.isin({1}), r=1)],
            ["warning: never impossible", "No rule excludes 0"],
        ),
        (
            [*FINE, Iff(A.isin({0, 1})).then(B.isin({0, 1}))],
            ["warning: never decides", "Rule 4 never decides: the others exclude all"],
        ),
    ],
    ids=lambda v: v[0].split(": ")[-1] if isinstance(v[0], str) else "",
)
def test_each_finding(rules: list[Rule], parts: list[str]) -> None:
    assert one_of(findings(*rules), ": b: ", *parts)
    assert not one_of(findings(*FINE), parts[0])


def test_declared_attributes_that_no_rule_uses() -> None:
    found = findings(*FINE, extra=Attribute("extra", range(2)))
    assert one_of(found, "warning: unused attribute", "No rule uses extra.")


def test_warnings_come_first_and_long_lists_are_cut() -> None:
    a, b = Attribute("a", range(30)), Attribute("b", range(30))
    report = Cascade(RuleSet([Iff(a.isin([])).then(b.isin({0}), s=0.5)] * 9)).check()
    levels = [f.level for f in report.findings]
    kinds = [f.kind for f in report.findings]
    rest = [level for level, kind in zip(levels, kinds, strict=True) if kind not in FIRST_KINDS]
    assert rest == sorted(rest, reverse=True)
    assert one_of(str(report).splitlines(), "And 4 more findings: trivial premise.")
    assert str(report).count("never holds") == 5


def test_cost_counts_the_rule_base() -> None:
    report = addition(1).check()
    cost = report.cost
    assert (cost.rule_sets, cost.rules, cost.cells) == (4, 32, 114)
    assert cost.tree_nodes == sum(s.partition.tree_nodes for s in addition(1).rule_sets)
    assert "instructions" not in str(report)
    assert "4 rule sets, 32 rules, 114 cells" in str(cost)


def test_addition_has_no_warnings() -> None:
    assert addition(3).check().warnings == ()


@given(st.data())
def test_leaving_out_a_redundant_rule_changes_nothing(data: st.DataObject) -> None:
    known = [Attribute("x", range(3)), Attribute("y", range(2))]
    rule_set = data.draw(rule_sets(known, Attribute("out", range(3)), max_rules=6))
    evidence = {a.name: data.draw(distributions(len(a.domain))) for a in rule_set.inputs}
    expected = rule_set.infer(evidence).degrees
    for number in redundant(rule_set):
        rules = [rule for i, rule in enumerate(rule_set.rules, 1) if i != number]
        if rules:
            fewer = RuleSet(rules)
            needed = {a.name: evidence[a.name] for a in fewer.inputs}
            assert (fewer.infer(needed).degrees == expected).all()


def redundant(rule_set: RuleSet) -> list[int]:
    found = Cascade(rule_set).check().findings
    return [f.rules[0] for f in found if "the others exclude" in f.message]


def test_a_rule_that_does_something_is_not_called_redundant() -> None:
    both = [*FINE, Iff(A.isin({0, 1})).then(B.isin({0, 1})), Iff(C.isin({0})).then(B.isin({0}))]
    assert redundant(RuleSet(both)) == [3, 4]  # each beside the other, not both at once
    assert redundant(RuleSet(FINE)) == []
    assert redundant(RuleSet([*FINE, both[4]])) == []


def test_formulas_that_exclude_each_other_are_no_conflict() -> None:
    rules = parse(
        "attribute a in {0, 1} attribute b in {0, 1} attribute c in {low, high}"
        " if a in {1} or b in {1} then c in {high} if not (a in {1} or b in {1}) then c in {low}"
    )
    assert not rules.check().findings
    clash = parse(str(rules).replace("a in {0} and b in {0}", "a in {0}"))
    assert [f.kind for f in clash.check().findings] == ["contradiction"]


def test_findings_have_titles_and_numbers_through_the_rule_base() -> None:
    sky = Attribute("x", ["clear", "dark"], title="state of the sky")
    coat = Attribute("c", ["no", "yes"], title="coat")
    walk = Attribute("w", ["no", "yes", "perhaps"], title="the walk")
    is_dark = sky.isin({"dark"})
    rules = Cascade(
        RuleSet([If(is_dark).then(coat.isin({"yes"}))]),
        RuleSet([If(is_dark).then(walk.isin({value})) for value in ("no", "yes")]),
    )
    clash, gap, *_ = rules.check().findings
    assert clash.text == "Rules 2 and 3 can contradict each other: when state of the sky is dark."
    assert gap.text == "No rule decides on coat when state of the sky is clear."
    assert rules.check().overview == "3 rules take 1 input to coat and the walk."
    assert rules.check({"x": ["clear", "dark"]}).findings[0].rules == (2, 3)
