"""Snippets of HTML and SVG, for notebooks and pages: all text in them is escaped.

What is not yet `Markup` is text, and `tag` escapes it: names and values that hold markup are shown
as they are. Colours are the reader's (``currentColor``), so that a dark page stays dark, and long
tables and texts are cut, with a count of what is omitted.
"""

import html
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from pinesy._common.reports import ReportTable

#: Lines and columns that a table shows, and characters of a text in it.
LINES, COLUMNS, TEXT = 20, 20, 300
#: Colours that colour-blind readers tell apart, on white and on black.
BLUE, ORANGE = "#0072b2", "#d55e00"
#: What stands in no box of a picture or plot: it is read on white and on black.
GREY = "#767676"
#: The longest bar, and how thick it is.
BAR_WIDTH, BAR_HEIGHT = 120, 10
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: A bar: the value, how possible it is and how certain (None where that cannot be said).
BarLine = tuple[str, float, float | None]


class Markup(str):
    """A text that is HTML or SVG: it is not escaped again."""

    __slots__ = ()

    def __add__(self, other: str) -> "Markup":
        return Markup(str(self) + _inner(other))


def escaped(text: str) -> str:
    r"""Return a text as HTML and XML hold it.

    Examples
    --------
    >>> escaped('a < "b"\x00')
    'a &lt; &quot;b&quot;�'
    """
    return html.escape(without_controls(text), quote=False).replace('"', "&quot;")


def without_controls(text: str) -> str:
    """Return a text, or markup, without the characters that XML cannot hold, not even escaped."""
    return _FORBIDDEN.sub("\ufffd", text)


def _inner(content: str) -> str:
    return content if isinstance(content, Markup) else escaped(content)


def joined(parts: Iterable[str]) -> Markup:
    """Return parts one after the other, those that are no markup escaped."""
    return Markup("".join(map(_inner, parts)))


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
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{settings}>{joined(content)}</{name}>")


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
    """Return a table of all lines, and a head unless it is empty."""
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
    return html_table([cut(title) for title in head[:COLUMNS]], body) + omitted


def report_html(heading: str, tables: Iterable[ReportTable], notes: Iterable[str]) -> Markup:
    """Return the first lines and columns of the tables of a report, for notebooks."""
    parts = [tag("div", heading)] if heading else []
    for part in tables:
        parts += [tag("b", part.title)] if part.title else []
        parts.append(first_lines(part.head, part.lines, part.size, part.noun))
    return joined([*parts, *(tag("div", note) for note in notes)])


def more(count: int, noun: str) -> Markup:
    """Return how many are omitted, if any are."""
    return tag("div", f"... {count:,} more {noun}") if count > 0 else Markup("")


def code(text: str) -> Markup:
    """Return a text in the type of programs."""
    return tag("code", cut(text))


def lines_of(text: str) -> Markup:
    """Return a text with its line breaks, wrapped where it is too wide."""
    return tag("pre", cut(text, 20 * TEXT), style="white-space:pre-wrap")


def folded(summary: str, *content: str) -> Markup:
    """Return content that is shown when its summary is clicked."""
    return tag("details", tag("summary", summary), *content)


def bars(lines: Sequence[BarLine], head: str = "") -> Markup:
    """Return a bar for each value: as long as it is possible, the certain part in orange.

    Examples
    --------
    >>> grass = bars([("wet", 1.0, 0.7), ("dry", 0.3, 0.0)], "grass")
    >>> grass.count("<rect"), "<td" in grass, "0.3" in grass
    (5, True, True)
    """
    has_certainties = any(certain is not None for *_, certain in lines)
    cells = []
    for name, possible, certain in lines:
        necessity = "" if certain is None else f"{certain:.4g}"
        row = [name, bar(possible, certain or 0.0), f"{possible:.4g}"]
        cells.append([*row, *[necessity] * has_certainties])
    return html_table([head, "", "possible", *["certain"] * has_certainties], cells)


def bar(possible: float, certain: float = 0.0) -> Markup:
    """Return one bar as SVG, on a frame of length 1."""
    filled = [
        _rect(1.0, "currentColor", 0.15),
        *([_rect(possible, BLUE, 1.0)] if possible > 0.0 else []),
        *([_rect(certain, ORANGE, 1.0)] if certain > 0.0 else []),
    ]
    size = {"width": BAR_WIDTH, "height": BAR_HEIGHT, "viewBox": f"0 0 {BAR_WIDTH} {BAR_HEIGHT}"}
    return tag("svg", *filled, role="img", aria_label=f"{possible:.4g}", **size)


def _rect(share: float, fill: str, opacity: float) -> Markup:
    width = f"{BAR_WIDTH * min(1.0, share):.1f}"
    return tag("rect", width=width, height=BAR_HEIGHT, fill=fill, fill_opacity=opacity)
