"""The words of a verdict: one sentence for each question.

A sentence begins with a capital, unless it begins with a name that is no word, such as ``a_1``.
Facts, reasons and needs are parts of sentences, and labels: they begin as they are.
"""

from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from pinesy._common.reports import count_text
from pinesy.explanations.labels import Wording
from pinesy.explanations.points_text import PointsGiven, card_scores, points_given
from pinesy.explanations.smallest_change import ValueChange
from pinesy.rulebase.readable_rules import equation_of, is_generated
from pinesy.rules.cut_texts import bounds_of, bounds_text
from pinesy.rules.outcomes import list_text, number_text, rule_numbers_text, verdict_text
from pinesy.rules.outcomes import short_degree as short_degree
from pinesy.verdicts.analysis import Analysis
from pinesy.verdicts.firmness import Firmness
from pinesy.verdicts.near_misses import NearMiss, nearest_rule
from pinesy.verdicts.reasons import DecidingRules

#: Facts, and conclusions before the answer, that a sentence names; more are counted.
MAX_FACTS, MAX_REASONS = 6, 2
#: Values of an attribute that a sentence names.
MAX_NAMED = 4
#: Groups of lines of a score card that a sentence has, for the first class and for the next.
MAX_LINES = (2, 1)
#: Values that say little without the name of their attribute.
BARE_VALUES = frozenset(["true", "false", "yes", "no", "none"])


def as_sentence(text: str) -> str:
    """Return a text with a capital, unless it begins with a name that is no word.

    Examples
    --------
    >>> as_sentence("the sky is dark."), as_sentence("a_1 is 7.")
    ('The sky is dark.', 'a_1 is 7.')
    """
    start = text.split(" ")[0].rstrip(",.;:").replace("-", "")
    return text[0].upper() + text[1:] if len(start) > 1 and start.isalpha() else text


@dataclass(frozen=True)
class Fact:
    """What is known of an input that decides.

    Attributes
    ----------
    attribute : the name of the input
    text : in words, such as ``debt is 0.64``
    certainty : of a reading by degrees; 1 of a plain value
    """

    attribute: str
    text: str
    certainty: float


