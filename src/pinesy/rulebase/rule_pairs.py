"""Pairs of rules that may hold together and conclude on no common value, found by their values.

Sets of rules are integers, bit `j` for rule `j`: for each value the rules that allow it. So a rule
meets all others at once, at the cost of one "or" a value of its subsets.
"""

from collections.abc import Iterator, Mapping, Sequence

from pinesy._common.masks import mask_of, positions
from pinesy.rules.rule import Rule


class ValueIndex:
    """For subsets, each of a rule: which of them have a value in common with a given one.

    Parameters
    ----------
    subsets : the mask of each rule that has one, by its place
    """

    def __init__(self, subsets: Mapping[int, int]) -> None:
        self.every = mask_of(subsets)
        alike: dict[int, list[int]] = {}
        for place, mask in subsets.items():
            alike.setdefault(mask, []).append(place)
        self._with_value: dict[int, int] = {}
        #: How many sets were joined so far.
        self.work = 0
        for mask, places in alike.items():
            rules = mask_of(places)
            for value in positions(mask):
                self._with_value[value] = self._with_value.get(value, 0) | rules
                self.work += 1
        self._found: dict[int, int] = {}

    def meeting(self, mask: int) -> int:
        """Return the rules whose subset has a value in common with `mask`."""
        if mask not in self._found:
            rules = 0
            for value in positions(mask):
                rules |= self._with_value.get(value, 0)
                self.work += 1
                if rules == self.every:
                    break
            self._found[mask] = rules
        return self._found[mask]


class RulePairs:
    """Which rules may hold together with a rule, and leave no value that both conclude.

    Rules that exclude nothing (``r = 1``) or never hold are left out. What formulas in premises
    exclude is not seen.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._premises = [_subsets(rule) for rule in rules]
        self._usable = [
            rule.r < 1.0 and all(masks.values())
            for rule, masks in zip(rules, self._premises, strict=True)
        ]
        self._conclusions = [rule.conclusion.mask for rule in rules]
        usable = [j for j, is_usable in enumerate(self._usable) if is_usable]
        self._every = mask_of(usable)
        self._concluding = ValueIndex({j: self._conclusions[j] for j in usable})
        names = dict.fromkeys(name for masks in self._premises for name in masks)
        self._premise_index = {
            name: ValueIndex(
                {j: self._premises[j][name] for j in usable if name in self._premises[j]}
            )
            for name in names
        }

    @property
    def work(self) -> int:
        """How many sets of rules were joined so far."""
        indices = (self._concluding, *self._premise_index.values())
        return sum(index.work for index in indices)

    def after(self, place: int) -> int:
        """Return the rules after one that may hold with it, and share no concluded value."""
        if not self._usable[place]:
            return 0
        found = self._every >> place + 1 << place + 1
        for name, mask in self._premises[place].items():
            index = self._premise_index[name]
            found &= index.meeting(mask) | ~index.every
            if not found:
                return 0
        return found & ~self._concluding.meeting(self._conclusions[place])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield for each rule its place and what `after` finds."""
        for place in range(len(self._premises)):
            yield place, self.after(place)


def _subsets(rule: Rule) -> dict[str, int]:
    """Return the mask of each attribute that the premise speaks of directly."""
    found: dict[str, int] = {}
    for one in rule.premise.propositions:
        if one.attribute.formula is None:
            name = one.attribute.name
            found[name] = found.get(name, one.attribute.full) & one.mask
    return found
