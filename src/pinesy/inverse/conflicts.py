"""Conflicts: the attributes, bounds and rules that keep a target from being reproduced.

The paper assumes that rules have no conflicting conditions ([subsub:backpropagation], the remark);
here they are reported (docs/backpropagation.md).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.masks import positions
from pinesy._common.validation import FloatArray
from pinesy.engine.program import Inference, Trace
from pinesy.inverse.reversal import Bound, ConjunctChoice, Reversal, RuleKey
from pinesy.rulebase.attaining_rules import attaining_rules, rule_bounds
from pinesy.rulebase.sample_equations import PremiseSystem
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import show_value

#: The most rules, and propositions of a rule, in a text.
SHOWN = 4


@dataclass(frozen=True)
class ConflictingRule:
    """A rule in a conflict: its output, its number in the rule base, and its cached texts."""

    output: str
    number: int
    rule: Rule

    @cached_property
    def text(self) -> str:
        """The full text of the rule."""
        return str(self.rule)

    @cached_property
    def short(self) -> str:
        """The rule in one line; a long premise is abbreviated."""
        return self.rule.line(SHOWN)


@dataclass(frozen=True)
class Conflict:
    """A reason why the target inputs do not give a target.

    Attributes
    ----------
    kind : ``"target"``: no premise degrees at all give the target; ``"height"``: the bounds of the
        rules leave no value of `attribute` at 1, though inputs outside of them may give the target;
        ``"lower"``: a premise degree must be higher than the rules let it be; ``"reach"``: the
        greatest inputs give `attribute` more than its target; ``"conjunction"``: no proposition
        that was tried lowers the premise of a rule; ``"targets"``: the targets of two attributes,
        one inferred from the other, contradict
    attribute : the name of the attribute that the conflict is on
    conflicting : the rules that conflict
    distance : the difference between a degree and the bound that the target needs
    message : a description of the conflict
    row : the row of the sample, for a batch
    """

    kind: str
    attribute: str
    conflicting: tuple[ConflictingRule, ...] = field(repr=False)
    distance: float
    message: str
    row: int | None = None

    @cached_property
    def rules(self) -> tuple[tuple[str, int, str], ...]:
        """The rules that conflict: output, number in the rule base, full text."""
        return tuple((c.output, c.number, c.text) for c in self.conflicting)

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        lines = [f"  rule {c.number}: {c.short}" for c in self.conflicting[:SHOWN]]
        left = len(self.conflicting) - len(lines)
        omitted = [f"  and {left} more rules"] * (left > 0)
        return "\n".join([f"{where}{self.message}", *lines, *omitted])


#: The result of the search: inputs that give the repaired target were found, none exist, the search
#: hit its limit, or there was no search.
Verdict = Literal["solved", "none", "limit", "unknown"]
OTHERS = {
    "none": "and no inputs give the target",
    "limit": "and the search for other inputs ended at its limit",
    "unknown": "and other inputs were not sought",
}


@dataclass(frozen=True)
class TracedSample:
    """One sample with all degrees of the backward and forward pass.

    Attributes
    ----------
    back : the reversed rules
    systems, used : the system [eq:sysOmega] of each rule set; `used` has the repaired targets
    output : all distributions of the backward pass
    forward : the inference from the target inputs, with premise degrees
    choice : the conjuncts that were lowered
    verdict : the result of the search for other inputs
    """

    back: Reversal
    systems: Mapping[str, PremiseSystem]
    used: Mapping[str, PremiseSystem]
    output: Inference
    forward: Trace
    choice: ConjunctChoice
    verdict: Verdict

    def target(self, attribute: Attribute) -> FloatArray:
        """Return the target distribution of an attribute, from the backward pass."""
        return np.asarray(self.output[attribute].degrees[0])

    def inferred(self, name: str) -> FloatArray:
        """Return the distribution inferred from the target inputs."""
        return np.asarray(self.forward[name].degrees[0])

    def possibility(self, part: Proposition) -> float:
        """Return the possibility of a proposition for the target inputs."""
        output = self.forward if part.attribute.name in self.back.sets else self.output
        return float(output.possibility(part)[0])

    def target_possibility(self, part: Proposition) -> float:
        """Return the possibility of a proposition by the target of its attribute."""
        source = self.back.sources[part.attribute.name]
        return float(self.output.possibility(Proposition(source, part.mask))[0])

    def premises(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return ``lambda`` and ``rho`` of the rules on an attribute for the target inputs."""
        degrees = self.forward.premises[name]
        return degrees.lambdas[0], degrees.rhos[0]

    def conflict(
        self, kind: str, name: str, rules: Iterable[RuleKey], distance: float, message: str
    ) -> Conflict:
        """Return a conflict of some rules on an attribute, without duplicate rules."""
        known = _conflicting_rules(self.back)
        conflicting = tuple(known[key] for key in dict.fromkeys(rules))
        return Conflict(kind, name, conflicting, distance, message)

    def binding_rules(self, name: str, values: Iterable[int]) -> list[RuleKey]:
        """Return the first rule with the lowest bound on each value of an attribute."""
        bounds = self.back.bounds.get(name, [])
        keys = []
        for value in values:
            limits = [self._bound_degree(bound, value) for bound in bounds]
            if limits and min(limits) < 1.0:
                bound = bounds[int(np.argmin(limits))]
                keys.append((bound.output, bound.number))
        return list(dict.fromkeys(keys))

    def _bound_degree(self, bound: Bound, value: int) -> float:
        """Return the upper bound on the degree of a value."""
        uppers = self.used[bound.output].greatest_solution
        key, index = (bound.output, bound.number), 2 * (bound.number - 1)
        is_chosen = key in self.choice and self.back.conjuncts[key][self.choice[key]] is bound
        return bound.at_most(value, uppers[index], uppers[index + 1], is_chosen)


