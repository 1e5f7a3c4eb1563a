"""Boxes as SVG, each as large as the text that it holds, on a page that needs nothing else."""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.labels import number_text
from pinesy.rules.possibility import Possibility

BoxKind = Literal["result", "value", "rival", "possible", "certain", "note", "more", "input"]

#: Around the picture, and within a box.
MARGIN, PAD = 16.0, 8.0
#: Between columns, and between boxes of a column.
GAPS = (44.0, 12.0)
LEGEND = (
    "P: the premise of the rule is possible at this degree, and no rule lets the value be more so.",
    "C: the premise is certain at this degree, which leaves the value possible at 1 less it.",
    "Dashed: the most possible of the other values; what holds them down makes the result certain.",
)
#: Set on the picture alone, not by a style sheet: that would reach the page around it.
FONT = "system-ui, 'DejaVu Sans', Verdana, Arial, sans-serif"
#: The height of a line, in parts of the font's size.
LEADING = 1.35
#: The widest that a text may be, and the lines of a heading and of any other text.
WIDTH, HEADING_LINES, TEXT_LINES = 215.0, 3, 4
#: Bars of an input: how many, the width of their names at most, of a bar of 1, of a degree.
BARS, NAME, LONGEST, DEGREE = 4, 150.0, 60.0, 48.0
BAR_LINE = 15.0
IMAGE = 64.0
#: Values, propositions and rules that a tooltip shows.
TOOLTIP = 20
#: Fill and edge of each kind of box.
COLOURS = {
    "result": ("#e4f1e4", "#2e6b34"),
    "value": ("#f5f5f2", "#444444"),
    "rival": ("#f5f5f2", "#777777"),
    "possible": ("#e7f0fa", "#2563a8"),
    "certain": ("#fdf0e2", "#b4540a"),
    "note": ("#ffffff", "#999999"),
    "more": ("#ffffff", "#999999"),
    "input": ("#fffdf0", "#8a6d00"),
}
#: Boxes whose edge has the colour of the lines: to a rule and on from it, to rivals, to the rest.
COLOURED = ("possible", "certain", "rival", "more", "note")
#: Widths in parts of the font's size, no less than those of the widest common sans-serif fonts.
_WIDTHS = (
    dict.fromkeys("ijl|!'.,:;", 0.41)
    | dict.fromkeys(" ()[]frtI-/\\", 0.46)
    | dict.fromkeys("mMW@%", 1.02)
    | dict.fromkeys("w", 0.86)
)
#: Characters that XML cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(eq=False)
class Box:
    """A box of a picture.

    Attributes
    ----------
    kind : ``"result"``; ``"value"`` and ``"rival"``: inferred values; ``"possible"`` and
        ``"certain"``: a rule whose premise sets the degree of a value; ``"note"``: what else sets
        it; ``"more"``: something is left out; ``"input"``: a perceived attribute
    heading, texts : what stands in it
    tooltip : the whole text, where the box may show less
    children : the boxes it leads to
    distribution, values : for an input, its distribution and the positions that count
    name, names : for an input, its name and what its values are called
    """

    kind: BoxKind
    heading: str
    texts: tuple[str, ...] = ()
    tooltip: str = ""
    children: "list[Box]" = field(default_factory=list)
    distribution: Possibility | None = None
    values: set[int] = field(default_factory=set)
    name: str = ""
    names: tuple[str, ...] = ()


class Font(NamedTuple):
    """A size, how much wider letters are than `text_width` says, and attributes."""

    size: float
    stretch: float
    look: str


#: Bold letters are wider, in common fonts by no more than an eighth.
BOLD = Font(12.0, 1.125, 'font-weight="bold" fill="#1b1b1b"')
PLAIN = Font(11.0, 1.0, 'fill="#444444"')
MARKED = Font(11.0, 1.125, 'font-weight="bold" fill="#444444"')


class Sketch(NamedTuple):
    """A box as it is drawn from its upper left corner, and its size."""

    width: float
    height: float
    svg: str


#: For each box the upper left corner, and how it is drawn.
Placed = Mapping["Box", tuple[float, float, Sketch]]


