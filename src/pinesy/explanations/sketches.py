"""The boxes of a picture as SVG, each as large as what it holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.labels import number_text
from pinesy.explanations.outline import TOLD, Box
from pinesy.explanations.svg_text import escaped, shortened, text_width, wrapped
from pinesy.rules.possibility import Possibility

PAD = 8.0
#: The height of a line, in parts of the font's size.
LEADING = 1.35
#: The widest that a text may be, and the lines of a heading and of any other text.
WIDTH, HEADING_LINES, TEXT_LINES = 215.0, 3, 4
#: Bars of an input: how many, the width of their names at most, of a bar of 1, of a degree.
BARS, NAME, LONGEST, DEGREE = 4, 150.0, 60.0, 48.0
BAR_LINE = 15.0
IMAGE = 64.0
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


@dataclass(frozen=True)
class Font:
    """A size, how much wider letters are than `text_width` says, and attributes."""

    size: float
    stretch: float
    look: str


#: Bold letters are wider, in common fonts by no more than an eighth.
BOLD = Font(12.0, 1.125, 'font-weight="bold" fill="#1b1b1b"')
PLAIN = Font(11.0, 1.0, 'fill="#444444"')
MARKED = Font(11.0, 1.125, 'font-weight="bold" fill="#444444"')


@dataclass(frozen=True)
class Sketch:
    """A box as it is drawn from its upper left corner, and its size."""

    svg: str
    width: float
    height: float


def sketch(box: Box, image: str | None) -> Sketch:
    """Draw a box; `image` is the address of the image of an input."""
    lines = list(_lines(box))
    width = max(text_width(text, font.size) * font.stretch for text, font in lines)
    height = sum(font.size * LEADING for _, font in lines)
    inside = list(_texts(lines))
    if box.distribution is None:
        told = box.told or box.heading
        return _framed(box, told, inside, width + 2 * PAD, height + 2 * PAD)
    bars = _bars(box, box.distribution)
    side = IMAGE + PAD if image else 0.0
    inside.append(f'<g transform="translate({side:g} {height + 4.0:.1f})">{bars.svg}</g>')
    if image:
        inside.append(_image(image, height + 4.0, box.heading))
    width = max(width, side + bars.width)
    height += 4.0 + max(bars.height, IMAGE if image else 0.0)
    told = _told(box, box.distribution)
    return _framed(box, told, inside, width + 2 * PAD, height + 2 * PAD)


def _lines(box: Box) -> Iterator[tuple[str, "Font"]]:
    """Yield the lines of text of a box."""
    heading = PLAIN if box.kind in ("note", "more") and not box.texts else BOLD
    room = WIDTH / heading.stretch
    for line in wrapped(box.heading, room, heading.size, HEADING_LINES):
        yield line, heading
    for text in box.texts:
        for line in wrapped(text, WIDTH, PLAIN.size, TEXT_LINES):
            yield line, PLAIN


def _framed(box: Box, told: str, inside: Sequence[str], width: float, height: float) -> Sketch:
    fill, edge = COLOURS[box.kind]
    dashes = ' stroke-dasharray="5 3"' if box.kind in ("rival", "more") else ""
    corner = 10 if box.kind in ("possible", "certain", "note") else 3
    frame = (
        f'<rect width="{width:.1f}" height="{height:.1f}" rx="{corner}" fill="{fill}" '
        f'stroke="{edge}" stroke-width="{2 if box.kind == "result" else 1}"{dashes}/>'
    )
    moved = f'<g transform="translate({PAD:g} {PAD:g})">{"".join(inside)}</g>'
    return Sketch(f"<title>{escaped(told)}</title>{frame}{moved}", width, height)


def _texts(lines: Sequence[tuple[str, Font]]) -> Iterator[str]:
    y = 0.0
    for text, font in lines:
        y += font.size * LEADING
        # The baseline, above the foot of the line by what letters reach below it.
        yield _text(text, 0.0, y - 0.35 * font.size, font)


def _text(text: str, x: float, y: float, font: Font) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" font-size="{font.size:g}" {font.look}'
    return f"<text {where}>{escaped(text)}</text>"


def _image(address: str, y: float, name: str) -> str:
    size = f'width="{IMAGE:g}" height="{IMAGE:g}"'
    return (
        f'<image x="0" y="{y:.1f}" {size} style="image-rendering:pixelated" '
        f'aria-label="{escaped(name)}" href="{address}"/>'
    )


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
        most = f"at most {short_number(float(left.max()))}" if left.any() else "impossible"
        rest = f"{len(left)} more, {most}"
        height += BAR_LINE
        width = max(width, text_width(rest, PLAIN.size))
        drawn.append(_text(rest, 0.0, height - 4.0, PLAIN))
    return Sketch("".join(drawn), width, height)


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
    number = _text(short_number(degree), wide + LONGEST + 5.0, y + 11.0, PLAIN)
    return _text(name, 0.0, y + 11.0, font) + bar + number


def short_number(degree: float) -> str:
    """Write a degree with two digits; what is not 0 or 1 is not written as if it were.

    Examples
    --------
    >>> short_number(1.0), short_number(0.999), short_number(0.456), short_number(1e-9)
    ('1', '>0.99', '0.46', '<0.01')
    """
    if 0.0 < degree < 0.01:
        return "<0.01"
    return ">0.99" if 0.99 < degree < 1.0 else f"{degree:.2g}"


def _told(box: Box, pi: Possibility) -> str:
    """Return the distribution of an input: all values above 0, or the most possible of them."""
    order = np.argsort(-pi.degrees, kind="stable").tolist()
    parts = [f"{box.names[i]} {number_text(float(pi.degrees[i]))}" for i in order if pi.degrees[i]]
    more = f", {len(parts) - TOLD} more" if len(parts) > TOLD else ""
    return f"{box.heading}: {', '.join(parts[:TOLD])}{more}"
