"""Explanations in words."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as make
from explanations.small_rule_sets import ADDITION, SAMPLE
from paper.blood_glucose import RULES
from pinesy import Attribute, Cascade, If, Iff, RuleSet, parse, verdict
from pinesy.explanations import Label, explain, why_not
from pinesy.explanations.labels import Wording
from pinesy.problems import sudoku

COFFEE = {
    "selected-action": {"drink-coffee": 1.0},
    "current-blood-glucose": {"low": 0.3, "medium": 1.0},
}
LABELS: dict[str, Label | str] = {
    "selected-action": Label("the action", values={"drink-coffee": "a coffee"}),
    "current-blood-glucose": "the blood glucose",
    "future-blood-glucose": "the future blood glucose",
}


def test_blood_glucose() -> None:
    assert explain(RULES, COFFEE, labels=LABELS).justification().split("\n") == [
        "It is possible that the future blood glucose is high, because it is possible that the "
        "action is a coffee and the blood glucose is medium (rule 1). No rule speaks against it: "
        "it is not certain at all that the action is long-sleep, sport or walking (rule 2), even "
        "if it is certain that the blood glucose is low or medium; it is not certain at all that "
        "the action is alcohol-consumption or breakfast (rule 3), even if it is certain that the "
        "blood glucose is low or medium.",
        "It is certain at 0.7 that the future blood glucose is high: any other value is possible "
        "at 0.3 at most.",
        "It is possible at 0.3 that the future blood glucose is low or medium, because it is "
        "certain at 0.7 that the blood glucose is medium or high and the action is dinner, "
        "a coffee or lunch (rule 1).",
    ]


def test_addition() -> None:
    lines = explain(ADDITION, SAMPLE, "y_1").justification(limit=3).split("\n")
    number = ADDITION.rule_number
    assert lines[-4:] == [
        "It is possible at 0.8 that y_1 is 7, because it is possible at 0.8 that a_1 is 3, a_3 is "
        f"4 and w_2 is 0 (rule {number('y_1', 7)}); and because it is certain at 0.2 that c_1 is "
        f"not (3, 4, 0) (rule {number('y_1', 8)}).",
        "  - It is possible at 0.8 that a_1 is 3, a_3 is 4 and w_2 is 0, because it is possible "
        f"at 0.8 that w_2 is 0 (rule {number('c_1', 20)}).",
        "    - It is possible at 0.8 that w_2 is 0, because it is certain at 0.2 that c_2 is not "
        f"(5, 1) (rule {number('w_2', 0)}).",
        "      - It is possible at 0.8 that a_2 is 5 and a_4 is 1, because it is possible at 0.8 "
        "that a_4 is 1 (rule 12); and because it is certain at 0.2 that a_4 is not 1 (rule 18).",
    ]
    assert "No rule speaks against it: it is not certain at all that" in lines[0]
    assert "nor that the premises of 6 more rules hold." in lines[0]


def test_depth_is_told() -> None:
    text = explain(ADDITION, SAMPLE, "y_1", depth=1).justification()
    assert text.count("  - What is behind c_1 is not shown (depth 1).") == 2
    assert "What is behind" not in explain(ADDITION, SAMPLE, "y_1", depth=1).justification(depth=5)


RAIN, GRASS = Attribute("rain", ("no", "yes")), Attribute("grass", ("dry", "wet"))


def rain(*rules: Any) -> RuleSet:
    return RuleSet([Iff(p).then(q, s, r) for p, q, s, r in rules])


YES, WET, DRY = RAIN.isin({"yes"}), GRASS.isin({"wet"}), GRASS.isin({"dry"})


def test_parameters() -> None:
    text = explain(rain((YES, WET, 0.4, 0.3)), {"rain": {"no": 1.0}}, WET).justification()
    assert text.startswith(
        "It is possible at 0.4 that grass is wet, because rule 1 leaves its conclusion possible at "
        "0.4 even if its premise fails (s = 0.4)."
    )
    text = explain(rain((YES, WET, 0.4, 0.3)), {"rain": {"yes": 1.0}}, DRY).justification()
    assert text.startswith(
        "It is possible at 0.3 that grass is dry, because rule 1 leaves what it does not conclude "
        "possible at 0.3 even if its premise holds (r = 0.3)."
    )


def test_undecided_results() -> None:
    found = explain(rain((YES, WET, 0.0, 0.0)), {"rain": [1.0, 1.0]})
    assert (found.outcome, found.verdict) == ("no_rule", "undecided: no rule decides")
    assert [node.value for node in found.values] == ["dry", "wet"]
    assert found.justification().split("\n") == [
        "Undecided: no rule decides.",
        "It is possible that grass is dry. No rule speaks against it: it is not certain at all "
        "that rain is yes (rule 1).",
        "It is possible that grass is wet, because it is possible that rain is yes (rule 1).",
        "It is certain that grass has any of its values: there are no others.",
    ]
    asked = explain(rain((YES, WET, 0.0, 0.0)), {"rain": [1.0, 1.0]}, WET)
    assert "It is not certain at all that grass is wet: it is possible that grass is dry." in str(
        asked
    )


def test_contradiction() -> None:
    rules = rain((YES, WET, 0.0, 0.2), (YES, DRY, 0.0, 0.0))
    found = explain(rules, {"rain": {"yes": 1.0}})
    assert not found.normalised
    assert np.isnan(found.certainty)
    assert found.justification().split("\n") == [
        "Contradiction: rules 1 and 2 (degree 0.8), so nothing is concluded.",
        "No value of grass is left fully possible by rules 1 and 2.",
        f"  - It is possible at 0.2 that grass is dry, by rule 1 ({rules.rules[0]}).",
        f"  - It is impossible that grass is wet, by rule 2 ({rules.rules[1]}).",
        "It is possible at 0.2 that grass is dry, because rule 1 leaves what it does not conclude "
        "possible at 0.2 even if its premise holds (r = 0.2).",
        "Nothing is certain of grass.",
        "It is impossible that grass is wet, because it is certain that rain is yes (rule 2).",
    ]


def test_contradiction_behind() -> None:
    shoes = Attribute("shoes", ("dry", "wet"))
    rules = Cascade(
        rain((YES, WET, 0.0, 0.2), (YES, DRY, 0.0, 0.0)),
        RuleSet([If(WET).then(shoes.isin({"wet"}), s=1.0, r=0.0)]),
    )
    found = explain(rules, {"rain": {"yes": 1.0}})
    [clash] = found.clashes
    assert (clash.attribute.name, clash.groups, found.contradiction) == ("grass", ((1, 2),), 0.8)
    assert found.possibility == 1.0
    assert "No value of grass is left fully possible by rules 1 and 2.\n" in found.justification()
    content = found.to_dict()
    assert (content["certainty"], content["contradiction"]) == (None, 0.8)
    [written] = content["clashes"]
    assert written["groups"] == [[1, 2]]
    assert [(v["values"], v["possibility"], v["rules"]) for v in written["values"]] == [
        (["dry"], 0.2, [1]),
        (["wet"], 0.0, [2]),
    ]
    assert [r["rule"] for r in written["rules"]] == [1, 2]


def test_what_is_hardly_so_and_what_is_unexpected() -> None:
    other = Attribute("sun", ("no", "yes"))
    rules = RuleSet([Iff(RAIN.isin({"yes"}), other.isin({"no"})).then(WET)])
    text = explain(rules, {"rain": [1.0, 0.05], "sun": [1.0, 0.3]}, WET).justification()
    assert text.startswith(
        "It is possible at 0.05 that grass is wet, because it is possible at 0.05 only that rain "
        "is yes (rule 1), even if it is possible that sun is no.\n"
    )
    text = explain(rules, {"rain": [0.95, 1.0], "sun": [1.0, 0.3]}, DRY).justification()
    assert text.startswith(
        "It is possible at 0.95 that grass is dry. No rule speaks against it: it is certain at "
        "0.05 only that rain is yes (rule 1), even if it is certain at 0.7 that sun is no.\n"
    )


def test_several_values_asked() -> None:
    rules = ADDITION
    odd = rules["y_2"].output.isin({1, 3, 5, 6})
    text = explain(rules, SAMPLE, odd).justification()
    assert text.startswith("It is possible at 0.8 that y_2 is 1, 3, 5 or 6.\n")
    assert "It is possible at 0.8 that y_2 is 6, because" in text


def test_hidden_values_are_counted() -> None:
    five = explain(ADDITION, SAMPLE, ADDITION["y_2"].output.isin({5})).justification(limit=4)
    assert "It is impossible that y_2 is 5" in five
    assert "  - And 6 more values, all impossible." in five


def test_a_sudoku() -> None:
    rows = [[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]]
    evidence = {
        f"a_{i + 1}_{j + 1}": {d: 1.0 if d == rows[i][j] else 0.05 for d in range(4)}
        for i in range(4)
        for j in range(4)
    }
    evidence["a_1_1"] = {1: 1.0, 0: 0.4}
    rules = sudoku(4)
    text = explain(
        rules, evidence, labels={"c": Label("the grid", values={0: "wrong", 1: "right"})}
    )
    first, *_, last = text.justification().split("\n")
    assert first == (
        "It is possible that the grid is wrong. No rule speaks against it: it is not certain at "
        "all that a_1_1 != a_1_2 and a_1_1 != a_3_1 (rule 449), even if it is certain at least at "
        "0.95 that a_3_4 != a_4_3, a_3_3 != a_4_4, a_3_2 != a_4_1, a_3_1 != a_4_2, a_1_4 != a_2_3 "
        "and 49 more of the 54 propositions, all certain at 0.95."
    )
    first_number = rules.rule_number("b_1_1_3_1", 0)
    assert last.endswith(
        f"because it is possible at 0.4 that a_1_1 is 0 (rule {first_number}); and because it is "
        f"certain at 0.6 that a_1_1 is not 0 (rule {first_number + 2})."
    )


def test_many_triplets_are_counted() -> None:
    a, b = Attribute("a", range(8)), Attribute("b", (0, 1))
    rules = RuleSet([Iff(a.isin({0, i})).then(b.isin({1})) for i in range(1, 8)])
    text = explain(rules, {"a": {0: 1.0}}).justification(limit=2)
    assert "; and because the premises of 5 more rules say the same" in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({3}, "a is 3"),
        ({3, 4}, "a is 3 or 4"),
        ({3, 4, 5, 9}, "a is 3 to 5 or 9"),
        ({1, 3, 5, 7, 9}, "a is 1, 3, 5, 7 or 9"),
        (set(range(10)) - {4}, "a is not 4"),
        (set(range(10)), "a has any of its values"),
        (set(), "a has none of its values"),
    ],
)
def test_subsets(values: set[int], words: str) -> None:
    a = Attribute("a", range(10))
    assert Wording().proposition_sentence(a.isin(values)) == words


def test_subsets_are_shortened() -> None:
    a = Attribute("a", range(100))
    odd = a.where(lambda v: v % 2 == 1)
    assert Wording().proposition_sentence(odd, 3) == "a is 1, 3, 5 or one of 47 more values"
    assert Wording().proposition_sentence(a.where("a % 2 == 1"), 3) == "a % 2 == 1"


def test_a_list_that_is_cut_says_what_it_is_not_where_that_is_shorter() -> None:
    pair = Attribute("c", [(i, j) for i in range(10) for j in range(10)])

    def without(*values: Any) -> str:
        return Wording().proposition_sentence(
            pair.isin([v for v in pair.domain if v not in values]), 3
        )

    assert without((4, 0), (9, 0)) == "c is neither (4, 0) nor (9, 0)"
    assert without((4, 0), (9, 0), (9, 1)) == "c is none of (4, 0), (9, 0) or (9, 1)"
    assert without(*pair.domain[:6]) == "c is none of (0, 0), (0, 1), (0, 2) or 3 more values"
    half = "c is (5, 0), (5, 1), (5, 2) or one of 47 more values"
    assert without(*pair.domain[:50]) == half
    some = pair.isin([v for v in pair.domain if v not in ((4, 0), (9, 0))])
    assert Wording().proposition_sentence(some, None).startswith("c is (0, 0), (0, 1), (0, 2), ")


def test_a_run_is_not_turned_round() -> None:
    most = Attribute("a", range(100)).isin(range(98))
    assert Wording().proposition_sentence(most, 3) == "a is 0 to 97"


def test_units() -> None:
    a = Attribute("bg", (70, 120, 180))
    wording = Wording.of({a: Label(unit="mg/dl")}, {"bg": a})
    assert wording.proposition_sentence(a.isin({70, 180})) == "bg is 70 mg/dl or 180 mg/dl"


def test_titles_and_units_are_used_by_default_and_labels_override_them() -> None:
    age = Attribute.number("age", [30, 65], title="age of the patient", unit="years")
    named = Attribute.number("bmi", [25], ["slim", "stout"], unit="kg/m2")
    plain = Attribute("age", age.domain)
    wording = Wording()
    assert wording.proposition_sentence(age >= 65) == "age of the patient is at least 65 years"
    assert wording.plain_value(age, 74) == "74 years"
    assert wording.plain_value(age, None) == "unknown"
    assert wording.plain_value(named, 31.5) == "31.5 kg/m2"
    assert wording.value(named, "stout") == "stout"
    assert Wording(known={"age": age}).name(plain) == "age of the patient"
    labelled = Wording.of({"age": Label("age", unit="y")}, {"age": age})
    assert labelled.proposition_sentence(age >= 65) == "age is at least 65 y"


def test_explanations_have_titles() -> None:
    rules = parse("""
        number debt "debt ratio" unit "of income"
        attribute history "credit history" in {good, bad}
        attribute risk "risk of loss" in {low, high}
        if debt >= 0.45 and history == bad then risk == high
        if history == good then risk == low
    """)
    sample = {"debt": 0.64, "history": "bad"}
    texts = [
        explain(rules, sample, "risk").text(),
        str(why_not(rules, sample, "low")),
        str(verdict(rules, sample)),
    ]
    for text in texts:
        assert "credit history" in text
        assert "risk of loss" in text
    assert "debt ratio is 0.64 of income" in texts[2]


@given(make.cases(), st.integers(1, 3), st.integers(1, 3))
def test_every_explanation_has_words(case: make.Case, depth: int, limit: int) -> None:
    for output in case.cascade.outputs:
        text = explain(case.cascade, case.evidence, output).justification(depth=depth, limit=limit)
        for line in text.split("\n"):
            assert line.endswith(".")
            assert "  - " in line or line[0].isupper()
        assert " ." not in text
        assert "because ." not in text


def test_the_text_begins_with_the_verdict() -> None:
    found = explain(RULES, COFFEE)
    decided = verdict(RULES, COFFEE)
    head, because, empty, rest = found.text().split("\n", 3)
    assert (head, because, empty) == (decided.answer, f"Because: {decided.because}", "")
    assert rest == found.justification()