@dataclass(frozen=True)
class Reason:
    """What rules conclude on the way to the answer.

    Attributes
    ----------
    attribute : the name of the attribute that they conclude on
    text : the conclusion in words, such as ``risk is high``
    rules : their numbers in the rule base
    inputs : the names of the attributes that their premises rest on
    certainty : of the conclusion
    expression : of a function, what the value is computed from, such as ``7 + 1``; empty where it
        has no written form or not all is known; None of rules that somebody wrote
    """

    attribute: str
    text: str
    rules: tuple[int, ...]
    inputs: tuple[str, ...]
    certainty: float
    expression: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Sentences(Analysis):
    """An analysis in words."""

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What is known of the deciding inputs."""
        return tuple(map(self._fact, self._fact_names))

    @cached_property
    def _fact_names(self) -> list[str]:
        """The names of the deciding inputs, as the premises of the rules have them."""
        sources = {rules.attribute.name: rules.inputs for rules in self.chain}
        for rules in self.chain:
            if rules.attribute.factors:
                factors = (factor.name for factor in rules.attribute.factors)
                sources[rules.attribute.name] = tuple(n for n in factors if n in rules.inputs)
        waiting, order = [self.chain[-1].attribute.name] if self.chain else [], list[str]()
        while waiting:
            name = waiting.pop()
            order.append(name)
            waiting += sources.get(name, ())[::-1]
        return sorted(self.deciding_inputs, key=lambda name: [*order, name].index(name))

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The rules that decide, from the inputs to the answer; none of points, see `points`."""
        if self.points:
            return ()
        return tuple(map(self._reason, self._read_chain))

    @cached_property
    def points(self) -> tuple[PointsGiven, ...]:
        """The points of a score card for each class, the most first; empty of other rules."""
        return tuple(points_given(self.decision))

    @cached_property
    def near_miss(self) -> NearMiss | None:
        """Where no rule decides, the rule that lacks least; None where no rule can be named."""
        if self.outcome != "no_rule" or self.points:
            return None
        nearest = nearest_rule(self.decision)
        if nearest is None:
            return None
        rule, needs = nearest
        names = tuple(dict.fromkeys(need.attribute.name for need in needs))
        return NearMiss(rule, names, self.wording.premise_sentence(needs, MAX_NAMED), tuple(needs))

    @cached_property
    def _read_chain(self) -> tuple[DecidingRules, ...]:
        """The rules that decide, without those on attributes that readers do not name."""
        return tuple(rules for rules in self.chain if not rules.is_inner)

    @cached_property
    def _spoken(self) -> Wording:
        return self.wording.with_articles()

    @property
    def answer(self) -> str:
        """The answer, or why there is none."""
        outcome = self.outcome
        names = [self.wording.value(self.attribute, value) for value in self.values]
        if outcome == "decided":
            return f"{names[0]}, certain {short_degree(self.certainty)}"
        if (scores := card_scores(self.decision)) is not None:
            best = int(scores.best[0])
            value = self.wording.value(self.attribute, self.attribute.domain[best])
            probability = short_degree(float(scores.probability[0, best]))
            remaining = verdict_text("several", names)
            return f"{remaining}; expected {value}, probability {probability}"
        rules = ""
        if self.clash is not None:
            rules = rule_numbers_text(self.clash.groups[0])
        return verdict_text(outcome, names, None, self.distribution.contradiction, rules)

    def _fact(self, name: str) -> Fact:
        """Return what is known of an input."""
        return Fact(name, self._fact_text(name, self.wording), self._fact_certainty(name))

    def _fact_certainty(self, name: str) -> float:
        """Return how certain the reading of an input is."""
        degrees = self.decision.row[self.decision.plan.slices[name]].tolist()
        greatest = max(degrees)
        return 1.0 - max((degree for degree in degrees if degree != greatest), default=0.0)

    def _fact_text(self, name: str, wording: Wording) -> str:
        """Return what is known of an input in words."""
        attribute = self.decision.plan.attributes[name]
        if name in self.decision.plain_values:
            value = wording.plain_value(attribute, self.decision.plain_values[name])
            return f"{wording.name(attribute)} is {value}"
        degrees = self.decision.row[self.decision.plan.slices[name]]
        values = [attribute.domain[i] for i in np.flatnonzero(degrees == degrees.max())]
        if len(values) == len(attribute.domain):
            return f"{wording.name(attribute)} is unknown"
        return wording.values_sentence(attribute, values, MAX_NAMED)

    def _reason(self, rules: DecidingRules) -> Reason:
        """Return what rules conclude."""
        name, number = rules.attribute.name, self.decision.plan.rule_number
        return Reason(
            name,
            self.wording.values_sentence(rules.attribute, self._concluded(rules), MAX_NAMED),
            tuple(number(name, index) for index in rules.rules),
            rules.inputs,
            rules.certainty,
            self._expression(rules),
        )

    def _concluded(self, rules: DecidingRules) -> tuple[Hashable, ...]:
        """Return the values that rules leave; of the answer, its own."""
        return self.values if rules.attribute == self.attribute and self.values else rules.values

    def _expression(self, rules: DecidingRules) -> str | None:
        """Return what a function computes its value from; see `Reason`."""
        name, degrees = rules.attribute.name, self.decision.degrees
        rule_set = self.decision.plan.rule_sets[name]
        equation = equation_of(rule_set)
        if equation is None:
            return "" if is_generated(rule_set) else None
        known = {*self.deciding_inputs, *(rules.attribute.name for rules in self._read_chain)}
        factors = {factor.name: factor for factor in equation.factors}
        best = {n: np.flatnonzero(degrees[n] == 1.0).tolist() for n in (name, *factors)}
        if not known.issuperset(factors) or any(len(values) != 1 for values in best.values()):
            return ""
        values = {n: self.wording.value(f, f.domain[best[n][0]]) for n, f in factors.items()}
        return equation.with_values(values)

    def _conclusion(self, rules: DecidingRules) -> str:
        """Return what rules conclude, with their numbers or, of a function, its equation."""
        expression = self._expression(rules)
        text = self._spoken.values_sentence(rules.attribute, self._concluded(rules), MAX_NAMED)
        if expression:
            best = int(self.decision.degrees[rules.attribute.name].argmax())
            value = self.wording.value(rules.attribute, rules.attribute.domain[best])
            return f"{self._spoken.name(rules.attribute)} is {expression} = {value}"
        return f"{text}{self._numbers(rules, expression)}"

    def _numbers(self, rules: DecidingRules, expression: str | None) -> str:
        """Return the numbers of rules in brackets; nothing of a function, whose nobody wrote."""
        number = self.decision.plan.rule_number
        numbers = [number(rules.attribute.name, index) for index in rules.rules]
        return f" ({rule_numbers_text(numbers)})" if expression is None else ""

    @property
    def because(self) -> str:
        """The facts, the conclusions in between, and the answer; of a score card its points."""
        if self.points:
            return as_sentence(self._points_text(self.points[:2]))
        if self.outcome == "no_rule":
            return as_sentence(self._undecided())
        if self.clash is not None:
            numbers = self.clash.groups[0]
            return as_sentence(f"{'; '.join(map(self._rule_of_clash, numbers))}.")
        return as_sentence(f"{self._facts()}{self._conclusions()}.")

    def _conclusions(self) -> str:
        """Return what rules conclude from the facts, the answer last."""
        *between, last = self._read_chain or (None,)
        if last is None:  # the output is a product, which no reader names
            return ""
        if not between:
            return f", so {self._conclusion(last)}"
        nearest = between if len(between) <= MAX_REASONS else between[-1:]
        steps = f"in {len(between)} steps " * (len(nearest) < len(between))
        middle = f", so {steps}{list_text([self._conclusion(rules) for rules in nearest])}"
        names = [self.wording.value(self.attribute, value) for value in self.values]
        expression = self._expression(last)
        is_clear = all(name[0].isalpha() and name not in BARE_VALUES for name in names)
        if expression or not names or not is_clear:
            return f"{middle}, and so {self._conclusion(last)}"
        numbers = self._numbers(last, expression)
        return f"{middle}, and that means {list_text(names, 'or')}{numbers}"

    def _points_text(self, points: Sequence[PointsGiven]) -> str:
        """Return what the lines of a score card give two classes, the start included."""
        texts = []
        for class_points, limit in zip(points, MAX_LINES, strict=False):
            groups = list(self.point_groups(class_points).items())
            parts = [
                f"+{total} as {list_text([self._fact_text(n, self._spoken) for n in names])}"
                for names, total in groups[:limit]
            ]
            if remaining := sum(total for _, total in groups[limit:]):
                parts.append(f"+{remaining} by other lines")
            if class_points.start:
                parts.append(f"+{class_points.start} at the start")
            if class_points.high > class_points.low:
                parts.append(f"up to +{class_points.high - class_points.low} by what is not known")
            value = self.wording.value(self.attribute, class_points.value)
            reasons = f" ({', '.join(parts)})" if parts else ""
            texts.append(f"{count_text(class_points.low, 'point')} for {value}{reasons}")
        return f"{'; '.join(texts)}."

    @staticmethod
    def point_groups(points: PointsGiven) -> dict[tuple[str, ...], int]:
        """Return the points of lines that hold, by the names of their inputs, the most first."""
        groups: dict[tuple[str, ...], int] = {}
        for line in points.lines:
            if line.certain == 1.0:
                names = tuple(dict.fromkeys(p.attribute.name for p in line.premise.propositions))
                groups[names] = groups.get(names, 0) + line.points
        return dict(sorted(groups.items(), key=lambda group: -group[1]))

    def _facts(self, names: Container[str] | None = None) -> str:
        """Return what is known of the deciding inputs, or of some of them."""
        facts = [name for name in self._fact_names if names is None or name in names]
        notes = [self._reading_note(name) for name in facts]
        texts = [self._fact_text(name, self._spoken) for name in facts]
        is_same = len(facts) > 1 and len(set(notes)) == 1
        if not is_same:
            texts = [
                text + f" ({note})" * bool(note) for text, note in zip(texts, notes, strict=True)
            ]
        if len(texts) > MAX_FACTS + 1:
            texts = [*texts[:MAX_FACTS], f"{len(texts) - MAX_FACTS} more facts hold"]
        note = f" (each {notes[0]})" if is_same and notes[0] else ""
        return f"{list_text(texts)}{note}" if texts else "nothing has to be known"

    def _reading_note(self, name: str) -> str:
        """Return how certain an uncertain reading is; nothing of a plain value."""
        if name in self.decision.plain_values:
            return ""
        certainty = self._fact_certainty(name)
        return f"certain {short_degree(certainty)}" if certainty < 1.0 else ""

    def _rule_of_clash(self, number: int) -> str:
        """Return what a rule of a clash says, and the facts that make it say so."""
        clash, plan = self.clash, self.decision.plan
        assert clash is not None
        name, rule = clash.attribute.name, list(clash.rules).index(number)
        chain = {rules.attribute.name: rules for rules in self.chain}
        conclusion, table = clash.rules[number].conclusion, plan.tables[name]
        if rule in chain[name].rules and not chain[name].holds[chain[name].rules.index(rule)]:
            conclusion = ~conclusion
        waiting = [table.propositions[i].attribute.name for i in table.premises[rule].tolist()]
        sources = set[str]()
        while waiting:
            source = waiting.pop()
            sources.add(source)
            waiting += chain[source].inputs if source in chain else ()
        text = self._spoken.proposition_sentence(conclusion, MAX_NAMED)
        facts = any(name in sources for name in self._fact_names)
        return f"rule {number} says that {text}" + f", as {self._facts(sources)}" * facts

    def _undecided(self) -> str:
        """Return what the rule that is nearest to deciding needs, else what is not known."""
        miss = self.near_miss
        if miss is not None:
            text = self._spoken.premise_sentence(miss.needs, MAX_NAMED)
            return f"the nearest is rule {miss.rule}: it needs that {text}."
        names = [
            name
            for name, columns in self.decision.plan.slices.items()
            if (self.decision.row[columns] == 1.0).sum() > 1
        ]
        texts = [self._fact_text(name, self._spoken) for name in names]
        if len(texts) > MAX_FACTS + 1:
            texts = [*texts[:MAX_FACTS], f"{len(texts) - MAX_FACTS} more inputs are open"]
        return f"{list_text(texts) or 'no rule applies'}."

    @property
    def what_would_change_it(self) -> str:
        """The fewest changes that give another answer."""
        change = self.change
        if change is None:
            return "No change of the inputs was found that gives another answer."
        parts = [self._changed_input(name) for name in change.readings]
        value = self.wording.value(change.attribute, change.value)
        certain = short_degree(self.changed_certainty)
        return f"If {list_text(parts)}, it would be {value}, certain {certain}."

    def _changed_input(self, name: str) -> str:
        change = self.change
        assert change is not None
        attribute = self.decision.plan.attributes[name]
        called = self._spoken.name(attribute)
        if isinstance(change, ValueChange):
            return f"{called} were {change.replacements[name].words(self.wording)}"
        value = change.readings[name]
        text = self._spoken.values_sentence(attribute, [value]).removeprefix(f"{called} is ")
        possible = float(change.old[name][value])
        note = f" (possible {short_degree(possible)})" * (0.0 < possible < 1.0)
        return f"{called} were {text}{note}"

    @property
    def how_firm(self) -> str:
        """What errors of the inputs it stands, and what keeps it from being more certain."""
        if self.firmness is None:
            return ""
        texts = [self._stands(self.firmness), self._limit(self.firmness)]
        return " ".join(text for text in texts if text)

    def _stands(self, firmness: Firmness) -> str:
        weakest = firmness.weakest
        if firmness.margin is not None:
            if firmness.margin >= 1.0:
                return "Yes. No error in a reading changes it."
            firm = "Yes" if firmness.margin >= 0.5 else "Not very"
            by = short_degree(firmness.margin)
            if weakest is None:
                return f"{firm}. Several readings would have to be off by {by}."
            input_name = self._spoken.name(self.decision.plan.attributes[weakest])
            return f"{firm}. A reading would have to be off by {by}; {input_name} is the weakest."
        if weakest is None:
            return "Yes. No small error in an input changes it."
        attribute = self.decision.plan.attributes[weakest]
        number = self.decision.plain_values[weakest]
        if number in (firmness.least, firmness.most):
            text = self._fact_text(weakest, self._spoken)
            return f"Not very. {as_sentence(text)}, close to a threshold of the rules."
        assert attribute.scale is not None
        least, most = firmness.least, firmness.most
        if attribute.scale.blur:
            sides = (("above", least), ("below", most))
            stays = list_text([f"{side} {number_text(z, 6)}" for side, z in sides if z is not None])
        else:
            stays = bounds_text(
                bounds_of(-inf if least is None else least, inf if most is None else most)
            )
        name = self._spoken.name(attribute)
        return f"Yes, as long as {name} is {self.wording.with_unit(attribute, stays)}."

    def _limit(self, firmness: Firmness) -> str:
        if firmness.limited_by is None or self.certainty > 0.99:  # written as >0.99
            return ""
        attribute = self.decision.plan.attributes[firmness.limited_by]
        if firmness.rule is None:
            certainty = self._fact_certainty(attribute.name)
            if attribute.name in self.decision.plain_values:
                name = self._spoken.name(attribute)
                return (
                    f"It is not more certain because {name} is close to a threshold of the rules."
                )
            known = f"{self._spoken.name(attribute)} is certain at {short_degree(certainty)} only"
            return f"It is not more certain because {known}."
        if card_scores(self.decision) is not None:
            lead = f"the lead in points is certain at {short_degree(self.certainty)} only"
            return f"It is not more certain because {lead}."
        certain = short_degree(self.certainty)
        return f"It is not more certain because rule {firmness.rule} is certain at {certain} only."
