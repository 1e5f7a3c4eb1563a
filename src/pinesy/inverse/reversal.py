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
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.masks import contains
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import target_degrees
from pinesy.exceptions import DataError, placed
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.equations import PremiseSystem
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target, named_targets, read_targets
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

OFF, ON = "off", "on"

#: Distributions of a batch by name, of shape ``(n, |D_a|)`` each.
Arrays = Mapping[str, FloatArray]
#: The output attribute of a rule set, and the number of a rule in it, counted from 1.
RuleKey = tuple[str, int]


def premise_equations(rules: RuleSet | Cascade, targets: Any) -> PremiseSystem:
    """Return the system of equations [eq:sysOmega] that a target sets for the premise degrees.

    Parameters
    ----------
    rules : a rule set or a cascade
    targets : a value of an attribute that rules conclude on, or a normalised distribution on it, by
        the attribute's name; that of an only output may come alone

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    >>> system = premise_equations(RuleSet([Iff(a.isin({0})).then(b.isin({1}), s=0.2)]), [0.4, 1.0])
    >>> system.lowest_solution.tolist(), system.greatest_solution.tolist()
    ([1.0, 0.4], [1.0, 0.4])
    """
    cascade = as_cascade(rules)
    named = output_targets(cascade, targets)
    if len(named) > 1:
        raise DataError(f"there are targets for {', '.join(named)}; give one, for one rule set")
    ((name, target),) = named.items()
    return system_of(cascade[name], target_degrees(target, cascade[name].output))


def output_targets(cascade: Cascade, targets: Any) -> dict[str, Any]:
    """Return the targets of attributes that rules conclude on; an only output's may come alone."""
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    return named_targets(targets, {s.output.name: s.output for s in cascade.order}, only)


def system_of(rule_set: RuleSet, degrees: FloatArray) -> PremiseSystem:
    """Return the system of a distribution that is known to be one, normalised or not."""
    partition = rule_set.partition
    return PremiseSystem(partition, rule_set.s, rule_set.r, partition.possibilities(degrees))


def target_arrays(
    cascade: Cascade, named: Mapping[str, Any], is_batch: bool | None, n: int | None
) -> tuple[Arrays, bool]:
    """Return the target distributions ``(n, |D_b|)`` by name, and whether they are a batch.

    `is_batch` and `n` are known where evidence is given with the targets.
    """
    attributes = {name: cascade[name].output for name in named}
    if is_batch is None:
        is_batch = not all(_is_one(content, attributes[name]) for name, content in named.items())
    for name, content in named.items():
        if not is_batch and np.isscalar(content):
            with placed(f"the target of {name!r}"):
                attributes[name].position(content)  # a lone number is a value, not a degree
    return _by_column(read_targets(named, attributes, n, is_batch=is_batch)), is_batch


def _is_one(content: object, attribute: Attribute) -> bool:
    """Tell whether a target is of one sample: a value, or one distribution."""
    if isinstance(content, Possibility):
        return not content.is_batch
    if isinstance(content, Target):
        return False
    if isinstance(content, str | bytes | Mapping):
        return True
    if isinstance(content, Hashable) and content in attribute:
        return True
    try:
        array = np.asarray(content)
    except ValueError:  # rows of several lengths: `Target.of` says so
        return False
    return array.ndim == 0 or (array.ndim == 1 and _are_degrees(array, attribute))


def _are_degrees(array: Any, attribute: Attribute) -> bool:
    """Tell degrees from values: of full length, and floats or not all values of the domain."""
    if array.dtype.kind not in "fiub" or len(array) != len(attribute.domain):
        return False
    floats = any(isinstance(v, float) for v in attribute.domain)
    values = all(v in attribute for v in array.tolist())
    return not values or (array.dtype.kind == "f" and not floats)


def _by_column(targets: Mapping[str, Target]) -> dict[str, FloatArray]:
    """Return the targets column by column, as programs give theirs: so they compare quickly."""
    slices = column_slices(one.attribute for one in targets.values())
    n = len(next(iter(targets.values())))
    whole = np.zeros((sum(len(one.attribute.domain) for one in targets.values()), n))
    samples = np.arange(n)
    columns = {name: whole[span].T for name, span in slices.items()}
    for name, one in targets.items():
        if one.is_graded:
            columns[name][...] = one.degrees
        else:  # in place: distributions of labels would be made, transposed and copied
            whole[slices[name].start + one.labels.astype(np.intp), samples] = 1.0
    return columns


@dataclass(frozen=True)
class Bound:
    """How a rule, read backwards, bounds the attribute of one proposition of its premise.

    Attributes
    ----------
    output : the name of the attribute that the rule concludes on
    number : the number of the rule in its set, counted from 1
    rule : the rule
    proposition : the proposition
    is_alone : whether the premise is this one proposition
    switch : for a conjunct that may be lowered, the attribute that tells whether it is chosen
    """

    output: str
    number: int
    rule: Rule
    proposition: Proposition
    is_alone: bool
    switch: Attribute | None

    def reverse(self, source: Attribute) -> Rule:
        """Return the rule from `source`, which stands for its output, back to the proposition."""
        back = Proposition(source, self.rule.conclusion.mask), self.proposition
        s, r = self.rule.s if self.is_alone else 1.0, self.rule.r
        if self.proposition.mask == 0:  # no rule may conclude on nothing: state it of the negations
            back, s, r = (~back[0], ~back[1]), r, s
        return Rule(Premise((back[0],)), back[1], s, r)

    def choose(self, source: Attribute) -> Rule:
        """Return the rule that lowers the conjunct where its switch is on."""
        assert self.switch is not None
        wrong = ~Proposition(source, self.rule.conclusion.mask)
        on = self.switch.isin([ON])
        return Rule(Premise((wrong, on)), ~self.proposition, 1.0, self.rule.s)

    def at_most(self, value: int, inside: float, outside: float, chosen: bool) -> float:
        """Return the bound on one value, from ``lambda_up`` and ``rho_up`` of the rule."""
        if not contains(self.proposition.mask, value):
            return max(self.rule.r, outside)
        return max(self.rule.s, inside) if self.is_alone or chosen else 1.0


