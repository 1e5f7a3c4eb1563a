"""Fragments of HTML and SVG for notebooks and pages; all text in them is escape_text.

A plain `str` is text, and `tag` escapes it; a `Markup` is HTML or SVG already. Colours are those of
the page (``currentColor``), so that a dark page stays dark. Long tables and texts are cut, with a
count of what is omitted.
"""

import html
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from pinesy._common.reports import ReportTable
from pinesy.rules.outcomes import short_degree

#: The maximum number of lines and columns of a table, and of characters of a text in it.
LINES, COLUMNS, TEXT = 20, 20, 300
#: The colours of the design (its tokens, light): possible, certain, and what decides.
POSSIBLE, POSSIBLE_FILL, CERTAIN, DECIDES = "#3d86b8", "#cfe5f4", "#0b4a77", "#a85000"
#: The colour of text outside of boxes: it can be read on white and on black.
GREY = "#767676"
#: The length of a bar of degree 1, and the height of a bar.
BAR_WIDTH, BAR_HEIGHT = 120, 10
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: A bar: the value, its possibility, and its certainty (None if it has none).
BarLine = tuple[str, float, float | None]


class Markup(str):
    """A string of HTML or SVG: it is not escape_text again."""

    __slots__ = ()

    def __add__(self, other: str) -> "Markup":
        return Markup(str(self) + _escape_unless_markup(other))


def escape_text(text: str) -> str:
    r"""Return a text escape_text for HTML and XML.

    Examples
    --------
    >>> escape_text('a < "b"\x00')
    'a &lt; &quot;b&quot;�'
    """
    return html.escape(without_controls(text), quote=False).replace('"', "&quot;")


def without_controls(text: str) -> str:
    """Return a text, or markup, with a replacement for characters that XML does not allow."""
    return _FORBIDDEN.sub("\ufffd", text)


def _escape_unless_markup(content: str) -> str:
    return content if isinstance(content, Markup) else escape_text(content)


def join_markup(parts: Iterable[str]) -> Markup:
    """Return the concatenation of parts; plain texts are escape_text."""
    return Markup("".join(map(_escape_unless_markup, parts)))


def tag(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; underscores in the names of attributes stand for hyphens.

    Examples
    --------
    >>> tag("b", "1 < 2", class_="a")
    '<b class="a">1 &lt; 2</b>'
    >>> tag("p", tag("b", "x"), "&")
    '<p><b>x</b>&amp;</p>'
    """
    settings = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(str(value))}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{settings}>{join_markup(content)}</{name}>")


def cut(text: str, max_length: int = TEXT) -> str:
    """Return a text, or its beginning and how many characters are omitted.

    Examples
    --------
    >>> cut("abcdef", 4), cut("abcdef", 6)
    ('abcd... 2 more characters', 'abcdef')
    """
    if isinstance(text, Markup) or len(text) <= max_length:
        return text
    return f"{text[:max_length]}... {len(text) - max_length:,} more characters"


def html_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Markup:
    """Return a table of all lines, with a head if it has titles."""
    titles = [tag("tr", *(_cell("th", title) for title in head))] if any(head) else []
    body = (tag("tr", *(_cell("td", cell) for cell in line)) for line in lines)
    return tag("table", *(tag("thead", row) for row in titles), tag("tbody", *body))


def _cell(element: str, content: str) -> Markup:
    return tag(element, content, style="text-align:left;padding:.2em 1em .2em 0")


def first_lines(
    head: Sequence[str], lines: Iterable[Sequence[str]], total: int, noun: str
) -> Markup:
    """Return the first of `total` lines as a table, and how many are omitted.

    Examples
    --------
    >>> rules = first_lines(["rule"], ([str(n)] for n in range(1000)), 1000, "rules")
    >>> rules.count("<tr>"), rules[-29:]
    (21, '<div>... 980 more rules</div>')
    """
    body = [[cut(cell) for cell in line[:COLUMNS]] for line in islice(lines, LINES)]
    omitted = more(total - len(body), noun) + more(len(head) - COLUMNS, "columns")
    table = html_table([cut(title) for title in head[:COLUMNS]], body)
    return tag("div", table, style="overflow-x:auto") + omitted


def report_html(heading: str, tables: Iterable[ReportTable], notes: Iterable[str]) -> Markup:
    """Return a report for notebooks: the first lines and columns of its tables, and notes."""
    parts = [tag("div", heading)] if heading else []
    for part in tables:
        parts += [tag("b", part.title)] if part.title else []
        parts.append(first_lines(part.head, part.lines, part.size, part.noun))
    return join_markup([*parts, *(tag("div", note) for note in notes)])


def more(count: int, noun: str) -> Markup:
    """Return a note on the number of omitted items; empty for 0."""
    return tag("div", f"... {count:,} more {noun}") if count > 0 else Markup("")


def code(text: str) -> Markup:
    """Return a text in a monospace font."""
    return tag("code", cut(text))


def lines_of(text: str) -> Markup:
    """Return a text with its line breaks; long lines are wrapped."""
    return tag("pre", cut(text, 20 * TEXT), style="white-space:pre-wrap")


def details(summary: str, *content: str) -> Markup:
    """Return content that a click on its summary unfolds."""
    return tag("details", tag("summary", summary), *content)


def bars(lines: Sequence[BarLine], head: str = "") -> Markup:
    """Return a table with a bar for each value: outlined its possibility, solid its certainty.

    Examples
    --------
    >>> grass = bars([("wet", 1.0, 0.7), ("dry", 0.3, 0.0)], "grass")
    >>> grass.count("<rect"), "<td" in grass, "0.3" in grass
    (5, True, True)
    """
    has_certainties = any(certain is not None for *_, certain in lines)
    cells = []
    for name, possible, certain in lines:
        necessity = "" if certain is None else short_degree(certain)
        row = [name, bar(possible, certain or 0.0), short_degree(possible)]
        cells.append([*row, *[necessity] * has_certainties])
    table = html_table([head, "", "possible", *["certain"] * has_certainties], cells)
    return tag("div", table, style="overflow-x:auto")


def bar(possible: float, certain: float = 0.0) -> Markup:
    """Return one bar as SVG: outlined what is possible, solid what is certain."""
    outline = {"stroke": f"var(--pn-possible,{POSSIBLE})"}
    filled = [
        _rect(1.0, "var(--pn-sunken,#eceff2)"),
        *(
            [_rect(possible, f"var(--pn-possible-fill,{POSSIBLE_FILL})", **outline)]
            * (possible > 0)
        ),
        *([_rect(certain, f"var(--pn-certain,{CERTAIN})")] * (certain > 0)),
    ]
    size = {"width": BAR_WIDTH, "height": BAR_HEIGHT, "viewBox": f"0 0 {BAR_WIDTH} {BAR_HEIGHT}"}
    return tag("svg", *filled, role="img", aria_label=short_degree(possible), **size)


def _rect(share: float, fill: str, stroke: str = "none") -> Markup:
    width = f"{max(0.0, BAR_WIDTH * min(1.0, share) - 1):.1f}"
    size = {"x": 0.5, "y": 0.5, "width": width, "height": BAR_HEIGHT - 1, "rx": 2}
    return tag("rect", **size, style=f"fill:{fill};stroke:{stroke}")
