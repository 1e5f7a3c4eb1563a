"""Boxes and the lines between them as SVG, each box as large as the text that it holds.

A picture has no ground of its own: boxes are light with dark text, and what stands in no box is
grey, so that it is read on a dark page, too.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar

from pinesy._common.markup import Markup, escaped
from pinesy._common.text_widths import text_width, wrapped

BoxKind = Literal[
    "result", "value", "rival", "possible", "certain", "note", "more", "input", "hidden"
]

#: Around the picture, and within a box.
MARGIN, PAD = 16.0, 8.0
#: Between columns, and between boxes of a column.
GAPS = (44.0, 12.0)
#: Set on the picture alone, not by a style sheet: that would reach the page around it.
FONT = "system-ui, 'DejaVu Sans', Verdana, Arial, sans-serif"
#: The height of a line, in parts of the font's size.
LEADING = 1.35
#: The widest that a text may be, and the lines of a heading and of any other text.
WIDTH, HEADING_LINES, TEXT_LINES = 215.0, 3, 4
#: Fill and edge of each kind of box.
COLOURS = {
    "result": ("#e4f1e4", "#2e6b34"),
    "value": ("#f5f5f2", "#444444"),
    "rival": ("#f5f5f2", "#777777"),
    "possible": ("#e7f0fa", "#2563a8"),
    "certain": ("#fdf0e2", "#b4540a"),
    "note": ("#f9f9f9", "#999999"),
    "more": ("#f9f9f9", "#999999"),
    "input": ("#fffdf0", "#8a6d00"),
}
#: Boxes whose edge has the colour of the lines: to a rule and on from it, to rivals, to the rest.
COLOURED = ("possible", "certain", "rival", "more", "note")
#: What stands in no box: it is read on white and on black.
GREY = "#767676"


@dataclass(eq=False)
class Box:
    """A box of a picture.

    Attributes
    ----------
    kind : ``"result"``; ``"value"`` and ``"rival"``: inferred values; ``"possible"`` and
        ``"certain"``: a rule whose premise sets the degree of a value; ``"note"``: what else sets
        it; ``"more"``: something is left out; ``"input"``: a perceived attribute; ``"hidden"``:
        not drawn, it only leads to others
    heading, texts : what stands in it
    tooltip : the whole text, where the box may show less
    children : the boxes it leads to
    """

    kind: BoxKind
    heading: str
    texts: tuple[str, ...] = ()
    tooltip: str = ""
    children: "list[Box]" = field(default_factory=list)


class Font(NamedTuple):
    """A size, how much wider letters are than `text_width` says, and attributes."""

    size: float
    stretch: float
    look: str


#: Bold letters are wider, in common fonts by no more than an eighth.
BOLD = Font(12.0, 1.125, 'font-weight="bold" fill="#1b1b1b"')
PLAIN = Font(11.0, 1.0, 'fill="#444444"')
MARKED = Font(11.0, 1.125, 'font-weight="bold" fill="#444444"')
LEGEND = Font(11.0, 1.0, f'fill="{GREY}"')


class Sketch(NamedTuple):
    """A box as it is drawn from its upper left corner, and its size."""

    width: float
    height: float
    svg: str


#: For each box the upper left corner, and how it is drawn.
Placed = Mapping[Box, tuple[float, float, Sketch]]


def behind(root: Box) -> list[Box]:
    """Return a box and all that it leads to, nearest first."""
    found = dict.fromkeys([root])
    waiting = [root]
    for box in waiting:  # grows on the way
        waiting += [child for child in dict.fromkeys(box.children) if child not in found]
        found.update(dict.fromkeys(box.children))
    return list(found)


def drawing(
    drawn: Mapping[Box, Sketch],
    title: str,
    description: str,
    legend: Sequence[str] = (),
    mirrored: bool = False,
) -> Markup:
    """Return boxes and the lines between them as one SVG.

    Parameters
    ----------
    drawn : all boxes, the first of which leads to all others
    title, description : what is shown, for those who do not see it
    legend : lines below
    mirrored : whether the first box is on the right, and not on the left
    """
    places = tidy({b: b.children for b in drawn}, {b: s[:2] for b, s in drawn.items()}, GAPS)
    right = max(x + drawn[box].width for box, (x, _) in places.items())
    placed = {
        box: (right - x - drawn[box].width if mirrored else x, y, drawn[box])
        for box, (x, y) in places.items()
        if box.kind != "hidden"
    }
    return Markup("\n".join(_page(placed, title, description, legend)))


def _page(placed: Placed, title: str, description: str, legend: Sequence[str]) -> Iterator[str]:
    leading = 1.5 * PLAIN.size
    bottom = max(y + drawn.height for _, y, drawn in placed.values()) + 2 * MARGIN
    right = max(x + drawn.width for x, _, drawn in placed.values())
    width = max([right, *(text_width(line, PLAIN.size) for line in legend)]) + 2 * MARGIN
    height = bottom + (len(legend) * leading + MARGIN if legend else 0.0)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
    yield f"<title>{escaped(' '.join(title.split()))}</title>"
    yield f"<desc>{escaped(description)}</desc>"
    yield f'<g transform="translate({MARGIN:g} {MARGIN:g})">'
    yield from (_line(b, c, placed) for b in placed for c in b.children)
    for x, y, drawn in placed.values():
        yield f'<g transform="translate({x:.1f} {y:.1f})">{drawn.svg}</g>'
    yield "</g>"
    for number, line in enumerate(legend, 1):
        yield text_svg(line, MARGIN, bottom + number * leading, LEGEND)
    yield "</svg>"


def _line(box: Box, child: Box, placed: Placed) -> str:
    """Return the line between the edges of two boxes that face each other."""
    (left, top, one), (end, child_top, other) = placed[box], placed[child]
    y, to = top + one.height / 2, child_top + other.height / 2
    x, end = (left + one.width, end) if end > left else (left, end + other.width)
    bend = max(-3 * GAPS[0], min((end - x) / 2, 3 * GAPS[0]))
    bends = f"{x + bend:.1f} {y:.1f} {end - bend:.1f} {to:.1f}"
    path = f"M{x:.1f} {y:.1f}C{bends} {end:.1f} {to:.1f}"
    kind = child.kind if child.kind in COLOURED else box.kind
    dashes = ' stroke-dasharray="5 3"' if child.kind in ("rival", "more") else ""
    colour = COLOURS[kind][1] if kind in COLOURED else GREY
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>'


def sketch(box: Box, below: Sketch | None = None, tooltip: str = "") -> Sketch:
    """Draw a box, with something below its text."""
    if box.kind == "hidden":
        return Sketch(0.0, 0.0, "")
    lines = list(_lines(box))
    width = max(text_width(text, font.size) * font.stretch for text, font in lines)
    height = sum(font.size * LEADING for _, font in lines)
    inside = list(_texts(lines))
    if below is not None:
        inside.append(f'<g transform="translate(0 {height + 4.0:.1f})">{below.svg}</g>')
        width, height = max(width, below.width), height + 4.0 + below.height
    return _framed(box, tooltip or box.tooltip or box.heading, inside, width, height)


def _lines(box: Box) -> Iterator[tuple[str, Font]]:
    """Yield the lines of text of a box."""
    heading = PLAIN if box.kind in ("note", "more") and not box.texts else BOLD
    room = WIDTH / heading.stretch
    for line in wrapped(box.heading, room, heading.size, HEADING_LINES):
        yield line, heading
    for text in box.texts:
        for line in wrapped(text, WIDTH, PLAIN.size, TEXT_LINES):
            yield line, PLAIN


def _framed(box: Box, tooltip: str, inside: Iterable[str], width: float, height: float) -> Sketch:
    width, height = width + 2 * PAD, height + 2 * PAD
    fill, edge = COLOURS[box.kind]
    dashes = ' stroke-dasharray="5 3"' if box.kind in ("rival", "more") else ""
    corner = 10 if box.kind in ("possible", "certain", "note") else 3
    frame = (
        f'<rect width="{width:.1f}" height="{height:.1f}" rx="{corner}" fill="{fill}" '
        f'stroke="{edge}" stroke-width="{2 if box.kind == "result" else 1}"{dashes}/>'
    )
    moved = f'<g transform="translate({PAD:g} {PAD:g})">{"".join(inside)}</g>'
    return Sketch(width, height, f"<title>{escaped(tooltip)}</title>{frame}{moved}")


def _texts(lines: Sequence[tuple[str, Font]]) -> Iterator[str]:
    y = 0.0
    for text, font in lines:
        y += font.size * LEADING
        # The baseline, above the foot of the line by what letters reach below it.
        yield text_svg(text, 0.0, y - 0.35 * font.size, font)


def text_svg(text: str, x: float, y: float, font: Font) -> str:
    """Return a line of text; `y` is its baseline."""
    where = f'x="{x:.1f}" y="{y:.1f}" font-size="{font.size:g}" {font.look}'
    return f"<text {where}>{escaped(text)}</text>"


K = TypeVar("K", bound=Hashable)


def tidy(
    children: Mapping[K, Sequence[K]],
    sizes: Mapping[K, tuple[float, float]],
    gaps: tuple[float, float],
) -> dict[K, tuple[float, float]]:
    """Return where boxes stand: the upper left corner of each.

    Parameters
    ----------
    children : for each box those that it leads to, from top to bottom; the first leads to all
    sizes : the width and height of each
    gaps : the space between columns, and between boxes of a column

    Examples
    --------
    >>> tidy({"a": "bc", "b": "", "c": ""}, dict.fromkeys("abc", (9, 4)), (5.0, 2.0))
    {'a': (0.0, 3.0), 'c': (14.0, 6.0), 'b': (14.0, 0.0)}
    """
    order = list(TopologicalSorter(children).static_order())[::-1]  # after all that lead to it
    columns = dict.fromkeys(order, 0)
    for box in order:
        for child in children[box]:
            columns[child] = max(columns[child], columns[box] + 1)
    widths = [0.0] * (max(columns.values()) + 1)
    for box, column in columns.items():
        widths[column] = max(widths[column], sizes[box][0])
    lefts = list(accumulate((width + gaps[0] for width in widths[:-1]), initial=0.0))
    tops = _tops(_spanning(children), columns, sizes, gaps[1])
    least = min(tops.values())
    return {b: (lefts[columns[b]], tops[b] - least) for b in order}


def _spanning(children: Mapping[K, Sequence[K]]) -> dict[K, list[K]]:
    """Return the tree in which each box belongs to the first that leads to it; children last."""
    root = next(iter(children))
    tree: dict[K, list[K]] = {root: []}
    waiting = [root]
    while waiting:
        box = waiting.pop()
        tree[box] = [c for c in dict.fromkeys(children[box]) if c not in tree]
        tree.update((c, []) for c in tree[box])
        waiting.extend(reversed(tree[box]))
    return tree


def _tops(
    tree: Mapping[K, Sequence[K]],
    columns: Mapping[K, int],
    sizes: Mapping[K, tuple[float, float]],
    gap: float,
) -> dict[K, float]:
    """Return the upper edges: children first, then each beside their middle.

    Where a box does not fit there, it moves down with all that hangs on it: these are the boxes
    placed last, so below them all is free.
    """
    tops: dict[K, float] = {}
    free: dict[int, float] = {}  # of each column, where the next box may begin
    order = _children_first(tree)
    hanging: dict[K, int] = {}  # how many boxes, with the box itself
    for number, box in enumerate(order, 1):
        own, least = tree[box], free.get(columns[box], 0.0)
        hanging[box] = 1 + sum(hanging[child] for child in own)
        ends = [tops[c] + sizes[c][1] / 2 for c in (own[0], own[-1])] if own else []
        tops[box] = sum(ends) / 2 - sizes[box][1] / 2 if ends else least
        shift = max(0.0, least - tops[box])
        for one in order[number - hanging[box] : number] if shift else [box]:
            tops[one] += shift
            bottom = tops[one] + sizes[one][1] + gap
            free[columns[one]] = max(free.get(columns[one], 0.0), bottom)
    return tops


def _children_first(tree: Mapping[K, Sequence[K]]) -> list[K]:
    """Return the boxes so that each comes right after all that hangs on it."""
    order: list[K] = []
    waiting = [next(iter(tree))]
    while waiting:
        box = waiting.pop()
        order.append(box)
        waiting.extend(tree[box])
    return order[::-1]
