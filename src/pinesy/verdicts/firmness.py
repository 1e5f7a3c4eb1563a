"""How firm a decision is: the errors of inputs that it stands, and what limits its certainty."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.explanations.decision import Decision
from pinesy.explanations.margins import input_margins, margin
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import as_floats, is_number
from pinesy.verdicts.reasons import DecidingRules


@dataclass(frozen=True)
class Firmness:
    """What a decision stands.

    Attributes
    ----------
    margin : how far all degrees of the inputs may move before the decision can change; None where
        all inputs are plain values
    weakest : the input that can change it by the least move, or by the nearest number
    least, most : of a number, the bounds between which it may move alone; None without bound
    limited_by : the attribute that keeps it from being more certain: an input, or one that a rule
        concludes on; None where it is certain
    rule : the number of that rule in the rule base; None of an input
    """

    margin: float | None = None
    weakest: str | None = None
    least: float | None = None
    most: float | None = None
    limited_by: str | None = None
    rule: int | None = None


def firmness_of(
    decision: Decision, inputs: Sequence[str], chain: Sequence[DecidingRules]
) -> Firmness:
    """Return how firm a decision is.

    Parameters
    ----------
    decision : on one value
    inputs : the names of the inputs that decide
    chain : the rules that decide
    """
    numbers = {
        name: float(as_floats([value])[0])
        for name, value in decision.plain_values.items()
        if name in inputs and decision.plan.attributes[name].scale is not None and is_number(value)
    }
    readings = [
        name
        for name in inputs
        if name not in decision.plain_values
        and ((decision.row[decision.plan.slices[name]] % 1.0) != 0.0).any()
    ]
    limit = _limit(decision, inputs, chain)
    if readings:
        evidence = decision.distributions()
        cascade, output = decision.plan.cascade, decision.output
        least = float(margin(cascade, evidence, output))
        weakest, size = next(iter(input_margins(cascade, evidence, output).items()))
        return Firmness(min(least, 1.0), weakest if size <= 1.0 else None, None, None, *limit)
    best: tuple[float, str | None, float | None, float | None] = (inf, None, None, None)
    for name, number in numbers.items():
        attribute = decision.plan.attributes[name]
        least_number, most_number = _safe_range(decision, attribute, number)
        bounds = [z for z in (least_number, most_number) if z is not None]
        assert attribute.scale is not None
        span = max(np.ptp([number, *attribute.scale.cuts]), 1e-12)
        distance = min((abs(number - z) / span for z in bounds), default=inf)
        if distance < best[0]:
            best = (float(distance), name, least_number, most_number)
    return Firmness(None, *best[1:], *limit)


def _safe_range(
    decision: Decision, attribute: Attribute, number: float
) -> tuple[float | None, float | None]:
    """Return the bounds between which a number may move alone while the same value is decided on.

    A bound lies at a cut, or the blur of the measurement before it.
    """
    scale = attribute.scale
    assert scale is not None
    n = len(attribute.domain)
    columns = decision.plan.slices[attribute.name]
    rows = np.tile(decision.row, (n, 1))
    rows[:, columns] = np.eye(n)
    degrees = decision.program.run(rows)[decision.program.code.columns[decision.output.name]]
    same = _decides(degrees, int(decision.result.degrees.argmax()))
    index = int(np.flatnonzero(decision.row[columns] == 1.0)[0])
    if not same[index]:
        return number, number
    first, last = index, index
    while first > 0 and same[first - 1]:
        first -= 1
    while last < n - 1 and same[last + 1]:
        last += 1
    cuts = list(map(float, scale.cuts))
    least = None if first == 0 else min(cuts[first - 1] + scale.blur, number)
    most = None if last == n - 1 else max(cuts[last] - scale.blur, number)
    return least, most


def _second(degrees: FloatArray) -> float:
    """Return the degree of the next values after the most possible ones."""
    return float(degrees[degrees < degrees.max()].max(initial=0.0))


def _decides(degrees: FloatArray, winner: int) -> FloatArray:
    """Return for columns of degrees whether one value alone is fully possible: the winner."""
    is_full = degrees == 1.0
    return np.asarray(is_full[winner] & (is_full.sum(axis=0) == 1))


def _limit(
    decision: Decision, inputs: Sequence[str], chain: Sequence[DecidingRules]
) -> tuple[str | None, int | None]:
    """Return what keeps a decision from being more certain: an input, or a rule on an attribute."""
    winner = decision.result.degrees.argmax()
    second = np.delete(decision.result.degrees, winner).max(initial=0.0)
    if second == 0.0:
        return None, None
    names = list(inputs)
    rows = np.tile(decision.row, (len(names) + 1, 1))
    for i, name in enumerate(names):
        columns = decision.plan.slices[name]
        crisp = np.where(rows[0, columns] == rows[0, columns].max(), 1.0, 0.0)
        rows[i, columns] = rows[-1, columns] = crisp
    degrees = decision.program.run(rows)[decision.program.code.columns[decision.output.name]]
    less = np.delete(degrees, winner, axis=0).max(axis=0) < second
    if less[-1]:
        if less[:-1].any():
            return names[int(less.argmax())], None
        # Several inputs are as uncertain: the first of those that read the same.
        seconds = [_second(decision.row[decision.plan.slices[name]]) for name in names]
        return names[int(np.argmax([floor(100 * degree + 0.5) for degree in seconds]))], None
    for rules in reversed(chain):
        table = decision.plan.tables[rules.attribute.name]
        for rule, holds in zip(rules.rules, rules.holds, strict=True):
            if (table.r if holds else table.s)[rule] >= second:
                return rules.attribute.name, decision.plan.rule_number(rules.attribute.name, rule)
    return None, None
