"""Pictures of boxes and the lines between them, laid out and written as SVG.

A picture is laid out from left to right, in columns: a box stands in a column to the right of all
its parents, beside the middle of its children, and no two boxes overlap; each is as large as its
content. Lines run between the columns only; one that skips a column has a
lane of its own there, so that none passes behind a box. A picture has no background: boxes are
light with dark text, and all other text is grey, so that it can be read on a dark page, too.
Colours are those of the design's tokens. It has no style sheet, which would change the page around
it.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from html import escape
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar

from pinesy.display.markup import (
    CERTAIN,
    DECIDES,
    GREY,
    POSSIBLE,
    POSSIBLE_FILL,
    Markup,
    without_controls,
)

BoxKind = Literal[
    "result", "value", "rival", "possible", "certain", "note", "more", "input", "hidden", "lane"
]
K = TypeVar("K", bound=Hashable)

#: Widths of letters relative to the size of the font: those of the widest common fonts, or more.
_WIDTHS = (
    dict.fromkeys("ijl|!'.,:;", 0.41)
    | dict.fromkeys(" ()[]frtI-/\\", 0.46)
    | dict.fromkeys("mMW@%", 1.02)
    | dict.fromkeys("w", 0.86)
)
#: The padding of a box; the gaps between columns, and between boxes of a column.
PAD, GAPS = 8.0, (44.0, 12.0)
#: The height of a line relative to the size of the font.
LEADING = 1.35
#: The maximum width of a text, and the maximum number of lines of a heading and of other texts.
WIDTH, HEADING_LINES, TEXT_LINES = 215.0, 3, 4
#: Bars: the maximum width of a name, the widths of a bar of degree 1 and of the number, the height.
NAME, LONGEST, DEGREE, BAR_LINE = 142.0, 60.0, 48.0, 17.0
#: The side of an image.
IMAGE = 64.0
#: The height of a lane, in which a line crosses a column.
LANE = 6.0
#: The margin around the picture.
MARGIN = 16.0
FAMILY = "system-ui, 'DejaVu Sans', Verdana, Arial, sans-serif"
#: Fill, edge and its width of each kind of box: orange is the one thing to see, light blue and
#: outlined is possible, dark blue and thick is certain.
COLOURS = {
    "result": ("#fff0df", DECIDES, 2.5),
    "value": ("#ffffff", "#848e9b", 1.0),
    "rival": ("#ffffff", "#6e6a5e", 1.0),
    "possible": (POSSIBLE_FILL, POSSIBLE, 1.0),
    "certain": ("#ffffff", CERTAIN, 2.5),
    "note": ("#f3f1ec", "#6e6a5e", 1.0),
    "more": ("#f3f1ec", "#6e6a5e", 1.0),
    "input": ("#ffffff", "#848e9b", 1.0),
}
#: Lines to these kinds of boxes: colour, width and dashes; other lines are grey.
LINES = {
    "possible": (POSSIBLE, 1.5, "6 4"),
    "certain": (CERTAIN, 2.0, ""),
    "rival": (GREY, 1.5, "2 3"),
    "more": (GREY, 1.5, "2 3"),
}
#: The tokens of what is outside of boxes: a page that defines them may be dark.
TOKENS = {POSSIBLE: "--pn-possible", CERTAIN: "--pn-certain", GREY: "--pn-quiet"}
#: Kinds of boxes with a dashed edge.
DASHED = ("rival", "more")


class Font(NamedTuple):
    """The size of letters, their colour, and whether they are bold."""

    size: float
    colour: str = "#151a21"
    bold: bool = False

    @property
    def em(self) -> float:
        """The unit of widths: in common fonts bold letters are wider by an eighth at most."""
        return self.size * 1.125 if self.bold else self.size


HEADING, PLAIN, MARKED = Font(13.0, bold=True), Font(12.0), Font(12.0, bold=True)
LEGEND = Font(12.0, GREY)


class DegreeBar(NamedTuple):
    """A bar of a box: the name of a value, its degree, the text of it, and whether it is marked."""

    name: str
    degree: float
    text: str
    marked: bool


@dataclass(eq=False)
class Box:
    """A box of a picture.

    Attributes
    ----------
    kind : ``"result"``; ``"value"`` and ``"rival"``: inferred values; ``"possible"`` and
        ``"certain"``: a rule whose premise sets the degree of a value; ``"note"``: a parameter or
        a remark; ``"more"``: something is omitted; ``"input"``: a perceived attribute;
        ``"hidden"``: not drawn, it only has children; ``"lane"``: where a line crosses a column,
        its heading is the kind of the box that the line comes from
    heading, texts : the content
    tooltip : the complete text, where the box may show less
    children : the boxes that lines lead to
    bars, rest : bars below the text, and a note on omitted bars
    image : the data URI of an image beside the bars, or an empty text
    """

    kind: BoxKind
    heading: str
    texts: tuple[str, ...] = ()
    tooltip: str = ""
    children: "list[Box]" = field(default_factory=list)
    bars: Sequence[DegreeBar] = ()
    rest: str = ""
    image: str = ""


class TextLine(NamedTuple):
    """A line of text; `y` is its baseline."""

    text: str
    x: float
    y: float
    font: Font


@dataclass(eq=False)
class PlacedBox:
    """A box with its position, size and content; the content is relative to its padding.

    `left` and `right` are the edges of its column. Bars begin at `bars_left` and `bars_top`, one
    each `BAR_LINE`; the image at `bars_top`.
    """

    box: Box
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    left: float = 0.0
    right: float = 0.0
    lines: list[TextLine] = field(default_factory=list)
    bars_left: float = 0.0
    bars_top: float = 0.0


# --- SVG ---------------------------------------------------------------------------------------


def drawing(
    root: Box, title: str, description: str, legend: Sequence[str] = (), mirrored: bool = False
) -> Markup:
    """Return boxes and the lines between them as one SVG.

    Parameters
    ----------
    root : the box from which lines lead to all others
    title, description : texts for screen readers
    legend : lines below the boxes
    mirrored : whether the root is on the right, and all inputs on the left
    """
    placed = lay_out(root, mirrored)
    leading = 1.5 * LEGEND.size
    bottom = max(layout.y + layout.height for layout in placed.values()) + 2 * MARGIN
    right = max(layout.x + layout.width for layout in placed.values())
    width = max([right, *(text_width(line, LEGEND) for line in legend)]) + 2 * MARGIN
    height = bottom + (len(legend) * leading + MARGIN if legend else 0.0)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FAMILY}">',
        f"<title>{escape(' '.join(title.split()))}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">',
        *(_line_svg(layout, placed[c]) for layout in placed.values() for c in layout.box.children),
    ]
    for layout in placed.values():
        if layout.box.kind == "lane":
            continue
        parts = "".join(_box_svg(layout))
        lines.append(f'<g transform="translate({layout.x:.1f} {layout.y:.1f})">{parts}</g></g>')
    lines.append("</g>")
    for number, text in enumerate(legend, 1):
        lines.append(_text_svg(TextLine(text, MARGIN, bottom + number * leading, LEGEND)))
    return Markup(without_controls("\n".join([*lines, "</svg>"])))


def _line_svg(start: PlacedBox, target: PlacedBox) -> str:
    """Return the line between the edges of two boxes that face each other.

    It bends between the columns; beside narrower boxes of a column it is straight.
    """
    y, to = start.y + start.height / 2, target.y + target.height / 2
    x, out, into, end = start.x, start.left, target.right, target.x + target.width
    if target.left > start.left:
        x, out, into, end = start.x + start.width, start.right, target.left, target.x
    bend = (into - out) / 2
    curve = f"C{out + bend:.1f} {y:.1f} {into - bend:.1f} {to:.1f} {into:.1f} {to:.1f}"
    path = f"M{x:.1f} {y:.1f}H{out:.1f}{curve}H{end:.1f}"
    target_kind = _line_target(target.box).kind
    start_kind = start.box.heading if start.box.kind == "lane" else start.box.kind
    kind = target_kind if target_kind in LINES else start_kind
    colour, width, dashes = LINES.get(kind, (GREY, 1.5, ""))
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    look = f'stroke="{colour}" style="stroke:var({TOKENS[colour]},{colour})"'
    return f'<path d="{path}" fill="none" {look} stroke-width="{width:g}"{dash}/>'


def _line_target(box: Box) -> Box:
    """Return the box that a line leads to, also through lanes."""
    while box.kind == "lane":
        [box] = box.children
    return box


def _box_svg(layout: PlacedBox) -> Iterator[str]:
    """Yield the frame of a box, its texts, bars and image."""
    box = layout.box
    fill, edge, width = COLOURS[box.kind]
    dash = ' stroke-dasharray="5 3"' * (box.kind in DASHED)
    corner = 10 if box.kind in ("possible", "certain", "note") else 3
    yield (
        f"<title>{escape(box.tooltip or box.heading)}</title>"
        f'<rect width="{layout.width:.1f}" height="{layout.height:.1f}" rx="{corner}" '
        f'fill="{fill}" stroke="{edge}" stroke-width="{width:g}"{dash}/>'
        f'<g transform="translate({PAD:g} {PAD:g})">'
    )
    yield from map(_text_svg, layout.lines)
    for index, bar in enumerate(box.bars):
        y = layout.bars_top + index * BAR_LINE + 2.5
        yield (
            f'<rect x="{layout.bars_left:.1f}" y="{y:.1f}" '
            f'width="{max(1.0, LONGEST * bar.degree):.1f}" height="{BAR_LINE - 5.0:g}" '
            f'fill="{CERTAIN if bar.marked else POSSIBLE_FILL}" '
            f'stroke="{CERTAIN if bar.marked else POSSIBLE}"/>'
        )
    if box.image:
        yield (
            f'<image x="0" y="{layout.bars_top:.1f}" width="{IMAGE:g}" height="{IMAGE:g}" '
            f'style="image-rendering:pixelated" aria-label="{escape(box.heading)}" '
            f'href="{box.image}"/>'
        )


def _text_svg(line: TextLine) -> str:
    font = line.font
    look = f'font-size="{font.size:g}" fill="{font.colour}"' + ' font-weight="bold"' * font.bold
    if font.colour in TOKENS:
        look += f' style="fill:var({TOKENS[font.colour]},{font.colour})"'
    return f'<text x="{line.x:.1f}" y="{line.y:.1f}" {look}>{escape(line.text)}</text>'


# --- layout ------------------------------------------------------------------------------------


def lay_out(root: Box, mirrored: bool) -> dict[Box, PlacedBox]:
    """Return the layout of a box and of all its descendants, nearest first, without hidden ones.

    `mirrored` pictures have the root on the right, and all inputs on the left. Boxes get lanes as
    children where lines skip columns.
    """
    boxes = dict.fromkeys([root])
    queue = [root]
    for box in queue:  # grows in the loop
        queue += [child for child in dict.fromkeys(box.children) if child not in boxes]
        boxes.update(dict.fromkeys(box.children))
    lanes = _with_lanes({box: list(dict.fromkeys(box.children)) for box in boxes}, mirrored)
    for box, children in lanes.items():
        box.children = children
    layouts = {box: _measure(box) for box in lanes}
    sizes = {box: (layout.width, layout.height) for box, layout in layouts.items()}
    corners = box_corners(lanes, sizes, GAPS)
    rights: dict[float, float] = {}  # of columns, by where they begin
    for box, (x, _) in corners.items():
        rights[x] = max(rights.get(x, x), x + sizes[box][0])
    end = max(rights.values())
    for box, layout in layouts.items():
        x, layout.y = corners[box]
        layout.x, layout.left, layout.right = x, x, rights[x]
        if mirrored:
            layout.x = end - x - layout.width
            layout.left, layout.right = end - rights[x], end - x
    return {box: layout for box, layout in layouts.items() if box.kind != "hidden"}


def _with_lanes(children: Mapping[Box, Sequence[Box]], inputs_last: bool) -> dict[Box, list[Box]]:
    """Return a graph whose lines go from a column to the next one, through lanes.

    All lines to a box share its lanes. With `inputs_last` inputs stand in the last column.
    """
    columns = box_columns(children)
    if inputs_last:
        last = max(columns.values())
        columns |= {box: last for box in columns if box.kind == "input" and not children[box]}
    graph: dict[Box, list[Box]] = {box: [] for box in children}
    lanes: dict[tuple[Box, int], Box] = {}
    for box, targets in children.items():
        for target in targets:
            following = target
            for column in range(columns[target] - 1, columns[box], -1):
                if (target, column) not in lanes:
                    lanes[target, column] = Box("lane", box.kind)
                    graph[lanes[target, column]] = [following]
                following = lanes[target, column]
            graph[box].append(following)
    for lane in lanes.values():
        lane.children = graph[lane]
    return graph


def _measure(box: Box) -> PlacedBox:
    """Return a box with its size, and the positions of its texts, bars and image."""
    layout = PlacedBox(box)
    if box.kind in ("hidden", "lane"):
        layout.height = LANE if box.kind == "lane" else 0.0
        return layout
    heading = PLAIN if box.kind in ("note", "more") and not box.texts else HEADING
    lines = [(line, heading) for line in wrap(box.heading, WIDTH, heading, HEADING_LINES)]
    for text in box.texts:
        lines += [(line, PLAIN) for line in wrap(text, WIDTH, PLAIN, TEXT_LINES)]
    width = max(text_width(*line) for line in lines)
    height = 0.0
    for text, font in lines:
        height += font.size * LEADING
        # The baseline is above the bottom of the line by the depth of letters such as g.
        layout.lines.append(TextLine(text, 0.0, height - 0.35 * font.size, font))
    if box.bars:
        layout.bars_top = height + 4.0
        width = max(width, _add_bars(layout))
        height += 4.0 + max(BAR_LINE * (len(box.bars) + bool(box.rest)), IMAGE * bool(box.image))
    layout.width, layout.height = width + 2 * PAD, height + 2 * PAD
    return layout


def _add_bars(layout: PlacedBox) -> float:
    """Add the names and degrees of bars, and the note below, to a layout; return their width."""
    bars, note = layout.box.bars, layout.box.rest
    left, y = IMAGE + PAD if layout.box.image else 0.0, layout.bars_top + 11.0
    names = min(max(text_width(bar.name, MARKED) for bar in bars), NAME)
    layout.bars_left = left + names + 8.0
    for bar in bars:
        font = MARKED if bar.marked else PLAIN
        layout.lines.append(TextLine(shorten(bar.name, names, font), left, y, font))
        layout.lines.append(TextLine(bar.text, layout.bars_left + LONGEST + 5.0, y, PLAIN))
        y += BAR_LINE
    layout.lines += [TextLine(note, left, y, PLAIN)] if note else []
    return max(layout.bars_left + LONGEST + DEGREE, left + text_width(note, PLAIN))


def text_width(text: str, font: Font) -> float:
    """Return an upper bound of the width of a text in common sans-serif fonts.

    Examples
    --------
    >>> text_width("will", PLAIN) < text_width("moon", PLAIN) < text_width("MOON", PLAIN)
    True
    """
    return font.em * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    """Return an upper bound of the width of a character relative to the size of the font."""
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if not character.isascii():
        return 0.0 if unicodedata.combining(character) else 1.08
    return 0.66 if character.islower() or character.isdigit() else 0.84


def shorten(text: str, width: float, font: Font) -> str:
    """Return the text, or as much of its beginning as fits, with an ellipsis.

    Examples
    --------
    >>> shorten("a long day", 100.0, Font(10.0)), shorten("a long day", 40.0, Font(10.0))
    ('a long day', 'a lon…')
    """
    if text_width(text, font) <= width:
        return text
    end = _count_fitting(text, width - text_width("…", font), font)
    return text[:end].rstrip() + "…"


def _count_fitting(parts: Sequence[str], width: float, font: Font, between: str = "") -> int:
    """Return the number of first parts of a text that fit into a width."""
    counts = range(1, len(parts) + 1)
    return bisect_right(counts, width, key=lambda n: text_width(between.join(parts[:n]), font))


def wrap(text: str, width: float, font: Font, lines: int) -> list[str]:
    """Break a text between words into a maximum number of lines; the last may be shortened.

    Examples
    --------
    >>> wrap("it is a long day", 45.0, Font(10.0), 3)
    ['it is a', 'long', 'day']
    >>> wrap("it is a long day", 45.0, Font(10.0), 2)
    ['it is a', 'long…']
    """
    wrapped_lines: list[str] = []
    remaining = text.split()
    while remaining and len(wrapped_lines) < lines - 1:
        end = _count_fitting(remaining, width, font, " ")
        if end == 0:  # a long word is broken after its last hyphen that fits, else anywhere
            fits = max(1, _count_fitting(remaining[0], width, font))
            fits = remaining[0].rfind("-", 0, fits) + 1 or fits
            remaining[:1] = remaining[0][:fits], remaining[0][fits:]
            end = 1
        wrapped_lines.append(" ".join(remaining[:end]))
        del remaining[:end]
    last = [shorten(" ".join(remaining), width, font)] if remaining else []
    return wrapped_lines + last


def box_corners(
    children: Mapping[K, Sequence[K]],
    sizes: Mapping[K, tuple[float, float]],
    gaps: tuple[float, float],
) -> dict[K, tuple[float, float]]:
    """Return the upper left corner of each box of a graph.

    Parameters
    ----------
    children : for each box its children, from top to bottom; the first box is the root
    sizes : the width and height of each box
    gaps : the space between columns, and between boxes of a column

    Examples
    --------
    >>> box_corners({"a": "bc", "b": "", "c": ""}, dict.fromkeys("abc", (9, 4)), (5.0, 2.0))
    {'a': (0.0, 3.0), 'c': (14.0, 6.0), 'b': (14.0, 0.0)}
    """
    columns = box_columns(children)
    widths = [0.0] * (max(columns.values()) + 1)
    for box, column in columns.items():
        widths[column] = max(widths[column], sizes[box][0])
    lefts = list(accumulate((width + gaps[0] for width in widths[:-1]), initial=0.0))
    tops = _tops(_spanning_tree(children), columns, sizes, gaps[1])
    least = min(tops.values())
    return {b: (lefts[columns[b]], tops[b] - least) for b in columns}


def box_columns(children: Mapping[K, Sequence[K]]) -> dict[K, int]:
    """Return the column of each box, the number of lines on the longest way from the root to it.

    Examples
    --------
    >>> box_columns({"a": "bc", "b": "c", "c": ""})
    {'a': 0, 'b': 1, 'c': 2}
    """
    order = list(TopologicalSorter(children).static_order())[::-1]  # each box after its parents
    columns = dict.fromkeys(order, 0)
    for box in order:
        for child in children[box]:
            columns[child] = max(columns[child], columns[box] + 1)
    return columns


def _spanning_tree(children: Mapping[K, Sequence[K]]) -> dict[K, list[K]]:
    """Return the tree in which each box is a child of its first parent, depth first."""
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
    """Return the upper edges: children first, then each box beside their middle.

    Where a box does not fit there, it moves down with its descendants: these are the boxes placed
    last, so the space below them is free.
    """
    order: list[K] = []  # each box right after its descendants, once it is reversed
    stack = [next(iter(tree))]
    while stack:
        order.append(stack.pop())
        stack.extend(tree[order[-1]])
    order.reverse()
    tops: dict[K, float] = {}
    free: dict[int, float] = {}  # for each column, the least top of the next box
    subtree_sizes: dict[K, int] = {}  # the number of descendants, with the box itself
    for count, box in enumerate(order, 1):
        children, least = tree[box], free.get(columns[box], 0.0)
        subtree_sizes[box] = 1 + sum(subtree_sizes[child] for child in children)
        ends = [tops[c] + sizes[c][1] / 2 for c in (children[0], children[-1])] if children else []
        tops[box] = sum(ends) / 2 - sizes[box][1] / 2 if ends else least
        shift = max(0.0, least - tops[box])
        for moved in order[count - subtree_sizes[box] : count] if shift else [box]:
            tops[moved] += shift
            bottom = tops[moved] + sizes[moved][1] + gap
            free[columns[moved]] = max(free.get(columns[moved], 0.0), bottom)
    return tops
