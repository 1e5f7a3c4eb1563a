"""The graph of attributes and rules: the order of inference, and which rules share attributes."""

from collections.abc import Collection, Hashable, Mapping, Sequence

from pinesy.exceptions import CascadeError
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.rule import Rule


def in_order_of_inference(sets: Mapping[str, RuleSet]) -> dict[str, RuleSet]:
    """Return the rule sets so that each comes after those it uses; raise on a cycle."""
    order: dict[str, RuleSet] = {}
    for start in sets:
        path = dict.fromkeys([start])
        while path:
            name = next(reversed(path))
            used = (a.name for a in sets[name].inputs if a.name in sets)
            below = next((u for u in used if u not in order), None)
            if below is None:
                order.setdefault(name, sets[name])
                path.popitem()
            elif below in path:
                names = list(path)
                cycle = [*names[names.index(below) :], below]
                raise CascadeError(
                    f"cycle: {' -> '.join(reversed(cycle))}; rules may not lead back to an "
                    "attribute that they come from"
                )
            else:
                path[below] = None
    return order


def premise_masks(rule: Rule) -> dict[str, int]:
    """Return the subset of each attribute that a premise names, as a mask."""
    masks: dict[str, int] = {}
    for p in rule.premise.propositions:
        masks[p.attribute.name] = masks.get(p.attribute.name, -1) & p.mask
    return masks


def tied_rules(premises: Sequence[Collection[Hashable]]) -> list[list[int]]:
    """Group the rules whose premises share attributes, directly or through others, by place.

    Examples
    --------
    >>> tied_rules([["a"], ["b", "c"], ["a"], ["d", "b"]])
    [[0, 2], [1, 3]]
    """
    leader: dict[Hashable, Hashable] = {}

    def find(name: Hashable) -> Hashable:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for first, *others in premises:
        for name in others:
            leader[find(name)] = find(first)
    groups: dict[Hashable, list[int]] = {}
    for place, premise in enumerate(premises):
        groups.setdefault(find(next(iter(premise))), []).append(place)
    return list(groups.values())
