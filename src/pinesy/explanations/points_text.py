"""The text of a score card: which rules gave points to which class on one sample."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy.explanations.labels import Wording, list_text
from pinesy.explanations.sample import Sample
from pinesy.rulebase.point_sums import PointSum, point_sums, points_of
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.syntax.writer import show_value


@dataclass(frozen=True)
class PointsGiven:
    """The points of a class on a sample.

    Attributes
    ----------
    value : the class
    start : its points before any rule; None where no rule gives it points
    low, high : the minimum and the maximum of its points: equal if all inputs are known
    certain, possible : the rules that give points, and those that perhaps do
    """

    value: Hashable
    start: int | None
    low: int
    high: int
    certain: tuple[RuleSet, ...]
    possible: tuple[RuleSet, ...]

    @property
    def text(self) -> str:
        """The points and the class, such as ``5 for yes`` or ``5 to 7 for yes``."""
        if self.start is None:
            return f"no rule gives any to {show_value(self.value)}"
        upto = f" to {self.high}" * (self.high > self.low)
        return f"{self.low}{upto} for {show_value(self.value)}"


def points_given(sample: Sample) -> list[PointsGiven]:
    """Return the points of each class on a sample, most points first.

    Empty where rules do not give points (`point_sums`), where degrees between 0 and 1 leave open
    whether they do, or where the inferred totals are not the sums of points.
    """
    sums = point_sums(sample.plan.cascade, sample.plan.attribute)
    points = [_points_of_value(sample, point_sum) for point_sum in sums]
    known = [value_points for value_points in points if value_points is not None]
    if len(known) < len(points):
        return []
    return sorted(known, key=lambda value_points: (-value_points.low, -value_points.high))


def _points_of_value(sample: Sample, point_sum: PointSum) -> PointsGiven | None:
    """Return the points of a class; None where degrees or totals do not determine them."""
    if point_sum.total is None:
        return PointsGiven(point_sum.value, None, 0, 0, (), ())
    certain: list[RuleSet] = []
    possible: list[RuleSet] = []
    for rules in point_sum.gives:
        fails, holds = sample.degrees[rules.output.name].tolist()
        if (fails, holds) not in ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0)):
            return None
        if holds:
            (possible if fails else certain).append(rules)
    low = point_sum.start + sum(map(points_of, certain))
    high = low + sum(map(points_of, possible))
    inferred = np.flatnonzero(sample.degrees[point_sum.total.name])
    limits = point_sum.total.domain[inferred[0]], point_sum.total.domain[inferred[-1]]
    if limits != (low, high):
        return None
    rule_sets = tuple(certain), tuple(possible)
    return PointsGiven(point_sum.value, point_sum.start, low, high, *rule_sets)


def points_lines(
    sample: Sample,
    plain_values: Mapping[str, Any],
    value: Hashable,
    limit: int | None,
    wording: Wording,
) -> Iterator[str]:
    """Yield the points of all classes, then the rules of the first two and of one more class.

    Parameters
    ----------
    sample : Sample
    plain_values : the plain values of inputs, by name
    value : the class whose rules are listed whatever its points
    limit : the maximum number of rules to list for a class, most points first; of classes to name
    wording : what attributes and values are called
    """
    points = points_given(sample)
    if not points:
        return
    first = points[: None if limit is None else max(limit, 2)]
    texts = [value_points.text for value_points in first]
    left = len(points) - len(first)
    texts += [f"{first[-1].low} or less for {left} more"] * (left > 0)
    lead = points[0].low - max((others.high for others in points[1:]), default=0)
    if lead > 0 and all(value_points.start is not None for value_points in points):
        texts[-1] += f"; a lead of {lead}"
    yield f"Points: {', '.join(texts)}."
    for value_points in points:
        if value_points in points[:2] or value_points.value == value:
            yield from _value_lines(value_points, plain_values, limit, wording)


def _value_lines(
    points: PointsGiven, plain_values: Mapping[str, Any], limit: int | None, wording: Wording
) -> Iterator[str]:
    """Yield the rules that give points to a class, with the inputs that they depend on."""
    value = f"for {show_value(points.value)}"
    rules = [(rules, "") for rules in sorted(points.certain, key=points_of, reverse=True)]
    rules += [(rules, " perhaps") for rules in sorted(points.possible, key=points_of, reverse=True)]
    most = len(rules) if limit is None or len(rules) <= limit + 1 else limit
    for gives, maybe in rules[:most]:
        premise = gives.rules[0].premise
        inputs = dict.fromkeys(p.attribute for p in premise.propositions)
        texts = [
            f"{wording.name(a)} is {wording.plain_value(a, plain_values[a.name])}"
            for a in inputs
            if a.name in plain_values
        ]
        facts = f" ({list_text(texts)})" if texts else ""
        yield f"  +{points_of(gives)} {value}{maybe}: {premise}{facts}"
    left = rules[most:]
    if left:
        yield f"  +{sum(points_of(r) for r, _ in left)} {value}: by {len(left)} more rules"
    if points.start:
        yield f"  +{points.start} {value}: at the start"
