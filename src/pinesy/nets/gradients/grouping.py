"""Rule sets of one shape and depth, taken together: what a layer computes at one go."""

from collections.abc import Sequence
from dataclasses import dataclass

from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.partition import Partition

#: A proposition: the place of its attribute among the inputs of the set, and its subset.
Place = tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """All of a rule set but names and parameters.

    Attributes
    ----------
    sizes : the number of values of each input
    premises : for each rule its propositions
    conclusions : for each rule its subset of the output domain
    values : the number of values of the output
    """

    sizes: tuple[int, ...]
    premises: tuple[tuple[Place, ...], ...]
    conclusions: tuple[int, ...]
    values: int

    @classmethod
    def of(cls, rule_set: RuleSet) -> "Shape":
        """Return the shape of a rule set."""
        places = {a.name: i for i, a in enumerate(rule_set.inputs)}
        return cls(
            tuple(len(a.domain) for a in rule_set.inputs),
            tuple(
                tuple((places[p.attribute.name], p.mask) for p in rule.premise.propositions)
                for rule in rule_set.rules
            ),
            tuple(rule.conclusion.mask for rule in rule_set.rules),
            len(rule_set.output.domain),
        )


@dataclass(frozen=True, eq=False)
class Group:
    """Rule sets of one shape that do not depend on each other."""

    shape: Shape
    rule_sets: tuple[RuleSet, ...]

    @property
    def partition(self) -> Partition:
        """The partition of the output domain, the same for all sets."""
        return self.rule_sets[0].partition


def groups_of(order: Sequence[RuleSet]) -> list[Group]:
    """Return rule sets, given in an order of inference, in groups that come after what they use.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> len(groups_of(addition(2).order))
    7
    >>> [len(group.rule_sets) for group in groups_of(sudoku(4).order)]
    [56, 1]
    """
    levels: dict[str, int] = {}
    found: dict[tuple[int, Shape], list[RuleSet]] = {}
    for rule_set in order:
        level = 1 + max(levels.get(a.name, 0) for a in rule_set.inputs)
        levels[rule_set.output.name] = level
        found.setdefault((level, Shape.of(rule_set)), []).append(rule_set)
    by_level = sorted(found.items(), key=lambda item: item[0][0])
    return [Group(shape, tuple(sets)) for (_, shape), sets in by_level]
