"""Rules that hold values down: those on one value, and those that leave no value of any."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinesy.explanations.decision import SHOWN, Decision, first_few
from pinesy.explanations.justification import Triplet, attaining
from pinesy.explanations.labels import number_text
from pinesy.explanations.sample import Sample
from pinesy.rulebase.clashes import clashing_groups
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import equation_text, show_value

#: Where a rule is quoted, propositions are left out and counted until it is no longer than this.
LINE = 160
#: The most rules that are followed down a cascade.
MAX_RESTRAINTS = 1000


def _rule_text(rule: Rule) -> str:
    """Return a rule in one line; what is left out of a long one is counted."""
    number = len(rule.premise.propositions)
    limits = [None] * (number > SHOWN) + [*range(min(number, SHOWN), 0, -1)]
    text = ""
    for limit in limits:
        text = rule.line(limit)
        if len(text) <= LINE:
            return text
    return f"{text[:LINE]}... and {len(text) - LINE} more characters"


@dataclass(frozen=True)
class LimitingDegree:
    """A degree that a bound comes from: that of a value, the highest where it matters."""

    attribute: Attribute
    value: Hashable
    degree: float

    def __str__(self) -> str:
        what = equation_text(self.attribute.name, self.value)
        return f"{what} has possibility {number_text(self.degree)}"


@dataclass(frozen=True)
class Restraint:
    """A rule that holds a value down: ``pi*(value) = degree`` is the bound that it sets.

    Attributes
    ----------
    attribute, value, degree : what is held down, and to what
    number : the number of the rule in its set, from 1
    rule : Rule
    by : ``"premise"`` if the bound is the degree ``lambda`` of the premise (for a value inside the
        conclusion) or ``rho`` of its negation (outside); ``"s"`` or ``"r"`` if it is that parameter
    reasons : for a premise, the values whose degrees set it: raise one of these (or, of a
        conjunction, one for each proposition), and the rule restrains less
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
        what, degree = equation_text(self.attribute.name, self.value), number_text(self.degree)
        held = f"{what} is held at {degree} by rule {self.number} ({_rule_text(self.rule)})"
        return f"{held}: {cause} {degree}"


def restraints_on(decision: Decision, place: int) -> tuple[list[Restraint], bool]:
    """Return the rules that hold a value of the output down, then those behind them.

    Down the cascade: where a premise on an inferred attribute sets the bound, the rules that hold
    the values that matter there. A value is looked at once. At most `MAX_RESTRAINTS` in all; also
    whether some were left out for that.
    """
    waiting = [(decision.output, place)]
    seen = {(decision.output.name, place)}
    found: list[Restraint] = []
    for attribute, at in waiting:  # grows on the way
        new = list(_restraints(decision, attribute, at))
        found += new
        if len(found) > MAX_RESTRAINTS:
            return found[:MAX_RESTRAINTS], True
        for reason in (reason for restraint in new for reason in restraint.reasons):
            key = (reason.attribute.name, reason.attribute.position(reason.value))
            if key not in seen:
                seen.add(key)
                waiting.append((reason.attribute, key[1]))
    return found, False


def _restraints(sample: Sample, attribute: Attribute, place: int) -> Iterator[Restraint]:
    """Yield the rules that attain an inferred degree below 1 of a value [eq:pistarbxu]."""
    value, degree = attribute.domain[place], float(sample.degrees[attribute.name][place])
    if degree == 1.0 or attribute.name in sample.plan.slices:
        return
    for one in attaining(sample, attribute.name, place, eta=0.0):
        by, behind = ("premise", one.behind()) if isinstance(one, Triplet) else (one.name, [])
        reasons = [LimitingDegree(a, a.domain[i], degree) for a, places in behind for i in places]
        yield Restraint(attribute, value, degree, one.number, one.rule, by, tuple(reasons))


def obstacle(
    decision: Decision, place: int, clearance: float | None, free: Sequence[str] = ()
) -> str:
    """Return why no readings of a clearance, or no values (None), make a value the only winner.

    Where another value is always as possible, no inputs at all do. Nor do they where the rules are
    coherent, for then only degrees of 1 count, and these no clearance changes. Else it is known of
    this clearance only, and the text says so. Inputs that are not `free` stay as they are.
    """
    rival = _always_as_possible(decision, place)
    if rival:
        return rival
    ignorant = Decision(decision.plan, np.ones_like(decision.row), decision.program, {})
    found, _ = restraints_on(ignorant, place)
    own = [str(r) for r in found if r.attribute == decision.output]
    held = f"even if every value of every input were possible, {own[0]}" if own else ""
    left = 1.0 if clearance is None else 1.0 - clearance
    is_proof = decision.coherent and left < 1.0
    if is_proof and held:
        return held
    others = "" if len(free) == len(decision.program.inputs) else "; other inputs may not change"
    bound = f"another value is at least as possible{others}"
    if clearance is None:
        bound = f"whatever values these inputs have, {bound}"
    elif is_proof:
        bound = f"whatever the inputs are read as, {bound}"
    else:
        bound = (
            f"where the other values of an input that is read anew are left at up to "
            f"{number_text(left)}, {bound}; other clearances were not tried"
        )
    return f"{bound} ({held})" if held else bound


def _always_as_possible(decision: Decision, place: int) -> str:
    """Name a value that is as possible whatever the inputs are, and the rules where they differ.

    A rule bounds a value by ``max(z, d)``, with ``(z, d) = (s, lambda)`` inside its conclusion and
    ``(r, rho)`` outside. A value is seen to be as possible, by the rules one by one, if each of its
    bounds is 1 or no lower than one of the other value: the same `d`, and no lower `z`.
    """
    rule_set = decision.plan.rule_sets[decision.output.name]
    table, rules = decision.plan.tables[decision.output.name], rule_set.rules
    premises: dict[Premise, int] = {}
    kinds = [premises.setdefault(rule.premise, len(premises)) for rule in rules]
    sides = table.inside.astype(np.intp)
    least = np.ones((len(premises), 2))  # of each premise and side, the lowest `z` of the value
    np.minimum.at(least, (kinds, sides[place]), table.parameters[place])
    as_possible = (table.parameters >= least[kinds, sides]).all(axis=1)
    rivals = [other for other in np.flatnonzero(as_possible).tolist() if other != place]
    if not rivals:
        return ""
    says_something = np.minimum(rule_set.s, rule_set.r) < 1.0
    apart = says_something & (table.inside != table.inside[place])
    nearest = min(rivals, key=lambda other: int(apart[other].sum()))
    shown = show_value(decision.output.domain[nearest])
    if not apart[nearest].any():
        return f"no rule tells it from {shown}, which is always as possible"
    texts = [f"rule {j + 1} ({_rule_text(rules[j])})" for j in np.flatnonzero(apart[nearest])]
    return (
        f"{shown} is always as possible; where a rule tells them apart, it does not hold {shown} "
        f"lower: {' and '.join(first_few(texts, 'rules'))}"
    )


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
