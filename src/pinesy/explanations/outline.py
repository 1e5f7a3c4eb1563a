"""The outline of an explanation: what is shown of it under limits, and what is left out.

Texts, JSON and pictures are renderings of an outline: they differ in words and order only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pinesy._common.validation import check_limit
from pinesy.explanations.justification import ExplanationNode, Triplet, TripletProposition

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation

T = TypeVar("T")


@dataclass(frozen=True)
class Omission:
    """How many are left out of a list, and the range of their degrees."""

    count: int
    least: float
    greatest: float

    @classmethod
    def of(cls, degrees: Sequence[float]) -> "Omission | None":
        """Return the omission of those that have these degrees; None if there are none."""
        return cls(len(degrees), min(degrees), max(degrees)) if degrees else None


@dataclass(frozen=True)
class OutlinedPremise:
    """What is shown of a reduced premise, or of the unexpected propositions of a triplet.

    Attributes
    ----------
    parts : the propositions that are shown
    count : how many there are in all
    omitted : those that are not shown
    """

    parts: tuple[TripletProposition, ...]
    count: int
    omitted: Omission | None


class Outline:
    """What is shown of an explanation.

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
                new = [c for c in node.first_children(self.limit) if c not in levels]
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

    def premise(self, triplet: Triplet, unexpected: bool = False) -> OutlinedPremise:
        """Return what is shown of a triplet's reduced premise, or of what is unexpected."""
        parts = triplet.first(self.limit, unexpected)
        degrees = triplet.degrees(unexpected).tolist()
        return OutlinedPremise(parts, len(degrees), Omission.of(degrees[len(parts) :]))

    def statements(self, premise: OutlinedPremise) -> list[str]:
        """Return the propositions that are shown of a premise in words."""
        several = premise.count > 1
        return [self.wording.says(part.reduced, self.limit, several) for part in premise.parts]

    def n_hidden(self, node: ExplanationNode) -> int:
        """Return how many inferred values are left out of the propositions that are followed."""
        if self.limit is None or node.justification is None:
            return 0
        triplets = node.justification.triplets[: self.limit]
        shown = [part for triplet in triplets for part in triplet.behind(self.limit)]
        cut = [(a.name, len(p) - self.limit) for a, p in shown if len(p) > self.limit]
        sample = self.explanation.graph.sample
        return sum(left for name, left in cut if not sample.is_input(name))


def alike(nodes: Sequence[ExplanationNode]) -> list[list[ExplanationNode]]:
    """Group values of one attribute that the same rules justify."""
    groups: dict[object, list[ExplanationNode]] = {}
    for node in nodes:
        rules = node.justification.rules if node.justification else ()
        groups.setdefault((node.attribute.name, rules), []).append(node)
    return list(groups.values())
