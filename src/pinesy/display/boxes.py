"""Pictures of boxes and the lines between them, laid out and written as SVG.

A picture is laid out from left to right, in columns: a box stands in a column to the right of all
that lead to it, beside the middle of what it leads to, and no two boxes overlap; each is as large
as its content. A picture has no background: boxes are light with dark text, and what stands in no
box is grey, so that it is read on a dark page, too. Nor has it a style sheet: that would reach the
page around it.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from html import escape
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar

from pinesy.display.markup import GREY, Markup, without_controls

BoxKind = Literal[
    "result", "value", "rival", "possible", "certain", "note", "more", "input", "hidden"
]
K = TypeVar("K", bound=Hashable)

#: Widths of letters in parts of the font's size, no less than those of the widest common fonts.
_WIDTHS = (
    dict.fromkeys("ijl|!'.,:;", 0.41)
    | dict.fromkeys(" ()[]frtI-/\\", 0.46)
    | dict.fromkeys("mMW@%", 1.02)
    | dict.fromkeys("w", 0.86)
)
#: Within a box; between columns, and between boxes of a column.
PAD, GAPS = 8.0, (44.0, 12.0)
#: The height of a line, in parts of the font's size.
LEADING = 1.35
#: The widest that a text may be, and the lines of a heading and of any other text.
WIDTH, HEADING_LINES, TEXT_LINES = 215.0, 3, 4
#: Bars: the width of their names at most, of a bar of 1 and of a degree; of their line the height.
NAME, LONGEST, DEGREE, BAR_LINE = 142.0, 60.0, 48.0, 15.0
#: The side of an image.
IMAGE = 64.0
#: Around the picture.
MARGIN = 16.0
FAMILY = "system-ui, 'DejaVu Sans', Verdana, Arial, sans-serif"
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
DASHES = dict.fromkeys(("rival", "more"), ' stroke-dasharray="5 3"')


class Font(NamedTuple):
    """The size of letters, their colour, and whether they are bold."""

    size: float
    colour: str = "#444444"
    bold: bool = False

    @property
    def em(self) -> float:
        """What widths are parts of: in common fonts bold letters are wider by an eighth at most."""
        return self.size * 1.125 if self.bold else self.size


HEADING, PLAIN, MARKED = Font(12.0, "#1b1b1b", bold=True), Font(11.0), Font(11.0, bold=True)
LEGEND = Font(11.0, GREY)


class DegreeBar(NamedTuple):
    """A bar of a box: a name, its degree, how that is written, and whether it counts."""

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
        ``"certain"``: a rule whose premise sets the degree of a value; ``"note"``: what else sets
        it; ``"more"``: something is omitted; ``"input"``: a perceived attribute; ``"hidden"``:
        not drawn, it only leads to others
    heading, texts : what stands in it
    tooltip : the whole text, where the box may show less
    children : the boxes it leads to
    bars, rest : bars below the text, and a note on those omitted
    image : the address of an image beside the bars, or an empty text
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
    """A box, its place and size in the picture, and what stands in it, from its padding on.

    Bars begin at `bars_left`; they, and the image, at `bars_top`, one each `BAR_LINE`.
    """

    box: Box
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
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
    root : the box that leads to all others
    title, description : what is shown, for those who do not see it
    legend : lines below
    mirrored : whether the first box is on the right, and not on the left
    """
    placed = lay_out(root, mirrored)
    return Markup(without_controls("\n".join(_page(placed, title, description, legend))))


def _page(
    placed: dict[Box, PlacedBox], title: str, description: str, legend: Sequence[str]
) -> Iterator[str]:
    leading = 1.5 * LEGEND.size
    bottom = max(layout.y + layout.height for layout in placed.values()) + 2 * MARGIN
    right = max(layout.x + layout.width for layout in placed.values())
    width = max([right, *(text_width(line, LEGEND) for line in legend)]) + 2 * MARGIN
    height = bottom + (len(legend) * leading + MARGIN if legend else 0.0)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FAMILY}">'
    yield f"<title>{escape(' '.join(title.split()))}</title>"
    yield f"<desc>{escape(description)}</desc>"
    yield f'<g transform="translate({MARGIN:g} {MARGIN:g})">'
    yield from (
        _arrow(layout, placed[c]) for layout in placed.values() for c in layout.box.children
    )
    for layout in placed.values():
        parts = "".join(_parts(layout))
        yield f'<g transform="translate({layout.x:.1f} {layout.y:.1f})">{parts}</g></g>'
    yield "</g>"
    for number, line in enumerate(legend, 1):
        yield _text(TextLine(line, MARGIN, bottom + number * leading, LEGEND))
    yield "</svg>"


