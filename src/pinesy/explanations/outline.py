"""The outline of an explanation: what is shown of it under limits; and its text in plain English.

Texts, JSON and pictures are renderings of an outline: they differ in words and order only.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from pinesy._common.validation import check_limit
from pinesy.explanations.justification import (
    ExplanationNode,
    JustifyingParameter,
    Triplet,
    TripletProposition,
)
from pinesy.explanations.labels import WORDS, Wording, degree_text, listed, number_text
from pinesy.explanations.restraints import Clash
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import numbered_rules

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

T = TypeVar("T")


#: How many are left out of a list, and the range of their degrees.
Omission = dict[str, Any]


def omission(degrees: Sequence[float]) -> Omission | None:
    """Return the omission of those that have these degrees; None if there are none."""
    if not degrees:
        return None
    return {"count": len(degrees), "least": min(degrees), "greatest": max(degrees)}


class Outline:
    """What is shown of an explanation; those that write it are outlines themselves.

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
        for number, node in enumerate(waiting):  # grows on the way
            if self.nodes is not None and number >= self.nodes:
                return
            yield node, levels[node]
            if not self.is_cut(levels[node]):
                new = [c for c in node.followed(self.limit)[0] if c not in levels]
                levels.update(dict.fromkeys(new, levels[node] + 1))
                waiting += new

    def is_cut(self, level: int) -> bool:
        """Tell whether nodes of a level are not followed."""
        return self.depth is not None and level >= self.depth

    def split(self, items: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """Return those that are shown, and those that are left out."""
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
        """Return what is so and why, then what that rests on, indented."""
        values, rivals = self.explanation.values, self.explanation.rivals
        reasons = [*self._lines(values, 0), self._certainty(), *self._lines(rivals, 0)]
        return "\n".join([*self._remarks(), *reasons])

    def head(self) -> list[str]:
        """Return what is so, and how certain it is, without the reasons."""
        explanation = self.explanation
        said = [*self._remarks(), self._certainty()]
        if explanation.asked is not None and len(explanation.proposition.values) == 1:
            says = self.wording.says(explanation.proposition, self.limit)
            said.insert(0, f"It is {degree_text('P', explanation.possibility)} that {says}.")
        return said

    def _remarks(self) -> Iterator[str]:
        """Yield what a reader must know before the reasons."""
        explanation = self.explanation
        if not explanation.normalised:
            how_far = number_text(explanation.contradiction)
            yield f"{_sentence(explanation.verdict)} (degree {how_far}), so nothing is concluded."
            yield from chain.from_iterable(map(self._clash, explanation.clashes))
        elif not explanation.distribution.decided:
            yield f"{_sentence(explanation.verdict)}."
        if explanation.asked is not None and len(explanation.proposition.values) > 1:
            says = self.wording.says(explanation.proposition, self.limit)
            yield f"It is {degree_text('P', explanation.possibility)} that {says}."

    def _clash(self, clash: Clash) -> Iterator[str]:
        """Yield which rules clash, and which values each of them holds down."""
        name = self.wording.name(clash.attribute)
        groups, more = self.split(clash.groups)
        texts = [numbered_rules([number - 1 for number in group]) for group in groups]
        texts += [f"{len(more)} more such groups"] * (len(more) > 0)
        yield f"No value of {name} is left fully possible by {', nor by '.join(texts)}."
        bounds, left = self.split(clash.bounds)
        for bound in bounds:
            says = self.wording.has(clash.attribute, bound.values, self.limit)
            rules = [
                f"rule {n} ({clash.rules[n - 1].line(self.limit)})"
                for n in bound.rules[: self.limit]
            ]
            rest = len(bound.rules) - len(rules)
            rules += [f"{rest} more rules"] * (rest > 0)
            yield f"  - It is {degree_text('P', bound.degree)} that {says}, by {listed(rules)}."
        if left:
            yield f"  - And so on, for {sum(len(bound.values) for bound in left)} more values."

    def _certainty(self) -> str:
        explanation, rest = self.explanation, self.explanation.other_possibility
        says = self.wording.says(explanation.proposition, self.limit)
        if not explanation.normalised:
            return f"Nothing is certain of {self.wording.name(explanation.attribute)}."
        if not explanation.rivals:
            return f"It is certain that {says}: there are no others."
        if rest == 1.0:
            others = self.statement(explanation.rivals, self.limit)
            return f"It is not certain at all that {says}: it is possible that {others}."
        why = f"any other value is possible at {number_text(rest)} at most"
        if rest == 0.0:
            why = "every other value is impossible"
        return f"It is {degree_text('C', 1.0 - rest)} that {says}: {why}."

    def _lines(self, nodes: Sequence[ExplanationNode], level: int) -> Iterator[str]:
        """Yield the lines of sibling nodes and of what they rest on."""
        new = [n for n in nodes if n not in self.written and not n.is_perceived]
        self.written.update(new)
        indent = "  " * level + "- " * (level > 0)
        shown, left = self.split(new)
        for group in alike(shown):
            yield f"{indent}{self._sentence(group)}"
            yield from self._below(group, level + 1)
        omitted = omission([n.possibility for n in left])
        if omitted:
            yield f"{indent}And {_more(omitted, 'values')}."

    def _below(self, nodes: Sequence[ExplanationNode], level: int) -> Iterator[str]:
        """Yield the lines of what some values rest on, or say that there is more."""
        followed = [node.followed(self.limit) for node in nodes]
        every = dict.fromkeys(child for children, _ in followed for child in children)
        children = [child for child in every if not child.is_perceived]
        indent, degree = "  " * level + "- ", nodes[0].possibility
        if not self.is_cut(level):
            yield from self._lines(children, level)
            omitted = omission([degree] * sum(n for _, n in followed))
            if omitted:
                yield f"{indent}And {_more(omitted, 'values')}."
        elif children:
            names = dict.fromkeys(self.wording.name(c.attribute) for c in children)
            depth = self.depth
            yield f"{indent}What is behind {listed(list(names))} is not shown (depth {depth})."

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
            text += f", because {'; and because '.join(self._reasons(justification.reasons))}"
        if justification.silent:
            text += f". No rule speaks against it: {'; '.join(self._silent(justification.silent))}"
        return f"{text}."

    def _reasons(self, triplets: Sequence[Triplet]) -> list[str]:
        shown, left = self.split(triplets)
        also = [_premises(len(left), "says the same", "say the same")] if left else []
        return [*map(self._triplet, shown), *also]

    def _triplet(self, triplet: Triplet) -> str:
        degree = degree_text(triplet.semantics, triplet.degree)
        if not triplet.holds and triplet.degree > 0.0:
            degree = f"{degree} only"
        premise = self._premise(*triplet.first(self.limit), triplet.semantics)
        text = f"it is {degree} that {premise} (rule {triplet.number})"
        return f"{text}, {self._even_if(triplet)}" if triplet.n_unexpected else text

    def _premise(
        self, parts: Sequence[TripletProposition], degrees: list[float], semantics: str
    ) -> str:
        """Return propositions joined by "and"; of those left out their number and range."""
        omitted = omission(degrees[len(parts) :])
        what = f"of the {len(degrees)} propositions"
        more = _more(omitted, what, semantics) if omitted else ""
        return self.wording.says_all([part.reduced for part in parts], self.limit, more)

    def _even_if(self, triplet: Triplet) -> str:
        parts, degrees = triplet.first(self.limit, unexpected=True)
        degree = degree_text(triplet.semantics, min(degrees))
        if len(degrees) > 1:
            degree = degree.replace(" at ", " at least at ")
        return f"even if it is {degree} that {self._premise(parts, degrees, triplet.semantics)}"

    def _silent(self, triplets: Sequence[Triplet]) -> Iterator[str]:
        """Yield premises that would speak against a value but are not certain.

        Those without anything unexpected stand in one sentence.
        """
        plain = [t for t in triplets if not t.n_unexpected and t.degree == 0.0]
        if plain:
            yield f"it is {degree_text('C', 0.0)} that {self._nor(plain)}"
        shown, left = self.split([t for t in triplets if t not in plain])
        yield from map(self._triplet, shown)
        omitted = omission([t.degree for t in left])
        if omitted:
            yield f"nor the premises of {_more(omitted, 'rules', 'C')}"

    def _nor(self, triplets: Sequence[Triplet]) -> str:
        """Return premises as alternatives; those on single values of an attribute together."""
        groups: dict[object, list[Triplet]] = {}
        for triplet in triplets:
            first, *others = triplet.premise.propositions
            is_one_value = not others and first.mask.bit_count() == 1
            groups.setdefault(first.attribute if is_one_value else triplet, []).append(triplet)
        shown, left = self.split(list(groups.values()))
        texts = [self._any_of(group) for group in shown]
        more = sum(map(len, left))
        texts += [_premises(more, "holds", "hold")] * (more > 0)
        return ", nor that ".join(texts)

    def _any_of(self, triplets: Sequence[Triplet]) -> str:
        """Return one premise, or several that differ in the value of an attribute alone."""
        if len(triplets) == 1:
            premise = self._premise(*triplets[0].first(self.limit), "C")
            return f"{premise} (rule {triplets[0].number})"
        only = [t.premise.propositions[0] for t in triplets]
        attribute = only[0].attribute
        values = self.wording.values(attribute, [p.values[0] for p in only], self.limit)
        numbers = Wording().values(
            Attribute("rule", range(1)), [t.number for t in triplets], None, "and"
        )
        return f"{self.wording.name(attribute)} is any one of {values} (rules {numbers})"

    def _parameters(self, parameters: Sequence[JustifyingParameter]) -> str:
        """Return which parameters set a degree, where no premise does."""
        shown, left = self.split(parameters)
        texts = [*map(_parameter, shown)]
        if left:
            more = f"{len(left)} more rules do" if len(left) > 1 else "one more rule does"
            texts.append(f"{more} the same")
        return f"because {listed(texts)}"


def _sentence(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _parameter(parameter: JustifyingParameter) -> str:
    case = "fails" if parameter.name == "s" else "holds"
    rest = "its conclusion" if parameter.name == "s" else "what it does not conclude"
    return (
        f"rule {parameter.number} leaves {rest} {degree_text('P', parameter.degree)} even if its "
        f"premise {case} ({parameter.name} = {number_text(parameter.degree)})"
    )


def _more(left: Omission, what: str, semantics: str = "P") -> str:
    """Return how many are left out, and the range of their degrees."""
    count, least, greatest = left.values()
    degree = degree_text(semantics, least)
    if count == 1:
        return f"1 more {what.removesuffix('s')}, {degree}"
    if least == greatest:
        return f"{count} more {what}, all {degree}"
    degrees = f"{number_text(least)} to {number_text(greatest)}"
    return f"{count} more {what}, {WORDS[semantics][0]} at {degrees}"


def _premises(count: int, one: str, several: str) -> str:
    """Return that the premises of so many more rules do something."""
    if count == 1:
        return f"the premise of one more rule {one}"
    return f"the premises of {count} more rules {several}"