@cached_on_owner
def _conflicting_rules(back: Reversal) -> dict[RuleKey, ConflictingRule]:
    """Return all rules by key, cached with their texts."""
    return {
        (name, index + 1): ConflictingRule(name, back.cascade.rule_number(name, index), rule)
        for name, rule_set in back.sets.items()
        for index, rule in enumerate(rule_set.rules)
    }


def find_conflicts(traced: TracedSample) -> list[Conflict]:
    """Return the conflicts of one sample, in the order of the backward pass."""
    if traced.verdict == "solved":  # the repaired target is given
        return [*_inconsistent_targets(traced)]
    conflicts = [*_inconsistent_targets(traced), *_unnormalised_attributes(traced)]
    if not any(c.kind == "height" for c in conflicts):
        conflicts += [*_low_premises(traced), *_high_premises(traced), *_excess_degrees(traced)]
    return conflicts


def _inconsistent_targets(traced: TracedSample) -> Iterator[Conflict]:
    """Yield the conflicts of targets that no premise degrees give."""
    for name in traced.back.targets:
        system = traced.systems[name]
        if not system.is_consistent:
            cell = int(np.argmax(system.reached - system.target))
            domain = traced.back.sets[name].output.domain
            value = domain[int(np.argmax(system.partition.cell_of == cell))]
            yield traced.conflict(
                "target",
                name,
                [(name, j + 1) for j in _violated_rules(system, cell)],
                system.distance,
                f"the target of {name!r} cannot be inferred from any premise degrees: its "
                f"distance from those that can be is {system.distance:g}; {show_value(value)} "
                f"cannot be below {system.reached[cell]:g}, the target is {system.target[cell]:g}",
            )


def _violated_rules(system: PremiseSystem, cell: int) -> list[int]:
    """Return the rules whose parameter keeps a cell above its target.

    If there are none, because of premises, return the rules that attain the degree of the cell.
    """
    signs, up, target = system.partition.signs[cell], system.greatest_solution, system.target[cell]
    parameters = np.where(signs, system.inside, system.outside)
    uppers = np.where(signs, up[0::2], up[1::2])
    rules = np.flatnonzero((parameters > target) & (uppers <= target)).tolist()
    bounds = rule_bounds(signs, system.inside, system.outside, up[0::2], up[1::2])
    return rules or attaining_rules(bounds, system.reached[cell])


def _unnormalised_attributes(traced: TracedSample) -> Iterator[Conflict]:
    """Yield the conflicts of attributes that the rules leave without a value at 1."""
    for attribute in (*traced.back.between, *traced.back.inputs):
        pi = traced.target(attribute)
        if pi.max() < 1.0:
            yield traced.conflict(
                "height",
                attribute.name,
                traced.binding_rules(attribute.name, range(len(pi))),
                1.0 - float(pi.max()),
                f"the rules leave no value of {attribute.name!r} possible at 1 (at most "
                f"{pi.max():g}): their bounds (F^up) cannot all be kept, {OTHERS[traced.verdict]}",
            )


