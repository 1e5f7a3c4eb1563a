"""The outline of an explanation, the part that is shown under limits; and its text in English.

Texts, JSON and pictures are renderings of an outline: they differ in words and order only.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from pinesy._common.validation import check_limit
from pinesy.explanations.justification import (
    ExplanationNode,
    JustifyingParameter,
    Triplet,
    TripletProposition,
)
from pinesy.explanations.labels import WORDS, Wording, degree_text, list_text, number_text
from pinesy.explanations.restraints import Clash
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import rule_numbers_text

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

T = TypeVar("T")


class Outline:
    """The part of an explanation that is shown under limits; writers are outlines themselves.

    Parameters
    ----------
    explanation : Explanation
    depth : nodes of this level are not followed, by default the explanation's own
    limit : triplets, propositions and values to show, of each at most so many
    nodes : nodes to show in all
    """

    def __init__(
        self,
        explanation: "Explanation",
        depth: int | None,
        limit: int | None,
        nodes: int | None = None,
    ) -> None:
        self.explanation, self.wording = explanation, explanation.wording
        self.depth = check_limit(depth, "depth") or explanation.depth
        self.limit = check_limit(limit, "limit")
        self.nodes = check_limit(nodes, "nodes")

    def walk(self) -> Iterator[tuple[ExplanationNode, int]]:
        """Yield the nodes with their levels, each once, nearest to the result first."""
        roots = self.explanation.values[: self.limit] + self.explanation.rivals[: self.limit]
        levels = dict.fromkeys(roots, 0)
        waiting = list(levels)
        for index, node in enumerate(waiting):  # grows in the loop
            if self.nodes is not None and index >= self.nodes:
                return
            yield node, levels[node]
            if not self.is_cut(levels[node]):
                new = [c for c in node.followed(self.limit)[0] if c not in levels]
                levels.update(dict.fromkeys(new, levels[node] + 1))
                waiting += new

    def is_cut(self, level: int) -> bool:
        """Return whether nodes of a level are not followed."""
        return self.depth is not None and level >= self.depth

    def split(self, items: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """Return the first items up to the limit, and the others."""
        return (items, ()) if self.limit is None else (items[: self.limit], items[self.limit :])

    def statement(self, nodes: Sequence[ExplanationNode], limit: int | None) -> str:
        """Return that an attribute has one of some values; of many only so many are named."""
        attribute = nodes[0].attribute
        values = [attribute.domain[i] for i in sorted(node.position for node in nodes)]
        return self.wording.has(attribute, values, limit)


def alike(nodes: Sequence[ExplanationNode]) -> list[list[ExplanationNode]]:
    """Group values of one attribute that the same rules justify."""
    groups: dict[object, list[ExplanationNode]] = {}
    for node in nodes:
        rules = node.justification.rules if node.justification else ()
        groups.setdefault((node.attribute.name, rules), []).append(node)
    return list(groups.values())


class TextWriter(Outline):
    """Writes nodes in plain English, each once."""

    def __init__(self, explanation: "Explanation", depth: int, limit: int | None) -> None:
        super().__init__(explanation, depth, limit)
        self.written: set[ExplanationNode] = set()

    def text(self) -> str:
        """Return the result with its reasons, and indented what these rest on."""
        values, rivals = self.explanation.values, self.explanation.rivals
        reasons = [*self._lines(values, 0), self._certainty(), *self._lines(rivals, 0)]
        return "\n".join([*self._remarks(), *reasons])

    def head(self) -> list[str]:
        """Return the result and how certain it is, without the reasons."""
        explanation = self.explanation
        lines = [*self._remarks(), self._certainty()]
        if explanation.asked is not None and len(explanation.proposition.values) == 1:
            says = self.wording.says(explanation.proposition, self.limit)
            lines.insert(0, f"It is {degree_text('P', explanation.possibility)} that {says}.")
        return lines

    def _remarks(self) -> Iterator[str]:
        """Yield the remarks that come before the reasons."""
        explanation = self.explanation
        verdict = explanation.verdict if not explanation.distribution.decided else ""
        verdict = verdict[:1].upper() + verdict[1:]
        if not explanation.normalised:
            degree = number_text(explanation.contradiction)
            yield f"{verdict} (degree {degree}), so nothing is concluded."
            yield from chain.from_iterable(map(self._clash, explanation.clashes))
        elif verdict:
            yield f"{verdict}."
        if explanation.asked is not None and len(explanation.proposition.values) > 1:
            says = self.wording.says(explanation.proposition, self.limit)
            yield f"It is {degree_text('P', explanation.possibility)} that {says}."

    def _clash(self, clash: Clash) -> Iterator[str]:
        """Yield which rules clash, and which values each of them holds down."""
        name = self.wording.name(clash.attribute)
        groups, other_groups = self.split(clash.groups)
        texts = [rule_numbers_text([number - 1 for number in group]) for group in groups]
        texts += [f"{len(other_groups)} more such groups"] * (len(other_groups) > 0)
        yield f"No value of {name} is left fully possible by {', nor by '.join(texts)}."
        bounds, other_bounds = self.split(clash.bounds)
        for bound in bounds:
            says = self.wording.has(clash.attribute, bound.values, self.limit)
            rules = [
                f"rule {n} ({clash.rules[n - 1].line(self.limit)})"
                for n in bound.rules[: self.limit]
            ]
            left = len(bound.rules) - len(rules)
            rules += [f"{left} more rules"] * (left > 0)
            yield f"  - It is {degree_text('P', bound.degree)} that {says}, by {list_text(rules)}."
        if other_bounds:
            left = sum(len(bound.values) for bound in other_bounds)
            yield f"  - And so on, for {left} more values."

    def _certainty(self) -> str:
        explanation, others = self.explanation, self.explanation.other_possibility
        says = self.wording.says(explanation.proposition, self.limit)
        if not explanation.normalised:
            return f"Nothing is certain of {self.wording.name(explanation.attribute)}."
        if not explanation.rivals:
            return f"It is certain that {says}: there are no others."
        if others == 1.0:
            rivals = self.statement(explanation.rivals, self.limit)
            return f"It is not certain at all that {says}: it is possible that {rivals}."
        why = f"any other value is possible at {number_text(others)} at most"
        if others == 0.0:
            why = "every other value is impossible"
        return f"It is {degree_text('C', 1.0 - others)} that {says}: {why}."

    def _lines(self, nodes: Sequence[ExplanationNode], level: int) -> Iterator[str]:
        """Yield the lines of sibling nodes and of what they rest on."""
        new = [n for n in nodes if n not in self.written and not n.is_perceived]
        self.written.update(new)
        indent = "  " * level + "- " * (level > 0)
        inferred, left = self.split(new)
        for group in alike(inferred):
            yield f"{indent}{self._sentence(group)}"
            yield from self._below(group, level + 1)
        if left:
            yield f"{indent}And {_more([n.possibility for n in left], 'values')}."

    def _below(self, nodes: Sequence[ExplanationNode], level: int) -> Iterator[str]:
        """Yield the lines of what some values rest on, or that there is more."""
        followed = [node.followed(self.limit) for node in nodes]
        distinct = dict.fromkeys(child for children, _ in followed for child in children)
        children = [child for child in distinct if not child.is_perceived]
        indent, degree = "  " * level + "- ", nodes[0].possibility
        if not self.is_cut(level):
            yield from self._lines(children, level)
            hidden = sum(count for _, count in followed)
            if hidden:
                yield f"{indent}And {_more([degree] * hidden, 'values')}."
        elif children:
            names = dict.fromkeys(self.wording.name(c.attribute) for c in children)
            depth = self.depth
            yield f"{indent}What is behind {list_text(list(names))} is not shown (depth {depth})."

    def _sentence(self, nodes: Sequence[ExplanationNode]) -> str:
        """Return why some values are as possible as they are."""
        says = self.statement(nodes, self.limit)
        text = f"It is {degree_text('P', nodes[0].possibility)} that {says}"
        justification = nodes[0].justification
        if justification is None:
            return f"{text}."
        if justification.by_parameters:
            return f"{text}, {self._parameters(justification.parameters)}."
        if justification.reasons:
            triplets, left = self.split(justification.reasons)
            texts = [self._triplet(triplet) for triplet in triplets]
            texts += [_premises(len(left), "says the same", "say the same")] * (len(left) > 0)
            text += f", because {'; and because '.join(texts)}"
        if justification.silent:
            text += f". No rule speaks against it: {'; '.join(self._silent(justification.silent))}"
        return f"{text}."

    def _triplet(self, triplet: Triplet) -> str:
        degree = degree_text(triplet.semantics, triplet.degree)
        if not triplet.holds and triplet.degree > 0.0:
            degree = f"{degree} only"
        semantics = triplet.semantics
        premise = self._premise(*triplet.first(self.limit), semantics)
        text = f"it is {degree} that {premise} (rule {triplet.number})"
        if not triplet.n_unexpected:
            return text
        parts, degrees = triplet.first(self.limit, unexpected=True)
        degree = degree_text(semantics, min(degrees))
        if len(degrees) > 1:
            degree = degree.replace(" at ", " at least at ")
        return f"{text}, even if it is {degree} that {self._premise(parts, degrees, semantics)}"

    def _premise(
        self, parts: Sequence[TripletProposition], degrees: list[float], semantics: str
    ) -> str:
        """Return propositions joined by "and"; of those left out their number and range."""
        left = degrees[len(parts) :]
        noun = f"of the {len(degrees)} propositions"
        last = _more(left, noun, semantics) if left else ""
        return self.wording.says_all([part.reduced for part in parts], self.limit, last)

    def _silent(self, triplets: Sequence[Triplet]) -> Iterator[str]:
        """Yield premises that would speak against a value but are not certain.

        Those without anything unexpected stand in one sentence.
        """
        plain = [t for t in triplets if not t.n_unexpected and t.degree == 0.0]
        if plain:
            yield f"it is {degree_text('C', 0.0)} that {self._nor(plain)}"
        others, left = self.split([t for t in triplets if t not in plain])
        yield from map(self._triplet, others)
        if left:
            yield f"nor the premises of {_more([t.degree for t in left], 'rules', 'C')}"

    def _nor(self, triplets: Sequence[Triplet]) -> str:
        """Return premises as alternatives; those on single values of an attribute together."""
        groups: dict[object, list[Triplet]] = {}
        for triplet in triplets:
            first, *others = triplet.premise.propositions
            is_one_value = not others and first.mask.bit_count() == 1
            groups.setdefault(first.attribute if is_one_value else triplet, []).append(triplet)
        first_groups, other_groups = self.split(list(groups.values()))
        texts = [self._any_of(group) for group in first_groups]
        left = sum(map(len, other_groups))
        texts += [_premises(left, "holds", "hold")] * (left > 0)
        return ", nor that ".join(texts)

    def _any_of(self, triplets: Sequence[Triplet]) -> str:
        """Return one premise, or several that differ in the value of an attribute alone."""
        if len(triplets) == 1:
            premise = self._premise(*triplets[0].first(self.limit), "C")
            return f"{premise} (rule {triplets[0].number})"
        propositions = [t.premise.propositions[0] for t in triplets]
        attribute = propositions[0].attribute
        values = self.wording.values(attribute, [p.values[0] for p in propositions], self.limit)
        numbers = Wording().values(
            Attribute("rule", range(1)), [t.number for t in triplets], None, "and"
        )
        return f"{self.wording.name(attribute)} is any one of {values} (rules {numbers})"

    def _parameters(self, parameters: Sequence[JustifyingParameter]) -> str:
        """Return which parameters set a degree, where no premise does."""
        first, left = self.split(parameters)
        texts = []
        for parameter in first:
            case, values = "holds", "what it does not conclude"
            if parameter.name == "s":
                case, values = "fails", "its conclusion"
            texts.append(
                f"rule {parameter.number} leaves {values} {degree_text('P', parameter.degree)} "
                f"even if its premise {case} ({parameter.name} = {number_text(parameter.degree)})"
            )
        if left:
            rules = f"{len(left)} more rules do" if len(left) > 1 else "one more rule does"
            texts.append(f"{rules} the same")
        return f"because {list_text(texts)}"


def _more(degrees: Sequence[float], nouns: str, semantics: str = "P") -> str:
    """Return how many are left out, and the range of their degrees."""
    least, greatest = min(degrees), max(degrees)
    degree = degree_text(semantics, least)
    if len(degrees) == 1:
        return f"1 more {nouns.removesuffix('s')}, {degree}"
    if least == greatest:
        return f"{len(degrees)} more {nouns}, all {degree}"
    limits = f"{number_text(least)} to {number_text(greatest)}"
    return f"{len(degrees)} more {nouns}, {WORDS[semantics][0]} at {limits}"


def _premises(count: int, singular: str, plural: str) -> str:
    """Return a statement on the premises of `count` more rules."""
    if count == 1:
        return f"the premise of one more rule {singular}"
    return f"the premises of {count} more rules {plural}"
