"""Why a class has most points: what a score card gave on one sample, in the units of the data.

Rules that carry their card (`CardCascade`) give the points that are expected where something is not
known. Of others that give points, such as induced rules whose parameters were learned anew, the
least and the most points are shown.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.unseen_values import without_unseen
from pinesy.explanations.labels import list_text, number_text, plain_value_text
from pinesy.explanations.sample import Sample
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import CardLine, CardScores, ScoreCard, conjunction_text
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.point_sums import PointSum, point_sums, points_of
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Premise
from pinesy.rules.syntax.writer import format_name, show_value


class LineOnSample(NamedTuple):
    """A line of a score card that holds on a sample, or may.

    Attributes
    ----------
    premise : its conditions
    points : that it gives where it holds
    expected : that it is expected to give; None where that is not known
    possible, certain : how possible and how certain it is that it holds
    unknown : the attributes that leave it open
    record : how often it holds and is right, or an empty text
    """

    premise: Premise
    points: int
    expected: float | None
    possible: float
    certain: float
    unknown: tuple[Attribute, ...] = ()
    record: str = ""


@dataclass(frozen=True)
class PointsGiven:
    """The points of a class on a sample.

    Attributes
    ----------
    value : that has the points
    start : what it has without any rule; None where nothing gives it points
    low, high : the least and the most points that it may have: the same where all is known
    expected : the points that the card gives; None where rules have no card
    lines : that give points, or may, those that give most first
    """

    value: Hashable
    start: int | None
    low: int
    high: int
    expected: float | None
    lines: tuple[LineOnSample, ...]

    @property
    def rank(self) -> tuple[float, int]:
        """A key by which values of more points come first."""
        return (-(self.low if self.expected is None else self.expected), -self.high)

    @property
    def text(self) -> str:
        """The points and the value, such as ``5 to 7 for yes``, or ``6 (5 to 7) for yes``."""
        if self.start is None:
            return f"no rule gives any to {show_value(self.value)}"
        span = f"{self.low} to {self.high}" if self.high > self.low else f"{self.low}"
        if self.expected is not None and self.high > self.low:
            span = f"{self.expected:.4g} ({span})"
        return f"{span} for {show_value(self.value)}"


def card_evidence(cascade: Cascade, evidence: Evidence) -> Evidence:
    """Return evidence with categories that a score card does not know as unknown."""
    if card_of(cascade) is None:
        return evidence
    return without_unseen(evidence, cascade.inputs, cascade.attributes)


def card_scores(sample: Sample) -> CardScores | None:
    """Return what the score card gives on a sample, if its rules have one on the attribute."""
    card = card_of(sample.plan.cascade)
    if card is None or card.output != sample.plan.attribute:
        return None
    return card.score_degrees(sample.plan.inputs, sample.row[None, :])


def points_given(sample: Sample) -> list[PointsGiven]:
    """Return the points of each class on a sample, most points first.

    Nothing where rules do not give points (`point_sums`), or have no card and degrees between 0 and
    1 leave open whether they do, or totals that are not the sums of the points.
    """
    card = card_of(sample.plan.cascade)
    if card is not None and card.output == sample.plan.attribute:
        # The first of ties is the class that is predicted.
        return sorted(_card_points(card, sample), key=lambda value_points: value_points.rank[0])
    sums = point_sums(sample.plan.cascade, sample.plan.attribute)
    points = [_points_of_value(sample, point_sum) for point_sum in sums]
    known = [value_points for value_points in points if value_points is not None]
    if len(known) < len(points):
        return []
    return sorted(known, key=lambda value_points: value_points.rank)


def _card_points(card: ScoreCard, sample: Sample) -> Iterator[PointsGiven]:
    inputs, row = sample.plan.inputs, sample.row[None, :]
    possible, negated = card.line_measures(inputs, row)
    line_points = card.line_points(possible, negated)[:, 0].tolist()
    measures = zip(possible[:, 0].tolist(), (1.0 - negated[:, 0]).tolist(), strict=True)
    by_value: dict[Hashable, list[LineOnSample]] = {value: [] for value in card.start}
    for line, points, (can, must) in zip(card.lines, line_points, measures, strict=True):
        if can > 0.0:
            unknown = _unknown(line, sample) if must < 1.0 else ()
            premise = premise_of(*line.conditions)
            on_sample = LineOnSample(premise, line.points, points, can, must, unknown, line.record)
            by_value[line.value].append(on_sample)
    has_lines = {line.value for line in card.lines}
    for value, lines in by_value.items():
        start = card.start[value]
        low = start + sum(line.points for line in lines if line.certain == 1.0)
        high = start + sum(line.points for line in lines)
        expected = start + sum(line.expected or 0.0 for line in lines)
        lines.sort(key=lambda line: (line.certain < 1.0, -(line.expected or 0.0), -line.points))
        shown_start = start if start or value in has_lines else None
        yield PointsGiven(value, shown_start, low, high, expected, tuple(lines))


def _unknown(line: CardLine, sample: Sample) -> tuple[Attribute, ...]:
    """Return the attributes of which nothing is known, so that the line is open."""
    attributes = dict.fromkeys(p.attribute for p in line.conditions)
    return tuple(a for a in attributes if (sample.degrees[a.name] == 1.0).all())


def _points_of_value(sample: Sample, point_sum: PointSum) -> PointsGiven | None:
    """Return the points of a class; None where degrees or totals do not determine them."""
    if point_sum.total is None:
        return PointsGiven(point_sum.value, None, 0, 0, None, ())
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
    lines = [
        LineOnSample(rules.rules[0].premise, points_of(rules), None, 1.0, degree)
        for group, degree in ((certain, 1.0), (possible, 0.0))
        for rules in sorted(group, key=points_of, reverse=True)
    ]
    return PointsGiven(point_sum.value, point_sum.start, low, high, None, tuple(lines))


def points_lines(
    sample: Sample, plain_values: Mapping[str, Any], value: Hashable, limit: int | None
) -> Iterator[str]:
    """Yield the points of all classes, then the rules of the first two and of one more class.

    Parameters
    ----------
    sample : Sample
    plain_values : the plain values of inputs, by name
    value : the class whose rules are listed whatever its points
    limit : the maximum number of rules to list for a class, most points first; of classes to name
    """
    points = points_given(sample)
    if not points:
        return
    first = points[: None if limit is None else max(limit, 2)]
    texts = [value_points.text for value_points in first]
    left = len(points) - len(first)
    texts += [f"{-first[-1].rank[0]:.4g} or less for {left} more"] * (left > 0)
    yield f"Points: {', '.join(texts)}{_lead_text(sample, points)}."
    for value_points in points:
        if value_points in points[:2] or value_points.value == value:
            yield from _value_lines(value_points, plain_values, limit)


def _lead_text(sample: Sample, points: list[PointsGiven]) -> str:
    """Return what the first value is ahead by and, of a card, how probable its class is."""
    scores = card_scores(sample)
    if scores is None:
        lead = points[0].low - max((others.high for others in points[1:]), default=0)
        is_told = lead > 0 and all(value_points.start is not None for value_points in points)
        return f"; a lead of {lead}" * is_told
    best = int(scores.best[0])
    ahead = -points[0].rank[0] - max((-others.rank[0] for others in points[1:]), default=0.0)
    chance = number_text(float(scores.probability[0, best]))
    name = show_value(sample.plan.attribute.domain[best])
    return f"; a lead of {ahead:.4g}: {name} with probability {chance}"


def _value_lines(
    points: PointsGiven, plain_values: Mapping[str, Any], limit: int | None
) -> Iterator[str]:
    value, lines = f"for {show_value(points.value)}", points.lines
    most = len(lines) if limit is None or len(lines) <= limit + 1 else limit
    for line in lines[:most]:
        yield f"  {_line_text(line, value, plain_values)}"
    left = lines[most:]
    if left:
        total = sum(line.points if line.expected is None else line.expected for line in left)
        yield f"  +{total:.4g} {value}: by {len(left)} more rules"
    if points.start:
        yield f"  +{points.start} {value}: at the start"


def _line_text(line: LineOnSample, value: str, plain_values: Mapping[str, Any]) -> str:
    """Return what a line gives, and why: its premise, and what is given of its inputs."""
    inputs = dict.fromkeys(p.attribute for p in line.premise.propositions)
    texts = [
        f"{format_name(a.name)} is {plain_value_text(a, plain_values[a.name])}"
        for a in inputs
        if a.name in plain_values and not (line.unknown and a in line.unknown)
    ]
    record = f" [{line.record}]" if line.record else ""
    premise = conjunction_text(line.premise.propositions)
    facts = f" ({list_text(texts)})" if texts else ""
    if line.expected is None:
        maybe = " perhaps" * (line.certain < 1.0)
        return f"+{line.points} {value}{maybe}: {premise}{facts}"
    text = f"+{line.expected:.4g} {value}: {premise}{record}"
    if line.certain == 1.0:
        return f"{text}{facts}"
    if not line.unknown:
        degrees = (
            f"possible at {number_text(line.possible)}, certain at {number_text(line.certain)}"
        )
        return f"{text}: {degrees} ({line.points} if it holds, 0 if not)"
    names = list_text([format_name(a.name) for a in line.unknown])
    texts.append(f"{names} {'is' if len(line.unknown) == 1 else 'are'} not known")
    return f"{text}: {', '.join(texts)} ({line.points} if it holds, 0 if not)"
