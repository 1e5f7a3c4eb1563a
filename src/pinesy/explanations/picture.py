"""The picture of an explanation: one SVG that needs nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinesy._common.png import data_uri
from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.explanations.labels import check_limit
from pinesy.explanations.outline import Box, Limits, outline
from pinesy.explanations.sketches import Sketch, sketch
from pinesy.explanations.svg_text import escaped, text_width
from pinesy.explanations.tidy import Place, tidy

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

#: What is shown where nothing else is said.
LIMIT, NODES = 3, 60
MARGIN = 16.0
#: Between columns, and between boxes of a column.
GAPS = (44.0, 12.0)
LEGEND_SIZE = 11.0
LEGEND = (
    "P: the premise of the rule is possible at this degree, and no rule lets the value be more so.",
    "C: the premise is certain at this degree, which leaves the value possible at 1 less it.",
    "Dashed: the most possible of the other values; what holds them down makes the result certain.",
)
#: Colours of the lines: to a rule and on from it, to rivals, to what is left out.
STROKES = {
    "possible": "#2563a8",
    "certain": "#b4540a",
    "rival": "#777777",
    "more": "#999999",
    "note": "#999999",
}
#: Set on the picture alone, not by a style sheet: that would reach the page around it.
FONT = "system-ui, 'DejaVu Sans', Verdana, Arial, sans-serif"


def picture(
    explanation: "Explanation",
    images: Mapping[str, Any] | None = None,
    *,
    depth: int | None = None,
    limit: int | None = LIMIT,
    nodes: int | None = NODES,
) -> str:
    """Return a picture of an explanation as SVG, from the result on the left to the inputs.

    Boxes are the result, the values that it rests on, the rules between them with their degrees
    (P: possible, C: certain) and the inputs with their most possible values. A box is drawn once
    however many lead to it; where something is left out, a box says how much. The same explanation
    gives the same bytes.

    Parameters
    ----------
    explanation : Explanation
    images : for some inputs, by name, an image: a uint8 array (height, width)
    depth : rule sets to go down, by default the explanation's own
    limit : values, rules and propositions to show of each, those that decide first; None for all
    nodes : boxes of values and inputs to show, those nearest to the result first; None for all

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> from pinesy.explanations import explain
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> svg = picture(explain(rules, {"rain": {"yes": 1.0, "no": 0.2}}))
    >>> svg[:4], "rule 1 · C 0.8" in svg
    ('<svg', True)
    """
    depth = check_limit(depth, "depth") or explanation.depth
    limits = Limits(depth, check_limit(limit, "limit"), check_limit(nodes, "nodes"))
    uris = _uris(explanation, images)
    page = _Page.of(outline(explanation, limits), uris)
    return page.svg(f"Why {explanation.proposition}", explanation.text(limit=limits.limit))


def _uris(explanation: "Explanation", images: Mapping[str, Any] | None) -> dict[str, str]:
    """Check images, and return them as addresses."""
    if not isinstance(images, Mapping | None):
        raise DataError(f"images are a mapping from inputs to arrays; got {images!r:.60}")
    known, found = explanation._graph.sample.plan.known, {}
    for key, image in (images or {}).items():
        name = getattr(key, "name", key)
        if name not in known:
            raise UnknownAttributeError(
                f"an image is given for {name!r}, which is no input{suggestion(name, known)}"
            )
        with placed(f"the image of {name!r}"):
            found[name] = data_uri(image)
    return found


@dataclass(frozen=True)
class _Page:
    """Boxes, drawn and placed."""

    boxes: list[Box]
    sketches: dict[Box, Sketch]
    places: dict[Any, Place]

    @classmethod
    def of(cls, root: Box, uris: Mapping[str, str]) -> "_Page":
        boxes, seen = [root], {root}
        for box in boxes:  # grows on the way
            new = [child for child in box.children if child not in seen]
            boxes += new
            seen.update(new)
        sketches = {box: sketch(box, uris.get(box.name)) for box in boxes}
        sizes = {box: (s.width, s.height) for box, s in sketches.items()}
        places = tidy({box: box.children for box in boxes}, sizes, root, GAPS)
        return cls(boxes, sketches, places)

    @property
    def width(self) -> float:
        legend = max(text_width(line, LEGEND_SIZE) for line in LEGEND)
        right = max(self.places[b].x + self.sketches[b].width for b in self.boxes)
        return max(legend, right) + 2 * MARGIN

    @property
    def bottom(self) -> float:
        return max(self.places[b].y + self.sketches[b].height for b in self.boxes) + 2 * MARGIN

    def svg(self, title: str, description: str) -> str:
        """Return the whole picture."""
        width, height = self.width, self.bottom + len(LEGEND) * 1.5 * LEGEND_SIZE + MARGIN
        size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">',
            f"<title>{escaped(' '.join(title.split()))}</title>",
            f"<desc>{escaped(description)}</desc>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<g transform="translate({MARGIN:g} {MARGIN:g})">',
            *(self._line(b, c) for b in self.boxes for c in b.children),
            *(self._drawn(b) for b in self.boxes),
            "</g>",
            *self._legend(),
            "</svg>",
        ]
        return "\n".join(lines)

    def _drawn(self, box: Box) -> str:
        place = self.places[box]
        inside = self.sketches[box].svg
        return f'<g transform="translate({place.x:.1f} {place.y:.1f})">{inside}</g>'

    def _line(self, box: Box, child: Box) -> str:
        """Return the line from the right edge of a box to the left edge of another."""
        start, end = self.places[box], self.places[child]
        x, y = start.x + self.sketches[box].width, start.y + self.sketches[box].height / 2
        to = end.y + self.sketches[child].height / 2
        bend = min((end.x - x) / 2, 3 * GAPS[0])
        bends = f"{x + bend:.1f} {y:.1f} {end.x - bend:.1f} {to:.1f}"
        path = f"M{x:.1f} {y:.1f}C{bends} {end.x:.1f} {to:.1f}"
        kind = child.kind if child.kind in STROKES else box.kind
        dashes = ' stroke-dasharray="5 3"' if child.kind in ("rival", "more") else ""
        colour = STROKES.get(kind, "#444444")
        return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>'

    def _legend(self) -> list[str]:
        return [
            f'<text fill="#444444" x="{MARGIN:g}" y="{self.bottom + i * 1.5 * LEGEND_SIZE:.1f}" '
            f'font-size="{LEGEND_SIZE:g}">{escaped(line)}</text>'
            for i, line in enumerate(LEGEND, 1)
        ]
