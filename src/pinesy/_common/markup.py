"""Snippets of HTML and SVG, for notebooks and pages: all text in them is escaped.

What is not yet `Markup` is text, and `tag` escapes it: names and values that hold markup are shown
as they are. Colours are the reader's (``currentColor``), so that a dark page stays dark, and what
is long is folded with a count, so that nothing of any size fills a page.
"""

import html
import re
from collections.abc import Iterable, Sequence
from itertools import islice

#: Lines and columns that a table shows, and characters of a text in it.
LINES, COLUMNS, TEXT = 20, 20, 300
#: Colours that colour-blind readers tell apart, on white and on black.
BLUE, ORANGE = "#0072b2", "#d55e00"
#: The longest bar, and how thick it is.
BAR_WIDTH, BAR_HEIGHT = 120, 10
#: Characters that XML cannot hold, not even escaped.
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
    return html.escape(_FORBIDDEN.sub("\ufffd", text), quote=False).replace('"', "&quot;")


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
    told = "" if certain is None else f"{certain:.4g}"
    return [name, bar(possible, certain or 0.0), f"{possible:.4g}", *[told] * sure]


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
