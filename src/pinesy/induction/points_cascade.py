"""A score card as an ordinary cascade of rules: the cautious reading of the card.

1. ``iff glucose >= 126 and age >= 45 then `rule 1` in {3}``: the lines give points, or none.
2. ``points for yes`` is the sum of the points of the lines for that class and of those that it
   starts with: a function of them, of some at a time.
3. ``if `yes against no` where `points for yes` - `points for no` >= 4 then outcome in {yes}
   [certainty=0.9]``: what a lead says, one rule for each level. Of more than two classes each is
   compared with the best: ``if `behind old` where `best points` - `points for old` >= 4 then
   outcome in {sick, well} [certainty=0.9]``.

With certain inputs every inner attribute has one value, so that the cascade computes
`ScoreCard.score`; with unknown ones the possible sums are those between both totals.

To compare with the best loses nothing, whatever the possibilities of the sums. With ``f_c(s)`` the
possibility that class `c` has less than ``s + t`` points, which rises in `s`, and ``g(s)`` that `d`
has `s` or more, which falls, ``max_s min(g(s), min_c f_c(s)) = min_c max_s min(g(s), f_c(s))``: the
largest `s` that attains one of the maxima on the right attains the left.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pinesy._common.masks import contains, mask_of
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.rows import Rows
from pinesy.exceptions import DataError
from pinesy.induction.candidate_rules import HIGHEST, LOWEST, Box, Feature
from pinesy.induction.grouped_levels import premise_text
from pinesy.induction.point_model import PointModel
from pinesy.induction.score_card import CardLine, CardScores, ScoreCard
from pinesy.induction.training_table import TableColumn
from pinesy.rulebase.aggregates import max_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.functions import function, joint
from pinesy.rulebase.point_sums import points_name
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name

#: The attributes of a cascade that its rules are needed for.
COMPILED = ("_rule_sets", "_attributes", "sets")
#: Values of the product of rules, or of sums of them, that are added in one function.
MAX_VALUES = 150


class CardCascade(Cascade):
    """A cascade that is compiled from a score card, and carries it.

    It is compiled when its rules are first used: `score` does not need them. What changes rules
    (`with_parameters`, `rename`, `+`) returns a cascade without a card.

    Attributes
    ----------
    card : the score card
    """

    def __init__(self, card: ScoreCard) -> None:
        self.card = card

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Compile the card where an attribute of the rules is used for the first time."""
            if name not in COMPILED:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            super().__init__(*CascadeWriter(self.card).rule_sets(), attributes=self.card.columns)
            return self.__dict__[name]

    @classmethod
    def of(cls, rules: Cascade, card: ScoreCard) -> "CardCascade":
        """Return rules with their card, or raise `DataError` where the card is not theirs."""
        for line in card.lines:
            expected = _line_rule(line)
            rule_set = rules.sets.get(line.attribute)
            if rule_set is None or rule_set.rules != (expected,):
                raise DataError(f"the score card has a line that the rules do not have: {expected}")
        rule_set = rules.sets.get(card.output.name)
        if rule_set is None or rule_set.output != card.output:
            raise DataError(f"the score card is on {card.output!r}, and the rules are not")
        for rule in rule_set.rules:
            if rule not in card.user_rules and rule.r not in card.levels:
                raise DataError(
                    f"the rules have one whose lead the score card does not have: {rule}"
                )
        compiled = cls(card)
        Cascade.__init__(compiled, *rules.rule_sets, attributes=rules.attributes.values())
        return compiled

    def score(self, evidence: Evidence) -> CardScores:
        """Return what the card gives (`ScoreCard.score`); arrays are as `infer` takes them."""
        return self.card.score_rows(self.card_rows(evidence))

    def card_rows(self, evidence: Evidence) -> Rows:
        """Return evidence as rows that the card scores."""
        if isinstance(evidence, np.ndarray):
            return evidence_rows(self, evidence)
        return self.card.read_rows(evidence)

    def __repr__(self) -> str:
        return f"CardCascade({self.card.summary})"

    def _repr_html_(self) -> str:
        return self.card._repr_html_()


def card_of(rules: Any) -> ScoreCard | None:
    """Return the score card of rules, if they were compiled from one."""
    return rules.card if isinstance(rules, CardCascade) else None


def _line_rule(line: CardLine) -> Rule:
    """Return the rule that gives the points of a line where it holds, and none elsewhere."""
    gives = Attribute(line.attribute, [0, line.points])
    return Rule(premise_of(*line.conditions), gives.isin({line.points}), 0.0, 0.0)


