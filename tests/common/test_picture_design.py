"""Plots and pictures as the design has them: sizes of texts, colours, dashes, and lines apart."""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from common.things_to_show import RAINS, RULES, SKIES, THINGS
from explanations.svg_reading import SVG, frames
from pinesy import Attribute, Cascade, Iff, RuleSet, explain, parse
from pinesy.display.boxes import Box, drawing
from pinesy.display.cards import tokens
from pinesy.display.cascade_picture import graph_of
from pinesy.display.markup import DECIDES, GREY
from pinesy.learning import evaluate
from pinesy.problems import addition, sudoku

TOKENS = set(re.findall(r"#[0-9a-f]{6}\b", tokens()))
PLOTTED = ["possibility", "possibilities", "learning result", "audit", "tolerances", "coverage"]


def drawn(name: str) -> Any:
    if name in ("confusion", "surest"):
        kind: Any = "confusion" if name == "confusion" else "coverage"
        return evaluate(RULES, SKIES, RAINS).plot(kind=kind)
    return THINGS[name]().plot()


@pytest.mark.parametrize("name", [*PLOTTED, "confusion", "surest"])
def test_plots_have_texts_of_9_points_and_colours_of_tokens(name: str) -> None:
    text_of = pytest.importorskip("matplotlib.text").Text
    to_hex = pytest.importorskip("matplotlib.colors").to_hex
    axes = drawn(name)
    axes.figure.draw_without_rendering()
    texts = [t for t in axes.figure.findobj(text_of) if t.get_text().strip() and t.get_visible()]
    assert texts
    assert [t.get_text() for t in texts if t.get_fontsize() < 9] == []
    assert {to_hex(t.get_color()) for t in texts} <= TOKENS
    colours = {to_hex(line.get_color()) for line in axes.lines}
    assert colours <= TOKENS


@pytest.mark.parametrize("name", ["learning result", "tolerances", "coverage", "surest", "audit"])
def test_a_plot_has_one_orange_mark(name: str) -> None:
    pytest.importorskip("matplotlib")
    axes = drawn(name)
    orange = [line for line in axes.lines if line.get_color() == DECIDES]
    assert len(orange) <= 1
    if name != "audit" or THINGS["audit"]().suspicious.any():
        assert len(orange) == 1


def pictures() -> dict[str, str]:
    """Return pictures of cascades and explanations, some with lines that skip columns."""
    a, b, c, d = (Attribute(name, [0, 1]) for name in "abcd")
    skipping = Cascade(
        RuleSet([Iff(a.isin({0})).then(b.isin({0}))]),
        RuleSet([Iff(b.isin({0})).then(c.isin({0})), Iff(a.isin({1})).then(c.isin({1}))]),
        RuleSet([Iff(c.isin({0}) & a.isin({0}) & b.isin({1})).then(d.isin({0}))]),
    )
    sums = addition(2)
    digits = {f"a_{i + 1}": np.eye(10)[[3, 4, 8, 9][i]] * 0.7 + 0.3 for i in range(4)}
    return {
        "skipping": skipping.to_svg(),
        "sums": sums.to_svg(),
        "sudoku": sudoku(4).to_svg(),
        "explanation": explain(sums, digits, "y_1").to_svg(),
        "explained": explain(skipping, {"a": 0}, "d").to_svg(),
    }


def points(path: str) -> list[tuple[float, float]]:
    """Return points along a path of the form ``M x y H x C ... H x``."""
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    x, y, out, ax, ay, bx, by, into, to, end = numbers
    t = np.linspace(0.0, 1.0, 40)[:, None]
    corners = np.array([[out, y], [ax, ay], [bx, by], [into, to]])
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    straight = [(float(v), y) for v in np.linspace(x, out, 40)]
    straight += [(float(v), to) for v in np.linspace(into, end, 40)]
    return [*straight, *map(tuple, (weights @ corners).tolist())]


def behind(svg: str) -> int:
    """Return how many lines of a picture pass behind a box."""
    boxes = frames(svg)
    paths = [p.get("d", "") for p in ElementTree.fromstring(svg).iter(f"{SVG}path")]
    assert paths
    return sum(
        any(
            left + 1 < x < right - 1 and top + 1 < y < bottom - 1
            for x, y in points(path)
            for left, top, right, bottom in boxes
        )
        for path in paths
    )


@pytest.mark.parametrize("name", ["skipping", "sums", "sudoku", "explanation", "explained"])
def test_pictures_have_large_texts_colours_of_tokens_and_free_lines(name: str) -> None:
    svg = pictures()[name]
    assert min(float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)) >= 12
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', svg))
    assert colours <= TOKENS | {GREY}
    assert behind(svg) == 0


def test_a_line_behind_a_box_is_seen() -> None:
    """The check finds the line of a picture whose lane was taken away."""
    end = Box("input", "end")
    middle = Box("value", "middle", children=[end])
    svg = drawing(Box("result", "start", children=[middle, end]), "", "")
    assert behind(svg) == 0
    (left, top, right, bottom), *_ = frames(svg)[1:]
    height = (top + bottom) / 2
    bend = f"C{left} {height} {right} {height} {right + 20} {height}"
    line = f"M{left - 40} {height}H{left - 20}{bend}H{right + 40}"
    assert behind(svg.replace("<path ", f'<path d="{line}"/><path ', 1)) == 1


def test_formulas_are_inside_their_rule() -> None:
    rules = parse(
        "number x cuts {1} number y cuts {1} attribute b in {0, 1}\n"
        "if x >= 1 or y < 1 then b in {0}"
    )
    names = [[a.name for a in node.attributes] for node in graph_of(rules)]
    assert names == [["x"], ["y"], ["b"]]
    assert len(rules.rule_sets) > 1  # the formula has a rule set of its own