def _arrow(start: PlacedBox, target: PlacedBox) -> str:
    """Return the line between the edges of two boxes that face each other."""
    y, to = start.y + start.height / 2, target.y + target.height / 2
    x, end = start.x, target.x + target.width
    if target.x > start.x:
        x, end = start.x + start.width, target.x
    bend = max(-3 * GAPS[0], min((end - x) / 2, 3 * GAPS[0]))
    bends = f"{x + bend:.1f} {y:.1f} {end - bend:.1f} {to:.1f}"
    path = f"M{x:.1f} {y:.1f}C{bends} {end:.1f} {to:.1f}"
    kind = target.box.kind if target.box.kind in COLOURED else start.box.kind
    colour = COLOURS[kind][1] if kind in COLOURED else GREY
    look = f'stroke="{colour}" stroke-width="1.5"{DASHES.get(target.box.kind, "")}'
    return f'<path d="{path}" fill="none" {look}/>'


def _parts(layout: PlacedBox) -> Iterator[str]:
    """Yield the frame of a box, and what stands in it."""
    box = layout.box
    fill, edge = COLOURS[box.kind]
    corner = 10 if box.kind in ("possible", "certain", "note") else 3
    yield (
        f"<title>{escape(box.tooltip or box.heading)}</title>"
        f'<rect width="{layout.width:.1f}" height="{layout.height:.1f}" rx="{corner}" '
        f'fill="{fill}" stroke="{edge}" stroke-width="{2 if box.kind == "result" else 1}"'
        f'{DASHES.get(box.kind, "")}/><g transform="translate({PAD:g} {PAD:g})">'
    )
    yield from map(_text, layout.lines)
    for index, bar in enumerate(box.bars):
        y = layout.bars_top + index * BAR_LINE + 2.5
        yield (
            f'<rect x="{layout.bars_left:.1f}" y="{y:.1f}" '
            f'width="{max(1.0, LONGEST * bar.degree):.1f}" height="{BAR_LINE - 5.0:g}" '
            f'fill="{"#8a6d00" if bar.marked else "#c9c2a3"}"/>'
        )
    if box.image:
        yield (
            f'<image x="0" y="{layout.bars_top:.1f}" width="{IMAGE:g}" height="{IMAGE:g}" '
            f'style="image-rendering:pixelated" aria-label="{escape(box.heading)}" '
            f'href="{box.image}"/>'
        )


def _text(line: TextLine) -> str:
    font = line.font
    look = f'font-size="{font.size:g}" fill="{font.colour}"' + ' font-weight="bold"' * font.bold
    return f'<text x="{line.x:.1f}" y="{line.y:.1f}" {look}>{escape(line.text)}</text>'


# --- layout ------------------------------------------------------------------------------------


def lay_out(root: Box, mirrored: bool) -> dict[Box, PlacedBox]:
    """Return the places of a box and of all that it leads to, nearest first, but hidden ones.

    `mirrored` pictures have the first box on the right, and not on the left.
    """
    layouts = {box: _measured(box) for box in _reachable(root)}
    sizes = {box: (layout.width, layout.height) for box, layout in layouts.items()}
    corners = tidy({box: box.children for box in layouts}, sizes, GAPS)
    right = max(x + sizes[box][0] for box, (x, _) in corners.items())
    for box, layout in layouts.items():
        x, layout.y = corners[box]
        layout.x = right - x - layout.width if mirrored else x
    return {box: layout for box, layout in layouts.items() if box.kind != "hidden"}


def _reachable(root: Box) -> list[Box]:
    """Return a box and all that it leads to, nearest first."""
    boxes = dict.fromkeys([root])
    waiting = [root]
    for box in waiting:  # grows on the way
        waiting += [child for child in dict.fromkeys(box.children) if child not in boxes]
        boxes.update(dict.fromkeys(box.children))
    return list(boxes)