def input_attributes(
    columns: Sequence[TableColumn],
    features: Sequence[Feature],
    boxes: Iterable[Box],
    user_rules: Iterable[Rule],
) -> list[Attribute]:
    """Return the attributes of columns: numeric ones with the cuts that rules use."""
    cuts: dict[str, set[float]] = {column.name: set() for column in columns}
    for proposition in (p for rule in user_rules for p in rule.premise.propositions):
        if proposition.attribute.scale is not None:
            cuts[proposition.attribute.name].update(proposition.attribute.scale.cuts)
    for f, low, high in (bound for box in boxes for bound in box):
        feature, bounds = features[f], [k for k in (low, high) if LOWEST < k < HIGHEST]
        if feature.cuts:
            cuts[columns[feature.column].name].update(feature.cuts[k] for k in bounds)
    return [
        Attribute(column.name, column.domain)
        if column.domain
        else Attribute.number(column.name, sorted(cuts[column.name]))
        for column in columns
    ]


def box_premise(
    box: Box, features: Sequence[Feature], attributes: Sequence[Attribute]
) -> list[Proposition]:
    """Return the propositions of a box, one for each column."""
    masks: dict[int, int] = {}
    for f, low, high in box:
        feature = features[f]
        attribute = attributes[feature.column]
        if attribute.scale is None:
            mask = mask_of(v for v, n_sums in enumerate(feature.groups) if low < n_sums <= high)
        else:
            cuts = attribute.scale.cuts
            first = cuts.index(feature.cuts[low]) + 1 if low > LOWEST else 0
            last = cuts.index(feature.cuts[high]) if high < HIGHEST else len(cuts)
            mask = mask_of(range(first, last + 1))
        masks[feature.column] = masks.get(feature.column, attribute.full) & mask
    return [Proposition(attributes[i], mask) for i, mask in sorted(masks.items())]


class CascadeWriter:
    """Collects the rule sets of a score card, under names that no column has.

    Costs the products of some lines at a time, and of the sums of each class with the best.
    """

    def __init__(self, card: ScoreCard) -> None:
        self._card = card
        self._output = card.output
        self._names = {*card.attributes, *(line.attribute for line in card.lines)}
        self._sets: list[RuleSet] = []

    def rule_sets(self) -> list[RuleSet]:
        """Return the rule sets of the card, with the rules of the user in the last one."""
        card = self._card
        parts: list[list[Attribute]] = [[] for _ in self._output.domain]
        for line in card.lines:
            rule_set = RuleSet([_line_rule(line)])
            self._sets.append(rule_set)
            parts[self._output.position(line.value)].append(rule_set.output)
        starts = [*card.start.values()]
        totals = [self._total(label, part, starts[label]) for label, part in enumerate(parts)]
        rules = [*card.user_rules, *self._leads(totals)]
        if not rules:  # no rule was found: this one leaves every class possible
            rules = [Rule(self._always(), self._output.isin(self._output.domain))]
        return [*self._sets, RuleSet(rules)]

    def _always(self) -> Premise:
        """Return a premise that always holds."""
        first = self._card.columns[0]
        return premise_of(Proposition(first, first.full))

    def _name(self, wish: str) -> str:
        """Return a name that is free, and so are those that begin with it and a dot."""
        while any(name == wish or name.startswith(f"{wish}.") for name in self._names):
            wish += "'"
        self._names.add(wish)
        return wish

    def _total(self, label: int, parts: list[Attribute], start: int) -> Attribute | None:
        """Add the sums of parts, some at a time, and return that of all; None without points."""
        name = points_name(self._output.domain[label])
        if not parts and not start:
            return None
        if not parts:  # no line gives points to the class: it has those that it starts with
            total = Attribute(self._name(name), [start])
            self._sets.append(RuleSet([Rule(self._always(), total.isin({start}))]))
            return total
        groups, n_sums = _groups(parts), 0
        while len(groups) > 1:
            parts = []
            for group in groups:
                n_sums += 1
                parts.append(self._sum(f"{name}.{n_sums}", group) if len(group) > 1 else group[0])
            groups = _groups(parts)
        return self._sum(name, groups[0], start)

    def _sum(self, name: str, parts: list[Attribute], start: int = 0) -> Attribute:
        while name in self._names:
            name += "'"
        self._names.add(name)
        of = joint(self._name(f"{name}.parts"), *parts) if len(parts) > 1 else parts[0]
        terms = [*(format_name(a.name) for a in parts), *[str(start)] * (start > 0)]
        added = function(name, of, " + ".join(terms))
        self._sets += added.rule_sets
        return added.attributes[name]

    def _leads(self, totals: Sequence[Attribute | None]) -> list[Rule]:
        """Return rules that exclude a class that trails by 1, 2, ... points."""
        known = [total for total in totals if total is not None]
        if not known:
            return []
        best = None if len(totals) == 2 else self._best(known)
        pairs: dict[tuple[str, ...], Attribute] = {}
        levels, rules = self._card.levels, list[Rule]()
        for label, total in enumerate(totals):
            rival = totals[1 - label] if best is None else best
            compared = tuple(a for a in (rival, total) if a is not None)
            key = tuple(sorted(a.name for a in compared))
            if key not in pairs:
                pairs[key] = self._pair(compared, label)
            points = ["0" if a is None else format_name(a.name) for a in (rival, total)]
            others = Proposition(self._output, self._output.full & ~(1 << label))
            # Of leads that are reached by the same sums the longest says most.
            longest: dict[int, Rule] = {}
            for least in range(1, len(levels)):
                led = pairs[key].where(f"{points[0]} - {points[1]} >= {least}")
                if led.mask:
                    longest[led.mask] = Rule(premise_of(led), others, 1.0, levels[least])
            rules += longest.values()
        return list(dict.fromkeys(rules))

    def _best(self, totals: Sequence[Attribute]) -> Attribute:
        """Return the most points of any class; those without points have 0, which is not more."""
        if len(totals) == 1:
            return totals[0]
        name = self._name("best points")
        best = max_of(name, totals)
        self._sets += best.rule_sets
        return best.attributes[name]

    def _pair(self, compared: tuple[Attribute, ...], label: int) -> Attribute:
        """Return the pairs of points that are compared, or those of the only class with points."""
        if len({a.name for a in compared}) == 1:
            return compared[0]
        domain = self._output.domain
        names = (
            f"{domain[0]} against {domain[1]}" if len(domain) == 2 else f"behind {domain[label]}"
        )
        pairing = joint(self._name(names), *compared)
        self._sets.append(pairing)
        return pairing.output


