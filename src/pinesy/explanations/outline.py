"""What a picture of an explanation shows: boxes, what they lead to, and what is left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pinesy.explanations.justification import Justification
from pinesy.explanations.labels import listed, number_text
from pinesy.explanations.nodes import Node
from pinesy.explanations.triplets import Part, Triplet
from pinesy.explanations.wording import certain, possible
from pinesy.rules.possibility import Possibility

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

Kind = Literal["result", "value", "rival", "possible", "certain", "note", "more", "input"]

#: Propositions that the tooltip of a rule shows.
TOLD = 20


@dataclass(eq=False)
class Box:
    """A box of a picture.

    Attributes
    ----------
    kind : ``"result"``; ``"value"`` and ``"rival"``: inferred values; ``"possible"`` and
        ``"certain"``: a rule whose premise sets the degree of a value; ``"note"``: what else sets
        it; ``"more"``: something is left out; ``"input"``: a perceived attribute
    heading, texts : what stands in it
    told : the whole text, where the box may show less
    children : the boxes it leads to
    distribution, values : for an input, its distribution and the positions that count
    name, names : for an input, its name and what its values are called
    """

    kind: Kind
    heading: str
    texts: tuple[str, ...] = ()
    told: str = ""
    children: "list[Box]" = field(default_factory=list)
    distribution: Possibility | None = None
    values: set[int] = field(default_factory=set)
    name: str = ""
    names: tuple[str, ...] = ()

    def add(self, child: "Box") -> None:
        """Lead to a box, once."""
        if child not in self.children:
            self.children.append(child)


@dataclass(frozen=True)
class Limits:
    """Rule sets to go down; rules, propositions and values of each; boxes of attributes."""

    depth: int | None
    limit: int | None
    nodes: int | None


def outline(explanation: "Explanation", limits: Limits) -> Box:
    """Return the box of the result, which leads to all others."""
    return _Outline(explanation, limits).root()


class _Outline:
    """Makes boxes, those of the same values once, nearest to the result first."""

    def __init__(self, explanation: "Explanation", limits: Limits) -> None:
        self.explanation, self.wording = explanation, explanation.wording
        self.limits, self.limit = limits, limits.limit
        self.boxes: dict[object, Box] = {}
        self.waiting: list[tuple[Node, Box, int]] = []

    def root(self) -> Box:
        found = self.explanation
        says = self.wording.says(found.proposition, self.limit)
        texts = [possible(found.possibility), certain(found.certainty)]
        texts += ["ambiguous"] * found.ambiguous
        texts += ["the rules contradict"] * (not found.normalised)
        root = Box("result", says, tuple(texts), f"{says}: {listed(texts)}")
        self._roots(root, found.values, "value")
        self._roots(root, found.rivals, "rival")
        for node, box, level in self.waiting:  # grows on the way
            self._justify(node, box, level)
        return root

    def _roots(self, root: Box, nodes: Sequence[Node], kind: Kind) -> None:
        groups = _alike(nodes)
        shown = groups[: self.limit]
        for group in shown:
            root.add(self._value(group, kind, 0))
        left = sum(map(len, groups[len(shown) :]))
        if left:
            word = "other values" if kind == "rival" else "values"
            root.add(_more(left, f"{left} more {word}, {possible(nodes[0].possibility)}"))

    def _value(self, nodes: Sequence[Node], kind: Kind, level: int) -> Box:
        """Return the box of values that the same rules justify, made once."""
        key = tuple(nodes)
        if key not in self.boxes:
            attribute = nodes[0].attribute
            proposition = attribute.isin(node.value for node in nodes)
            short, whole = (self.wording.says(proposition, n) for n in (self.limit, TOLD))
            degree = possible(nodes[0].possibility)
            self.boxes[key] = Box(kind, short, (degree,), f"{whole}: {degree}")
            self.waiting.append((nodes[0], self.boxes[key], level))
        return self.boxes[key]

    def _input(self, nodes: Sequence[Node]) -> Box:
        """Return the box of an input, made once; note which of its values count."""
        attribute = nodes[0].attribute
        if attribute.name not in self.boxes:
            self.boxes[attribute.name] = Box(
                "input",
                self.wording.name(attribute),
                distribution=nodes[0].distribution,
                name=attribute.name,
                names=tuple(self.wording.value(attribute, v) for v in attribute.domain),
            )
        self.boxes[attribute.name].values.update(node.position for node in nodes)
        return self.boxes[attribute.name]

    def _justify(self, node: Node, box: Box, level: int) -> None:
        justification = node.justification
        if justification is None:
            return
        if self.limits.depth is not None and level >= self.limits.depth:
            box.add(Box("more", f"not followed (depth {self.limits.depth})"))
            return
        for reason in self._parameters(justification):
            box.add(reason)
        loud = [t for t in justification.triplets if t.semantics == "P" or t.holds]
        shown = (loud or justification.triplets)[: self.limit]
        for triplet in shown:
            box.add(self._rule(node, triplet, level))
        left = len(loud or justification.triplets) - len(shown)
        if left:
            box.add(_more(left, f"{left} more rules say the same"))
        if loud and len(loud) < len(justification.triplets):
            box.add(_quiet([t for t in justification.triplets if t not in loud]))

    def _parameters(self, justification: Justification) -> Iterator[Box]:
        shown = justification.parameters[: self.limit]
        for p in shown:
            case = "fails" if p.name == "s" else "holds"
            told = self.wording.rule(p.rule, TOLD)
            heading = f"rule {p.number}: {p.name} = {number_text(p.degree)}"
            yield Box("note", heading, (f"leaves it possible even if its premise {case}",), told)
        left = len(justification.parameters) - len(shown)
        if left:
            yield _more(left, f"{left} more parameters")

    def _rule(self, node: Node, triplet: Triplet, level: int) -> Box:
        """Return the box of a triplet, with what its deciding propositions rest on."""
        parts = triplet.first(self.limit)
        texts = [self.wording.says(p.reduced, self.limit, triplet.n_reduced > 1) for p in parts]
        left = triplet.n_reduced - len(parts)
        premise = listed(texts + [f"{left} more propositions"] * (left > 0))
        kind: Kind = "possible" if triplet.semantics == "P" else "certain"
        heading = f"rule {triplet.number} · {triplet.semantics} {number_text(triplet.degree)}"
        told = f"{heading}: {premise}\n{self.wording.rule(triplet.rule, TOLD)}"
        box = Box(kind, heading, (premise,), told)
        deciding = [p for p in parts if p.decides]
        hidden = triplet.n_deciding - len(deciding)
        hidden += sum(self._behind(node, part, box, level) for part in deciding)
        if hidden > 0:
            box.add(_more(hidden, f"{hidden} more that this rests on"))
        return box

    def _behind(self, node: Node, part: Part, box: Box, level: int) -> int:
        """Lead to what a proposition rests on; return how much there is no room for."""
        nodes = node.behind(part)
        if not nodes:
            return 0
        if nodes[0].is_perceived:
            if nodes[0].attribute.name not in self.boxes and self._is_full:
                return 1
            box.add(self._input(nodes))
            return 0
        hidden = max(0, len(nodes) - (self.limit or len(nodes)))
        for group in _alike(nodes[: self.limit]):
            if tuple(group) not in self.boxes and self._is_full:
                hidden += len(group)
            else:
                box.add(self._value(group, "value", level + 1))
        return hidden

    @property
    def _is_full(self) -> bool:
        return self.limits.nodes is not None and len(self.boxes) >= self.limits.nodes


def _alike(nodes: Sequence[Node]) -> list[list[Node]]:
    """Group values of one attribute that the same rules justify."""
    groups: dict[object, list[Node]] = {}
    for node in nodes:
        found = node.justification
        rules = [] if found is None else [(t.number, t.semantics) for t in found.triplets]
        names = [] if found is None else [(p.number, p.name) for p in found.parameters]
        groups.setdefault((node.possibility, *rules, *names), []).append(node)
    return list(groups.values())


def _quiet(triplets: Sequence[Triplet]) -> Box:
    """Return the box of rules that would speak against a value but whose premises are not sure."""
    n = len(triplets)
    rules = "1 other rule does" if n == 1 else f"{n} other rules do"
    numbers = ", ".join(f"rule {t.number} · C {number_text(t.degree)}" for t in triplets[:TOLD])
    told = numbers + f", {n - TOLD} more" * (n > TOLD)
    return Box("note", f"{rules} not speak against it", (), told)


def _more(count: int, told: str) -> Box:
    return Box("more", f"and {count} more", (), told)
