"""What notebooks show of every kind of thing: whole, short, safe, and readable in the dark."""

import re
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from common.html_reading import Snippet
from common.things_to_show import EVIL, GRASS, RAIN, RAINS, RULES, SEEN, SKIES, SKY, THINGS, learned
from messages import raises_saying
from pinesy import Attribute, Cascade, DataError, Iff, Possibility, RuleSet, audit
from pinesy.display.cards import tokens
from pinesy.display.cascade_picture import graph_of
from pinesy.learning import evaluate
from pinesy.problems import addition, sudoku
from pinesy.verdicts import short_degree


@pytest.mark.parametrize("name", THINGS)
def test_snippets_are_whole_short_and_run_nothing(name: str) -> None:
    thing = THINGS[name]()
    html = thing._repr_html_()
    found = Snippet(html)
    assert found.text.strip()
    assert len(html) < 100_000
    assert thing._repr_html_() == html
    assert EVIL not in html
    ElementTree.fromstring(f"<all>{html}</all>")  # as strict parsers read it, too
    # On a dark page: grounds and colours are tokens, which have a dark form; pictures have boxes.
    outside = re.sub(r"<svg xmlns.*?</svg>", "", html, flags=re.DOTALL)
    outside = outside.replace(tokens(), "")
    colours = re.findall(r"(?:fill|stroke|background|color):(?!var\(--pn-)([^;}\"]*)", outside)
    assert set(colours) <= {"none"}
    assert 'fill="' not in outside


@pytest.mark.parametrize("name", ["attribute", "rule set", "inference", "audit", "prediction set"])
def test_names_with_markup_are_shown_as_they_are(name: str) -> None:
    assert EVIL in Snippet(THINGS[name]()._repr_html_()).text


def test_degrees_are_shown() -> None:
    pi = RULES.infer(SEEN)[GRASS]
    cells = Snippet(pi._repr_html_()).texts
    assert {short_degree(d) for d in pi.degrees} | {short_degree(pi.certainty)} <= set(cells)
    assert "contradiction 0.5" in Snippet(THINGS["contradiction"]()._repr_html_()).text


def test_large_things_are_folded_with_a_count() -> None:
    many, b = Attribute("many", range(1000)), Attribute("b", range(1000))
    rules = RuleSet([Iff(many.isin({i})).then(b.isin({i})) for i in many.domain])
    assert "... 980 more rules" in rules._repr_html_()
    assert "... 980 more values" in many._repr_html_()
    degrees = np.full(1000, 0.5)
    degrees[:5] = 1.0
    assert "... 980 more values, at most 0.50" in Possibility(many, degrees)._repr_html_()
    assert "... 980 more samples" in Possibility(many, np.eye(1000))._repr_html_()
    assert "... 1,988 more columns" in rules.relation._repr_html_()


# --- the graph of a cascade ----------------------------------------------------------------------


def test_a_node_for_each_attribute_with_what_it_uses() -> None:
    nodes = graph_of(RULES)
    assert [node.attributes for node in nodes] == [[SKY], [RAIN], [GRASS]]
    assert [[one.attributes for one in node.used] for node in nodes] == [
        [],
        [[SKY]],
        [[RAIN], [SKY]],
    ]
    assert [(node.level, node.rules) for node in nodes] == [(0, 0), (1, 3), (2, 3)]


def test_attributes_that_are_alike_share_a_node() -> None:
    nodes = graph_of(sudoku(4))
    assert [(len(node.attributes), node.level) for node in nodes] == [(16, 0), (56, 1), (1, 2)]
    svg = sudoku(4).to_svg()
    assert "56 attributes" in svg
    assert svg == sudoku(4).to_svg()


def test_a_chain_that_is_too_long_is_cut_at_its_beginning() -> None:
    steps = [Attribute(f"a_{i}", [0, 1]) for i in range(101)]
    chain = Cascade(*(RuleSet([Iff(a.isin({1})).then(b.isin({1}))]) for a, b in pairwise(steps)))
    svg = chain.to_svg(nodes=10)
    assert "and 91 attributes more" in svg
    assert "a_100" in svg
    assert "a_90" not in svg
    with raises_saying(DataError, "nodes is 0"):
        chain.to_svg(nodes=0)


# --- plots ---------------------------------------------------------------------------------------

PLOTTED = ["possibility", "possibilities", "contradiction", "learning result", "estimate", "audit",
           "tolerances", "evaluation", "coverage"]  # fmt: skip


@pytest.mark.parametrize("name", PLOTTED)
def test_plots_are_drawn_on_axes_that_are_given_or_new(name: str) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    thing, axes = THINGS[name](), figures.Figure().subplots()
    assert thing.plot(axes) is axes
    assert axes.has_data()
    drawn = thing.plot()
    assert drawn is not axes
    drawn.figure.draw_without_rendering()  # names with $ and markup are no formulas


def test_what_is_plotted() -> None:
    pytest.importorskip("matplotlib")
    pi = Possibility(Attribute("a$x$", ["$y$", 2]), np.array([1.0, 0.25]))
    axes = pi.plot()
    assert [patch.get_width() for patch in axes.patches] == [1.0, 0.25, 0.75, 0.0]
    assert axes.get_title() == r"a\$x\$"
    axes = learned().plot()
    assert axes.lines[0].get_ydata().tolist() == learned().cascade[RAIN].s.tolist()
    axes = audit(RULES, SKIES, RAINS).plot()
    assert axes.lines[0].get_ydata()[0] == audit(RULES, SKIES, RAINS).worst.max()
    report = evaluate(RULES, SKIES, RAINS)
    assert report.plot(kind="coverage").lines[0].get_ydata().tolist() == (
        report.selective_accuracy.tolist()
    )
    with raises_saying(DataError, "kind is 'pie'; it must be one of confusion, coverage"):
        report.plot(kind="pie")  # type: ignore[arg-type]


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with raises_saying(DataError, "pip install 'pinesy[plot]'"):
        learned().plot()


def test_the_picture_in_the_docs_is_the_one_that_is_drawn() -> None:
    path = Path(__file__).parents[2] / "docs" / "pictures" / "cascade-graph.svg"
    assert path.read_text(encoding="utf-8") == addition(2).to_svg() + "\n"