def _groups(parts: Sequence[Attribute]) -> list[list[Attribute]]:
    """Return attributes in groups of two or more, with products of up to `MAX_VALUES` values."""
    groups: list[list[Attribute]] = [[]]
    for part in parts:
        values = prod(len(a.domain) for a in (*groups[-1], part))
        if len(groups[-1]) >= 2 and values > MAX_VALUES:
            groups.append([])
        groups[-1].append(part)
    return groups


def score_card(
    model: PointModel,
    features: Sequence[Feature],
    inputs: Sequence[Attribute],
    output: Attribute,
    user_rules: Sequence[Rule] = (),
    shares: Sequence[float] = (),
) -> ScoreCard:
    """Return a point model as a score card, with the user's rules, which win against it."""
    premises = [tuple(box_premise(box, features, inputs)) for box in model.boxes]
    texts = [
        premise_text(box, features, premise, output.domain)
        if any(features[f].label is not None for f, _, _ in box)
        else None
        for box, premise in zip(model.boxes, premises, strict=True)
    ]
    entries: list[tuple[Any, ...]] = [
        (output.domain[label], points, premise, undetermined, support, precision, weight, text)
        for premise, text, label, points, undetermined, support, precision, weight in zip(
            premises,
            texts,
            model.classes.tolist(),
            model.points.tolist(),
            model.undetermined.tolist(),
            model.support.tolist(),
            model.precision.tolist(),
            model.weights.tolist(),
            strict=True,
        )
    ]
    merged: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for entry in entries:  # levels of two values give the same line twice
        value, points, premise, undetermined, support, precision, weight, text = entry
        _, before, _, before_undetermined, *_, before_weight, _ = merged.get(
            (value, premise), (value, 0, premise, 0, support, precision, 0.0, text)
        )
        sums = (before + points, premise, before_undetermined + undetermined)
        merged[value, premise] = (value, *sums, support, precision, before_weight + weight, text)
    entries = list(merged.values())
    strong = int(model.points.sum() + model.prior.max()) + 1
    for rule in user_rules:
        for label, value in enumerate(output.domain):
            if contains(rule.conclusion.mask, label) and rule.r < 1.0:
                premise = rule.premise.propositions
                entries.append((value, strong, premise, 0, None, None, float(strong)))
    names = {a.name for a in (*inputs, output)}
    lines = []
    for number, entry in enumerate(entries, 1):
        name = f"rule {number}"
        while name in names:
            name += "'"
        lines.append(CardLine(name, *entry))
    lines.sort(key=lambda line: (output.position(line.value), -line.points))
    return ScoreCard(
        tuple(lines),
        dict(zip(output.domain, model.prior.tolist(), strict=True)),
        output,
        tuple(np.asarray(model.levels).tolist()),
        tuple(inputs),
        tuple(user_rules),
        dict(zip(output.domain, shares, strict=False)),
    )
