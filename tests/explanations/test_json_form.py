"""Explanations as plain data: the schema holds, nothing is cut in silence, numbers are exact."""

import json
from typing import Any

import pytest
from hypothesis import given

import strategies as make
from explanations.small_rule_sets import ADDITION, SAMPLE
from json_schema import problems
from pinesy import Attribute, Iff, RuleSet
from pinesy.explanations import explain, schema
from pinesy.problems import sudoku


def check(content: dict[str, Any]) -> None:
    """Valid, sound in its references, and JSON that reads back the same."""
    assert problems(content, schema(), schema()) == []
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    numbers = [node["id"] for node in content["nodes"]]
    assert numbers == list(range(len(numbers)))
    for node in content["nodes"]:
        for triplet in node.get("triplets", ()):
            for part in triplet["reduced"] + triplet["unexpected"]:
                for number in part["because"]["nodes"]:
                    assert content["nodes"][number]["possibility"] == node["possibility"]


@given(make.cases())
def test_of_random_cascades(case: make.Case) -> None:
    for output in case.cascade.outputs:
        found = explain(case.cascade, case.evidence, output)
        whole = found.to_dict(limit=None, nodes=None)
        check(whole)
        assert "omitted': {" not in str(whole)
        assert len(whole["nodes"]) == len(list(found.walk()))
        check(found.to_dict(limit=1))
        check(found.to_dict(depth=1, nodes=3))


def test_the_check_sees_what_is_wrong() -> None:
    good = explain(ADDITION, SAMPLE, "y_0").to_dict()
    check(good)
    for key, value, complaint in (
        ("possibility", 2.0, "$.possibility: 2.0 is above 1"),
        ("asked", 1, "$.asked: 1 is not of type boolean"),
        ("version", 3, "$.version: 3 is not 2"),
        ("extra", 2, "$: extra is unknown"),
    ):
        assert problems({**good, key: value}, schema(), schema()) == [complaint]
    del good["nodes"][0]["triplets"]
    assert problems(good, schema(), schema()) == ["$.nodes[0]: fits 0 of the alternatives"]


def test_leaves_have_their_whole_distribution() -> None:
    content = json.loads(explain(ADDITION, SAMPLE, "y_0").to_json(indent=1))
    leaves = {n["attribute"]: n for n in content["nodes"] if n["kind"] == "perceived"}
    assert set(leaves) == {"a_1", "a_3"}
    assert leaves["a_1"]["distribution"][8] == {"value": 8, "possibility": 0.4}
    assert len(leaves["a_1"]["distribution"]) == 10


def test_depth_cuts_and_says_so() -> None:
    content = explain(ADDITION, SAMPLE, "y_0", depth=1).to_dict()
    check(content)
    assert [(n["attribute"], n["level"], n["cut"]) for n in content["nodes"]] == [
        ("y_0", 0, False),
        ("y_0", 0, False),
        ("w_1", 1, True),
        ("w_1", 1, True),
    ]
    deeper = explain(ADDITION, SAMPLE, "y_0", depth=1).to_dict(depth=2)
    assert {n["attribute"] for n in deeper["nodes"]} == {"y_0", "w_1", "c_1"}


def grid(wrong: bool = False) -> dict[str, dict[int, float]]:
    """A Sudoku 9x9 as read by a network that is nearly sure; wrong in one cell, if asked for."""
    rows = [[(3 * i + i // 3 + j) % 9 for j in range(9)] for i in range(9)]
    rows[0][0] = 1 if wrong else rows[0][0]
    return {
        f"a_{i + 1}_{j + 1}": {d: 1.0 if d == rows[i][j] else 0.07 for d in range(9)}
        for i in range(9)
        for j in range(9)
    }


SUDOKU = sudoku(9)


def test_810_propositions_are_shortened_and_counted() -> None:
    content = explain(SUDOKU, grid()).to_dict(limit=12)
    check(content)
    [triplet] = content["nodes"][0]["triplets"]
    assert len(triplet["reduced"]) == 12
    assert triplet["reduced_omitted"] == {"count": 798, "least": 1.0, "greatest": 1.0}
    assert triplet["text"].endswith("and 798 more propositions then c in {1}")
    text = explain(SUDOKU, grid()).text(limit=4)
    number = SUDOKU.rule_number("c", 0)
    assert f"and 806 more of the 810 propositions, all possible (rule {number})" in text
    assert len(text) < 6000


def test_what_decides_comes_first() -> None:
    content = explain(SUDOKU, grid(wrong=True)).to_dict(limit=5)
    [triplet] = content["nodes"][0]["triplets"]
    assert content["proposition"]["values"] == [0]
    assert [p["decides"] for p in triplet["reduced"]] == [True] * 2
    assert len(triplet["unexpected"]) == 5
    omitted = triplet["unexpected_omitted"]
    assert (omitted["count"], omitted["least"]) == (803, pytest.approx(0.93))
    text = explain(SUDOKU, grid(wrong=True)).text(limit=2)
    assert "and 806 more of the 808 propositions, all certain at 0.93" in text


def test_odd_values_have_a_form() -> None:
    a = Attribute("a", (None, True, 2, 1.5, "x", (1, (2,)), frozenset()))
    b = Attribute("b", (float("inf"), 0))
    rules = RuleSet([Iff(a.isin({True, (1, (2,))})).then(b.isin({0}))])
    content = explain(rules, {"a": [0.2, 1.0, 0.0, 0.1, 0.3, 1.0, 0.4]}).to_dict()
    check(content)
    assert content["distribution"][0]["value"] == "inf"
    assert content["nodes"][-1]["distribution"][5]["value"] == [1, [2]]
    assert content["nodes"][-1]["distribution"][6]["value"] == "frozenset()"
