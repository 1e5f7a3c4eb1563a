"""The picture of an explanation, a rendering of its outline: which boxes, and where they stand.

It is drawn from left to right, in columns: a box stands in a column to the right of all that lead
to it, beside the middle of what it leads to, and no two boxes overlap.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from pinesy._common.names import name_of
from pinesy._common.png import data_uri
from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.explanations.justification import (
    ExplanationNode,
    Justification,
    Triplet,
    TripletProposition,
)
from pinesy.explanations.labels import degree_text, listed, number_text
from pinesy.explanations.outline import Outline, alike
from pinesy.explanations.svg import GAPS, TOOLTIP, Box, BoxKind, page, sketches

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

#: What is shown where nothing else is said.
LIMIT, NODES = 3, 60

K = TypeVar("K", bound=Hashable)


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
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> from pinesy.explanations import explain
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> svg = picture(explain(rules, {"rain": {"yes": 1.0, "no": 0.2}}))
    >>> svg[:4], "rule 1 · C 0.8" in svg
    ('<svg', True)
    """
    outline = Outline(explanation, depth, limit, nodes)
    title, text = f"Why {explanation.proposition}", explanation.text(limit=outline.limit)
    uris = _image_uris(explanation, images)
    root = BoxMaker(outline).root()
    children = {root: root.children}
    waiting = [root]
    for box in waiting:  # grows on the way
        waiting += [child for child in box.children if child not in children]
        children.update((child, child.children) for child in box.children)
    drawn = sketches(children, uris)
    places = tidy(children, {box: drawn[box][:2] for box in children}, GAPS)
    return page({box: (*places[box], drawn[box]) for box in children}, title, text)


def _image_uris(explanation: "Explanation", images: Mapping[str, Any] | None) -> dict[str, str]:
    """Check images, and return them as addresses."""
    if not isinstance(images, Mapping | None):
        raise DataError(f"images are a mapping from inputs to arrays; got {images!r:.60}")
    known, uris = explanation.graph.sample.plan.known, {}
    for key, image in (images or {}).items():
        name = name_of(key)
        if name not in known:
            raise UnknownAttributeError(
                f"an image is given for {name!r}, which is no input{suggestion(name, known)}"
            )
        with placed(f"the image of {name!r}"):
            uris[name] = data_uri(image)
    return uris


