"""A point model as an ordinary cascade of rules.

1. ``iff glucose >= 126 and age >= 45 then `rule 1` in {3}``: the rules give points, or none.
2. ``points for yes`` is the sum of the points of the rules for that class and of those that it
   starts with: a function of them, of some at a time.
3. ``if `yes against no` where `points for yes` - `points for no` >= 4 then outcome in {yes}
   [certainty=0.9]``: what a lead says, one rule for each level.

With certain inputs every inner attribute has one value, so that the cascade computes
`PointModel.possibility`; with unknown ones the possible sums are those between both totals.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import prod
from typing import NamedTuple

from pinesy._common.masks import contains, mask_of
from pinesy._common.reports import text_table
from pinesy.induction.candidate_rules import HIGHEST, LOWEST, Box, Feature
from pinesy.induction.grouped_levels import premise_text
from pinesy.induction.point_model import PointModel
from pinesy.induction.training_table import TableColumn
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.functions import function, joint
from pinesy.rulebase.point_sums import points_name
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, show_value

#: Values of the product of rules, or of sums of them, that are added in one function.
MAX_VALUES = 150
#: The titles of a score card.
HEAD = ("if", "then for", "points")


class CardLine(NamedTuple):
    """One rule of a score card.

    Attributes
    ----------
    attribute : the name of the attribute that has the points in the cascade
    value : the class that gets them
    points : how many
    premise : the conditions, as text
    """

    attribute: str
    value: Hashable
    points: int
    premise: str


@dataclass(frozen=True)
class ScoreCard:
    """What induced rules say, without the rules that add points and compare sums.

    Attributes
    ----------
    lines : the rules, those of most points first within a class
    start : the points that each class begins with
    certainties : of a lead of 1, 2, ... points; of longer ones as of the last
    """

    lines: tuple[CardLine, ...]
    start: dict[Hashable, int]
    certainties: tuple[float, ...]

    def __str__(self) -> str:
        """Return the card as text."""
        return f"{text_table([HEAD, *self._rows()])}\n{self._leads()}"

    def _rows(self) -> list[tuple[str, str, str]]:
        start = [("start", show_value(v), f"+{n}") for v, n in self.start.items() if n]
        return start + [(c.premise, show_value(c.value), f"+{c.points}") for c in self.lines]

    def _leads(self) -> str:
        leads = ", ".join(f"{c:.2g}" for c in self.certainties[:12])
        ending = ", ..." * (len(self.certainties) > 12)
        return f"certainty of a lead of 1, 2, ... points: {leads}{ending}"

    def _repr_html_(self) -> str:
        """Return the card as a table."""
        from pinesy.display.markup import html_table, lines_of

        return html_table(HEAD, self._rows()) + lines_of(self._leads())


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
            mask = mask_of(v for v, step in enumerate(feature.groups) if low < step <= high)
        else:
            cuts = attribute.scale.cuts
            first = cuts.index(feature.cuts[low]) + 1 if low > LOWEST else 0
            last = cuts.index(feature.cuts[high]) if high < HIGHEST else len(cuts)
            mask = mask_of(range(first, last + 1))
        masks[feature.column] = masks.get(feature.column, attribute.full) & mask
    return [Proposition(attributes[i], mask) for i, mask in sorted(masks.items())]


class CascadeWriter:
    """Collects the rule sets of a point model, under names that no column has.

    Parameters
    ----------
    model : the rules that give points
    inputs, output : the attributes of the columns and of the classes
    """

    def __init__(self, model: PointModel, inputs: Sequence[Attribute], output: Attribute) -> None:
        self._model = model
        self._inputs = list(inputs)
        self._output = output
        self._names = {a.name for a in (*inputs, output)}
        self._sets: list[RuleSet] = []
        self._lines: list[CardLine] = []
        #: The sum of the points of each class; None for a class without points.
        self._totals: list[Attribute | None] = []

    def cascade(
        self,
        premises: Sequence[Sequence[Proposition]],
        texts: Sequence[str],
        user_rules: Sequence[Rule],
    ) -> Cascade:
        """Return the cascade of a model, and of rules of the user that win against it.

        `texts` are the premises as the card shows them.
        """
        model = self._model
        parts: list[list[Attribute]] = [[] for _ in self._output.domain]
        rules_of_model = zip(premises, model.classes, model.points, texts, strict=True)
        for premise, label, points, text in rules_of_model:
            parts[label].append(self._points(premise, int(points), label, text))
        strong = int(model.points.sum() + model.prior.max()) + 1
        for rule in user_rules:
            for label in range(len(parts)):
                if contains(rule.conclusion.mask, label) and rule.r < 1.0:
                    premise = rule.premise.propositions
                    text = str(rule.premise)
                    parts[label].append(self._points(premise, strong, label, text))
        starts = model.prior.tolist()
        self._totals = [self._total(label, part, starts[label]) for label, part in enumerate(parts)]
        rules = [*user_rules, *self._leads()]
        if not rules:  # no rule was found: this one leaves every class possible
            rules = [Rule(self._always(), self._output.isin(self._output.domain))]
        return Cascade(*self._sets, RuleSet(rules), attributes=self._inputs)

    def _always(self) -> Premise:
        """Return a premise that always holds."""
        first = self._inputs[0]
        return premise_of(Proposition(first, first.full))

    def _name(self, wish: str) -> str:
        """Return a name that is free."""
        while wish in self._names:
            wish += "'"
        self._names.add(wish)
        return wish

    def _points(
        self, premise: Sequence[Proposition], points: int, label: int, text: str
    ) -> Attribute:
        """Add the rule that gives points to a class where a premise holds, and none elsewhere."""
        gives = Attribute(self._name(f"rule {len(self._lines) + 1}"), [0, points])
        rule = Rule(premise_of(*premise), gives.isin({points}), 0.0, 0.0)
        self._sets.append(RuleSet([rule]))
        value = self._output.domain[label]
        self._lines.append(CardLine(gives.name, value, points, text))
        return gives

    def card(self) -> ScoreCard:
        """Return the score card of the model whose cascade was written."""
        order = {value: index for index, value in enumerate(self._output.domain)}
        lines = sorted(self._lines, key=lambda line: (order[line.value], -line.points))
        start = dict(zip(self._output.domain, self._model.prior.tolist(), strict=True))
        certainties = (1.0 - self._model.levels[1:]).round(4).tolist()
        return ScoreCard(tuple(lines), start, tuple(certainties))

    def _total(self, label: int, parts: list[Attribute], start: int) -> Attribute | None:
        """Add the sums of parts, some at a time, and return that of all; None without points."""
        name = points_name(self._output.domain[label])
        if not parts and not start:
            return None
        if not parts:  # no rule gives points to the class: it has those that it starts with
            total = Attribute(self._name(name), [start])
            self._sets.append(RuleSet([Rule(self._always(), total.isin({start}))]))
            return total
        groups, step = _groups(parts), 0
        while len(groups) > 1:
            parts = []
            for group in groups:
                step += 1
                parts.append(self._sum(f"{name}.{step}", group) if len(group) > 1 else group[0])
            groups = _groups(parts)
        return self._sum(name, groups[0], start)

    def _sum(self, name: str, parts: list[Attribute], start: int = 0) -> Attribute:
        name = self._name(name)
        of = joint(self._name(f"{name}.parts"), *parts) if len(parts) > 1 else parts[0]
        terms = [*(format_name(a.name) for a in parts), *[str(start)] * (start > 0)]
        added = function(name, of, " + ".join(terms))
        self._sets += added.rule_sets
        return added.attributes[name]

    def _leads(self) -> list[Rule]:
        """Return rules that exclude a class where another leads it by 1, 2, ... points."""
        pairs = {c: self._pair(*c) for c in combinations(range(len(self._totals)), 2)}
        levels, rules = self._model.levels, list[Rule]()
        for first, second in permutations(range(len(self._totals)), 2):
            pair = pairs[min(first, second), max(first, second)]
            if pair is None:  # neither class has points, so that neither leads
                continue
            totals = (self._totals[first], self._totals[second])
            points = ["0" if total is None else format_name(total.name) for total in totals]
            others = Proposition(self._output, self._output.full & ~(1 << second))
            # Of leads that are reached by the same sums the longest says most.
            longest: dict[int, Rule] = {}
            for least in range(1, len(levels)):
                led = pair.where(f"{points[0]} - {points[1]} >= {least}")
                if led.mask:
                    longest[led.mask] = Rule(premise_of(led), others, 1.0, float(levels[least]))
            rules += longest.values()
        return list(dict.fromkeys(rules))  # of classes without points some are the same

    def _pair(self, first: int, second: int) -> Attribute | None:
        """Return the pairs of the points of two classes, or those of the only one with points."""
        a, b = self._totals[first], self._totals[second]
        if a is None or b is None:
            return a or b
        names = (self._output.domain[first], self._output.domain[second])
        pairing = joint(self._name(f"{names[0]} against {names[1]}"), a, b)
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


def write_cascade(
    model: PointModel,
    features: Sequence[Feature],
    inputs: Sequence[Attribute],
    output: Attribute,
    user_rules: Sequence[Rule],
) -> tuple[Cascade, ScoreCard]:
    """Return a point model as a cascade, with the user's rules, and its score card.

    Costs the products of some rules at a time, and of the sums of every two classes.
    """
    premises = [box_premise(box, features, inputs) for box in model.boxes]
    texts = [
        premise_text(box, features, premise, output.domain)
        for box, premise in zip(model.boxes, premises, strict=True)
    ]
    writer = CascadeWriter(model, inputs, output)
    return writer.cascade(premises, texts, user_rules), writer.card()
