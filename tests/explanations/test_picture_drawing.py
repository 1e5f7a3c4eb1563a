"""The drawing of pictures: nothing overlaps, no text leaves its box, any text can stand in it."""

import math
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as make
from explanations.svg_reading import SVG, apart, font_of, frames, overflowing
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.display.boxes import Box, Font, box_corners, drawing, shorten, text_width, wrap
from pinesy.display.markup import escape_text
from pinesy.explanations import explain, picture


@given(make.cases(), st.sampled_from([1, 3, None]), st.sampled_from([2, 10, None]))
def test_boxes_are_apart_and_inside_the_picture(case: Any, limit: Any, nodes: Any) -> None:
    cascade: Cascade = case.cascade
    svg = picture(explain(cascade, case.evidence, cascade.outputs[0]), limit=limit, nodes=nodes)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    found = frames(svg)
    assert found
    assert overflowing(svg) == []
    assert all(apart(one, other) for one, other in combinations(found, 2))
    assert min(min(f[:2]) for f in found) >= 0.0
    assert max(f[2] for f in found) <= width - 16
    assert max(f[3] for f in found) <= height - 16


@given(st.data())
def test_any_graph_is_tidy(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    children: dict[int, list[int]] = {i: [] for i in range(n)}
    for i in range(1, n):
        for parent in data.draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=3)):
            children[parent].append(i)
    sizes = {i: (10.0 + i % 3, data.draw(st.sampled_from([5.0, 8.0, 30.0]))) for i in range(n)}
    places = box_corners(children, sizes, (4.0, 2.0))
    assert set(places) == set(range(n))
    for parent, below in children.items():
        for child in below:
            assert places[child][0] >= places[parent][0] + sizes[parent][0] + 4.0
    spans = [(x, y, x + sizes[i][0], y + sizes[i][1] + 1.9) for i, (x, y) in places.items()]
    assert all(apart(one, other) for one, other in combinations(spans, 2))
    assert min(y for _, y in places.values()) == 0.0


def test_a_long_chain_is_no_trouble() -> None:
    n = 5000
    children = {i: [i + 1] for i in range(n)} | {n: []}
    places = box_corners(children, dict.fromkeys(children, (1.0, 1.0)), (1.0, 1.0))
    assert places[n] == (2.0 * n, 0.0)


@pytest.mark.parametrize("text", ["a" * 500, "W" * 90, "word " * 100, "日本語" * 60, "long-" * 50])
def test_long_texts_stay_in_their_boxes(text: str) -> None:
    svg = drawing(Box("possible", text, (text,), text), "", "")
    assert overflowing(svg) == []
    [(left, _, right, _)] = frames(svg)
    assert right - left < 260.0
    found = ElementTree.fromstring(svg)
    for line in found.iter(f"{SVG}text"):
        assert 0.0 < text_width(line.text or "", font_of(line)) <= right - left - 15.9
    assert [title.text for title in found.iter(f"{SVG}title")][1] == text  # which tells the whole
    assert any((line.text or "").endswith("…") for line in found.iter(f"{SVG}text"))


def test_widths_are_no_less_than_those_of_a_wide_font() -> None:
    textpath = pytest.importorskip("matplotlib.textpath")
    properties = pytest.importorskip("matplotlib.font_manager").FontProperties
    letters = [chr(c) for c in (*range(33, 127), *range(0xC0, 0x180), *range(0x391, 0x3CA))]
    for weight in ("normal", "bold"):
        font = properties(family="DejaVu Sans", weight=weight)
        own = Font(font.get_size_in_points(), bold=weight == "bold")
        for letter in filter(str.isprintable, letters):
            width = textpath.text_to_path.get_text_width_height_descent(letter, font, False)[0]
            assert text_width(letter, own) >= width, letter


def test_words_that_stand_in_fonts_never_outgrow_their_measure() -> None:
    textpath = pytest.importorskip("matplotlib.textpath")
    properties = pytest.importorskip("matplotlib.font_manager").FontProperties
    words = ["future-blood-glucose is high", "WWW MMM @@@", "(a_1_1, a_1_2) is (0, 1)", "0.123456"]
    for weight in ("normal", "bold"):
        font = properties(family="DejaVu Sans", weight=weight)
        own = Font(font.get_size_in_points(), bold=weight == "bold")
        for text in words:
            width = textpath.text_to_path.get_text_width_height_descent(text, font, False)[0]
            assert text_width(text, own) >= width


@given(st.text(max_size=60), st.floats(20.0, 300.0), st.integers(1, 4))
def test_wrapped_lines_fit(text: str, width: float, lines: int) -> None:
    found = wrap(text, width, Font(10.0), lines)
    assert len(found) <= lines
    assert all(text_width(line, Font(10.0)) <= width or len(line) == 1 for line in found)
    if not any(line.endswith("…") for line in found):
        assert "".join("".join(found).split()) == "".join(text.split())
    assert text_width(shorten(text, width, Font(10.0)), Font(10.0)) <= width


@given(st.text(max_size=30))
def test_any_text_can_be_escaped(text: str) -> None:
    found = ElementTree.fromstring(f'<t a="{escape_text(text)}">{escape_text(text)}</t>')
    kept = (found.text or "").replace("\r", "\n")
    assert len(kept) <= len(text)
    if text.isprintable():
        assert kept == found.get("a") == text


def test_odd_names_and_values() -> None:
    odd = ["<b>&'\"", "\x00\x1b[31m", "日本語" * 30, math.inf, (1, "x" * 400)]
    sign, out = Attribute("<&>" * 20, odd), Attribute('"]]>', odd)
    rules = RuleSet(Iff(sign.isin({v})).then(out.isin({v})) for v in odd)
    svg = picture(explain(rules, {sign.name: dict.fromkeys(odd, 1.0)}))
    assert overflowing(svg) == []
    assert "<b>" not in svg
    assert "\x00" not in svg
    assert all(apart(one, other) for one, other in combinations(frames(svg), 2))
