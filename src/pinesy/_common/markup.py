"""Snippets of HTML and SVG, for notebooks and pages: all text in them is escaped.

What is not yet `Markup` is text, and `tag` escapes it: names and values that hold markup are shown
as they are. Colours are the reader's (``currentColor``), so that a dark page stays dark, and what
is long is folded with a count, so that nothing of any size fills a page.
"""

import html
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from pinesy._common.validation import FloatArray

#: Lines and columns that a table shows, and characters of a text in it.
LINES, COLUMNS, TEXT = 20, 20, 300
#: Colours that colour-blind readers tell apart, on white and on black.
BLUE, ORANGE = "#0072b2", "#d55e00"
#: The longest bar, and how thick it is.
BAR_WIDTH, BAR_HEIGHT = 120, 10
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: A bar: the value, how possible it is and how certain (None where that cannot be said).
BarLine = tuple[str, float, float | None]
#: Rows and columns of a matrix that are shown.
SIDE = 12
_ENTRY = "text-align:center;padding:.1em .5em;border:0"
_BRACKETS = (
    "display:inline-table;vertical-align:middle;width:auto;margin:.3em;border-collapse:collapse;"
    "border:solid currentColor;border-width:0 1px;border-radius:.6em"
)


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
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{said}>{joined(content)}</{name}>")


def cut(text: str, most: int = TEXT) -> str:
    """Return a text, or its beginning and how much is left out.

    Examples
    --------
    >>> cut("abcdef", 4), cut("abcdef", 6)
    ('abcd... 2 more characters', 'abcdef')
    """
    if isinstance(text, Markup) or len(text) <= most:
        return text
    return f"{text[:most]}... {len(text) - most:,} more characters"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Markup:
    """Return a table of all lines, and a head unless it is empty."""
    names = [tag("tr", *(_cell("th", name) for name in head))] if any(head) else []
    body = (tag("tr", *(_cell("td", cell) for cell in line)) for line in lines)
    return tag("table", *(tag("thead", row) for row in names), tag("tbody", *body))


def _cell(kind: str, content: str) -> Markup:
    return tag(kind, content, style="text-align:left;padding:.2em 1em .2em 0")


def first_lines(
    head: Sequence[str], lines: Iterable[Sequence[str]], total: int, what: str
) -> Markup:
    """Return the first of `total` lines as a table, and how much is left out.

    Examples
    --------
    >>> found = first_lines(["rule"], ([str(n)] for n in range(1000)), 1000, "rules")
    >>> found.count("<tr>"), found[-29:]
    (21, '<div>... 980 more rules</div>')
    """
    shown = [[cut(cell) for cell in line[:COLUMNS]] for line in islice(lines, LINES)]
    left = more(total - len(shown), what) + more(len(head) - COLUMNS, "columns")
    return table([cut(name) for name in head[:COLUMNS]], shown) + left


def more(count: int, what: str) -> Markup:
    """Say how much is left out, if anything is."""
    return tag("div", f"... {count:,} more {what}") if count > 0 else Markup("")


def code(text: str) -> Markup:
    """Return a text in the type of programs."""
    return tag("code", cut(text))


def lines_of(text: str) -> Markup:
    """Return a text with its line breaks, wrapped where it is too wide."""
    return tag("pre", cut(text, 20 * TEXT), style="white-space:pre-wrap")


def text_html(thing: object) -> Markup:
    """Return a thing as it is printed."""
    return lines_of(str(thing))


def counted(count: int, what: str, word: str = "") -> str:
    """Return a number with what it counts, and a word between them.

    Examples
    --------
    >>> counted(1, "rule"), counted(2000, "rule", "more ")
    ('1 rule', '2,000 more rules')
    """
    return f"{count:,} {word}{what}{'s' * (count != 1)}"


def folded(summary: str, *content: str) -> Markup:
    """Return content that is shown when its summary is clicked."""
    return tag("details", tag("summary", summary), *content)


def bars(lines: Sequence[BarLine], head: str = "") -> Markup:
    """Return a bar for each value: as long as it is possible, the certain part in orange.

    Examples
    --------
    >>> found = bars([("wet", 1.0, 0.7), ("dry", 0.3, 0.0)], "grass")
    >>> found.count("<rect"), "<td" in found, "0.3" in found
    (5, True, True)
    """
    sure = any(certain is not None for *_, certain in lines)
    names = [head, "", "possible", *["certain"] * sure]
    return table(names, [_bar_line(*line, sure) for line in lines])


def _bar_line(name: str, possible: float, certain: float | None, sure: bool) -> list[str]:
    necessity = "" if certain is None else f"{certain:.4g}"
    return [name, bar(possible, certain or 0.0), f"{possible:.4g}", *[necessity] * sure]


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


def matrix_html(rows: Sequence[Sequence[str]], size: tuple[int, int]) -> Markup:
    """Return the first rows and columns of a matrix between brackets; dots stand for the rest."""
    shown = [[*row[:SIDE], *["⋯"] * (size[1] > SIDE)] for row in rows[:SIDE]]
    shown += [["⋮"] * len(shown[0])] * (size[0] > SIDE)
    lines = [tag("tr", *(tag("td", entry, style=_ENTRY) for entry in row)) for row in shown]
    return tag("table", tag("tbody", *lines), style=_BRACKETS)


def product_html(
    left: Sequence[str], a: FloatArray, right: Sequence[str], size: tuple[int, int], sign: str
) -> Markup:
    """Return ``left = A sign right``: vectors and a matrix, of which the first entries are shown.

    Parameters
    ----------
    left, a, right : all of them, or as much as is shown (`SIDE`)
    size : of the whole matrix
    sign : of the product

    Examples
    --------
    >>> import numpy as np
    >>> html = product_html(["y"], np.array([[0.25, 1.0]]), ["s", "r"], (1, 2), "□")
    >>> html.count("<table"), "0.25" in html
    (3, True)
    """
    rows, columns = size
    parts = (
        matrix_html([[entry] for entry in left], (rows, 1)),
        Markup(" = "),
        matrix_html([[f"{x:.4g}" for x in row[:SIDE]] for row in a[:SIDE]], size),
        tag("span", f" {sign} "),
        matrix_html([[entry] for entry in right], (columns, 1)),
    )
    left_out = more(rows - SIDE, "rows") + more(columns - SIDE, "columns")
    return tag("div", *parts, style="white-space:nowrap;overflow-x:auto") + left_out


def system_html(
    system: Markup,
    consistent: bool,
    distance: float,
    solutions: dict[str, FloatArray],
    names: Sequence[str],
) -> Markup:
    """Return a system, whether it has solutions, and some; the names of unknowns take turns."""
    n = len(next(iter(solutions.values())))
    lines = (
        [
            f"{names[i % len(names)]}_{i // len(names) + 1}",
            *(f"{v[i]:.4g}" for v in solutions.values()),
        ]
        for i in range(n)
    )
    said = (
        "It is consistent."
        if consistent
        else f"It has no solution; its distance is {distance:.4g}."
    )
    return system + tag("div", said) + first_lines(["", *solutions], lines, n, "unknowns")
