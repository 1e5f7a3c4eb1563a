"""The tree of an explanation: values and the values that they rest on, down to what is perceived.

A node is made once for each value that is asked about, so the tree is a graph in memory, and
nothing of it is worked out before it is looked at.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pinesy.explanations.justification import Justification, justify
from pinesy.explanations.sample import Sample
from pinesy.explanations.triplets import Part
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """A value of an attribute, its degrees, and why it has them.

    Examples
    --------
    >>> from pinesy import If, RuleSet
    >>> from pinesy.explanations import explain
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> [wet] = explain(rules, {"rain": {"yes": 1.0, "no": 0.2}}).values
    >>> wet, wet.children
    (Node(grass = wet, possible at 1, certain at 0.8), (Node(rain = yes, ...certain at 0.8),))
    """

    attribute: Attribute
    position: int
    _graph: "Graph" = field(repr=False)

    @property
    def value(self) -> Hashable:
        """The value."""
        return self.attribute.domain[self.position]

    @cached_property
    def possibility(self) -> float:
        """``pi(value)``."""
        return float(self._graph.sample.degrees(self.attribute.name)[self.position])

    @cached_property
    def certainty(self) -> float:
        """``N({value}) = 1 - max {pi(w): w not value}``."""
        others = np.delete(self._graph.sample.degrees(self.attribute.name), self.position)
        return 1.0 - float(others.max(initial=0.0))

    @property
    def distribution(self) -> Possibility:
        """The whole distribution of the attribute."""
        return Possibility(self.attribute, self._graph.sample.degrees(self.attribute.name))

    @property
    def is_perceived(self) -> bool:
        """Whether the attribute is an input, which needs no justification."""
        return self._graph.sample.is_input(self.attribute.name)

    @cached_property
    def justification(self) -> Justification | None:
        """Why the value has its possibility; None for an input."""
        if self.is_perceived:
            return None
        return justify(self._graph.sample, self.attribute, self.position, self._graph.eta)

    def behind(self, part: Part, limit: int | None = None) -> "tuple[Node, ...]":
        """Return the nodes that explain a proposition of a triplet: none unless it decides.

        They have the very degree that this node has: min and max only copy.
        """
        if not part.decides:
            return ()
        attribute = part.proposition.attribute
        found = part.values[:limit]
        return tuple(self._graph.node(attribute, attribute.position(v)) for v in found)

    @cached_property
    def children(self) -> "tuple[Node, ...]":
        """All nodes that this one rests on, each once."""
        return tuple(self.first_children(None))

    def first_children(self, limit: int | None) -> "Iterator[Node]":
        """Yield the children by the first triplets, of each the first propositions and values."""
        triplets = self.justification.triplets if self.justification else ()
        found: dict[int, Node] = {}
        for triplet in triplets[:limit]:
            for attribute, positions in triplet.behind(limit):
                nodes = [self._graph.node(attribute, i) for i in positions]
                found.update((id(node), node) for node in nodes)
        yield from found.values()

    def n_hidden(self, limit: int | None) -> int:
        """Return how many inferred values `first_children` leaves out of the parts it follows."""
        if limit is None or self.justification is None:
            return 0
        shown = [p for t in self.justification.triplets[:limit] for p in t.first(limit)]
        inferred = [p for p in shown if not self._graph.is_input(p) and p.decides]
        return sum(max(0, len(part.values) - limit) for part in inferred)

    def __repr__(self) -> str:
        return (
            f"Node({self.attribute.name} = {self.value}, possible at {self.possibility:.4g}, "
            f"certain at {self.certainty:.4g})"
        )


class Graph:
    """The nodes of one sample, each made once."""

    def __init__(self, sample: Sample, eta: float) -> None:
        self.sample = sample
        self.eta = eta
        self._nodes: dict[tuple[str, int], Node] = {}

    def is_input(self, part: Part) -> bool:
        """Tell whether a proposition is on what is perceived."""
        return self.sample.is_input(part.proposition.attribute.name)

    def node(self, attribute: Attribute, position: int) -> Node:
        """Return the node of ``domain[position]``."""
        key = (attribute.name, position)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = Node(attribute, position, self)
        return found