def _measured(box: Box) -> PlacedBox:
    """Put texts, bars and image of a box below each other."""
    layout = PlacedBox(box)
    if box.kind == "hidden":
        return layout
    heading = PLAIN if box.kind in ("note", "more") and not box.texts else HEADING
    lines = [(line, heading) for line in wrapped(box.heading, WIDTH, heading, HEADING_LINES)]
    for text in box.texts:
        lines += [(line, PLAIN) for line in wrapped(text, WIDTH, PLAIN, TEXT_LINES)]
    width = max(text_width(*line) for line in lines)
    height = 0.0
    for text, font in lines:
        height += font.size * LEADING
        # The baseline, above the foot of the line by what letters reach below it.
        layout.lines.append(TextLine(text, 0.0, height - 0.35 * font.size, font))
    if box.bars:
        layout.bars_top = height + 4.0
        width = max(width, _add_bars(layout))
        height += 4.0 + max(BAR_LINE * (len(box.bars) + bool(box.rest)), IMAGE * bool(box.image))
    layout.width, layout.height = width + 2 * PAD, height + 2 * PAD
    return layout


def _add_bars(layout: PlacedBox) -> float:
    """Add the names and degrees of bars and the note below; return their width."""
    bars, note = layout.box.bars, layout.box.rest
    left, y = IMAGE + PAD if layout.box.image else 0.0, layout.bars_top + 11.0
    names = min(max(text_width(bar.name, MARKED) for bar in bars), NAME)
    layout.bars_left = left + names + 8.0
    for bar in bars:
        font = MARKED if bar.marked else PLAIN
        layout.lines.append(TextLine(shortened(bar.name, names, font), left, y, font))
        layout.lines.append(TextLine(bar.text, layout.bars_left + LONGEST + 5.0, y, PLAIN))
        y += BAR_LINE
    layout.lines += [TextLine(note, left, y, PLAIN)] if note else []
    return max(layout.bars_left + LONGEST + DEGREE, left + text_width(note, PLAIN))


def text_width(text: str, font: Font) -> float:
    """Return a width that a text does not exceed in common sans-serif fonts.

    Examples
    --------
    >>> text_width("will", PLAIN) < text_width("moon", PLAIN) < text_width("MOON", PLAIN)
    True
    """
    return font.em * sum(map(_width, text))


def _width(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if not character.isascii():  # of any script
        return 0.0 if unicodedata.combining(character) else 1.08
    return 0.66 if character.islower() or character.isdigit() else 0.84


def shortened(text: str, width: float, font: Font) -> str:
    """Return the text, or as much of its beginning as fits, with an ellipsis.

    Examples
    --------
    >>> shortened("a long day", 100.0, Font(10.0)), shortened("a long day", 40.0, Font(10.0))
    ('a long day', 'a lon…')
    """
    if text_width(text, font) <= width:
        return text
    end = _fitting(text, width - text_width("…", font), font)
    return text[:end].rstrip() + "…"


def _fitting(parts: Sequence[str], width: float, font: Font, between: str = "") -> int:
    """Return how many of the first parts of a text fit."""
    counts = range(1, len(parts) + 1)
    return bisect_right(counts, width, key=lambda n: text_width(between.join(parts[:n]), font))


def wrapped(text: str, width: float, font: Font, lines: int) -> list[str]:
    """Break a text between words into at most so many lines; the last is cut if it must be.

    Examples
    --------
    >>> wrapped("it is a long day", 45.0, Font(10.0), 3)
    ['it is a', 'long', 'day']
    >>> wrapped("it is a long day", 45.0, Font(10.0), 2)
    ['it is a', 'long…']
    """
    wrapped_lines: list[str] = []
    remaining = text.split()
    while remaining and len(wrapped_lines) < lines - 1:
        end = _fitting(remaining, width, font, " ")
        if end == 0:  # a long word is broken after its last hyphen that fits, else where it must be
            fits = max(1, _fitting(remaining[0], width, font))
            fits = remaining[0].rfind("-", 0, fits) + 1 or fits
            remaining[:1] = remaining[0][:fits], remaining[0][fits:]
            end = 1
        wrapped_lines.append(" ".join(remaining[:end]))
        del remaining[:end]
    last = [shortened(" ".join(remaining), width, font)] if remaining else []
    return wrapped_lines + last


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
    """Return the tree in which each box belongs to the first that leads to it, depth first."""
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
    for count, box in enumerate(order, 1):
        children, least = tree[box], free.get(columns[box], 0.0)
        hanging[box] = 1 + sum(hanging[child] for child in children)
        ends = [tops[c] + sizes[c][1] / 2 for c in (children[0], children[-1])] if children else []
        tops[box] = sum(ends) / 2 - sizes[box][1] / 2 if ends else least
        shift = max(0.0, least - tops[box])
        for moved in order[count - hanging[box] : count] if shift else [box]:
            tops[moved] += shift
            bottom = tops[moved] + sizes[moved][1] + gap
            free[columns[moved]] = max(free.get(columns[moved], 0.0), bottom)
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