class Reversal:
    """The rule sets behind some target attributes, read backwards."""

    def __init__(self, cascade: Cascade, targets: Collection[str]) -> None:
        self.cascade = cascade
        self.targets = tuple(targets)
        self.sets = {s.output.name: s for s in cascade.needed(self.targets)}
        self._names = set(cascade.attributes)

    @cached_property
    def between(self) -> tuple[Attribute, ...]:
        """The attributes that rules conclude on and that have no target, the last first."""
        last_first = reversed(list(self.sets.values()))
        return tuple(s.output for s in last_first if s.output.name not in self.targets)

    @cached_property
    def inputs(self) -> tuple[Attribute, ...]:
        """The inputs of the cascade that the targets depend on."""
        used = {a.name for s in self.sets.values() for a in s.inputs}
        return tuple(a for a in self.cascade.inputs if a.name in used)

    @cached_property
    def bounds(self) -> dict[str, list[Bound]]:
        """The bounds that all rules set for each attribute without target."""
        bounds: dict[str, list[Bound]] = {a.name: [] for a in (*self.between, *self.inputs)}
        for bound in self._all_bounds():
            bounds.get(bound.proposition.attribute.name, []).append(bound)
        return bounds

    def _all_bounds(self) -> Iterator[Bound]:
        for name, rule_set in self.sets.items():
            for number, rule in enumerate(rule_set.rules, 1):
                parts = tuple(dict.fromkeys(rule.premise.propositions))
                for k, part in enumerate(parts, 1):
                    alone = len(parts) == 1
                    text = f"{name} rule {number} proposition {k}"
                    can_fall = not alone and 0 < part.mask < part.attribute.full
                    can_fall = can_fall and part.attribute.name not in self.targets
                    switch = Attribute(self._new(text), [OFF, ON]) if can_fall else None
                    yield Bound(name, number, rule, part, alone, switch)

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
    def switch_columns(self) -> dict[RuleKey, list[int]]:
        """For each conjunction the places of its conjuncts in `switches`."""
        numbers = itertools.count()
        return {key: [next(numbers) for _ in bounds] for key, bounds in self.conjuncts.items()}

    @cached_property
    def reached(self) -> dict[str, Attribute]:
        """For each target the attribute of ``M box F^up``, the lowest reachable target above."""
        return {n: self._copy(self.sets[n].output, "reached") for n in self.targets}

    @cached_property
    def inferred(self) -> dict[str, Attribute]:
        """For each set the attribute of what is inferred from the target inputs."""
        return {n: self._copy(s.output, "inferred") for n, s in self.sets.items()}

    @cached_property
    def sources(self) -> dict[str, Attribute]:
        """The attributes that bounds are taken from, by the output they stand for.

        Where all parameters are 0, what is reached has the same ``lambda_up`` and ``rho_up``.
        """
        return {
            name: self.reached[name]
            if name in self.targets and (s.s.any() or s.r.any())
            else s.output
            for name, s in self.sets.items()
        }

    def reaching(self) -> list[RuleSet]:
        """Return the sets that infer ``M box F^up`` of each target: *if b in Q then b in Q*.

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

    def backward(self, choosing: bool) -> list[RuleSet]:
        """Return the reversed rule sets, in an order of inference."""
        sources = self.sources
        rule_sets = []
        for attribute in (*self.between, *self.inputs):
            bounds = _alike_first(self.bounds[attribute.name])
            rules = [b.reverse(sources[b.output]) for b in bounds]
            if choosing:
                rules += [b.choose(sources[b.output]) for b in bounds if b.switch is not None]
            rule_sets.append(RuleSet(rules))
        return rule_sets

    def forward(self) -> list[RuleSet]:
        """Return the rule sets as they are, on attributes of their own."""
        return [
            RuleSet(
                replace(
                    rule,
                    premise=Premise(tuple(map(self._moved, rule.premise.propositions))),
                    conclusion=self._moved(rule.conclusion),
                )
                for rule in rule_set.rules
            )
            for rule_set in self.sets.values()
        ]

    def _moved(self, proposition: Proposition) -> Proposition:
        own = self.inferred.get(proposition.attribute.name)
        return proposition if own is None else Proposition(own, proposition.mask)

    def _copy(self, attribute: Attribute, mark: str) -> Attribute:
        return Attribute(self._new(f"{attribute.name} {mark}"), attribute.domain)

    def _new(self, name: str) -> str:
        while name in self._names:
            name += "'"
        self._names.add(name)
        return name


def _alike_first(bounds: list[Bound]) -> list[Bound]:
    """Order bounds by their sets' shapes, so that attributes of one use compile to one template."""
    groups = [list(group) for _, group in itertools.groupby(bounds, lambda b: b.output)]
    groups.sort(key=lambda group: [(b.rule.conclusion.mask, b.proposition.mask) for b in group])
    return [bound for group in groups for bound in group]
