"""Contradictions: the rules that clash on a sample, and which values each of them excludes."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from pinesy.explanations.sample import Sample
from pinesy.rulebase.clashes import clashing_groups
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule


@dataclass(frozen=True)
class BoundedValues:
    """Values that the same rules hold down.

    Attributes
    ----------
    values : the values
    degree : their possibility, below 1
    rules : the numbers of the rules that set it: those with the lowest bound
    """

    values: tuple[Hashable, ...]
    degree: float
    rules: tuple[int, ...]


@dataclass(frozen=True)
class Clash:
    """Rules on one attribute that leave none of its values fully possible.

    Attributes
    ----------
    attribute : what they conclude on; what their premises use is free of contradiction
    contradiction : 1 minus the largest degree
    groups : the numbers of rules that clash: single rules, else pairs, else a larger group (see
        `clashing_groups`)
    bounds : for all values, the rules that bound them and at which degree
    rules : the rules of the set, which numbers count from 1
    """

    attribute: Attribute
    contradiction: float
    groups: tuple[tuple[int, ...], ...]
    bounds: tuple[BoundedValues, ...]
    rules: tuple[Rule, ...]


def clashes_of(sample: Sample) -> tuple[Clash, ...]:
    """Return the clashes behind a result, where they begin; none if there is no contradiction."""
    return tuple(
        _clash(sample, rule_set)
        for name, rule_set in sample.plan.rule_sets.items()
        if _height(sample, name) < 1.0
        and all(_height(sample, a.name) == 1.0 for a in rule_set.inputs)
    )


def _height(sample: Sample, name: str) -> float:
    return float(sample.degrees[name].max())


def _clash(sample: Sample, rule_set: RuleSet) -> Clash:
    name, domain = rule_set.output.name, rule_set.output.domain
    table, (lambdas, rhos) = sample.plan.tables[name], sample.premises[name]
    bounds = np.maximum(table.parameters, np.where(table.inside, lambdas, rhos))  # [eq:alphabeta]
    degrees = bounds.min(axis=1)  # [eq:pistarbxu]
    alike: dict[tuple[float, tuple[int, ...]], list[Hashable]] = {}
    for value, degree, row in zip(domain, degrees.tolist(), bounds, strict=True):
        rules = tuple((np.flatnonzero(row == degree) + 1).tolist())
        alike.setdefault((degree, rules), []).append(value)
    groups = clashing_groups(np.unique(bounds < 1.0, axis=0))
    return Clash(
        rule_set.output,
        1.0 - float(degrees.max()),
        tuple(tuple(place + 1 for place in group) for group in groups),
        tuple(BoundedValues(tuple(values), *key) for key, values in alike.items()),
        rule_set.rules,
    )
