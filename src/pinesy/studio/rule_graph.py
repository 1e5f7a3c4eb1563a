"""The cascade as a graph to draw: attributes in layers; of large ones equal sets are folded."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.cascade_graph import levels_of

#: Attributes up to which nothing is folded, and members from which on a group is.
FOLD_ABOVE, FOLD_FROM = 60, 3
#: Boxes of a layer, at most; the others of it are folded into one.
LAYER = 60
#: Names that a folded box tells of its members.
TOLD = 6
#: Times that the boxes of layers are put in the order of what they are linked with.
SWEEPS = 4

Links = list[tuple[str, str]]


@dataclass(frozen=True)
class GraphBox:
    """A node of the picture: an attribute, or several whose rule sets are equal."""

    key: str
    layer: int
    members: tuple[str, ...]


def rule_graph(rules: Cascade, unfolded: Collection[str] = ()) -> dict[str, Any]:
    """Return boxes with their places, and the links between them with how many there are.

    Parameters
    ----------
    unfolded : keys of folded boxes whose members are to be shown

    Places are whole numbers: layers from the inputs on, and ranks within them. Cost: linear in
    the premises, times `SWEEPS`.
    """
    links = [(a.name, s.output.name) for s in rules.order for a in s.inputs]
    layers = _layers(rules, links)
    boxes = _boxes(rules, layers, unfolded)
    home = {name: box.key for box in boxes for name in box.members}
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for pair in links:
        counts[home[pair[0]], home[pair[1]]] += 1
    ranks = _ranks(boxes, list(counts))
    roles = _roles(rules)
    return {
        "boxes": [
            {
                "key": box.key,
                "layer": box.layer,
                "rank": ranks[box.key],
                "count": len(box.members),
                "members": list(box.members[:TOLD]),
                "role": roles.get(box.members[0], "inner"),
                "rules": len(rules.sets[box.members[0]]) if box.members[0] in rules.sets else 0,
            }
            for box in boxes
        ],
        "links": [[*pair, count] for pair, count in counts.items()],
        "home": {name: key for name, key in home.items() if name != key},
    }


def _roles(rules: Cascade) -> dict[str, str]:
    parts = {"input": rules.inputs, "output": rules.outputs}
    return {a.name: role for role, attributes in parts.items() for a in attributes}


def _layers(rules: Cascade, links: Links) -> dict[str, int]:
    """Return the layer of each attribute: above all it comes from; inputs just below their use."""
    layers = levels_of(rules)
    nearest: dict[str, int] = {}
    for start, end in links:
        nearest[start] = min(nearest.get(start, layers[end]), layers[end])
    return layers | {a.name: nearest[a.name] - 1 for a in rules.inputs}


def _boxes(rules: Cascade, layers: Mapping[str, int], unfolded: Collection[str]) -> list[GraphBox]:
    if len(layers) <= FOLD_ABOVE:
        return [GraphBox(name, layer, (name,)) for name, layer in layers.items()]
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name, kind in _kinds(rules).items():
        groups[layers[name], kind].append(name)
    boxes: list[GraphBox] = []
    for names in groups.values():
        key = f"fold {names[0]}"
        folds = len(names) >= FOLD_FROM and key not in unfolded
        parts = [tuple(names)] if folds else [(name,) for name in names]
        boxes += [GraphBox(key if folds else p[0], layers[names[0]], p) for p in parts]
    return [box for layer in _by_layer(boxes).values() for box in _narrowed(layer)]


def _kinds(rules: Cascade) -> dict[str, Hashable]:
    """Return what attributes have in common whose rule sets are equal but for names."""
    roles = _roles(rules)
    kinds: dict[str, Hashable] = {
        s.output.name: (s.unit.kind(set()), s.output.name in roles) for s in rules.order
    }
    uses: defaultdict[str, set[Hashable]] = defaultdict(set)
    for rule_set in rules.order:
        for attribute in rule_set.inputs:
            uses[attribute.name].add(kinds[rule_set.output.name])
    inputs = {a.name: (len(a.domain), frozenset(uses[a.name])) for a in rules.inputs}
    return {**inputs, **kinds}


def _by_layer(boxes: Iterable[GraphBox]) -> dict[int, list[GraphBox]]:
    layers: dict[int, list[GraphBox]] = {}
    for box in boxes:
        layers.setdefault(box.layer, []).append(box)
    return layers


def _narrowed(boxes: list[GraphBox]) -> list[GraphBox]:
    """Return the boxes of a layer; those beyond `LAYER` are one."""
    if len(boxes) <= LAYER:
        return boxes
    rest = tuple(name for box in boxes[LAYER - 1 :] for name in box.members)
    return [*boxes[: LAYER - 1], GraphBox(f"rest {rest[0]}", boxes[0].layer, rest)]


def _ranks(boxes: Sequence[GraphBox], links: Links) -> dict[str, int]:
    """Return the place of each box in its layer, near the middle of what it is linked with."""
    layers = _by_layer(boxes)
    ranks = {box.key: rank for layer in layers.values() for rank, box in enumerate(layer)}
    middles = {box.key: len(layer) / 2 for layer in layers.values() for box in layer}
    linked: defaultdict[str, list[str]] = defaultdict(list)
    for start, end in links:
        linked[start].append(end)
        linked[end].append(start)

    def place(box: GraphBox) -> float:
        near = [ranks[key] - middles[key] for key in linked[box.key] or [box.key]]
        return sum(near) / len(near)

    for _ in range(SWEEPS):
        for layer in layers.values():
            for rank, box in enumerate(sorted(layer, key=place)):
                ranks[box.key] = rank
    return ranks
