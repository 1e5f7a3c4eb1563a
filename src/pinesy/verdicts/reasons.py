"""The rules that decide: from the answer back to the inputs, as few rules as exclude the others."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from pinesy._common.masks import mask_table, positions
from pinesy._common.validation import FloatArray
from pinesy.explanations.sample import RuleTable, Sample
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
    left, limit_list = attribute.full, limits.tolist()
    rules, holds, inputs = [], [], dict[str, None]()
    for rule, role, excluded in _cover(table, sample.bounds(name), limits):
        mask = table.rules[rule].conclusion.mask
        left &= mask if role else ~mask
        limit = min(limit_list[value] for value in positions(excluded))
        premise = table.premises[rule]
        if not role:  # one proposition that is not possible is enough
            premise = premise[sample.measures[name][0, premise].argmin()][None]
        for index in premise.tolist():
            proposition = table.propositions[index]
            source = proposition.attribute
            if proposition.mask != (source.full if role else 0):  # some values are to be excluded
                inputs[source.name] = None
                bound = np.where(table.members[index] == role, np.inf, limit)
                before = required.get(source.name)
                required[source.name] = bound if before is None else np.minimum(before, bound)
        rules.append(rule)
        holds.append(role)
    values = tuple(attribute.domain[i] for i in positions(left))
    degrees = sample.degrees[name].tolist()
    others = max((degrees[i] for i in positions(attribute.full & ~left)), default=0.0)
    hidden = is_inner(attribute, sample.plan.cascade.attributes)
    return DecidingRules(
        attribute, values, tuple(rules), tuple(holds), tuple(inputs), 1.0 - others, hidden
    )


def _cover(table: RuleTable, bounds: FloatArray, limits: FloatArray) -> list[tuple[int, bool, int]]:
    """Return few rules that together keep all values below their limits that rules can keep.

    With each rule: whether its premise holds, and the mask of the values that it excludes.
    """
    # No bound is below 0, so that values without a limit are never excluded.
    values, rules = np.nonzero(bounds <= np.where(limits == np.inf, -1.0, limits)[:, None])
    masks: dict[tuple[int, bool], int] = {}
    outside = ~table.inside[values, rules]
    for value, *key in zip(values.tolist(), rules.tolist(), outside.tolist(), strict=True):
        masks[tuple(key)] = masks.get(tuple(key), 0) | 1 << value
    todo = reduce(or_, masks.values(), 0)
    cover = []
    while todo:
        # Most values first; of equal ones a rule whose premise holds, then the shortest premise.
        rule, role = max(
            masks,
            key=lambda key: (
                2 * (masks[key] & todo).bit_count() + key[1], -len(table.premises[key[0]]), -key[0]
            ),
        )  # fmt: skip
        cover.append((rule, role, masks[rule, role]))
        todo &= ~masks[rule, role]
    return cover


def excluded_limits(attribute: Attribute, values: tuple[Hashable, ...], limit: float) -> FloatArray:
    """Return the limits that keep all values but some at a degree at most."""
    is_kept = mask_table(len(attribute.domain), [attribute.mask(list(values))])[:, 0]
    return np.where(is_kept, np.inf, limit)
