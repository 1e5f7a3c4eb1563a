"""Explanations in notebooks, and their picture: a rendering of the outline in boxes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pinesy._common.names import name_of
from pinesy._common.validation import check_known, cut_repr
from pinesy.display.boxes import Box, BoxKind, DegreeBar, drawing
from pinesy.display.images import data_uri
from pinesy.display.markup import Markup, bar, details, first_lines, lines_of
from pinesy.display.rules_html import distribution_html
from pinesy.exceptions import DataError, placed
from pinesy.explanations.explain import Explanation
from pinesy.explanations.justification import (
    ExplanationNode,
    Justification,
    Triplet,
    TripletProposition,
)
from pinesy.explanations.labels import degree_text, list_text, number_text, number_texts
from pinesy.explanations.outline import Outline, group_by_rules
from pinesy.explanations.smallest_change import Change
from pinesy.explanations.why_not import WhyNot
from pinesy.rules.syntax.writer import show_value

#: The maximum number of bars of an input; of values, propositions and rules in a tooltip.
BARS, TOOLTIP = 4, 20
LEGEND = (
    "P, light: the premise of the rule is possible at this degree; no rule lets the value be more.",
    "C, dark: the premise is certain at this degree, which leaves the value possible at 1 less it.",
    "Dotted: the most possible of the other values; what limits them makes the result certain.",
)


def explanation_svg(
    explanation: Explanation,
    images: Mapping[str, Any] | None,
    depth: int | None,
    limit: int | None,
    nodes: int | None,
) -> Markup:
    """Return the picture of an explanation; see `pinesy.explanations.picture`."""
    if not hasattr(explanation, "graph"):
        raise DataError(f"a picture is of explain(rules, evidence); got {cut_repr(explanation)}")
    boxes = BoxMaker(explanation, depth, limit, nodes, _image_uris(explanation, images))
    title, text = f"Why {explanation.proposition}", explanation.text(limit=boxes.limit)
    return drawing(boxes.root(), title, text, LEGEND)


def why_not_html(why_not: WhyNot) -> Markup:
    """Return the text and the inferred distribution, and the change to unfold."""
    text = lines_of(str(why_not)) + distribution_html(why_not.result)
    return text + (details("the change", change_html(why_not.change)) if why_not.change else "")


def change_html(change: Change) -> Markup:
    """Return a change in words, the old and new degrees, and the new result to unfold."""
    lines = []
    for name in change.readings:
        new_degrees = change.new[name].to_dict()
        for value, old in change.old[name].to_dict().items():
            new = new_degrees[value]
            if old != new:
                now, then = number_texts(old, new)
                lines.append([name, show_value(value), now, bar(old), then, bar(new)])
    head = ["input", "value", "possible now", "", "then", ""]
    result = details("what is inferred then", distribution_html(change.result))
    return lines_of(str(change)) + first_lines(head, lines, len(lines), "degrees") + result


def _image_uris(explanation: Explanation, images: Mapping[str, Any] | None) -> dict[str, str]:
    """Return images as data URIs, after a check that they are images of inputs."""
    if not isinstance(images, Mapping | None):
        raise DataError(f"images are a mapping from inputs to arrays; got {images!r:.60}")
    known, uris = explanation.graph.plan.all_inputs, {}
    for key, image in (images or {}).items():
        name = name_of(key)
        check_known(name, known, f"an image is given for {name!r}, which is no input")
        with placed(f"the image of {name!r}"):
            uris[name] = data_uri(image)
    return uris


class BoxMaker(Outline):
    """Makes the boxes of an explanation, one for each group of values, nearest to the result first.

    `images` are the data URIs of the images of inputs, by name.
    """

    def __init__(
        self,
        explanation: Explanation,
        depth: int | None,
        limit: int | None,
        nodes: int | None,
        images: Mapping[str, str],
    ) -> None:
        super().__init__(explanation, depth, limit, nodes)
        self.images = images
        self.boxes: dict[tuple[ExplanationNode, ...], Box] = {}
        #: For each input, by name: its box, one of its nodes, and the indices of values to mark.
        self.inputs: dict[str, tuple[Box, ExplanationNode, set[int]]] = {}
        self.waiting: list[tuple[ExplanationNode, Box, int]] = []

    def root(self) -> Box:
        """Return the box of the result, the root of the picture."""
        explanation = self.explanation
        says = self.wording.proposition_sentence(explanation.proposition, self.limit)
        texts = [degree_text("P", explanation.possibility)]
        if explanation.normalised:
            texts.append(degree_text("C", explanation.certainty))
        if not explanation.distribution.decided:
            texts.append(explanation.verdict)
        root = Box("result", says, tuple(texts), f"{says}: {list_text(texts)}")
        self._add_values(root, explanation.values, "value")
        self._add_values(root, explanation.rivals, "rival")
        for node, box, level in self.waiting:  # grows in the loop
            self._justify(node, box, level)
        for box, node, marked in self.inputs.values():
            self._add_bars(box, node, marked)
        return root

    def _add_values(self, root: Box, nodes: Sequence[ExplanationNode], kind: BoxKind) -> None:
        """Add the boxes of values, or of rivals, to the box of the result."""
        groups, omitted = self.split(group_by_rules(nodes))
        root.children += [self._value(group, kind, 0) for group in groups]
        count = sum(map(len, omitted))
        if count:
            noun = "other values" if kind == "rival" else "values"
            degree = degree_text("P", nodes[0].possibility)
            root.children.append(_more_box(count, f"{count} more {noun}, {degree}"))

    def _value(self, nodes: Sequence[ExplanationNode], kind: BoxKind, level: int) -> Box:
        """Return the box of values that the same rules justify, made once."""
        key = tuple(nodes)
        if key not in self.boxes:
            short = self.nodes_text(nodes, self.limit)
            full = short if len(nodes) == 1 else self.nodes_text(nodes, TOOLTIP)
            degree = degree_text("P", nodes[0].possibility)
            self.boxes[key] = Box(kind, short, (degree,), f"{full}: {degree}")
            self.waiting.append((nodes[0], self.boxes[key], level))
        return self.boxes[key]

    def _input(self, nodes: Sequence[ExplanationNode]) -> Box:
        """Return the box of an input, made once, and mark the values of nodes there."""
        attribute = nodes[0].attribute
        if attribute.name not in self.inputs:
            heading, image = self.wording.name(attribute), self.images.get(attribute.name, "")
            self.inputs[attribute.name] = Box("input", heading, image=image), nodes[0], set()
        box, _, marked = self.inputs[attribute.name]
        marked.update(node.index for node in nodes)
        return box

    def _add_bars(self, box: Box, node: ExplanationNode, marked: set[int]) -> None:
        """Add the bars of an input: the most possible values, among them a marked one."""
        degrees, names = node.distribution.degrees, self.wording.domain(node.attribute)
        order = np.argsort(-degrees, kind="stable").tolist()
        indices = [i for i in order[:BARS] if degrees[i] > 0.0 or i in marked]
        missing = [i for i in order if i in marked and i not in indices]
        if missing and not marked.intersection(indices):
            indices = [*indices[: BARS - 1], missing[0]]
        box.bars = [
            DegreeBar(names[i], d, number_text(d, 2, "<", ">"), i in marked)
            for i, d in zip(indices, degrees[indices].tolist(), strict=True)
        ]
        omitted = np.delete(degrees, indices)
        if len(omitted):
            most = number_text(float(omitted.max()), 2, "<", ">")
            box.rest = (
                f"{len(omitted)} more, {f'at most {most}' if omitted.any() else 'impossible'}"
            )
        above = [i for i in order if degrees[i]]
        texts = [f"{names[i]} {number_text(float(degrees[i]))}" for i in above[:TOOLTIP]]
        texts += [f"{len(above) - TOOLTIP} more"] * (len(above) > TOOLTIP)
        box.tooltip = f"{box.heading}: {', '.join(texts)}"

    def _justify(self, node: ExplanationNode, box: Box, level: int) -> None:
        """Add the boxes of the rules and parameters that justify a value."""
        justification = node.justification
        if justification is None:
            return
        if self.is_cut(level):
            box.children.append(Box("more", f"not followed (depth {self.depth})"))
            return
        triplets, omitted = self.split(justification.reasons or justification.silent)
        box.children += self._parameters(justification)
        box.children += [self._rule(node, triplet, level) for triplet in triplets]
        if omitted:
            box.children.append(_more_box(len(omitted), f"{len(omitted)} more rules say the same"))
        if justification.reasons and justification.silent:
            box.children.append(_silent_box(justification.silent))

    def _parameters(self, justification: Justification) -> Iterator[Box]:
        parameters, omitted = self.split(justification.parameters)
        for p in parameters:
            case = "fails" if p.name == "s" else "holds"
            heading = f"rule {p.number}: {p.name} = {number_text(p.degree)}"
            text = f"leaves it possible even if its premise {case}"
            yield Box("note", heading, (text,), p.rule.line(TOOLTIP))
        if omitted:
            yield _more_box(len(omitted), f"{len(omitted)} more parameters")

    def _rule(self, node: ExplanationNode, triplet: Triplet, level: int) -> Box:
        """Return the box of a triplet, with the values that decide it as children."""
        parts, degrees = triplet.first_propositions(self.limit)
        count = len(degrees) - len(parts)
        omitted = f"{count} more propositions" if count else ""
        premise = self.wording.premise_sentence(
            [part.reduced for part in parts], self.limit, omitted
        )
        heading = f"rule {triplet.number} · {triplet.semantics} {number_text(triplet.degree)}"
        tooltip = f"{heading}: {premise}\n{triplet.rule.line(TOOLTIP)}"
        kind: BoxKind = "possible" if triplet.semantics == "P" else "certain"
        box = Box(kind, heading, (premise,), tooltip)
        deciding = [p for p in parts if p.decides]
        hidden = triplet.n_deciding - len(deciding)
        hidden += sum(self._add_deciding(node, part, box, level) for part in deciding)
        if hidden > 0:
            box.children.append(_more_box(hidden, f"{hidden} more that this rests on"))
        return box

    def _add_deciding(
        self, node: ExplanationNode, part: TripletProposition, box: Box, level: int
    ) -> int:
        """Add the values of a deciding proposition; return the number of those that do not fit."""
        nodes = node.children_of(part)
        if not nodes:
            return 0
        if nodes[0].is_perceived:
            if nodes[0].attribute.name not in self.inputs and self._is_full:
                return 1
            _add_child(box, self._input(nodes))
            return 0
        values, omitted = self.split(nodes)
        hidden = len(omitted)
        for group in group_by_rules(values):
            if tuple(group) not in self.boxes and self._is_full:
                hidden += len(group)
            else:
                _add_child(box, self._value(group, "value", level + 1))
        return hidden

    @property
    def _is_full(self) -> bool:
        most = self.nodes
        return most is not None and len(self.boxes) + len(self.inputs) >= most


def _add_child(box: Box, child: Box) -> None:
    """Add a child to a box, unless it has it already."""
    if child not in box.children:
        box.children.append(child)


def _silent_box(triplets: Sequence[Triplet]) -> Box:
    """Return the box of rules that exclude a value, but whose premises are not certain."""
    n = len(triplets)
    rules = "1 other rule does" if n == 1 else f"{n} other rules do"
    numbers = [f"rule {t.number} · C {number_text(t.degree)}" for t in triplets[:TOOLTIP]]
    numbers += [f"{n - TOOLTIP} more"] * (n > TOOLTIP)
    return Box("note", f"{rules} not speak against it", (), ", ".join(numbers))


def _more_box(count: int, tooltip: str) -> Box:
    return Box("more", f"and {count} more", (), tooltip)
