"""Scoring rules: rules that give points to the values of an attribute (docs/induction.md).

``iff glucose >= 126 then `rule 1` in {3}`` gives three points or none, and ``points for yes`` is
the sum of an initial score and of the points of all rules for `yes`.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from pinesy._common.caching import cached_on_owner
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute


def points_name(value: Hashable) -> str:
    """Return the name of the attribute of the points of a value."""
    return f"points for {value}"


@dataclass(frozen=True)
class PointSum:
    """The points of a value.

    Attributes
    ----------
    value : a value of the output
    total : the attribute of the sum; None if no rule gives points to the value
    gives : the rule sets that give points, of one rule each
    """

    value: Hashable
    total: Attribute | None
    gives: tuple[RuleSet, ...]

    @property
    def start(self) -> int:
        """The points without any rule: the least sum, the first value of `total`."""
        least = 0 if self.total is None else self.total.domain[0]
        return least if isinstance(least, int) else 0


@cached_on_owner
def point_sums(cascade: Cascade, output: Attribute) -> tuple[PointSum, ...]:
    """Return the points of each value of an attribute; empty if its rules are not scoring rules.

    They are recognised by their names and structure: a total depends on rules that give points, and
    on their sums. That it is really their sum is not checked.
    """
    sums = []
    for value in output.domain:
        name = points_name(value)
        gives = _point_rules(cascade, name) if name in cascade.sets else ()
        if gives is None:
            return ()
        total = cascade.attributes[name] if name in cascade.sets else None
        sums.append(PointSum(value, total, gives))
    return tuple(sums) if any(points.gives for points in sums) else ()


def _point_rules(cascade: Cascade, total: str) -> tuple[RuleSet, ...] | None:
    """Return the rules that give the points of a total; None if it depends on other attributes.

    A total with one value, the initial score, has no such rules.
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
    """Return the points that a rule set gives if its premise holds; 0 if it gives none."""
    points = rules.output.domain[-1]
    if type(points) is not int or points < 1 or rules.output.domain != (0, points):
        return 0
    [rule, *others] = rules.rules
    is_one = not others and rule.s == rule.r == 0.0 and rule.conclusion.mask == 2
    return points if is_one else 0
