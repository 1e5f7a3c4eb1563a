"""The boxes of inputs in pictures of explanations: bars of their values, and their images."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pinesy._common.box_pictures import MARKED, PAD, PLAIN, Box, Sketch, sketch, text_svg
from pinesy._common.markup import escaped
from pinesy._common.text_widths import shortened, text_width
from pinesy._common.validation import FloatArray
from pinesy.explanations.labels import number_text
from pinesy.rules.possibility import Possibility

#: Bars of an input: how many, the width of their names at most, of a bar of 1, of a degree.
BARS, NAME, LONGEST, DEGREE = 4, 150.0, 60.0, 48.0
BAR_LINE = 15.0
IMAGE = 64.0
#: Values, propositions and rules that a tooltip shows.
TOOLTIP = 20


@dataclass(eq=False)
class InputBox(Box):
    """The box of a perceived attribute.

    Attributes
    ----------
    name, names : its name, and what its values are called
    distribution : of its values
    values : the positions of those that count
    """

    name: str = ""
    names: tuple[str, ...] = ()
    distribution: Possibility = field(kw_only=True)
    values: set[int] = field(default_factory=set)


def sketches(boxes: Iterable[Box], images: Mapping[str, str]) -> dict[Box, Sketch]:
    """Draw boxes; `images` are the addresses of the images of inputs, by name."""
    return {
        box: input_sketch(box, images.get(box.name)) if isinstance(box, InputBox) else sketch(box)
        for box in boxes
    }


def input_sketch(box: InputBox, image: str | None) -> Sketch:
    """Draw the box of an input; `image` is the address of its image."""
    bars, tooltip = _bars(box, box.distribution), _input_tooltip(box, box.distribution)
    if not image:
        return sketch(box, bars, tooltip)
    side = IMAGE + PAD
    shown = (
        f'<g transform="translate({side:g} 0)">{bars.svg}</g>'
        f'<image x="0" y="0" width="{IMAGE:g}" height="{IMAGE:g}" '
        f'style="image-rendering:pixelated" aria-label="{escaped(box.heading)}" href="{image}"/>'
    )
    return sketch(box, Sketch(side + bars.width, max(bars.height, IMAGE), shown), tooltip)


def _bars(box: InputBox, pi: Possibility) -> Sketch:
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
        drawn.append(text_svg(rest, 0.0, height - 4.0, PLAIN))
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
    number = text_svg(number_text(degree, 2, "<", ">"), wide + LONGEST + 5.0, y + 11.0, PLAIN)
    return text_svg(name, 0.0, y + 11.0, font) + bar + number


def _input_tooltip(box: InputBox, pi: Possibility) -> str:
    """Return the distribution of an input: all values above 0, or the most possible of them."""
    order = np.argsort(-pi.degrees, kind="stable").tolist()
    parts = [f"{box.names[i]} {number_text(float(pi.degrees[i]))}" for i in order if pi.degrees[i]]
    more = f", {len(parts) - TOOLTIP} more" if len(parts) > TOOLTIP else ""
    return f"{box.heading}: {', '.join(parts[:TOOLTIP])}{more}"
