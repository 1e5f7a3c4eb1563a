"""The graph of a cascade: as data, as a picture, and in notebooks with its rules below it."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pinesy._common.reports import count_text
from pinesy.display.boxes import Box, BoxKind, drawing
from pinesy.display.cards import panel, rule_set_card
from pinesy.display.markup import Markup, cut, details, more, tag
from pinesy.exceptions import DataError
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute

#: The maximum number of nodes of a picture.
NODES = 40
#: The maximum number of names in a box, and of rule sets in a notebook.
NAMES, SETS = 3, 10


@dataclass(eq=False)
class GraphNode:
    """An attribute of a cascade, or a group of similar ones.

    Attributes
    ----------
    attributes : attributes of one level, with equal numbers of values and of rules
    level : the number of rule sets on the longest path from an input
    rules : the number of rules on each of the attributes; 0 for inputs
    used : the nodes that these rules use, with the number of uses
    """

    attributes: list[Attribute]
    level: int
    rules: int
    used: "dict[GraphNode, int]" = field(default_factory=lambda: defaultdict(int))


def graph_of(cascade: Cascade, nodes: int = NODES, opened: Collection[str] = ()) -> list[GraphNode]:
    """Return the nodes of a cascade, each after those it uses.

    There is one node for each attribute; formulas are inside the rules that use them. If there are
    more than `nodes` attributes, similar ones share a node: of the same level, with equal numbers
    of values and of rules, all outputs or none. Groups whose first attribute is in `opened` are
    split up. Cost: O(edges).

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> [[a.name for a in node.attributes] for node in graph_of(addition(1))]
    [['a_1'], ['a_2'], ['c_1'], ['w_1'], ['y_1'], ['y_0']]
    >>> [len(node.attributes) for node in graph_of(addition(10), nodes=5)][:2]
    [20, 1]
    """
    sets = {s.output.name: s for s in cascade.order if s.output.formula is None}
    sources = {name: _outer_attributes(cascade, s.inputs) for name, s in sets.items()}
    inputs = [a for a in cascade.inputs if a.formula is None]
    levels = {a.name: 0 for a in inputs}
    for name in sets:
        levels[name] = 1 + max((levels[other] for other in sources[name]), default=0)
    finals = {a.name for a in cascade.outputs}
    are_grouped = len(levels) > nodes
    firsts: dict[object, str] = {}
    node_of: dict[str, GraphNode] = {}
    for attribute in [*inputs, *(s.output for s in sets.values())]:
        name = attribute.name
        rules = len(sets[name]) if name in sets else 0
        kind = (levels[name], len(attribute.domain), rules, name in finals)
        first = firsts.setdefault(kind if are_grouped else name, name)
        shared = name if first in opened else first
        node_of[name] = node_of[shared] if shared != name else GraphNode([], levels[name], rules)
        node_of[name].attributes.append(attribute)
    for name, others in sources.items():
        for other in others:
            node_of[name].used[node_of[other]] += 1
    return sorted(dict.fromkeys(node_of.values()), key=lambda node: node.level)


def _outer_attributes(cascade: Cascade, attributes: Sequence[Attribute]) -> list[str]:
    """Return the names of attributes; of the inner ones of formulas those that they are made of."""
    names: dict[str, None] = {}
    waiting = list(attributes)
    for attribute in waiting:  # grows in the loop
        if attribute.formula is not None and attribute.name in cascade.sets:
            waiting += cascade.sets[attribute.name].inputs
        else:
            names[attribute.name] = None
    return list(names)


def roles_of(cascade: Cascade) -> dict[str, str]:
    """Return the role of each attribute: input, intermediate, output, factor or unused."""
    roles = dict.fromkeys(cascade.attributes, "unused")
    in_rules = [a for s in cascade.rule_sets for a in (*s.inputs, s.output)]
    roles |= {f.name: "factor" for a in in_rules for f in a.factors}
    roles |= {s.output.name: "intermediate" for s in cascade.rule_sets}
    roles |= {a.name: "input" for a in cascade.inputs}
    return roles | {a.name: "output" for a in cascade.outputs}


def cascade_svg(cascade: Cascade, nodes: int = NODES) -> Markup:
    """Return the graph as SVG; see `Cascade.to_svg`."""
    if not isinstance(nodes, int) or nodes < 1:
        raise DataError(f"nodes is {nodes!r:.60}; give how many boxes to draw, 1 or more")
    return drawing(
        _root(cascade, nodes),
        repr(cascade),
        "The graph of attributes: inputs on the left, results on the right.",
        mirrored=True,
    )


def _root(cascade: Cascade, max_nodes: int) -> Box:
    """Return a hidden box whose children are the results; all others are its descendants."""
    nodes = graph_of(cascade, max_nodes)
    nearest = nodes[-max_nodes:]  # to the results
    omitted = sum(len(node.attributes) for node in nodes[:-max_nodes])
    omitted_box = Box("more", f"and {count_text(omitted, 'attribute')} more")
    used_by_others = {node for other in nearest for node in other.used}
    boxes = {node: _box(node, node not in used_by_others) for node in nearest}
    for node, box in boxes.items():
        inputs = [boxes.get(input_node, omitted_box) for input_node in node.used]
        box.children += dict.fromkeys(inputs)
    return Box(
        "hidden", "", children=[box for node, box in boxes.items() if node not in used_by_others]
    )


def _box(node: GraphNode, is_result: bool) -> Box:
    """Return the box of a node: names, and the numbers of values and rules."""
    names = [a.title or a.name for a in node.attributes]
    count, values = len(names), len(node.attributes[0].domain)
    suffix = " each" * (count > 1)
    texts = [count_text(values, "value") + suffix]
    texts += [count_text(node.rules, "rule") + suffix] if node.rules else []
    heading = cut(names[0], 200)
    if count > 1:
        heading = count_text(count, "attribute")
        texts.insert(0, cut(", ".join(names[:NAMES]) + ", ..." * (count > NAMES), 200))
    kind: BoxKind = "input" if not node.rules else "result" if is_result else "value"
    return Box(kind, heading, tuple(texts), cut(", ".join(names[:20]) + ", ..." * (count > 20)))


def cascade_html(cascade: Cascade) -> Markup:
    """Return the rules of each set as cards, and the graph to unfold."""
    sets = [
        rule_set_card(
            s.rules,
            f"Rules on {s.output.title or s.output.name}",
            cascade.rule_number(s.output.name, 0),
        )
        for s in cascade.stated[:SETS]
    ]
    omitted = more(len(cascade.stated) - SETS, "rule sets")
    graph = tag("div", cascade_svg(cascade), style="overflow-x:auto")
    return panel(tag("div", repr(cascade)), *sets, omitted, details("As a picture", graph))
