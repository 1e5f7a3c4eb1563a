"""Snippets of HTML: text stays text, and long things are cut with a count."""

from hypothesis import given
from hypothesis import strategies as st

from common.html_reading import Snippet
from pinesy.display.markup import (
    Markup,
    bars,
    cut,
    escape_text,
    first_lines,
    html_table,
    join_markup,
    tag,
)

HOSTILE = """<script>alert('1')</script>"&amp;<!--]]>\x00\ud800</table>"""


@given(st.text(max_size=30))
def test_texts_are_read_back_whatever_they_are(text: str) -> None:
    found = Snippet(tag("p", text, aria_label=text))
    shown = text.replace("\r\n", "\n").replace("\r", "\n")  # as a parser of HTML may read it
    assert found.tags == ["p"]
    assert "".join(c for c in found.text if c not in "\r\n�") == "".join(
        c for c in shown if c not in "\r\n�" and escape_text(c) != "�"
    )


def test_hostile_texts_make_no_elements() -> None:
    found = Snippet(html_table([HOSTILE], [[HOSTILE, tag("b", HOSTILE)]]))
    assert found.tags == ["table", "thead", "tr", "th", "tbody", "tr", "td", "td", "b"]
    assert found.text.count("<script>alert('1')</script>\"&amp;<!--]]>") == 3


def test_what_is_joined_is_escaped_once() -> None:
    assert join_markup(["<", Markup("<b></b>")]) == "&lt;<b></b>"
    assert Markup("<b></b>") + "<" == "<b></b>&lt;"
    assert Markup("<b></b>") + Markup("<i></i>") == "<b></b><i></i>"
    assert type(Markup("a") + "b") is Markup


def test_long_tables_and_texts_are_cut_with_a_count() -> None:
    lines = [["x" * 1000] * 30] * 1000
    html = first_lines([str(i) for i in range(30)], lines, 1000, "rules")
    assert len(html) < 300_000
    assert "... 980 more rules" in html
    assert "... 10 more columns" in html
    assert "... 700 more characters" in html
    assert cut("abc") == "abc"


def test_bars_have_the_length_of_their_degrees() -> None:
    html = bars([("a", 1.0, 0.25), ("b", 0.75, 0.0), ("c", 0.0, 0.0)], "x")
    assert [html.count(f'width="{width}"') for width in ("119.0", "29.0", "89.0")] == [4, 1, 1]
    assert "certain" in html
    assert "certain" not in bars([("a", 0.5, None)])
