"""The graph of a cascade: which attributes follow from which, like ones folded into one node."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinesy.rules.attributes import Attribute

if TYPE_CHECKING:
    from pinesy.rulebase.cascade import Cascade

#: Nodes that a picture has at most.
NODES = 40


@dataclass(eq=False)
class GraphNode:
    """An attribute of a cascade, or several that are alike.

    Attributes
    ----------
    attributes : as far from the inputs as each other, with as many values and rules
    level : the number of rule sets on the longest way from an input
    rules : of each of them; 0 for inputs
    used : the nodes that these rules use
    """

    attributes: list[Attribute]
    level: int
    rules: int
    used: "list[GraphNode]" = field(default_factory=list)


def graph_of(cascade: "Cascade", nodes: int = NODES) -> list[GraphNode]:
    """Return the nodes of a cascade, each after those it uses.

    There is one for each attribute; of more than `nodes` attributes, those that are alike share
    one: the same level, and equal numbers of values, of rules and of rules that use them (none or
    some). Cost: O(edges).

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> [[a.name for a in node.attributes] for node in graph_of(addition(1))]
    [['a_1'], ['a_2'], ['c_1'], ['w_1'], ['y_1'], ['y_0']]
    >>> [len(node.attributes) for node in graph_of(addition(10), nodes=5)][:2]
    [20, 1]
    """
    levels = levels_of(cascade)
    finals = {a.name for a in cascade.outputs}
    fold = len(levels) > nodes
    found: dict[object, GraphNode] = {}
    home: dict[str, GraphNode] = {}
    for attribute in [*cascade.inputs, *(s.output for s in cascade.order)]:
        name = attribute.name
        rules = len(cascade.sets[name]) if name in cascade.sets else 0
        kind = (levels[name], len(attribute.domain), rules, name in finals)
        node = found.setdefault(kind if fold else name, GraphNode([], levels[name], rules))
        node.attributes.append(attribute)
        home[name] = node
    for name, rule_set in cascade.sets.items():
        known = {id(node) for node in home[name].used}
        new = {id(home[a.name]): home[a.name] for a in rule_set.inputs}
        home[name].used += [node for key, node in new.items() if key not in known]
    return sorted(found.values(), key=lambda node: node.level)


def levels_of(cascade: "Cascade") -> dict[str, int]:
    """Return for each attribute the number of rule sets on the longest way from an input."""
    levels = {a.name: 0 for a in cascade.inputs}
    for name, rule_set in cascade.sets.items():
        levels[name] = 1 + max(levels[a.name] for a in rule_set.inputs)
    return levels


def nearest(nodes: Sequence[GraphNode], most: int) -> tuple[list[GraphNode], int]:
    """Return the last nodes, nearest to the results, and how many attributes are left out."""
    first = max(0, len(nodes) - most)
    return list(nodes[first:]), sum(len(node.attributes) for node in nodes[:first])