def page(placed: Placed, title: str, description: str) -> str:
    """Return boxes, the lines between them and a legend as one SVG."""
    bottom = max(y + drawn.height for _, y, drawn in placed.values()) + 2 * MARGIN
    right = max(x + drawn.width for x, _, drawn in placed.values())
    leading = 1.5 * PLAIN.size
    baselines = [(line, bottom + i * leading) for i, line in enumerate(LEGEND, 1)]
    width = max(right, *(text_width(line, PLAIN.size) for line in LEGEND)) + 2 * MARGIN
    height = bottom + len(LEGEND) * leading + MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">',
        f"<title>{escaped(' '.join(title.split()))}</title>",
        f"<desc>{escaped(description)}</desc>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<g transform="translate({MARGIN:g} {MARGIN:g})">',
        *(_line(box, child, placed) for box in placed for child in box.children),
        *(f'<g transform="translate({x:.1f} {y:.1f})">{s.svg}</g>' for x, y, s in placed.values()),
        "</g>",
        *(_text(line, MARGIN, baseline, PLAIN) for line, baseline in baselines),
        "</svg>",
    ]
    return "\n".join(lines)


def _line(box: Box, child: Box, placed: Placed) -> str:
    """Return the line from the right edge of a box to the left edge of another."""
    (left, top, one), (end, child_top, other) = placed[box], placed[child]
    x, y, to = left + one.width, top + one.height / 2, child_top + other.height / 2
    bend = min((end - x) / 2, 3 * GAPS[0])
    bends = f"{x + bend:.1f} {y:.1f} {end - bend:.1f} {to:.1f}"
    path = f"M{x:.1f} {y:.1f}C{bends} {end:.1f} {to:.1f}"
    kind = child.kind if child.kind in COLOURED else box.kind
    dashes = ' stroke-dasharray="5 3"' if child.kind in ("rival", "more") else ""
    colour = COLOURS[kind][1] if kind in COLOURED else "#444444"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>'


def sketches(boxes: Iterable[Box], images: Mapping[str, str]) -> dict[Box, Sketch]:
    """Draw boxes; `images` are the addresses of the images of inputs, by name."""
    return {box: sketch(box, images.get(box.name)) for box in boxes}


def sketch(box: Box, image: str | None) -> Sketch:
    """Draw a box; `image` is the address of the image of an input."""
    lines = list(_lines(box))
    width = max(text_width(text, font.size) * font.stretch for text, font in lines)
    height = sum(font.size * LEADING for _, font in lines)
    inside, tooltip = list(_texts(lines)), box.tooltip or box.heading
    if box.distribution is not None:
        bars, top = _bars(box, box.distribution), height + 4.0
        side = IMAGE + PAD if image else 0.0
        inside.append(f'<g transform="translate({side:g} {top:.1f})">{bars.svg}</g>')
        if image:
            inside.append(
                f'<image x="0" y="{top:.1f}" width="{IMAGE:g}" height="{IMAGE:g}" '
                f'style="image-rendering:pixelated" aria-label="{escaped(box.heading)}" '
                f'href="{image}"/>'
            )
        width = max(width, side + bars.width)
        height = top + max(bars.height, IMAGE if image else 0.0)
        tooltip = _input_tooltip(box, box.distribution)
    return _framed(box, tooltip, inside, width + 2 * PAD, height + 2 * PAD)


def _lines(box: Box) -> Iterator[tuple[str, "Font"]]:
    """Yield the lines of text of a box."""
    heading = PLAIN if box.kind in ("note", "more") and not box.texts else BOLD
    room = WIDTH / heading.stretch
    for line in wrapped(box.heading, room, heading.size, HEADING_LINES):
        yield line, heading
    for text in box.texts:
        for line in wrapped(text, WIDTH, PLAIN.size, TEXT_LINES):
            yield line, PLAIN


def _framed(box: Box, tooltip: str, inside: Sequence[str], width: float, height: float) -> Sketch:
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
        yield _text(text, 0.0, y - 0.35 * font.size, font)


def _text(text: str, x: float, y: float, font: Font) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" font-size="{font.size:g}" {font.look}'
    return f"<text {where}>{escaped(text)}</text>"


def _bars(box: Box, pi: Possibility) -> Sketch:
    """Return the bars of the most possible values, and of one that counts; say what is left."""
    shown = _shown(pi.degrees, box.values)
    rows = [(box.names[i], float(pi.degrees[i]), i in box.values) for i in shown]
    wide = max(text_width(name, MARKED.size) * MARKED.stretch for name, *_ in rows) + 8.0
    wide = min(wide, NAME)
    drawn = [_bar(*row, wide, BAR_LINE * number) for number, row in enumerate(rows)]
    width, height = wide + LONGEST + DEGREE, BAR_LINE * len(rows)
    left = np.delete(pi.degrees, shown)
    if len(left):
        most = (
            f"at most {number_text(float(left.max()), 2, '<', '>')}" if left.any() else "impossible"
        )
        rest = f"{len(left)} more, {most}"
        height += BAR_LINE
        width = max(width, text_width(rest, PLAIN.size))
        drawn.append(_text(rest, 0.0, height - 4.0, PLAIN))
    return Sketch(width, height, "".join(drawn))