class BoxMaker:
    """Makes boxes, those of the same values once, nearest to the result first."""

    def __init__(self, outline: Outline) -> None:
        self.outline, self.wording, self.limit = outline, outline.wording, outline.limit
        self.boxes: dict[object, Box] = {}
        self.waiting: list[tuple[ExplanationNode, Box, int]] = []

    def root(self) -> Box:
        """Return the box of the result, which leads to all others."""
        found = self.outline.explanation
        says = self.wording.says(found.proposition, self.limit)
        texts = [degree_text("P", found.possibility)]
        if found.normalised:
            texts += [degree_text("C", found.certainty), *["ambiguous"] * found.ambiguous]
        else:
            texts.append(f"the rules contradict at {number_text(found.contradiction)}")
        root = Box("result", says, tuple(texts), f"{says}: {listed(texts)}")
        self._roots(root, found.values, "value")
        self._roots(root, found.rivals, "rival")
        for node, box, level in self.waiting:  # grows on the way
            self._justify(node, box, level)
        return root

    def _roots(self, root: Box, nodes: Sequence[ExplanationNode], kind: BoxKind) -> None:
        shown, rest = self.outline.split(alike(nodes))
        root.children += [self._value(group, kind, 0) for group in shown]
        left = sum(map(len, rest))
        if left:
            word = "other values" if kind == "rival" else "values"
            degree = degree_text("P", nodes[0].possibility)
            root.children.append(_more(left, f"{left} more {word}, {degree}"))

    def _value(self, nodes: Sequence[ExplanationNode], kind: BoxKind, level: int) -> Box:
        """Return the box of values that the same rules justify, made once."""
        key = tuple(nodes)
        if key not in self.boxes:
            short = self.outline.statement(nodes, self.limit)
            whole = short if len(nodes) == 1 else self.outline.statement(nodes, TOOLTIP)
            degree = degree_text("P", nodes[0].possibility)
            self.boxes[key] = Box(kind, short, (degree,), f"{whole}: {degree}")
            self.waiting.append((nodes[0], self.boxes[key], level))
        return self.boxes[key]

    def _input(self, nodes: Sequence[ExplanationNode]) -> Box:
        """Return the box of an input, made once; note which of its values count."""
        attribute = nodes[0].attribute
        if attribute.name not in self.boxes:
            self.boxes[attribute.name] = Box(
                "input",
                self.wording.name(attribute),
                distribution=nodes[0].distribution,
                name=attribute.name,
                names=self.wording.domain(attribute),
            )
        self.boxes[attribute.name].values.update(node.position for node in nodes)
        return self.boxes[attribute.name]

    def _justify(self, node: ExplanationNode, box: Box, level: int) -> None:
        found = node.justification
        if found is None:
            return
        if self.outline.is_cut(level):
            box.children.append(Box("more", f"not followed (depth {self.outline.depth})"))
            return
        shown, left = self.outline.split(found.reasons or found.silent)
        box.children += self._parameters(found)
        box.children += [self._rule(node, triplet, level) for triplet in shown]
        if left:
            box.children.append(_more(len(left), f"{len(left)} more rules say the same"))
        if found.reasons and found.silent:
            box.children.append(_silent(found.silent))

    def _parameters(self, justification: Justification) -> Iterator[Box]:
        shown, left = self.outline.split(justification.parameters)
        for p in shown:
            case = "fails" if p.name == "s" else "holds"
            heading = f"rule {p.number}: {p.name} = {number_text(p.degree)}"
            text = f"leaves it possible even if its premise {case}"
            yield Box("note", heading, (text,), p.rule.line(TOOLTIP))
        if left:
            yield _more(len(left), f"{len(left)} more parameters")

    def _rule(self, node: ExplanationNode, triplet: Triplet, level: int) -> Box:
        """Return the box of a triplet, with what its deciding propositions rest on."""
        parts, degrees = triplet.first(self.limit)
        texts = self.outline.statements(parts, compact=len(degrees) > 1)
        if len(degrees) > len(parts):
            texts.append(f"{len(degrees) - len(parts)} more propositions")
        premise = listed(texts)
        heading = f"rule {triplet.number} · {triplet.semantics} {number_text(triplet.degree)}"
        tooltip = f"{heading}: {premise}\n{triplet.rule.line(TOOLTIP)}"
        kind: BoxKind = "possible" if triplet.semantics == "P" else "certain"
        box = Box(kind, heading, (premise,), tooltip)
        deciding = [p for p in parts if p.decides]
        hidden = triplet.n_deciding - len(deciding)
        hidden += sum(self._behind(node, part, box, level) for part in deciding)
        if hidden > 0:
            box.children.append(_more(hidden, f"{hidden} more that this rests on"))
        return box

    def _behind(self, node: ExplanationNode, part: TripletProposition, box: Box, level: int) -> int:
        """Lead to what a proposition rests on; return how much there is no room for."""
        nodes = node.behind(part)
        if not nodes:
            return 0
        if nodes[0].is_perceived:
            if nodes[0].attribute.name not in self.boxes and self._is_full:
                return 1
            _lead(box, self._input(nodes))
            return 0
        shown, left = self.outline.split(nodes)
        hidden = len(left)
        for group in alike(shown):
            if tuple(group) not in self.boxes and self._is_full:
                hidden += len(group)
            else:
                _lead(box, self._value(group, "value", level + 1))
        return hidden

    @property
    def _is_full(self) -> bool:
        most = self.outline.nodes
        return most is not None and len(self.boxes) >= most


def _lead(box: Box, child: Box) -> None:
    """Let a box lead to another, once."""
    if child not in box.children:
        box.children.append(child)


def _silent(triplets: Sequence[Triplet]) -> Box:
    """Return the box of rules that would speak against a value but whose premises are not sure."""
    n = len(triplets)
    rules = "1 other rule does" if n == 1 else f"{n} other rules do"
    numbers = [f"rule {t.number} · C {number_text(t.degree)}" for t in triplets[:TOOLTIP]]
    numbers += [f"{n - TOOLTIP} more"] * (n > TOOLTIP)
    return Box("note", f"{rules} not speak against it", (), ", ".join(numbers))


def _more(count: int, tooltip: str) -> Box:
    return Box("more", f"and {count} more", (), tooltip)


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
