"""Rules that limit the possibility of a value, and rules that clash: they leave no value at 1."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pinesy.explanations.decision import SHOWN, Decision
from pinesy.explanations.justification import Triplet, causes
from pinesy.explanations.labels import Wording, number_text
from pinesy.explanations.sample import ComputedOnce, Sample
from pinesy.rulebase.attaining_rules import attaining_rules
from pinesy.rulebase.clashes import clashing_groups
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule

#: The maximum length of a rule in a text; propositions are omitted and counted until it fits.
LINE = 160
#: The maximum number of rules to find down a cascade.
MAX_RESTRAINTS = 1000


def rule_text(rule: Rule) -> str:
    """Return a rule in one line; a long one with the number of omitted propositions."""
    size = len(rule.premise.propositions)
    limits = [None] * (size > SHOWN) + [*range(min(size, SHOWN), 0, -1)]
    text = ""
    for limit in limits:
        text = rule.line(limit)
        if len(text) <= LINE:
            return text
    return f"{text[:LINE]}... and {len(text) - LINE} more characters"


@dataclass(frozen=True)
class LimitingDegree:
    """The possibility of a value that sets the bound of a rule."""

    attribute: Attribute
    value: Hashable
    degree: float

    def __str__(self) -> str:
        statement = Wording().equation(self.attribute, self.value)
        return f"{statement} has possibility {number_text(self.degree)}"


@dataclass(frozen=True)
class Restraint:
    """A rule that limits a value: ``pi*(value) = degree`` is the bound that it sets.

    Attributes
    ----------
    attribute, value, degree : the attribute, the value, and its possibility
    number : the number of the rule in the rule base
    rule : Rule
    by : ``"premise"`` if the bound is the degree ``lambda`` of the premise (for a value inside the
        conclusion) or ``rho`` of its negation (outside); ``"s"`` or ``"r"`` if it is that parameter
    reasons : for a premise, the values whose degrees set its degree: raise one of these (or, of a
        conjunction, one for each proposition), and the bound is higher
    """

    attribute: Attribute
    value: Hashable
    degree: float
    number: int
    rule: Rule
    by: str
    reasons: tuple[LimitingDegree, ...]

    def __str__(self) -> str:
        inside = self.value in self.rule.conclusion.values
        premise = "its premise" if inside else "the negation of its premise"
        cause = (
            f"{premise} has possibility" if self.by == "premise" else f"its parameter {self.by} is"
        )
        statement, degree = Wording().equation(self.attribute, self.value), number_text(self.degree)
        rule = f"rule {self.number} ({rule_text(self.rule)})"
        return f"{statement} is possible at {degree} at most, because of {rule}: {cause} {degree}"


def restraints_on(decision: Decision, index: int) -> tuple[list[Restraint], bool]:
    """Return the rules that limit a value of the output, and whether some were omitted.

    Then down the cascade: where a premise on an inferred attribute sets the bound, the rules that
    limit the values that set its degree. A value is visited once; there are at most
    `MAX_RESTRAINTS` rules.
    """
    queue = [(decision.output, index)]
    visited = {(decision.output.name, index)}
    restraints: list[Restraint] = []
    for attribute, i in queue:  # grows in the loop
        restraints += (new := list(_restraints(decision, attribute, i)))
        if len(restraints) > MAX_RESTRAINTS:
            return restraints[:MAX_RESTRAINTS], True
        for reason in (reason for restraint in new for reason in restraint.reasons):
            key = (reason.attribute.name, reason.attribute.position(reason.value))
            if key not in visited:
                visited.add(key)
                queue.append((reason.attribute, key[1]))
    return restraints, False


def _restraints(sample: Sample, attribute: Attribute, index: int) -> Iterator[Restraint]:
    """Yield the rules that attain an inferred degree below 1 of a value [eq:pistarbxu]."""
    value, degree = attribute.domain[index], float(sample.degrees[attribute.name][index])
    if degree == 1.0 or attribute.name in sample.plan.slices:
        return
    for cause in causes(sample, attribute.name, index, eta=0.0):
        by, reasons = "premise", []
        if isinstance(cause, Triplet):
            for origin, indices in cause.deciding_values():
                reasons += [LimitingDegree(origin, origin.domain[i], degree) for i in indices]
        else:
            by = cause.name
        yield Restraint(attribute, value, degree, cause.number, cause.rule, by, tuple(reasons))


@dataclass(frozen=True)
class BoundedValues:
    """Values that the same rules limit.

    Attributes
    ----------
    values : the values
    degree : their possibility, below 1
    rules : the numbers of the rules that set it: the rules with the lowest bound
    """

    values: tuple[Hashable, ...]
    degree: float
    rules: tuple[int, ...]


@dataclass(frozen=True)
class Clash:
    """Rules on one attribute that leave none of its values fully possible.

    Attributes
    ----------
    attribute : what they conclude on; the attributes of their premises are normalised
    contradiction : 1 minus the largest degree
    groups : the numbers of rules that clash: single rules, else pairs, else a larger group (see
        `clashing_groups`)
    bounds : for all values, the rules that bound them and at which degree
    rules : the rules of the set, by their numbers in the rule base
    """

    attribute: Attribute
    contradiction: float
    groups: tuple[tuple[int, ...], ...]
    bounds: tuple[BoundedValues, ...]
    rules: Mapping[int, Rule]


def clashes_of(sample: Sample) -> tuple[Clash, ...]:
    """Return the clashes of a sample: one for each set that breaks normalisation of its inputs."""
    heights = ComputedOnce(lambda name: float(sample.degrees[name].max()))
    return tuple(
        _clash(sample, rule_set)
        for name, rule_set in sample.plan.rule_sets.items()
        if heights[name] < 1.0 and all(heights[a.name] == 1.0 for a in rule_set.inputs)
    )


def _clash(sample: Sample, rule_set: RuleSet) -> Clash:
    """Return the clash of a rule set that leaves no value at 1."""
    name = rule_set.output.name
    bounds = sample.bounds(name)
    numbers = [sample.plan.rule_number(name, j) for j in range(len(rule_set))]
    degrees = bounds.min(axis=1)  # [eq:pistarbxu]
    values_by_bound: dict[tuple[float, tuple[int, ...]], list[Hashable]] = {}
    for value, degree, row in zip(rule_set.output.domain, degrees.tolist(), bounds, strict=True):
        rules = tuple(numbers[j] for j in attaining_rules(row, degree))
        values_by_bound.setdefault((degree, rules), []).append(value)
    groups = clashing_groups(np.unique(bounds < 1.0, axis=0))
    return Clash(
        rule_set.output,
        1.0 - float(degrees.max()),
        tuple(tuple(numbers[j] for j in group) for group in groups),
        tuple(BoundedValues(tuple(values), *key) for key, values in values_by_bound.items()),
        dict(zip(numbers, rule_set.rules, strict=True)),
    )
