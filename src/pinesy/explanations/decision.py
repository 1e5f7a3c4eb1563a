"""A decision on one sample: what wins, and the rules that hold the other values down."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.console import check_stop
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence
from pinesy.engine.program import Program
from pinesy.exceptions import DomainError, UnknownAttributeError
from pinesy.explanations.coherence import is_coherent_output
from pinesy.explanations.explain import only_output
from pinesy.explanations.justification import Triplet, attaining
from pinesy.explanations.labels import number_text
from pinesy.explanations.sample import (
    Sample,
    SamplePlan,
    one_row,
    plain_values_of,
    plan_for,
    table_of,
)
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Premise
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, show_value

#: Of more values or rules than this, a text says how many more there are.
SHOWN = 5
#: Where a rule is quoted, propositions are left out and counted until it is no longer than this.
LINE = 160
#: The most rules that are followed down a cascade.
MAX_RESTRAINTS = 1000


def output_of(cascade: Cascade, output: str | Attribute | None) -> Attribute:
    """Return the attribute that is decided on: by default the only output of the cascade."""
    if output is None:
        return only_output(cascade, "say which by output=")
    found = cascade[output].output
    if isinstance(output, Attribute) and output != found:
        raise UnknownAttributeError(f"the rules conclude on {found!r}, not on {output!r}")
    return found


def is_coherent(rules: Cascade | RuleSet, output: str | Attribute | None = None) -> bool:
    """Tell whether the rules behind an output are known to be coherent for all inputs.

    Then for all normalised inputs some value of it has possibility 1. That is so iff it is for all
    crisp inputs; one is looked at for each combination of values that the rules tell apart, if
    there are at most 100,000 (of large rule bases fewer: ``rows * instructions`` of the program
    stay below 10^8). With more of them the answer is True if each rule set by itself leaves some
    value at 1 for all crisp inputs of its own, and False if that is not so, or not known.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> is_coherent(addition(2), "y_1")
    True
    """
    cascade = as_cascade(rules)
    return is_coherent_output(cascade, output_of(cascade, output).name)


@dataclass(frozen=True, eq=False)
class Decision:
    """What is inferred of an output attribute for one sample.

    Attributes
    ----------
    plan, output : where the decision is taken
    program : infers the output alone
    row : the columns of the program's inputs, side by side
    given : the inputs that are given as plain values (None or NaN for unknown), by name
    """

    plan: SamplePlan
    output: Attribute
    program: Program
    row: FloatArray
    given: Mapping[str, Any]

    @classmethod
    def of(
        cls, rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None
    ) -> "Decision":
        """Check the form of the evidence of one sample; inference checks the degrees."""
        cascade = as_cascade(rules)
        attribute = output_of(cascade, output)
        program = cascade.compile([attribute])
        row = one_row(cascade, evidence, program.inputs)
        given = plain_values_of(cascade, evidence, program.inputs)
        return cls(plan_for(cascade, attribute), attribute, program, row, given)

    @cached_property
    def result(self) -> Possibility:
        """The distribution that is inferred."""
        return self.program.infer(self.row)[self.output.name]

    @cached_property
    def coherent(self) -> bool:
        """Whether some value always reaches 1, so that a value wins if all others stay below."""
        return is_coherent_output(self.plan.cascade, self.output.name)

    @cached_property
    def winners(self) -> tuple[Hashable, ...]:
        """The values of the highest degree."""
        degrees = self.result.degrees
        places = np.flatnonzero(degrees == degrees.max())
        return tuple(self.output.domain[i] for i in places)

    def infer(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of the output for other inputs: (n, columns) to (n, |D|)."""
        check_stop()  # all searches for changes come by here
        return self.program.run(rows)[self.program.code.columns[self.output.name]].T

    def least(self, rows: FloatArray) -> FloatArray:
        """Return bounds that no degree of the output is below where the inputs are above `rows`."""
        floor = self.plan.floor
        return floor.run(rows)[floor.code.columns[self.output.name]].T

    def distributions(self, row: FloatArray) -> dict[str, Possibility]:
        """Return the input distributions of a row of columns."""
        slices = self.plan.slices
        return {a.name: Possibility(a, row[slices[a.name]].copy()) for a in self.program.inputs}

    def loser(self, value: Any) -> int:
        """Return the place of a value that is not the only winner, or raise `DomainError`."""
        place = self.output.position(value)
        if self.winners == (value,):
            raise DomainError(
                f"{self.output.name} = {show_value(value)} wins already; ask of another value"
            )
        return place


def first_few(texts: Sequence[str], what: str) -> list[str]:
    """Return the first texts, and how many more there are.

    Examples
    --------
    >>> first_few(list("abcdefg"), "values")[-2:]
    ['e', '2 more values']
    """
    left = len(texts) - SHOWN
    return [*texts[:SHOWN], *([f"{left} more {what}"] if left > 0 else [])]


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
        name = format_name(self.attribute.name)
        return f"{name} = {show_value(self.value)} has possibility {number_text(self.degree)}"


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
        what = f"{format_name(self.attribute.name)} = {show_value(self.value)}"
        degree = number_text(self.degree)
        held = f"{what} is held at {degree} by rule {self.number} ({_rule_text(self.rule)})"
        return f"{held}: {cause} {degree}"


def restraints_on(decision: Decision, place: int) -> tuple[list[Restraint], bool]:
    """Return the rules that hold a value of the output down, then those behind them.

    Down the cascade: where a premise on an inferred attribute sets the bound, the rules that hold
    the values that matter there. A value is looked at once. At most `MAX_RESTRAINTS` in all; also
    whether some were left out for that.
    """
    sample = Sample(decision.plan, decision.row, decision.result.degrees)
    waiting = [(decision.output, place)]
    seen = {(decision.output.name, place)}
    found: list[Restraint] = []
    for attribute, at in waiting:  # grows on the way
        new = list(_restraints(sample, attribute, at))
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
    ignorant = replace(decision, row=np.ones_like(decision.row))
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
    table, rules = table_of(rule_set), rule_set.rules
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
