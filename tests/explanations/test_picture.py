"""Pictures of explanations: what they say, and how much they leave out."""

import re
from base64 import b64decode
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from explanations.svg_reading import SVG, overflowing, shown, texts
from pinesy import Attribute, DataError, DomainError, Iff, RuleSet, antipignistic, parse
from pinesy.display.boxes import Box
from pinesy.display.images import png
from pinesy.exceptions import UnknownAttributeError
from pinesy.explanations import Explanation, Label, explain, picture
from pinesy.problems import addition, sudoku

GLUCOSE = """
attribute action in {breakfast, dinner, lunch, sport}
attribute current in {low, medium, high}
attribute future in {low, medium, high}
iff action in {lunch, dinner} and current in {medium, high} then future in {high} [s=1, r=0]
iff action in {sport} and current in {low, medium} then future in {low} [s=0.7, r=0]
iff action in {breakfast} and current in {low, medium} then future in {low, medium} [s=1, r=0]
"""
SEEN = {"action": {"lunch": 1.0}, "current": {"low": 0.3, "medium": 1.0}}
DIGITS = {
    "a_1": antipignistic({3: 0.8, 8: 0.2}),
    "a_2": antipignistic({4: 0.9, 9: 0.1}),
}


def glucose(**options: Any) -> Explanation:
    return explain(parse(GLUCOSE), SEEN, **options)


def grid(dim: int) -> Explanation:
    """Explain a Sudoku whose cells all hold the same digit, or perhaps the next one."""
    rules = sudoku(dim)
    return explain(rules, {a.name: {0: 1.0, 1: 0.3} for a in rules.inputs})


def inputs(found: list[Box]) -> list[Box]:
    return [box for box in found if box.kind == "input"]


# --- what a picture says -----------------------------------------------------------------------


def test_an_example_of_the_paper_shows_its_triplets() -> None:
    words = texts(picture(glucose()))
    assert "rule 1 · P 1" in words  # why it is possible that future is high
    assert "rule 1 · C 0.7" in words  # why anything else is possible at 0.3 only
    assert words.count("future is high") == 2  # the result, and the value that it is about
    assert {"possible", "certain at 0.7", "future is low or medium", "possible at 0.3"} <= set(
        words
    )
    assert {"action", "lunch", "current", "medium", "low", "0.3"} <= set(words)
    assert "2 other rules do not speak" in " ".join(words)


def test_rules_lead_to_the_inputs_that_decide() -> None:
    [result, *_] = shown(glucose())
    high, other = result.children
    [rule, _] = high.children
    assert (rule.kind, [c.heading for c in inputs(rule.children)]) == (
        "possible",
        ["action", "current"],
    )
    [rule] = other.children
    assert (rule.kind, [c.heading for c in inputs(rule.children)]) == ("certain", ["current"])
    [current] = inputs(rule.children)
    # medium, why it is possible; low, why it is not certain
    assert {bar.name for bar in current.bars if bar.marked} == {"low", "medium"}


def test_parameters_that_set_a_degree_are_named() -> None:
    seen = {"action": {"breakfast": 1.0}, "current": {"medium": 1.0, "low": 0.2}}
    words = texts(explain(parse(GLUCOSE), seen).to_svg())
    assert "rule 2: s = 0.7" in words
    assert "premise fails" in " ".join(words)


