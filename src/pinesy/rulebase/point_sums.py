"""Rules that give points to the values of an attribute: how they are named, and found again.

``iff glucose >= 126 then `rule 1` in {3}`` gives three points or none, and ``points for yes`` is
the sum of what such rules give to `yes`, and of what it starts with (docs/induction.md).
"""

from collections.abc import Hashable
from dataclasses import dataclass

from pinesy._common.caching import cached_on_owner
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute


def points_name(value: Hashable) -> str:
    """Return the name of the attribute that has the points of a value."""
    return f"points for {value}"


@dataclass(frozen=True)
class PointSum:
    """The points of a value.

    Attributes
    ----------
    value : of the attribute that rules conclude on
    total : the attribute that has the sum; None where the value has no points
    gives : the rule sets of one rule each that give points, or none
    """

    value: Hashable
    total: Attribute | None
    gives: tuple[RuleSet, ...]

    @property
    def start(self) -> int:
        """The points without any rule: the least sum, which is the first value."""
        least = 0 if self.total is None else self.total.domain[0]
        return least if isinstance(least, int) else 0


@cached_on_owner
def point_sums(cascade: Cascade, output: Attribute) -> tuple[PointSum, ...]:
    """Return the points of each value of an attribute; empty where rules give none that way.

    Found by the names and the shapes of the rule sets: a total rests on rules that give points, and
    on sums of them. Whether it is their sum, who reads a sample can see.
    """
    sums = []
    for value in output.domain:
        name = points_name(value)
        gives = _gives(cascade, name) if name in cascade.sets else ()
        if gives is None:
            return ()
        total = cascade.attributes[name] if name in cascade.sets else None
        sums.append(PointSum(value, total, gives))
    return tuple(sums) if any(points.gives for points in sums) else ()


def _gives(cascade: Cascade, total: str) -> tuple[RuleSet, ...] | None:
    """Return the rules that give the points of a total; None where it rests on other things.

    A total of one value has no such rules: it is what the class starts with.
    """
    domain = cascade.attributes[total].domain
    if not all(type(value) is int for value in domain):
        return None
    if len(domain) == 1:
        return ()
    giving: dict[str, RuleSet] = {}
    waiting = [total]
    while waiting:
        for source in cascade.sets[waiting.pop()].inputs:
            rules = cascade.sets.get(source.name)
            if rules is None:
                return None
            if points_of(rules):
                giving[source.name] = rules
            else:
                waiting.append(source.name)
    return tuple(giving.values())


def points_of(rules: RuleSet) -> int:
    """Return the points that a rule set gives where the premise of its one rule holds, else 0."""
    points = rules.output.domain[-1]
    if type(points) is not int or points < 1 or rules.output.domain != (0, points):
        return 0
    [rule, *others] = rules.rules
    is_one = not others and rule.s == rule.r == 0.0 and rule.conclusion.mask == 2
    return points if is_one else 0
