"""Rules read backwards: what a target output allows of the attributes in the premises.

A rule ``if a in P then b in Q`` lets ``pi_a(v)`` be at most ``max(s, lambda_up)`` for `v` in `P`,
with ``lambda_up = Pi(Q)``, and ``max(r, rho_up)`` outside, with ``rho_up = Pi(not Q)``: inference
uses ``max(s, lambda)`` and ``max(r, rho)`` only, so a degree up to the parameter does no harm. This
is what ``if b in Q then a in P`` infers with the same parameters. Of a conjunction only the second
bound is sure (``s = 1``); the first holds for the one proposition that is chosen to carry it, which
a switch turns on.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from pinesy.inverse.backpropagation.conflict import Clashing
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import Rule

OFF, ON = "off", "on"


@dataclass(frozen=True)
class Bound:
    """What one proposition of a rule says of its attribute.

    Attributes
    ----------
    output : the name of the attribute that the rule concludes on
    number : the number of the rule in its set, counted from 1
    rule : the rule
    proposition : the proposition
    switch : for a proposition that may carry the degree of a conjunction, the attribute that
        tells whether it does
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
        """Return the rule that lets the proposition carry the degree where the switch is on."""
        assert self.switch is not None
        wrong = ~Proposition(source, self.rule.conclusion.mask)
        on = self.switch.isin([ON])
        return Rule(Premise((wrong, on)), ~self.proposition, 1.0, self.rule.s)

    def at_most(self, value: int, inside: float, outside: float, chosen: bool) -> float:
        """Return the bound on one value, from ``lambda_up`` and ``rho_up`` of the rule."""
        if not self.proposition.mask >> value & 1:
            return max(self.rule.r, outside)
        return max(self.rule.s, inside) if self.is_alone or chosen else 1.0


class Reversal:
    """The rule sets behind some target attributes, and what they say read backwards."""

    def __init__(self, cascade: Cascade, targets: Collection[str]) -> None:
        self.cascade = cascade
        self.targets = tuple(targets)
        self.sets = {s.output.name: s for s in cascade.needed(self.targets)}
        self._names = set(cascade.attributes)
        self._clashing: dict[tuple[str, int], Clashing] = {}

    def clashing(self, name: str, number: int) -> Clashing:
        """Return a rule as conflicts name it, always the same object."""
        key = name, number
        if key not in self._clashing:
            self._clashing[key] = Clashing(name, number, self.sets[name].rules[number - 1])
        return self._clashing[key]

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
        """What all rules say of each attribute without target."""
        found: dict[str, list[Bound]] = {a.name: [] for a in (*self.between, *self.inputs)}
        for bound in self._all_bounds():
            found.get(bound.proposition.attribute.name, []).append(bound)
        return found

    def _all_bounds(self) -> Iterator[Bound]:
        for name, rule_set in self.sets.items():
            for number, rule in enumerate(rule_set.rules, 1):
                parts = tuple(dict.fromkeys(rule.premise.propositions))
                for k, part in enumerate(parts, 1):
                    alone = len(parts) == 1
                    text = f"{name} rule {number} proposition {k}"
                    can_carry = not alone and 0 < part.mask < part.attribute.full
                    can_carry = can_carry and part.attribute.name not in self.targets
                    switch = Attribute(self._new(text), [OFF, ON]) if can_carry else None
                    yield Bound(name, number, rule, part, alone, switch)

    @cached_property
    def choices(self) -> dict[tuple[str, int], list[Bound]]:
        """For each rule with a conjunction, the propositions that may carry its degree."""
        found: dict[tuple[str, int], list[Bound]] = {}
        for name, rule_set in self.sets.items():
            for number, rule in enumerate(rule_set.rules, 1):
                if len(set(rule.premise.propositions)) > 1:
                    found[name, number] = []
        for bounds in self.bounds.values():
            for bound in bounds:
                if bound.switch is not None:
                    found[bound.output, bound.number].append(bound)
        return found

    @cached_property
    def switches(self) -> tuple[Attribute, ...]:
        """The switches of all choices."""
        return tuple(b.switch for bounds in self.choices.values() for b in bounds if b.switch)

    @cached_property
    def reached(self) -> dict[str, Attribute]:
        """For each target the attribute of the lowest target above it that can be reached."""
        return {n: self._copy(self.sets[n].output, "reached") for n in self.targets}

    @cached_property
    def inferred(self) -> dict[str, Attribute]:
        """For each set the attribute of what is inferred from the inputs that are found."""
        return {n: self._copy(s.output, "inferred") for n, s in self.sets.items()}

    @cached_property
    def sources(self) -> dict[str, Attribute]:
        """The attributes that bounds are taken from, by the output they stand for.

        Where all parameters are 0, what is reached has the same ``lambda_up`` and ``rho_up``.
        """
        plain = {n for n, s in self.sets.items() if not (s.s.any() or s.r.any())}
        outputs = {n: s.output for n, s in self.sets.items()}
        return {n: self.reached[n] if n in self.targets and n not in plain else a
                for n, a in outputs.items()}  # fmt: skip

    def reaching(self) -> list[RuleSet]:
        """Return the sets that infer ``M box F^up`` of each target: *if b in Q then b in Q*."""
        return [
            RuleSet(
                Rule(
                    Premise((Proposition(rule.conclusion.attribute, rule.conclusion.mask),)),
                    Proposition(self.reached[name], rule.conclusion.mask),
                    rule.s,
                    rule.r,
                )
                for rule in self.sets[name].rules
            )
            for name in self.targets
        ]

    def backward(self, choosing: bool) -> list[RuleSet]:
        """Return the reversed rule sets, in an order of inference."""
        sources = self.sources
        made = []
        for attribute in (*self.between, *self.inputs):
            bounds = _alike_first(self.bounds[attribute.name])
            rules = [b.reverse(sources[b.output]) for b in bounds]
            if choosing:
                rules += [b.choose(sources[b.output]) for b in bounds if b.switch is not None]
            made.append(RuleSet(rules))
        return made

    def forward(self) -> list[RuleSet]:
        """Return the rule sets as they are, on attributes of their own."""
        return [
            RuleSet(
                Rule(
                    Premise(tuple(map(self._moved, rule.premise.propositions))),
                    self._moved(rule.conclusion),
                    rule.s,
                    rule.r,
                )
                for rule in rule_set.rules
            )
            for rule_set in self.sets.values()
        ]

    def _moved(self, proposition: Proposition) -> Proposition:
        found = self.inferred.get(proposition.attribute.name)
        return proposition if found is None else Proposition(found, proposition.mask)

    def _copy(self, attribute: Attribute, mark: str) -> Attribute:
        return Attribute(self._new(f"{attribute.name} {mark}"), attribute.domain)

    def _new(self, name: str) -> str:
        while name in self._names:
            name += "'"
        self._names.add(name)
        return name


def _alike_first(bounds: list[Bound]) -> list[Bound]:
    """Order bounds by their sets' shapes, so that attributes of one use compile to one template."""
    by_set: dict[str, list[Bound]] = {}
    for bound in bounds:
        by_set.setdefault(bound.output, []).append(bound)
    shapes = {
        name: [(b.rule.conclusion.mask, b.proposition.mask) for b in group]
        for name, group in by_set.items()
    }
    return [b for name in sorted(by_set, key=lambda n: shapes[n]) for b in by_set[name]]
