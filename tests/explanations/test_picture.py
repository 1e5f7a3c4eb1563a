"""Pictures of explanations: nothing overlaps, nothing is left out in silence."""

import math
import re
from base64 import b64decode
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies as make
from pinesy import Attribute, Cascade, DataError, DomainError, If, RuleSet, antipignistic, parse
from pinesy._png import png
from pinesy.exceptions import UnknownAttributeError
from pinesy.explanations import Explanation, Label, explain, picture
from pinesy.explanations.outline import Box, Limits, outline
from pinesy.explanations.sketches import sketch
from pinesy.explanations.svg_text import escaped, shortened, text_width, wrapped
from pinesy.explanations.tidy import tidy
from pinesy.problems import addition, sudoku

SVG = "{http://www.w3.org/2000/svg}"
GLUCOSE = """
attribute action in {breakfast, dinner, lunch, sport}
attribute current in {low, medium, high}
attribute future in {low, medium, high}
if action in {lunch, dinner} and current in {medium, high} then future in {high} [s=1, r=0]
if action in {sport} and current in {low, medium} then future in {low} [s=0.7, r=0]
if action in {breakfast} and current in {low, medium} then future in {low, medium} [s=1, r=0]
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


def boxes(root: Box) -> list[Box]:
    found = [root]
    for box in found:
        found += [c for c in box.children if c not in found]
    return found


def shown(explanation: Explanation, **limits: Any) -> list[Box]:
    bounds = {"depth": explanation.depth, "limit": 3, "nodes": 60} | limits
    return boxes(outline(explanation, Limits(**bounds)))


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def frames(svg: str) -> list[tuple[float, float, float, float]]:
    """Return left, top, right and bottom of all boxes as the SVG has them."""
    found = []
    outer = ElementTree.fromstring(svg).find(f"{SVG}g")
    assert outer is not None
    for group in outer.findall(f"{SVG}g"):
        x, y = map(float, re.findall(r"-?[\d.]+", group.get("transform", "")))
        frame = group.find(f"{SVG}rect")
        assert frame is not None
        found.append((x, y, x + float(frame.get("width", 0)), y + float(frame.get("height", 0))))
    return found


def apart(one: Any, other: Any) -> bool:
    return bool(one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1])


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
    assert (rule.kind, [c.name for c in rule.children]) == ("possible", ["action", "current"])
    [rule] = other.children
    assert (rule.kind, [c.name for c in rule.children]) == ("certain", ["current"])
    [current] = rule.children
    assert current.values == {0, 1}  # medium, why it is possible; low, why it is not certain


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
    background = root[2]
    assert (background.tag, background.get("fill")) == (f"{SVG}rect", "#ffffff")
    assert "http" not in svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "<style" not in svg and ' id="' not in svg  # which would reach the page around it


def test_labels_are_used() -> None:
    labels = {
        "future": "glucose later",
        "current": Label("glucose now", values={"low": "70 mg/dl"}),
    }
    words = texts(picture(glucose(labels=labels)))
    assert {"glucose later is high", "glucose now", "70 mg/dl"} <= set(words)


def test_ambiguous_and_contradictory_results_say_so() -> None:
    rain, wet = Attribute("rain", ["no", "yes"]), Attribute("wet", ["no", "yes"])
    rules = RuleSet([If(rain.isin({"yes"})).then(wet.isin({"yes"}))])
    assert "ambiguous" in texts(picture(explain(rules, {"rain": {"yes": 1.0, "no": 1.0}})))
    rules = RuleSet([If(rain.isin({"yes"})).then(wet.isin({v})) for v in wet.domain])
    assert "the rules contradict" in texts(picture(explain(rules, {"rain": {"yes": 1.0}})))


# --- images ------------------------------------------------------------------------------------


def test_images_stand_at_their_inputs() -> None:
    rng = np.random.default_rng(0)
    images = {name: rng.integers(0, 256, (28, 28), np.uint8) for name in DIGITS}
    svg = picture(explain(addition(1), DIGITS, "y_1"), images)
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
    with pytest.raises(DomainError, match=f"{name} is 0; it must be a whole number from 1 on"):
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
    assert sum("and 807 more" in text for text in texts(svg)) == len(rules)


def test_no_limits_leave_nothing_out() -> None:
    found = shown(grid(4), limit=None, nodes=None)
    assert counts(found) == []
    assert len([b for b in found if b.kind == "input"]) == 16
    assert len({b.name for b in found if b.kind == "input"}) == 16  # each once
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


# --- the drawing -------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(make.cases(), st.sampled_from([1, 3, None]), st.sampled_from([2, 10, None]))
def test_boxes_are_apart_and_inside_the_picture(case: Any, limit: Any, nodes: Any) -> None:
    cascade: Cascade = case.cascade
    svg = picture(explain(cascade, case.evidence, cascade.outputs[0]), limit=limit, nodes=nodes)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    found = frames(svg)
    assert found
    assert all(apart(one, other) for one, other in combinations(found, 2))
    assert min(min(f[:2]) for f in found) >= 0.0
    assert max(f[2] for f in found) <= width - 16 and max(f[3] for f in found) <= height - 16


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_graph_is_tidy(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    children: dict[int, list[int]] = {i: [] for i in range(n)}
    for i in range(1, n):
        for parent in data.draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=3)):
            children[parent].append(i)
    sizes = {i: (10.0 + i % 3, data.draw(st.sampled_from([5.0, 8.0, 30.0]))) for i in range(n)}
    places = tidy(children, sizes, 0, (4.0, 2.0))
    assert set(places) == set(range(n))
    for parent, below in children.items():
        for child in below:
            assert places[child].x >= places[parent].x + sizes[parent][0] + 4.0
    spans = [(p.x, p.y, p.x + sizes[i][0], p.y + sizes[i][1] + 1.9) for i, p in places.items()]
    assert all(apart(one, other) for one, other in combinations(spans, 2))
    assert min(p.y for p in places.values()) == 0.0


def test_a_long_chain_is_no_trouble() -> None:
    n = 5000
    children = {i: [i + 1] for i in range(n)} | {n: []}
    places = tidy(children, dict.fromkeys(children, (1.0, 1.0)), 0, (1.0, 1.0))
    assert places[n].column == n


@pytest.mark.parametrize("text", ["a" * 500, "W" * 90, "word " * 100, "日本語" * 60, "long-" * 50])
def test_long_texts_stay_in_their_boxes(text: str) -> None:
    drawn = sketch(Box("possible", text, (text,), text), None)
    assert drawn.width < 260.0
    found = ElementTree.fromstring(f"<svg>{drawn.svg}</svg>")
    for line in found.iter("text"):
        size, bold = float(line.get("font-size", 0)), line.get("font-weight") == "bold"
        taken = text_width(line.text or "", size) * (1.125 if bold else 1.0)
        assert 0.0 < taken <= drawn.width - 16.0 + 1e-9
    assert found.findtext("title") == text  # which tells the whole
    assert any((line.text or "").endswith("…") for line in found.iter("text"))


def test_widths_are_no_less_than_those_of_a_wide_font() -> None:
    textpath = pytest.importorskip("matplotlib.textpath")
    properties = pytest.importorskip("matplotlib.font_manager").FontProperties
    letters = [chr(c) for c in (*range(33, 127), *range(0xC0, 0x180), *range(0x391, 0x3CA))]
    for weight, stretch in (("normal", 1.0), ("bold", 1.125)):
        font = properties("DejaVu Sans", weight=weight)
        for letter in letters:
            if letter.isprintable() and letter.isidentifier() | letter.isascii():
                width = textpath.text_to_path.get_text_width_height_descent(letter, font, False)[0]
                size = font.get_size_in_points()
                assert text_width(letter, size) * stretch >= 0.9 * width, (letter, weight)


def test_words_that_stand_in_fonts_never_outgrow_their_measure() -> None:
    textpath = pytest.importorskip("matplotlib.textpath")
    properties = pytest.importorskip("matplotlib.font_manager").FontProperties
    words = ["future-blood-glucose is high", "WWW MMM @@@", "(a_1_1, a_1_2) is (0, 1)", "0.123456"]
    for weight, stretch in (("normal", 1.0), ("bold", 1.125)):
        font = properties("DejaVu Sans", weight=weight)
        for text in words:
            width = textpath.text_to_path.get_text_width_height_descent(text, font, False)[0]
            assert text_width(text, font.get_size_in_points()) * stretch >= width


@given(st.text(max_size=60), st.floats(20.0, 300.0), st.integers(1, 4))
def test_wrapped_lines_fit(text: str, width: float, lines: int) -> None:
    found = wrapped(text, width, 10.0, lines)
    assert len(found) <= lines
    assert all(text_width(line, 10.0) <= width or len(line) == 1 for line in found)
    if not any(line.endswith("…") for line in found):
        assert "".join("".join(found).split()) == "".join(text.split())
    assert text_width(shortened(text, width, 10.0), 10.0) <= width


@given(st.text(max_size=30))
def test_any_text_can_be_escaped(text: str) -> None:
    found = ElementTree.fromstring(f'<t a="{escaped(text)}">{escaped(text)}</t>')
    kept = (found.text or "").replace("\r", "\n")
    assert len(kept) <= len(text)
    if text.isprintable():
        assert kept == found.get("a") == text


def test_odd_names_and_values() -> None:
    odd = ["<b>&'\"", "\x00\x1b[31m", "日本語" * 30, math.inf, (1, "x" * 400)]
    sign, out = Attribute("<&>\x07" * 20, odd), Attribute('"]]>', odd)
    rules = RuleSet(If(sign.isin({v})).then(out.isin({v})) for v in odd)
    svg = picture(explain(rules, {sign.name: dict.fromkeys(odd, 1.0)}))
    assert "<b>" not in svg and "\x00" not in svg
    assert all(apart(one, other) for one, other in combinations(frames(svg), 2))
