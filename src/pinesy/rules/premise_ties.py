"""Which rules share attributes in their premises, directly or through others."""

from collections.abc import Collection, Hashable, Sequence

from pinesy.rules.rule import Rule


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
