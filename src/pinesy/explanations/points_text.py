"""Why a class has most points: what a score card gave on one sample, in the units of the data."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy.explanations.labels import given_text, listed
from pinesy.explanations.sample import Sample
from pinesy.rulebase.point_sums import PointSum, point_sums, points_of
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.syntax.writer import format_name, show_value


@dataclass(frozen=True)
class PointsGiven:
    """The points of a value on a sample.

    Attributes
    ----------
    value : that has the points
    start : what it has without any rule; None where nothing gives it points
    low, high : the least and the most points that it may have: the same where all is known
    certain, possible : the rules that give points, and those that may
    """

    value: Hashable
    start: int | None
    low: int
    high: int
    certain: tuple[RuleSet, ...]
    possible: tuple[RuleSet, ...]

    @property
    def text(self) -> str:
        """The points and the value, such as ``5 for yes`` or ``5 to 7 for yes``."""
        if self.start is None:
            return f"no rule gives any to {show_value(self.value)}"
        upto = f" to {self.high}" * (self.high > self.low)
        return f"{self.low}{upto} for {show_value(self.value)}"


def points_given(sample: Sample) -> list[PointsGiven]:
    """Return the points of each value of a sample's attribute, those of most points first.

    Nothing where rules do not give points (`point_sums`), where degrees between 0 and 1 leave open
    whether they do, or where the totals that were inferred are not their sums.
    """
    sums = point_sums(sample.plan.cascade, sample.plan.attribute)
    found = [_given(sample, one) for one in sums]
    whole = [one for one in found if one is not None]
    if len(whole) < len(found):
        return []
    return sorted(whole, key=lambda one: (-one.low, -one.high))


def _given(sample: Sample, points: PointSum) -> PointsGiven | None:
    if points.total is None:
        return PointsGiven(points.value, None, 0, 0, (), ())
    certain: list[RuleSet] = []
    possible: list[RuleSet] = []
    for rules in points.gives:
        none, some = sample.degrees[rules.output.name].tolist()
        if (none, some) not in ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0)):
            return None
        if some:
            (possible if none else certain).append(rules)
    low = points.start + sum(map(points_of, certain))
    high = low + sum(map(points_of, possible))
    inferred = np.flatnonzero(sample.degrees[points.total.name])
    limits = points.total.domain[inferred[0]], points.total.domain[inferred[-1]]
    given = PointsGiven(points.value, points.start, low, high, tuple(certain), tuple(possible))
    return given if limits == (low, high) else None


def points_lines(
    sample: Sample, given: Mapping[str, Any], asked: Hashable, limit: int | None
) -> Iterator[str]:
    """Yield how many points each value has and, of the first two and the one asked for, why.

    Parameters
    ----------
    given : the plain values of inputs
    asked : a value that is told in any case
    limit : rules to show of each value, those of most points first; values to name
    """
    found = points_given(sample)
    if not found:
        return
    shown = found[: None if limit is None else max(limit, 2)]
    texts = [one.text for one in shown]
    left = len(found) - len(shown)
    texts += [f"{shown[-1].low} or less for {left} more"] * (left > 0)
    yield f"Points: {', '.join(texts)}{_lead(found)}."
    for one in found:
        if one in found[:2] or one.value == asked:
            yield from _lines(one, given, limit)


def _lead(found: list[PointsGiven]) -> str:
    """Return by how much the first certainly leads all others, if it does."""
    lead = found[0].low - max((one.high for one in found[1:]), default=0)
    is_known = all(one.start is not None for one in found)
    return f"; a lead of {lead}" if is_known and lead > 0 else ""


def _lines(one: PointsGiven, given: Mapping[str, Any], limit: int | None) -> Iterator[str]:
    who = f"for {show_value(one.value)}"
    rules = [(rules, True) for rules in sorted(one.certain, key=points_of, reverse=True)]
    rules += [(rules, False) for rules in sorted(one.possible, key=points_of, reverse=True)]
    most = len(rules) if limit is None or len(rules) <= limit + 1 else limit
    for gives, is_certain in rules[:most]:
        premise = gives.rules[0].premise
        inputs = dict.fromkeys(p.attribute for p in premise.propositions)
        known = [a for a in inputs if a.name in given]
        texts = [f"{format_name(a.name)} is {given_text(a, given[a.name])}" for a in known]
        maybe = "" if is_certain else " perhaps"
        yield f"  +{points_of(gives)} {who}{maybe}: {premise}" + f" ({listed(texts)})" * bool(texts)
    left = rules[most:]
    if left:
        yield f"  +{sum(points_of(r) for r, _ in left)} {who}: by {len(left)} more rules"
    if one.start:
        yield f"  +{one.start} {who}: at the start"