def test_it_is_one_accessible_file_that_is_always_the_same() -> None:
    svg = picture(glucose())
    assert svg == picture(glucose()) == glucose().to_svg()
    root = ElementTree.fromstring(svg)
    assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
    assert [part.tag for part in list(root)[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert root[0].text == "Why future in {high}"
    assert root[1].text == glucose().text(limit=3)
    assert root[2].tag == f"{SVG}g"  # no ground of its own: pages may be dark
    assert "http" not in svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "<style" not in svg
    assert ' id="' not in svg


def test_labels_are_used() -> None:
    labels = {
        "future": "glucose later",
        "current": Label("glucose now", values={"low": "70 mg/dl"}),
    }
    words = texts(picture(glucose(labels=labels)))
    assert {"glucose later is high", "glucose now", "70 mg/dl"} <= set(words)


def test_results_that_are_not_decided_say_so() -> None:
    rain, wet = Attribute("rain", ["no", "yes"]), Attribute("wet", ["no", "yes"])
    rules = RuleSet([Iff(rain.isin({"yes"})).then(wet.isin({"yes"}))])
    assert "undecided: no rule decides" in texts(
        picture(explain(rules, {"rain": {"yes": 1.0, "no": 1.0}}))
    )
    rules = RuleSet([Iff(rain.isin({"yes"})).then(wet.isin({v})) for v in wet.domain])
    assert "contradiction: rules 1 and 2" in texts(picture(explain(rules, {"rain": {"yes": 1.0}})))


# --- images ------------------------------------------------------------------------------------


def test_images_stand_at_their_inputs() -> None:
    rng = np.random.default_rng(0)
    images = {name: rng.integers(0, 256, (28, 28), np.uint8) for name in DIGITS}
    svg = picture(explain(addition(1), DIGITS, "y_1"), images)
    assert overflowing(svg) == []
    found = {
        one.get("aria-label"): one.get("href", "").removeprefix("data:image/png;base64,")
        for one in ElementTree.fromstring(svg).iter(f"{SVG}image")
    }
    assert {name: b64decode(content) for name, content in found.items()} == {
        name: png(image) for name, image in images.items()
    }


@pytest.mark.parametrize(
    ("images", "error", "message"),
    [
        ({"a_3": np.zeros((2, 2), np.uint8)}, UnknownAttributeError, "'a_3', which is no input; d"),
        ({"a_1": np.zeros((2, 2))}, DataError, "the image of 'a_1': an image is a uint8 array"),
        ([np.zeros((2, 2), np.uint8)], DataError, "images are a mapping from inputs to arrays"),
    ],
)
def test_bad_images(images: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        picture(explain(addition(1), DIGITS, "y_1"), images)


@pytest.mark.parametrize("name", ["depth", "limit", "nodes"])
def test_bad_limits(name: str) -> None:
    with pytest.raises(DomainError, match=f"{name} is 0; it must be an integer from 1 on"):
        picture(glucose(), **{name: 0})  # type: ignore[arg-type]


# --- large explanations ------------------------------------------------------------------------


def counts(found: list[Box]) -> list[int]:
    return [int(b.heading.split()[1]) for b in found if b.heading.startswith("and ")]


def test_what_is_left_out_of_810_propositions_is_counted() -> None:
    svg = picture(grid(9))
    assert len(svg) < 100_000
    found = shown(grid(9))
    rules = [b for b in found if b.kind in ("possible", "certain") and counts(b.children)]
    assert rules
    for rule in rules:
        [left] = counts(rule.children)
        assert left == 807  # of 810 that decide, 3 are followed
    assert texts(svg).count("and 807 more") == len(rules)


def test_no_limits_leave_nothing_out() -> None:
    found = shown(grid(4), limit=None, nodes=None)
    assert counts(found) == []
    assert len([b for b in found if b.kind == "input"]) == 16
    assert len({b.heading for b in inputs(found)}) == 16  # each once
    values = [b for b in found if b.kind == "value" and b.heading != "c is 0"]
    assert len(values) == len({v.heading for v in values}) > 56  # pairs of cells, each once


@pytest.mark.parametrize("nodes", [1, 2, 5, 12])
def test_a_limit_of_boxes_is_kept_and_told(nodes: int) -> None:
    found = shown(grid(4), limit=None, nodes=nodes)
    drawn = [b for b in found if b.kind in ("value", "input", "rival")]
    assert len(drawn) <= max(nodes, 2)  # the result's own values are always there
    assert sum(counts(found)) > 0
    everything = shown(grid(4), limit=None, nodes=None)
    rule = next(b for b in found if b.kind in ("possible", "certain"))
    whole = next(b for b in everything if b.heading == rule.heading)
    left = sum(counts(rule.children))
    assert len(rule.children) - (left > 0) + left == len(whole.children)


def test_values_that_the_same_rules_justify_share_a_box_or_are_counted_each() -> None:
    rules = parse("""
        attribute a in {0, 1}
        attribute m in {0..5}
        attribute out in {no, yes}
        iff a in {1} then m in {0..2}
        iff m in {0..2} then out in {yes}
    """)
    explanation = explain(rules, {"a": {1: 1.0, 0: 0.2}})
    headings = [b.heading for b in shown(explanation)]
    assert {"m is 0 to 2", "m is 3 to 5"} <= set(headings)
    assert counts(shown(explanation, nodes=2)) == [3, 3]
    assert counts(shown(explanation, limit=2)) == [1, 1]


def test_depth_is_told() -> None:
    words = texts(picture(explain(addition(2), _two(), "y_1"), depth=1))
    assert "not followed (depth 1)" in words
    assert not any(word.startswith("a_") and " " not in word for word in words)


def _two() -> dict[str, Any]:
    sees = {3: 0.8, 8: 0.2}
    return {f"a_{i}": antipignistic(sees) for i in range(1, 5)}


def test_many_values_and_rules_are_counted() -> None:
    seen = {"a_1": np.ones(10), "a_2": np.ones(10)}
    found = shown(explain(addition(1), seen, "y_1"))
    [result, *_] = found
    assert counts(result.children) == [7]  # of ten values that are all possible
    assert len(result.children) == 4
