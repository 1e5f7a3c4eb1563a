"""Rules read backwards: what a target output allows of the premises and of their attributes.

A target sets the equations [eq:sysOmega] for the premise degrees, solved by ``F^up`` if by any. So
a rule ``if a in P then b in Q`` lets ``pi_a(v)`` be at most ``max(s, lambda_up)`` for `v` in `P`,
with ``lambda_up = Pi(Q)``, and ``max(r, rho_up)`` outside, with ``rho_up = Pi(not Q)``
([def:coFU]): inference uses ``max(s, lambda)`` and ``max(r, rho)`` only, so a degree up to the
parameter does no harm. This is what ``if b in Q then a in P`` infers with the same parameters. Of a
conjunction only the second bound is sure (``s = 1``); the first holds for the one conjunct that is
chosen to be lowered, which a switch turns on (docs/backpropagation.md).
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.masks import contains
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Inference, Program, Trace
from pinesy.evidence.evidence_form import target_degrees
from pinesy.evidence.targets import named_targets
from pinesy.exceptions import DataError
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import PremiseSystem
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

OFF, ON = "off", "on"

#: Distributions of a batch by name, of shape ``(n, |D_a|)`` each.
Arrays = Mapping[str, FloatArray]
#: The output attribute of a rule set, and the number of a rule in it, counted from 1.
RuleKey = tuple[str, int]
#: For each rule whose premise is lowered, the index of the conjunct in `Reversal.conjuncts`.
ConjunctChoice = dict[RuleKey, int]


def premise_equations(rules: RuleSet | Cascade, targets: Any) -> PremiseSystem:
    """Return the system of equations [eq:sysOmega] that a target sets for the premise degrees.

    Parameters
    ----------
    rules : a rule set or a cascade
    targets : a value of an attribute that rules conclude on, or a normalised distribution on it, by
        the attribute's name; the target of a single output may be given without its name

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> system = premise_equations(RuleSet([Iff(a.isin({0})).then(b.isin({1}), s=0.2)]), [0.4, 1.0])
    >>> system.lowest_solution.tolist(), system.greatest_solution.tolist()
    ([1.0, 0.4], [1.0, 0.4])
    """
    cascade = as_cascade(rules)
    targets_by_name = output_targets(cascade, targets)
    if len(targets_by_name) > 1:
        raise DataError(
            f"there are targets for {', '.join(targets_by_name)}; give one, for one rule set"
        )
    ((name, target),) = targets_by_name.items()
    return premise_system(cascade[name], target_degrees(target, cascade[name].output))


def output_targets(cascade: Cascade, targets: Any) -> dict[str, Any]:
    """Return the targets by name; the target of a single output may be given without its name."""
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    return named_targets(targets, {s.output.name: s.output for s in cascade.order}, only)


def premise_system(rule_set: RuleSet, degrees: FloatArray) -> PremiseSystem:
    """Return the system of a target distribution, normalised or not, without validation."""
    partition = rule_set.partition
    return PremiseSystem(partition, rule_set.s, rule_set.r, partition.possibilities(degrees))


@dataclass(frozen=True)
class Bound:
    """The bound of a reversed rule on the attribute of one proposition of its premise.

    Attributes
    ----------
    output : the name of the attribute that the rule concludes on
    number : the number of the rule in its set, from 1
    rule : the rule
    proposition : the proposition
    is_only : whether the premise is this proposition only
    switch : for a conjunct that may be lowered, a Boolean attribute: whether it is chosen
    """

    output: str
    number: int
    rule: Rule
    proposition: Proposition
    is_only: bool
    switch: Attribute | None

    def reverse(self, source: Attribute) -> Rule:
        """Return the rule from `source`, which represents its output, back to the proposition."""
        back = Proposition(source, self.rule.conclusion.mask), self.proposition
        s, r = self.rule.s if self.is_only else 1.0, self.rule.r
        if self.proposition.mask == 0:  # a conclusion must have values: use the contrapositive
            back, s, r = (~back[0], ~back[1]), r, s
        return Rule(Premise((back[0],)), back[1], s, r)

    def choose(self, source: Attribute) -> Rule:
        """Return the rule that lowers the conjunct if its switch is on."""
        assert self.switch is not None
        wrong = ~Proposition(source, self.rule.conclusion.mask)
        on = self.switch.isin([ON])
        return Rule(Premise((wrong, on)), ~self.proposition, 1.0, self.rule.s)

    def at_most(self, value: int, inside: float, outside: float, is_lowered: bool) -> float:
        """Return the upper bound of one value, given ``lambda_up`` and ``rho_up`` of the rule."""
        if not contains(self.proposition.mask, value):
            return max(self.rule.r, outside)
        return max(self.rule.s, inside) if self.is_only or is_lowered else 1.0


@cached_on_owner
def reversal(cascade: Cascade, targets: tuple[str, ...]) -> "Reversal":
    """Return the reversed rules for some targets, cached on the cascade."""
    return Reversal(cascade, targets)


class Reversal:
    """The rule sets that some target attributes depend on, reversed, and their programs."""

    def __init__(self, cascade: Cascade, targets: Collection[str]) -> None:
        self.cascade = cascade
        self.targets = tuple(targets)
        self.sets = {s.output.name: s for s in cascade.needed(self.targets)}
        self._names = set(cascade.attributes)

    @cached_property
    def between(self) -> tuple[Attribute, ...]:
        """The concluded attributes without a target, the last first."""
        last_first = reversed(list(self.sets.values()))
        return tuple(s.output for s in last_first if s.output.name not in self.targets)

    @cached_property
    def inputs(self) -> tuple[Attribute, ...]:
        """The inputs of the cascade that the targets depend on."""
        names = {a.name for s in self.sets.values() for a in s.inputs}
        return tuple(a for a in self.cascade.inputs if a.name in names)

    @cached_property
    def bounds(self) -> dict[str, list[Bound]]:
        """The bounds of all rules on each attribute without a target."""
        bounds: dict[str, list[Bound]] = {a.name: [] for a in (*self.between, *self.inputs)}
        for bound in self._all_bounds():
            bounds.get(bound.proposition.attribute.name, []).append(bound)
        return bounds

    def _all_bounds(self) -> Iterator[Bound]:
        for name, rule_set in self.sets.items():
            for number, rule in enumerate(rule_set.rules, 1):
                parts = tuple(dict.fromkeys(rule.premise.propositions))
                for k, part in enumerate(parts, 1):
                    is_only = len(parts) == 1
                    text = f"{name} rule {number} proposition {k}"
                    can_fall = not is_only and 0 < part.mask < part.attribute.full
                    can_fall = can_fall and part.attribute.name not in self.targets
                    switch = Attribute(self._new_name(text), [OFF, ON]) if can_fall else None
                    yield Bound(name, number, rule, part, is_only, switch)

    @cached_property
    def conjuncts(self) -> dict[RuleKey, list[Bound]]:
        """For each rule whose premise is a conjunction, the conjuncts that may be lowered."""
        conjuncts: dict[RuleKey, list[Bound]] = {
            (name, number): []
            for name, rule_set in self.sets.items()
            for number, rule in enumerate(rule_set.rules, 1)
            if len(set(rule.premise.propositions)) > 1
        }
        for bound in (b for bounds in self.bounds.values() for b in bounds if b.switch):
            conjuncts[bound.output, bound.number].append(bound)
        return conjuncts

    @cached_property
    def switches(self) -> tuple[Attribute, ...]:
        """The switches of all conjuncts that may be lowered."""
        return tuple(b.switch for bounds in self.conjuncts.values() for b in bounds if b.switch)

    @cached_property
    def reached(self) -> dict[str, Attribute]:
        """For each target the attribute of ``M box F^up``, the lowest reachable target above."""
        outputs = {name: self.sets[name].output for name in self.targets}
        return {n: Attribute(self._new_name(f"{n} reached"), a.domain) for n, a in outputs.items()}

    @cached_property
    def sources(self) -> dict[str, Attribute]:
        """The attribute that represents each output in the reversed rules.

        If all parameters are 0, the reached target has the same ``lambda_up`` and ``rho_up``.
        """
        return {
            name: self.reached[name]
            if name in self.targets and (s.s.any() or s.r.any())
            else s.output
            for name, s in self.sets.items()
        }

    # --- as rule sets --------------------------------------------------------------------------

    @cached_property
    def _reaching_sets(self) -> list[RuleSet]:
        """The sets that infer ``M box F^up`` of each target: *if b in Q then b in Q*.

        By [eq:autreenOMEGA] it is the min of ``max(s, lambda_up)`` and ``max(r, rho_up)``.
        """
        return [
            RuleSet(
                Rule(Premise((q,)), Proposition(self.reached[name], q.mask), rule.s, rule.r)
                for rule in self.sets[name].rules
                for q in [rule.conclusion]
            )
            for name in self.targets
        ]

    def _reversed_sets(self, choosing: bool) -> list[RuleSet]:
        """Return the reversed rule sets in topological order.

        With `choosing`, they have the switched rules that lower conjuncts.
        """
        sources = self.sources
        names = {a.name for a in sources.values()}
        rule_sets = [s for s in self._reaching_sets if s.output.name in names]
        for attribute in (*self.between, *self.inputs):
            bounds = _sort_by_shape(self.bounds[attribute.name])
            rules = [b.reverse(sources[b.output]) for b in bounds]
            if choosing:
                rules += [b.choose(sources[b.output]) for b in bounds if b.switch is not None]
            rule_sets.append(RuleSet(rules))
        return rule_sets

    def _new_name(self, name: str) -> str:
        """Return a name that no attribute has yet."""
        while name in self._names:
            name += "'"
        self._names.add(name)
        return name

    # --- as programs ---------------------------------------------------------------------------

    def greatest_inputs(self, targets: Arrays) -> Inference:
        """Infer the greatest inputs, no conjunct lowered, and the `sources` of conjunctions."""
        return self._backward_program(False, False).infer(targets)

    def chosen_inputs(
        self, targets: Arrays, choices: Sequence[ConjunctChoice], *, trace: bool = False
    ) -> Inference:
        """Infer the greatest inputs with the chosen conjuncts lowered, a choice for each sample.

        With `trace` the result has the distributions of all attributes.
        """
        switch_degrees = {
            a.name: np.ones((len(choices), 2)) for a in self.switches
        }  # of off and on
        for row, choice in enumerate(choices):
            for key, k in choice.items():
                switch = self.conjuncts[key][k].switch
                assert switch is not None
                switch_degrees[switch.name][row, 0] = 0.0
        return self._backward_program(True, trace).infer({**targets, **switch_degrees})

    @cached_on_owner
    def _backward_program(self, choosing: bool, trace: bool) -> Program:
        names = self.sets if trace else self._conjunction_outputs
        return self._target_program(
            self._reversed_sets(choosing), [*self.inputs, *(self.sources[name] for name in names)]
        )

    def reachable_targets(self, targets: Arrays) -> dict[str, FloatArray]:
        """Return ``M box F^up`` [eq:eeOMEGA] of each target: the target if it is consistent."""
        output = self._reach_program.infer(targets)
        return {name: output.degrees(a) for name, a in self.reached.items()}

    @cached_property
    def _reach_program(self) -> Program:
        return self._target_program(self._reaching_sets, [*self.reached.values()])

    def _target_program(self, sets: Iterable[RuleSet], outputs: Iterable[Attribute]) -> Program:
        known = {a.name: a for a in (*(self.sets[n].output for n in self.targets), *self.switches)}
        distinct = list({a.name: a for a in outputs}.values())
        # A conclusion on all values is bounded by the height of its source.
        return Program([replace(s.unit, bare=True) for s in sets], distinct, known)

    def forward(self, inputs: Arrays, normalised: bool, *, trace: bool = False) -> Trace:
        """Infer the targets from inputs, which must be normalised if `normalised`."""
        return cast(Trace, self._forward_program(normalised, trace).infer(inputs))

    @cached_on_owner
    def _forward_program(self, normalised: bool, trace: bool) -> Program:
        outputs = [self.sets[name].output for name in (self.sets if trace else self.targets)]
        known = {a.name: a for a in self.inputs}
        return Program(
            [s.unit for s in self.sets.values()],
            outputs,
            known,
            list(self.sets if trace else self._conjunction_outputs),
            unnormalised=[] if normalised else list(known),
        )

    @cached_property
    def _conjunction_outputs(self) -> list[str]:
        """The outputs of the rule sets that have conjunctions."""
        return list(dict.fromkeys(name for name, _ in self.conjuncts))

    # --- premises of conjunctions --------------------------------------------------------------

    def upper_bounds(self, output: Inference) -> dict[RuleKey, FloatArray]:
        """Return ``max(s, lambda_up)`` of each conjunction for each sample; the last rules first.

        ``lambda_up = Pi(Q)`` as in [def:coFU].
        """
        bounds = {}
        for name, number in reversed(self.conjuncts):
            rule = self.sets[name].rules[number - 1]
            conclusion = Proposition(self.sources[name], rule.conclusion.mask)
            bounds[name, number] = np.maximum(rule.s, output.possibility(conclusion))
        return bounds

    def exceeded(
        self, bounds: Mapping[RuleKey, FloatArray], output: Trace
    ) -> dict[RuleKey, BoolArray]:
        """Return for each conjunction in which samples ``lambda > max(s, lambda_up)``."""
        premises = output.premises
        return {
            (name, number): premises[name].lambdas[:, number - 1] > bound
            for (name, number), bound in bounds.items()
        }


def _sort_by_shape(bounds: list[Bound]) -> list[Bound]:
    """Sort bounds by the masks of their rule sets, so that attributes share a template."""
    groups = [list(group) for _, group in itertools.groupby(bounds, lambda b: b.output)]
    groups.sort(key=lambda group: [(b.rule.conclusion.mask, b.proposition.mask) for b in group])
    return [bound for group in groups for bound in group]
