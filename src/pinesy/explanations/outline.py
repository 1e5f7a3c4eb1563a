"""The outline of an explanation, the part that fits limits; and its text in English.

Texts, JSON and pictures are renderings of an outline: they differ in words and order only.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeVar

from pinesy._common.validation import check_limit
from pinesy.explanations.explained_result import ExplainedResult
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

T = TypeVar("T")


class Outline:
    """The part of an explanation that fits limits; the writers of each form inherit from it.

    Parameters
    ----------
    explanation : ExplainedResult
    depth : the level whose nodes have no children here; by default the depth of the explanation
    limit : the maximum number of triplets, of propositions and of values to show
    nodes : the maximum number of nodes to show
    """

    def __init__(
        self,
        explanation: ExplainedResult,
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
                new = [c for c in node.first_children(self.limit)[0] if c not in levels]
                levels.update(dict.fromkeys(new, levels[node] + 1))
                waiting += new

    def is_cut(self, level: int) -> bool:
        """Return whether nodes of a level have no children here."""
        return self.depth is not None and level >= self.depth

    def split(self, items: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """Return the first items up to the limit, and the others."""
        return (items, ()) if self.limit is None else (items[: self.limit], items[self.limit :])

    def nodes_text(self, nodes: Sequence[ExplanationNode], limit: int | None) -> str:
        """Return that an attribute has one of the values of nodes; at most `limit` are named."""
        attribute = nodes[0].attribute
        values = [attribute.domain[i] for i in sorted(node.index for node in nodes)]
        return self.wording.values_sentence(attribute, values, limit)


def group_by_rules(nodes: Sequence[ExplanationNode]) -> list[list[ExplanationNode]]:
    """Group nodes of the same attribute that the same rules justify."""
    groups: dict[object, list[ExplanationNode]] = {}
    for node in nodes:
        rules = node.justification.rules if node.justification else ()
        groups.setdefault((node.attribute.name, rules), []).append(node)
    return list(groups.values())


class TextWriter(Outline):
    """Writes an explanation in plain English, each node once."""

    def text(self) -> str:
        """Return the result with its reasons and, indented, the reasons of these."""
        self._written: set[ExplanationNode] = set()
        values, rivals = self.explanation.values, self.explanation.rivals
        reasons = [*self._lines(values, 0), self._certainty_sentence(), *self._lines(rivals, 0)]
        return "\n".join([*self._remark_lines(), *reasons])

    def head(self) -> list[str]:
        """Return the result and how certain it is, without the reasons."""
        explanation = self.explanation
        lines = [*self._remark_lines(), self._certainty_sentence()]
        if explanation.asked is not None and len(explanation.proposition.values) == 1:
            says = self.wording.proposition_sentence(explanation.proposition, self.limit)
            lines.insert(0, f"It is {degree_text('P', explanation.possibility)} that {says}.")
        return lines

    def _remark_lines(self) -> Iterator[str]:
        """Yield the remarks that come before the reasons."""
        explanation = self.explanation
        verdict = explanation.verdict if not explanation.distribution.decided else ""
        verdict = verdict[:1].upper() + verdict[1:]
        if not explanation.normalised:
            degree = number_text(explanation.contradiction)
            yield f"{verdict} (degree {degree}), so nothing is concluded."
            yield from chain.from_iterable(map(self._clash_lines, explanation.clashes))
        elif verdict:
            yield f"{verdict}."
        if explanation.asked is not None and len(explanation.proposition.values) > 1:
            says = self.wording.proposition_sentence(explanation.proposition, self.limit)
            yield f"It is {degree_text('P', explanation.possibility)} that {says}."

    def _clash_lines(self, clash: Clash) -> Iterator[str]:
        """Yield which rules clash, and which values each of them limits."""
        name = self.wording.name(clash.attribute)
        groups, other_groups = self.split(clash.groups)
        texts = [rule_numbers_text(group) for group in groups]
        texts += [f"{len(other_groups)} more such groups"] * (len(other_groups) > 0)
        yield f"No value of {name} is left fully possible by {', nor by '.join(texts)}."
        bounds, other_bounds = self.split(clash.bounds)
        for bound in bounds:
            says = self.wording.values_sentence(clash.attribute, bound.values, self.limit)
            rules = [
                f"rule {n} ({clash.rules[n].line(self.limit)})" for n in bound.rules[: self.limit]
            ]
            left = len(bound.rules) - len(rules)
            rules += [f"{left} more rules"] * (left > 0)
            yield f"  - It is {degree_text('P', bound.degree)} that {says}, by {list_text(rules)}."
        if other_bounds:
            left = sum(len(bound.values) for bound in other_bounds)
            yield f"  - And so on, for {left} more values."

    def _certainty_sentence(self) -> str:
        """Return how certain the proposition is."""
        explanation, others = self.explanation, self.explanation.other_possibility
        says = self.wording.proposition_sentence(explanation.proposition, self.limit)
        if not explanation.normalised:
            return f"Nothing is certain of {self.wording.name(explanation.attribute)}."
        if not explanation.rivals:
            return f"It is certain that {says}: there are no others."
        if others == 1.0:
            rivals = self.nodes_text(explanation.rivals, self.limit)
            return f"It is not certain at all that {says}: it is possible that {rivals}."
        why = f"any other value is possible at {number_text(others)} at most"
        if others == 0.0:
            why = "every other value is impossible"
        return f"It is {degree_text('C', 1.0 - others)} that {says}: {why}."

    def _lines(self, nodes: Sequence[ExplanationNode], level: int) -> Iterator[str]:
        """Yield the lines of sibling nodes, and of their children up to the depth."""
        new = [n for n in nodes if n not in self._written and not n.is_perceived]
        self._written.update(new)
        indent, child_indent = "  " * level + "- " * (level > 0), "  " * (level + 1) + "- "
        inferred, omitted = self.split(new)
        for group in group_by_rules(inferred):
            yield f"{indent}{self._sentence(group)}"
            families = [node.first_children(self.limit) for node in group]
            distinct = dict.fromkeys(child for children, _ in families for child in children)
            children = [child for child in distinct if not child.is_perceived]
            n_omitted = sum(count for _, count in families)
            if not self.is_cut(level + 1):
                yield from self._lines(children, level + 1)
                if n_omitted:
                    values = _more([group[0].possibility] * n_omitted, "values")
                    yield f"{child_indent}And {values}."
            elif children:
                names = list_text(
                    list(dict.fromkeys(self.wording.name(c.attribute) for c in children))
                )
                yield f"{child_indent}What is behind {names} is not shown (depth {self.depth})."
        if omitted:
            yield f"{indent}And {_more([n.possibility for n in omitted], 'values')}."

    def _sentence(self, nodes: Sequence[ExplanationNode]) -> str:
        """Return why values that the same rules justify are as possible as they are."""
        says = self.nodes_text(nodes, self.limit)
        text = f"It is {degree_text('P', nodes[0].possibility)} that {says}"
        justification = nodes[0].justification
        if justification is None:
            return f"{text}."
        if not justification.triplets:
            return f"{text}, {self._parameters(justification.parameters)}."
        if justification.reasons:
            triplets, omitted = self.split(justification.reasons)
            texts = [self._triplet(triplet) for triplet in triplets]
            if omitted:
                texts.append(_premises(len(omitted), "says the same", "say the same"))
            text += f", because {'; and because '.join(texts)}"
        if justification.silent:
            premises = "; ".join(self._silent_premises(justification.silent))
            text += f". No rule speaks against it: {premises}"
        return f"{text}."

    def _triplet(self, triplet: Triplet) -> str:
        """Return how possible or certain a premise is, with its unexpected propositions."""
        degree = degree_text(triplet.semantics, triplet.degree)
        if not triplet.holds and triplet.degree > 0.0:
            degree = f"{degree} only"
        semantics = triplet.semantics
        premise = self._premise(*triplet.first_propositions(self.limit), semantics)
        text = f"it is {degree} that {premise} (rule {triplet.number})"
        parts, degrees = triplet.first_propositions(self.limit, unexpected=True)
        if not degrees:
            return text
        degree = degree_text(semantics, min(degrees))
        if len(degrees) > 1:
            degree = degree.replace(" at ", " at least at ")
        return f"{text}, even if it is {degree} that {self._premise(parts, degrees, semantics)}"

    def _premise(
        self, parts: Sequence[TripletProposition], degrees: list[float], semantics: str
    ) -> str:
        """Return the first propositions of a premise, and the range of the omitted degrees."""
        omitted = degrees[len(parts) :]
        noun = f"of the {len(degrees)} propositions"
        last = _more(omitted, noun, semantics) if omitted else ""
        return self.wording.premise_sentence([part.reduced for part in parts], self.limit, last)

    def _silent_premises(self, triplets: Sequence[Triplet]) -> Iterator[str]:
        """Yield the premises of rules that exclude a value, but are not certain.

        Premises without unexpected propositions stand in one sentence.
        """
        plain = [t for t in triplets if not t.n_unexpected and t.degree == 0.0]
        if plain:
            yield f"it is {degree_text('C', 0.0)} that {self._alternatives(plain)}"
        others, left = self.split([t for t in triplets if t not in plain])
        yield from map(self._triplet, others)
        if left:
            yield f"nor the premises of {_more([t.degree for t in left], 'rules', 'C')}"

    def _alternatives(self, triplets: Sequence[Triplet]) -> str:
        """Return premises joined by "nor"; those on single values of an attribute together."""
        groups: dict[object, list[Triplet]] = {}
        for triplet in triplets:
            first, *others = triplet.premise.propositions
            is_one_value = not others and first.mask.bit_count() == 1
            groups.setdefault(first.attribute if is_one_value else triplet, []).append(triplet)
        first_groups, other_groups = self.split(list(groups.values()))
        texts = [self._premise_or_values(group) for group in first_groups]
        if other_groups:
            texts.append(_premises(sum(map(len, other_groups)), "holds", "hold"))
        return ", nor that ".join(texts)

    def _premise_or_values(self, triplets: Sequence[Triplet]) -> str:
        """Return one premise, or several that differ only in the value of one attribute."""
        if len(triplets) == 1:
            premise = self._premise(*triplets[0].first_propositions(self.limit), "C")
            return f"{premise} (rule {triplets[0].number})"
        propositions = [t.premise.propositions[0] for t in triplets]
        attribute = propositions[0].attribute
        values = self.wording.value_list(attribute, [p.values[0] for p in propositions], self.limit)
        numbers = Wording().value_list(
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
    """Return how many items are omitted, and the range of their degrees."""
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
