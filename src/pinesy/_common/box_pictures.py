"""Pictures of boxes and the lines between them, written as SVG.

A picture has no ground of its own: boxes are light with dark text, and what stands in no box is
grey, so that it is read on a dark page, too. Nor has it a style sheet: that would reach the page
around it.
"""

from collections.abc import Iterator, Sequence
from html import escape

from pinesy._common.box_layout import (
    BAR_LINE,
    GAPS,
    IMAGE,
    LONGEST,
    PAD,
    Box,
    Font,
    PlacedBox,
    TextLine,
    lay_out,
    text_width,
)
from pinesy._common.markup import Markup, without_controls

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
#: What stands in no box: it is read on white and on black.
GREY = "#767676"
LEGEND = Font(11.0, GREY)
DASHES = dict.fromkeys(("rival", "more"), ' stroke-dasharray="5 3"')


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
    bottom = max(one.y + one.height for one in placed.values()) + 2 * MARGIN
    right = max(one.x + one.width for one in placed.values())
    width = max([right, *(text_width(line, LEGEND) for line in legend)]) + 2 * MARGIN
    height = bottom + (len(legend) * leading + MARGIN if legend else 0.0)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FAMILY}">'
    yield f"<title>{escape(' '.join(title.split()))}</title>"
    yield f"<desc>{escape(description)}</desc>"
    yield f'<g transform="translate({MARGIN:g} {MARGIN:g})">'
    yield from (_arrow(one, placed[c]) for one in placed.values() for c in one.box.children)
    for one in placed.values():
        yield f'<g transform="translate({one.x:.1f} {one.y:.1f})">{"".join(_parts(one))}</g></g>'
    yield "</g>"
    for number, line in enumerate(legend, 1):
        yield _text(TextLine(line, MARGIN, bottom + number * leading, LEGEND))
    yield "</svg>"


def _arrow(one: PlacedBox, other: PlacedBox) -> str:
    """Return the line between the edges of two boxes that face each other."""
    y, to = one.y + one.height / 2, other.y + other.height / 2
    x, end = one.x, other.x + other.width
    if other.x > one.x:
        x, end = one.x + one.width, other.x
    bend = max(-3 * GAPS[0], min((end - x) / 2, 3 * GAPS[0]))
    bends = f"{x + bend:.1f} {y:.1f} {end - bend:.1f} {to:.1f}"
    path = f"M{x:.1f} {y:.1f}C{bends} {end:.1f} {to:.1f}"
    kind = other.box.kind if other.box.kind in COLOURED else one.box.kind
    colour = COLOURS[kind][1] if kind in COLOURED else GREY
    look = f'stroke="{colour}" stroke-width="1.5"{DASHES.get(other.box.kind, "")}'
    return f'<path d="{path}" fill="none" {look}/>'


def _parts(one: PlacedBox) -> Iterator[str]:
    """Yield the frame of a box, and what stands in it."""
    box = one.box
    fill, edge = COLOURS[box.kind]
    corner = 10 if box.kind in ("possible", "certain", "note") else 3
    yield (
        f"<title>{escape(box.tooltip or box.heading)}</title>"
        f'<rect width="{one.width:.1f}" height="{one.height:.1f}" rx="{corner}" fill="{fill}" '
        f'stroke="{edge}" stroke-width="{2 if box.kind == "result" else 1}"'
        f'{DASHES.get(box.kind, "")}/><g transform="translate({PAD:g} {PAD:g})">'
    )
    yield from map(_text, one.lines)
    for number, bar in enumerate(box.bars):
        yield (
            f'<rect x="{one.bars_left:.1f}" y="{one.bars_top + number * BAR_LINE + 2.5:.1f}" '
            f'width="{max(1.0, LONGEST * bar.degree):.1f}" height="{BAR_LINE - 5.0:g}" '
            f'fill="{"#8a6d00" if bar.marked else "#c9c2a3"}"/>'
        )
    if box.image:
        yield (
            f'<image x="0" y="{one.bars_top:.1f}" width="{IMAGE:g}" height="{IMAGE:g}" '
            f'style="image-rendering:pixelated" aria-label="{escape(box.heading)}" '
            f'href="{box.image}"/>'
        )


def _text(line: TextLine) -> str:
    font = line.font
    look = f'font-size="{font.size:g}" fill="{font.colour}"' + ' font-weight="bold"' * font.bold
    return f'<text x="{line.x:.1f}" y="{line.y:.1f}" {look}>{escape(line.text)}</text>'