def _shown(degrees: FloatArray, marked: set[int]) -> list[int]:
    """Return the positions of the most possible values; the last gives way to one that counts."""
    order = np.argsort(-degrees, kind="stable").tolist()
    first: list[int] = [i for i in order[:BARS] if degrees[i] > 0.0 or i in marked]
    missing = [i for i in order if i in marked and i not in first]
    if missing and not marked.intersection(first):
        first = [*first[: BARS - 1], missing[0]]
    return first


def _bar(name: str, degree: float, marked: bool, wide: float, y: float) -> str:
    """Return the name of a value, a bar as long as its degree, and the degree."""
    font = MARKED if marked else PLAIN
    name = shortened(name, (wide - 8.0) / font.stretch, font.size)
    bar = (
        f'<rect x="{wide:.1f}" y="{y + 2.5:.1f}" width="{max(1.0, LONGEST * degree):.1f}" '
        f'height="{BAR_LINE - 5.0:g}" fill="{"#8a6d00" if marked else "#c9c2a3"}"/>'
    )
    number = _text(number_text(degree, 2, "<", ">"), wide + LONGEST + 5.0, y + 11.0, PLAIN)
    return _text(name, 0.0, y + 11.0, font) + bar + number


def _input_tooltip(box: Box, pi: Possibility) -> str:
    """Return the distribution of an input: all values above 0, or the most possible of them."""
    order = np.argsort(-pi.degrees, kind="stable").tolist()
    parts = [f"{box.names[i]} {number_text(float(pi.degrees[i]))}" for i in order if pi.degrees[i]]
    more = f", {len(parts) - TOOLTIP} more" if len(parts) > TOOLTIP else ""
    return f"{box.heading}: {', '.join(parts[:TOOLTIP])}{more}"


def text_width(text: str, size: float) -> float:
    """Return a width that a text does not exceed in common sans-serif fonts.

    Examples
    --------
    >>> text_width("will", 10.0) < text_width("moon", 10.0) < text_width("MOON", 10.0)
    True
    """
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if not character.isascii():  # of any script
        return 0.0 if unicodedata.combining(character) else 1.08
    return 0.66 if character.islower() or character.isdigit() else 0.84


def shortened(text: str, width: float, size: float) -> str:
    """Return the text, or as much of its beginning as fits, with an ellipsis.

    Examples
    --------
    >>> shortened("a long day", 100.0, 10.0), shortened("a long day", 40.0, 10.0)
    ('a long day', 'a lon…')
    """
    if text_width(text, size) <= width:
        return text
    end = _fitting(text, width - text_width("…", size), size)
    return text[:end].rstrip() + "…"


def _fitting(parts: Sequence[str], width: float, size: float, between: str = "") -> int:
    """Return how many of the first parts of a text fit."""
    counts = range(1, len(parts) + 1)
    return bisect_right(counts, width, key=lambda n: text_width(between.join(parts[:n]), size))


def wrapped(text: str, width: float, size: float, lines: int) -> list[str]:
    """Break a text between words into at most so many lines; the last is cut if it must be.

    Examples
    --------
    >>> wrapped("it is a long day", 45.0, 10.0, 3), wrapped("it is a long day", 45.0, 10.0, 2)
    (['it is a', 'long', 'day'], ['it is a', 'long…'])
    """
    found: list[str] = []
    words = text.split()
    while words and len(found) < lines - 1:
        end = _fitting(words, width, size, " ")
        if end == 0:
            words[:1] = _broken(words[0], width, size)
            end = 1
        found.append(" ".join(words[:end]))
        del words[:end]
    return [*found, shortened(" ".join(words), width, size)] if words else found


def _broken(word: str, width: float, size: float) -> list[str]:
    """Break a word that is too long: after its last hyphen that fits, else where it must be."""
    end = max(1, _fitting(word, width, size))
    end = word.rfind("-", 0, end) + 1 or end
    return [word[:end], word[end:]]


def escaped(text: str) -> str:
    r"""Return a text as XML holds it.

    Examples
    --------
    >>> escaped('a < "b"\x00')
    'a &lt; &quot;b&quot;�'
    """
    return html.escape(_FORBIDDEN.sub("\ufffd", text), quote=False).replace('"', "&quot;")
