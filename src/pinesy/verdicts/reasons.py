"""The rules that decide: from the answer back to the inputs, as few rules as exclude the others."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from pinesy._common.masks import mask_table
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.explanations.sample import IntArray, Sample
from pinesy.rulebase.readable_rules import is_inner
from pinesy.rules.attributes import Attribute


@dataclass(frozen=True)
class DecidingRules:
    """Rules on an attribute that exclude values, and what they rest on.

    Attributes
    ----------
    attribute : that the rules conclude on
    values : that these rules leave
    rules : the indices of the rules in their set
    holds : for each rule, whether its premise holds; if not, its converse excludes the values
    inputs : the names of the attributes that the premises rest on
    certainty : that the value is one of `values`
    is_inner : whether readers do not name the attribute: a formula, a product, a part of a function
    """

    attribute: Attribute
    values: tuple[Hashable, ...]
    rules: tuple[int, ...]
    holds: tuple[bool, ...]
    inputs: tuple[str, ...]
    certainty: float
    is_inner: bool


def deciding_rules(sample: Sample, name: str, limits: FloatArray) -> list[DecidingRules]:
    """Return rules that keep the values of an attribute below limits, those next to inputs first.

    Parameters
    ----------
    sample : with the inputs that decide; all others are unknown
    name : the attribute
    limits : for each value the degree that rules have to bound it by; infinite for others
    """
    required: dict[str, FloatArray] = {name: limits}
    chain = []
    for output in reversed(sample.plan.rule_sets):
        if output in required:
            chain.append(_deciding(sample, output, required))
    return chain[::-1]


def _deciding(sample: Sample, name: str, required: dict[str, FloatArray]) -> DecidingRules:
    """Return the rules that keep one attribute's limits, and add what they require."""
    table, limits = sample.plan.tables[name], required[name]
    attribute = sample.plan.attributes[name]
    enough: BoolArray = np.asarray(
        (sample.bounds(name) <= limits[:, None]) & np.isfinite(limits)[:, None]
    )
    left = np.ones(len(attribute.domain), dtype=np.bool_)
    rules, holds, inputs = [], [], dict[str, None]()
    for rule, role in _cover(enough, table.inside, np.array(list(map(len, table.premises)))):
        inside = table.inside[:, rule]
        excluded = enough[:, rule] & (~inside if role else inside)
        left &= inside if role else ~inside
        limit = float(limits[excluded].min())
        premise = table.premises[rule]
        if not role:  # one proposition that is not possible is enough
            premise = premise[sample.measures[name][0, premise].argmin()][None]
        for index in premise.tolist():
            source = table.propositions[index].attribute
            outside = np.asarray(table.members[index] != role)
            if outside.any():
                inputs[source.name] = None
                before = required.get(source.name, np.full(len(source.domain), np.inf))
                required[source.name] = np.where(outside, np.minimum(before, limit), before)
        rules.append(rule)
        holds.append(role)
    others = sample.degrees[name][~left].max(initial=0.0)
    values = tuple(v for v, is_left in zip(attribute.domain, left, strict=True) if is_left)
    hidden = is_inner(attribute, sample.plan.cascade.attributes)
    certainty = 1.0 - float(others)
    return DecidingRules(
        attribute, values, tuple(rules), tuple(holds), tuple(inputs), certainty, hidden
    )


def _cover(enough: BoolArray, inside: BoolArray, sizes: IntArray) -> list[tuple[int, bool]]:
    """Return few rules, and whether their premises hold, that exclude all values to exclude."""
    todo: BoolArray = np.asarray(enough.any(axis=1))
    cover: list[tuple[int, bool]] = []
    while todo.any():
        covered = enough & todo[:, None]
        counts = np.stack([(covered & ~inside).sum(axis=0), (covered & inside).sum(axis=0)])
        # Most values first; of equal ones a rule whose premise holds, then the shortest premise.
        rank = counts * 2 + np.array([[1], [0]])
        role, rule = divmod(int(np.lexsort([np.tile(sizes, 2), -rank.ravel()])[0]), len(sizes))
        cover.append((rule, role == 0))
        excludes = ~inside[:, rule] if role == 0 else inside[:, rule]
        todo &= ~(enough[:, rule] & excludes)
    return cover


def excluded_limits(attribute: Attribute, values: tuple[Hashable, ...], limit: float) -> FloatArray:
    """Return the limits that keep all values but some at a degree at most."""
    is_kept = mask_table(len(attribute.domain), [attribute.mask(list(values))])[:, 0]
    return np.where(is_kept, np.inf, limit)
