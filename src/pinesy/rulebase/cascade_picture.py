"""A cascade to look at: its graph as a picture, and in notebooks its rules below it."""

from typing import TYPE_CHECKING

from pinesy._common.box_pictures import Box, BoxKind, behind, drawing, sketch
from pinesy._common.markup import Markup, counted, cut, folded, joined, more, tag
from pinesy.exceptions import DataError
from pinesy.rulebase.cascade_graph import NODES, GraphNode, graph_of, nearest
from pinesy.rules.rule_views import rules_table

if TYPE_CHECKING:
    from pinesy.rulebase.cascade import Cascade

#: Names of attributes that share a box, and rule sets that a notebook shows.
NAMES, SETS = 3, 10


def cascade_svg(self: "Cascade", *, nodes: int = NODES) -> str:
    """Return the graph as SVG: a box for each attribute, from the inputs to the results.

    Of more than `nodes` attributes, those that are alike share a box: as far from the inputs, with
    as many values and rules. What there is no room for then is counted.
    """
    if not isinstance(nodes, int) or nodes < 1:
        raise DataError(f"nodes is {nodes!r:.60}; give how many boxes to draw, 1 or more")
    return drawing(
        {box: sketch(box) for box in behind(_root(self, nodes))},
        repr(self),
        "The graph of attributes: inputs on the left, results on the right.",
        mirrored=True,
    )


def _root(cascade: "Cascade", most: int) -> Box:
    """Return a hidden box that leads to the results, and through them to all others."""
    shown, left = nearest(graph_of(cascade, most), most)
    rest = Box("more", f"and {counted(left, 'attribute')} more")
    used = {node for other in shown for node in other.used}
    boxes = {node: _box(node, node not in used) for node in shown}
    for node, box in boxes.items():
        inputs = [boxes.get(one, rest) for one in node.used]
        box.children += dict.fromkeys(inputs)
    return Box("hidden", "", children=[box for node, box in boxes.items() if node not in used])


def _box(node: GraphNode, is_result: bool) -> Box:
    names = [a.formula or a.name for a in node.attributes]
    count, values = len(names), len(node.attributes[0].domain)
    each = " each" * (count > 1)
    texts = [counted(values, "value") + each]
    texts += [counted(node.rules, "rule") + each] if node.rules else []
    heading = cut(names[0], 200)
    if count > 1:
        heading = counted(count, "attribute")
        texts.insert(0, cut(", ".join(names[:NAMES]) + ", ..." * (count > NAMES), 200))
    kind: BoxKind = "input" if not node.rules else "result" if is_result else "value"
    return Box(kind, heading, tuple(texts), cut(", ".join(names[:20]) + ", ..." * (count > 20)))


def cascade_html(self: "Cascade") -> Markup:
    """Return the graph, and the rules of each set to unfold."""
    sets = [
        folded(f"{cut(s.output.name)}: {counted(len(s), 'rule')}", rules_table(s.rules))
        for s in self.stated[:SETS]
    ]
    left = more(len(self.stated) - SETS, "rule sets")
    graph = tag("div", Markup(cascade_svg(self)), style="overflow-x:auto")
    return tag("div", repr(self)) + graph + joined(sets) + left
