"""Explanations in plain English."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pinesy.explanations.justification import Justification, Parameter
from pinesy.explanations.labels import Wording, listed, number_text
from pinesy.explanations.nodes import Node
from pinesy.explanations.triplets import Part, Triplet
from pinesy.rules.attributes import Attribute, Proposition

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

_KINDS = {"P": "possible", "C": "certain"}


def explanation_text(explanation: "Explanation", depth: int, limit: int | None) -> str:
    """Return an explanation as lines: what is so and why, then what that rests on, indented."""
    writer = _Writer(explanation.wording, depth, limit)
    lines = [*_remarks(explanation, writer)]
    lines += writer.lines(explanation.values, 0)
    lines.append(_certainty(explanation, writer))
    lines += writer.lines(explanation.rivals, 0)
    return "\n".join(lines)


def _remarks(explanation: "Explanation", writer: "_Writer") -> Iterator[str]:
    """Yield what a reader must know before the reasons."""
    wording, result = explanation.wording, explanation.distribution
    if not explanation.normalised:
        top = number_text(float(result.degrees.max()))
        yield (
            "The rules contradict each other on this sample, here or in what is behind: the most "
            f"possible value has possibility {top}."
        )
    if explanation.ambiguous:
        best = [
            v
            for v, d in zip(result.attribute.domain, result.degrees, strict=True)
            if d == result.degrees.max()
        ]
        yield (
            f"The result is ambiguous: {wording.name(result.attribute)} is "
            f"{wording.values(result.attribute, best, writer.limit)}, equally possible."
        )
    asked = explanation.proposition
    if len(asked.values) > 1 and explanation.asked is not None:
        yield f"It is {possible(explanation.possibility)} that {writer.says(asked)}."


def _certainty(explanation: "Explanation", writer: "_Writer") -> str:
    says, rest = writer.says(explanation.proposition), explanation.other_possibility
    if not explanation.rivals:
        return f"It is certain that {says}: there are no others."
    if rest == 1.0:
        others = writer.of_nodes(explanation.rivals)
        return f"It is not certain at all that {says}: it is possible that {others}."
    why = f"any other value is possible at {number_text(rest)} at most"
    if rest == 0.0:
        why = "every other value is impossible"
    return f"It is {certain(1.0 - rest)} that {says}: {why}."


def possible(degree: float) -> str:
    """Return a possibility in words.

    Examples
    --------
    >>> possible(1.0), possible(0.3), possible(0.0)
    ('possible', 'possible at 0.3', 'impossible')
    """
    if degree in (0.0, 1.0):
        return "possible" if degree else "impossible"
    return f"possible at {number_text(degree)}"


def certain(degree: float) -> str:
    """Return a certainty in words.

    Examples
    --------
    >>> certain(1.0), certain(0.7), certain(0.0)
    ('certain', 'certain at 0.7', 'not certain at all')
    """
    if degree in (0.0, 1.0):
        return "certain" if degree else "not certain at all"
    return f"certain at {number_text(degree)}"


_WORDS = {"possible": possible, "certain": certain}


class _Writer:
    """Writes nodes, each once, down to a depth."""

    def __init__(self, wording: Wording, depth: int, limit: int | None) -> None:
        self.wording, self.depth, self.limit = wording, depth, limit
        self.told: set[int] = set()

    def says(self, proposition: Proposition) -> str:
        return self.wording.says(proposition, self.limit)

    def of_nodes(self, nodes: Sequence[Node]) -> str:
        return self.says(nodes[0].attribute.isin(node.value for node in nodes))

    def lines(self, nodes: Sequence[Node], level: int) -> Iterator[str]:
        """Yield the lines of sibling nodes and of what they rest on."""
        new = [n for n in nodes if id(n) not in self.told and not n.is_perceived]
        self.told.update(id(node) for node in new)
        indent = "  " * level + "- " * (level > 0)
        for justification, group in _alike(new[: self.limit]):
            yield f"{indent}{self._sentence(group, justification)}"
            yield from self._below(group, level)
        left = new[self.limit :] if self.limit is not None else []
        if left:
            yield f"{indent}And {_more(len(left), [n.possibility for n in left], 'values')}."

    def _below(self, nodes: Sequence[Node], level: int) -> Iterator[str]:
        """Yield the lines of what some values rest on, or say that there is more."""
        found = {id(c): c for n in nodes for c in n.first_children(self.limit)}
        children = [c for c in found.values() if not c.is_perceived]
        hidden = sum(n.n_hidden(self.limit) for n in nodes)
        indent = "  " * (level + 1) + "- "
        if level + 1 < self.depth:
            yield from self.lines(children, level + 1)
            if hidden:
                yield f"{indent}And {_more(hidden, [nodes[0].possibility], 'values')}."
        elif children:
            names = dict.fromkeys(self.wording.name(c.attribute) for c in children)
            shown = listed(list(names))
            yield f"{indent}What is behind {shown} is not shown (depth {self.depth})."

    def _sentence(self, nodes: Sequence[Node], justification: Justification) -> str:
        """Return why some values are as possible as they are."""
        text = f"It is {possible(justification.degree)} that {self.of_nodes(nodes)}"
        if justification.by_parameters:
            return f"{text}, {self._parameters(justification.parameters)}."
        because = [t for t in justification.triplets if t.semantics == "P" or t.holds]
        silent = [t for t in justification.triplets if t.semantics == "C" and not t.holds]
        if because:
            text += f", because {'; and because '.join(self._reasons(because))}"
        if silent:
            text += f". No rule speaks against it: {'; '.join(self._silent(silent))}"
        return f"{text}."

    def _reasons(self, triplets: Sequence[Triplet]) -> list[str]:
        shown = [self._triplet(t) for t in triplets[: self.limit]]
        more = len(triplets) - len(shown)
        return shown + [_also(more)] * (more > 0)

    def _triplet(self, triplet: Triplet) -> str:
        degree = possible(triplet.degree) if triplet.semantics == "P" else certain(triplet.degree)
        if not triplet.holds and triplet.degree > 0.0:
            degree = f"{degree} only"
        parts = self._parts(triplet.first(self.limit), triplet)
        text = f"it is {degree} that {parts} (rule {triplet.number})"
        if triplet.n_unexpected:
            text += f", {self._even_if(triplet)}"
        return text

    def _parts(self, parts: Sequence[Part], triplet: Triplet, unexpected: bool = False) -> str:
        """Return propositions joined by "and"; of those left out their number and range."""
        degrees = triplet.degrees(unexpected)
        several = len(degrees) > 1
        shown = [self.wording.says(part.reduced, self.limit, several) for part in parts]
        if len(shown) < len(degrees):
            left = degrees[len(shown) :].tolist()
            what = f"of the {len(degrees)} propositions"
            shown.append(_more(len(left), left, what, _KINDS[triplet.semantics]))
        return listed(shown)

    def _even_if(self, triplet: Triplet) -> str:
        degrees = triplet.degrees(unexpected=True)
        least = float(degrees.min())
        degree = possible(least) if triplet.semantics == "P" else certain(least)
        at_least = degree.replace(" at ", " at least at ") if len(degrees) > 1 else degree
        parts = self._parts(triplet.first_unexpected(self.limit), triplet, unexpected=True)
        return f"even if it is {at_least} that {parts}"

    def _silent(self, triplets: Sequence[Triplet]) -> Iterator[str]:
        """Yield premises that would speak against a value but are not certain.

        Those without anything unexpected are told in one breath.
        """
        plain = [t for t in triplets if not t.n_unexpected and t.degree == 0.0]
        if plain:
            yield f"it is {certain(0.0)} that {self._nor(plain)}"
        others = [t for t in triplets if t.n_unexpected or t.degree > 0.0]
        yield from (self._triplet(t) for t in others[: self.limit])
        if self.limit is not None and len(others) > self.limit:
            left = [t.degree for t in others[self.limit :]]
            yield f"nor the premises of {_more(len(left), left, 'rules', 'certain')}"

    def _nor(self, triplets: Sequence[Triplet]) -> str:
        """Return premises as alternatives; those on single values of an attribute together."""
        groups: dict[object, list[Triplet]] = {}
        for triplet in triplets:
            only = triplet.premise.propositions
            lone = len(only) == 1 and only[0].mask.bit_count() == 1
            groups.setdefault(only[0].attribute if lone else triplet, []).append(triplet)
        shown = list(groups.values())[: self.limit]
        texts = [self._any_of(group) for group in shown]
        more = len(triplets) - sum(map(len, shown))
        texts += [_hold(more)] * (more > 0)
        return ", nor that ".join(texts)

    def _any_of(self, triplets: Sequence[Triplet]) -> str:
        """Return one premise, or several that differ in the value of an attribute alone."""
        if len(triplets) == 1:
            premise = self._parts(triplets[0].first(self.limit), triplets[0])
            return f"{premise} (rule {triplets[0].number})"
        parts = [t.premise.propositions[0] for t in triplets]
        attribute = parts[0].attribute
        values = self.wording.values(attribute, [p.values[0] for p in parts], self.limit)
        numbers = _numbers([t.number for t in triplets])
        return f"{self.wording.name(attribute)} is any one of {values} ({numbers})"

    def _parameters(self, parameters: Sequence[Parameter]) -> str:
        """Return which parameters set a degree, where no premise does."""
        shown = [self._parameter(p) for p in parameters[: self.limit]]
        more = len(parameters) - len(shown)
        return "because " + listed(shown + [_likewise(more)] * (more > 0))

    def _parameter(self, parameter: Parameter) -> str:
        case = "fails" if parameter.name == "s" else "holds"
        rest = "its conclusion" if parameter.name == "s" else "what it does not conclude"
        return (
            f"rule {parameter.number} leaves {rest} {possible(parameter.degree)} even if its "
            f"premise {case} ({parameter.name} = {number_text(parameter.degree)})"
        )


def _alike(nodes: Sequence[Node]) -> Iterator[tuple[Justification, list[Node]]]:
    """Group values of one attribute that the same rules justify."""
    groups: dict[object, tuple[Justification, list[Node]]] = {}
    for node in nodes:
        found = node.justification
        if found is not None:
            triplets = tuple((t.number, t.semantics) for t in found.triplets)
            parameters = tuple((p.number, p.name) for p in found.parameters)
            key = (node.attribute.name, found.degree, triplets, parameters)
            groups.setdefault(key, (found, []))[1].append(node)
    yield from groups.values()


def _more(count: int, degrees: Sequence[float], what: str, kind: str = "possible") -> str:
    """Return how many are left out, and the range of their degrees."""
    least, most = min(degrees), max(degrees)
    if count == 1:
        return f"1 more {what.removesuffix('s')}, {_WORDS[kind](least)}"
    if least == most:
        return f"{count} more {what}, all {_WORDS[kind](least)}"
    return f"{count} more {what}, {kind} at {number_text(least)} to {number_text(most)}"


def _numbers(numbers: Sequence[int]) -> str:
    texts = Wording().values(Attribute("rule", range(1)), numbers, None, "and")
    return f"rules {texts}"


def _also(more: int) -> str:
    if more == 1:
        return "the premise of one more rule says the same"
    return f"the premises of {more} more rules say the same"


def _hold(more: int) -> str:
    if more == 1:
        return "the premise of one more rule holds"
    return f"the premises of {more} more rules hold"


def _likewise(more: int) -> str:
    return f"{more} more rules do the same" if more > 1 else "one more rule does the same"