def _low_premises(traced: TracedSample) -> Iterator[Conflict]:
    """Yield the conflicts of premise degrees below ``F^down`` [lem:coEDOMEGA]."""
    for name, system in traced.used.items():
        lowest = system.lowest_solution
        for side, degrees in enumerate(traced.premises(name)):
            for j in np.flatnonzero(degrees < lowest[side::2]).tolist():
                yield _low_premise_conflict(
                    traced, name, j, side, float(lowest[2 * j + side]), degrees[j]
                )


def _low_premise_conflict(
    traced: TracedSample, name: str, j: int, side: int, needed: float, have: float
) -> Conflict:
    back = traced.back
    parts = [p if side == 0 else ~p for p in back.sets[name].rules[j].premise.propositions]
    low = [p for p in parts if traced.possibility(p) < needed]
    targeted = [p for p in low if p.attribute.name in back.targets]
    below = [p for p in targeted if traced.target_possibility(p) < needed]
    targets = list(dict.fromkeys(p.attribute.name for p in below))
    others = dict.fromkeys(
        key for p in low for key in traced.binding_rules(p.attribute.name, positions(p.mask))
    )
    others.pop((name, j + 1), None)
    causes = [f"the target of {target!r}" for target in targets] + ["other rules"] * bool(others)
    leaves = "leaves" if len(causes) == len(targets) == 1 else "leave"
    text = f"{' and '.join(causes)} {leaves}" if causes else "the target inputs leave"
    premise_text = "its premise" if side == 0 else "the negation of its premise"
    return traced.conflict(
        "targets" if targets else "lower",
        name,
        [(name, j + 1), *others],
        needed - float(have),
        f"rule {back.cascade.rule_number(name, j)} needs {premise_text} possible at {needed:g}; "
        f"{text} {have:g}",
    )


def _high_premises(traced: TracedSample) -> Iterator[Conflict]:
    """Yield the conflicts of premise degrees above ``max(s, lambda_up)`` or ``max(r, rho_up)``.

    Without those that `_excess_degrees` yields.
    """
    back = traced.back
    for name, system in traced.used.items():
        up = system.greatest_solution
        limits = np.maximum(system.inside, up[0::2]), np.maximum(system.outside, up[1::2])
        for side, (degrees, bounds) in enumerate(zip(traced.premises(name), limits, strict=True)):
            for j in np.flatnonzero(degrees > bounds).tolist():
                parts = back.sets[name].rules[j].premise.propositions
                targeted = [p.attribute.name for p in parts if p.attribute.name in back.targets]
                upper, have, key = float(bounds[j]), float(degrees[j]), (name, j + 1)
                rule = f"rule {back.cascade.rule_number(name, j)}"
                if targeted:
                    target = f"the target of {targeted[0]!r}"
                    text = f"{rule} allows {upper:g}, but {target} makes it {have:g}"
                    yield traced.conflict("targets", name, [key], have - upper, text)
                elif side == 0 and key in back.conjuncts:
                    text = (
                        f"{rule} needs one proposition of its premise possible at most at "
                        f"{upper:g}, and no choice that was tried reaches the target (it is "
                        f"{have:g})"
                    )
                    yield traced.conflict("conjunction", name, [key], have - upper, text)


def _excess_degrees(traced: TracedSample) -> Iterator[Conflict]:
    """Yield the conflicts of attributes whose inferred degrees are above their targets.

    Except attributes whose rules could give the target: their inputs are reported instead.
    """
    for attribute in traced.back.between:
        name = attribute.name
        target, have = traced.target(traced.back.sources[name]), traced.inferred(name)
        system = traced.used[name]
        # Values of a cell may have different targets, as no rule distinguishes them.
        is_above = system.reached[system.partition.cell_of] > target
        above = np.where(is_above, have - target, 0.0)
        worst = int(np.argmax(above))
        if above[worst] > 0.0:
            cell = int(system.partition.cell_of[worst])
            signs = system.partition.signs[cell]
            bounds = rule_bounds(signs, system.inside, system.outside, *traced.premises(name))
            concluding = [(name, j + 1) for j in attaining_rules(bounds, have[worst]) if signs[j]]
            way_out = (
                f"no rule on {name!r} tells it from values whose target is higher"
                if system.reached[cell] == system.target[cell]
                else "more specific inputs may give it: belief in the actual inputs chooses some, "
                "see pinesy.posterior (--posterior)"
            )
            yield traced.conflict(
                "reach",
                name,
                [*traced.binding_rules(name, [worst]), *concluding],
                float(above[worst]),
                f"the greatest inputs give {show_value(attribute.domain[worst])} of {name!r} "
                f"possibility {have[worst]:g}, more than its target {target[worst]:g}; "
                f"{way_out}",
            )
