"""The words of a verdict: one sentence for each question."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.reports import count_text
from pinesy.explanations.points_text import LineOnSample, PointsGiven, card_scores, points_given
from pinesy.explanations.smallest_change import ValueChange
from pinesy.rules.outcomes import list_text, number_text, rule_numbers_text, verdict_text
from pinesy.rules.outcomes import short_degree as short_degree
from pinesy.rules.propositions import Proposition
from pinesy.verdicts.analysis import Analysis
from pinesy.verdicts.firmness import Firmness
from pinesy.verdicts.reasons import DecidingRules

#: Facts, and conclusions before the answer, that a sentence names; more are counted.
MAX_FACTS, MAX_REASONS = 6, 2
#: Values of an attribute that a sentence names.
MAX_NAMED = 4
#: Lines of a score card that a sentence has for each class.
MAX_LINES = 3


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
    """

    attribute: str
    text: str
    rules: tuple[int, ...]
    inputs: tuple[str, ...]
    certainty: float


@dataclass(frozen=True, eq=False, repr=False)
class Sentences(Analysis):
    """An analysis in words."""

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What is known of the deciding inputs."""
        sources = {rules.attribute.name: rules.inputs for rules in self.chain}
        for rules in self.chain:
            if rules.attribute.factors:
                factors = (factor.name for factor in rules.attribute.factors)
                sources[rules.attribute.name] = tuple(n for n in factors if n in rules.inputs)
        waiting, order = [self.chain[-1].attribute.name] if self.chain else [], list[str]()
        while waiting:  # as the premises of the rules have them
            name = waiting.pop()
            order.append(name)
            waiting += sources.get(name, ())[::-1]
        names = sorted(self.deciding_inputs, key=lambda name: [*order, name].index(name))
        return tuple(self._fact(name) for name in names)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The rules that decide, from the inputs to the answer, as a reader names them."""
        return tuple(self._reason(rules) for rules in self.chain if not rules.is_inner)

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
        attribute = self.decision.plan.attributes[name]
        degrees = self.decision.row[self.decision.plan.slices[name]]
        is_best = degrees == degrees.max()
        certainty = 1.0 - float(degrees[~is_best].max(initial=0.0))
        if name in self.decision.plain_values:
            value = self.wording.plain_value(attribute, self.decision.plain_values[name])
            return Fact(name, f"{self.wording.name(attribute)} is {value}", certainty)
        values = [attribute.domain[i] for i in np.flatnonzero(is_best)]
        return Fact(name, self.wording.values_sentence(attribute, values, MAX_NAMED), certainty)

    def _reason(self, rules: DecidingRules) -> Reason:
        """Return what rules conclude."""
        is_answer = rules.attribute == self.attribute and self.values
        values = self.values if is_answer else rules.values
        text = self.wording.values_sentence(rules.attribute, values, MAX_NAMED)
        name, number = rules.attribute.name, self.decision.plan.rule_number
        numbers = tuple(number(name, index) for index in rules.rules)
        return Reason(name, text, numbers, rules.inputs, rules.certainty)

    @property
    def because(self) -> str:
        """The facts, the conclusions in between, and the answer; of a score card its points."""
        if points := points_given(self.decision):
            return self._points(points)
        if self.outcome == "no_rule":
            return self._no_rule()
        facts, middle = self._facts(), self._conclusions_between()
        between, last = self.reasons[:-1], self.reasons[-1:]
        if self.clash is not None:
            says = [self._says(number) for number in self.clash.groups[0]]
            return f"{facts}{middle}; then {list_text(says)}."
        if not last:
            return f"{facts}."
        rules = self._rules(last[0])
        if between:
            names = [self.wording.value(self.attribute, v) for v in self.values]
            return f"{facts}{middle}, and that means {list_text(names, 'or')} {rules}."
        return f"{facts}, so {last[0].text} {rules}."

    def _conclusions_between(self) -> str:
        """Return what rules conclude between the facts and the answer; empty if nothing."""
        between = self.reasons[:-1]
        last_reasons = between if len(between) <= MAX_REASONS else between[-1:]
        texts = [f"{reason.text} {self._rules(reason)}" for reason in last_reasons]
        n_hidden = len(between) - len(last_reasons)
        others = f", after {n_hidden} more conclusions" * (n_hidden > 0)
        return f", so {list_text(texts)}{others}" if texts else ""

    def _points(self, points: list[PointsGiven]) -> str:
        """Return what the lines of a score card give the first two classes, the start included."""
        texts = []
        for class_points in points[:2]:
            lines = [line for line in class_points.lines if line.certain == 1.0]
            parts = [f"+{line.points} as {self._conditions(line)}" for line in lines[:MAX_LINES]]
            if len(lines) > MAX_LINES:
                remaining_points = sum(line.points for line in lines[MAX_LINES:])
                parts.append(
                    f"+{remaining_points} by {count_text(len(lines) - MAX_LINES, 'more line')}"
                )
            if class_points.start:
                parts.append(f"+{class_points.start} at the start")
            if class_points.high > class_points.low:
                parts.append(f"up to +{class_points.high - class_points.low} by what is not known")
            value = self.wording.value(self.attribute, class_points.value)
            reasons = f" ({', '.join(parts)})" if parts else ""
            texts.append(f"{value} has {count_text(class_points.low, 'point')}{reasons}")
        return f"{'; '.join(texts)}."

    def _conditions(self, line: LineOnSample) -> str:
        """Return what is known of the inputs of a line that holds."""
        names = dict.fromkeys(p.attribute.name for p in line.premise.propositions)
        return list_text([self._fact(name).text for name in names])

    def _rules(self, reason: Reason) -> str:
        """Return the rules of a reason in brackets."""
        return f"({rule_numbers_text(reason.rules)})"

    def _facts(self) -> str:
        texts = [
            fact.text + f" (certain {short_degree(fact.certainty)})" * self._is_read(fact)
            for fact in self.facts
        ]
        if len(texts) > MAX_FACTS + 1:
            texts = [*texts[:MAX_FACTS], f"{len(texts) - MAX_FACTS} more inputs are as they are"]
        return list_text(texts) or "Nothing has to be known"

    def _is_read(self, fact: Fact) -> bool:
        """Return whether a fact is an uncertain reading, not a plain value."""
        return fact.certainty < 1.0 and fact.attribute not in self.decision.plain_values

    def _says(self, number: int) -> str:
        """Return what a rule of a clash says."""
        clash = self.clash
        assert clash is not None
        [chain] = [r for r in self.chain if r.attribute == clash.attribute]
        conclusion, rule = clash.rules[number].conclusion, list(clash.rules).index(number)
        if rule in chain.rules and not chain.holds[chain.rules.index(rule)]:
            conclusion = ~conclusion
        return f"rule {number} says that {self.wording.proposition_sentence(conclusion, MAX_NAMED)}"

    def _no_rule(self) -> str:
        """Return what the rule that is nearest to deciding still needs."""
        name = self.attribute.name
        needs = [self._missing(name, i) for i in range(len(self.decision.plan.tables[name].rules))]
        known = [(i, missing) for i, missing in enumerate(needs) if missing]
        if not known:
            return "no rule applies."
        rule, missing = min(known, key=lambda pair: len(pair[1]))
        text = self.wording.premise_sentence(missing, MAX_NAMED)
        number = self.decision.plan.rule_number(name, rule)
        return f"no rule applies. The nearest is rule {number}: it needs that {text}."

    def _missing(self, name: str, rule: int, depth: int = 4) -> list[Proposition]:
        """Return what the inputs must be for a rule to hold; empty where that is not possible."""
        table, measures = self.decision.plan.tables[name], self.decision.measures[name]
        missing: list[Proposition] = []
        for index in table.premises[rule].tolist():
            proposition = table.propositions[index]
            if measures[1, index] < 1.0:
                continue
            source = proposition.attribute.name
            if source in self.decision.plan.slices:
                missing.append(proposition)
                continue
            table_behind = self.decision.plan.tables[source]
            options = [
                self._missing(source, i, depth - 1)
                for i, r in enumerate(table_behind.rules)
                if depth and not r.conclusion.mask & ~proposition.mask
            ]
            fewest = min((len(option) for option in options if option), default=0)
            missing += next((o for o in options if o and len(o) == fewest), [proposition])
        return missing

    @property
    def what_would_change_it(self) -> str:
        """The fewest changes that give another answer."""
        change = self.change
        if change is None:
            return "no change of the inputs was found that gives another answer."
        parts = [self._changed_input(name) for name in change.readings]
        value = self.wording.value(change.attribute, change.value)
        certain = short_degree(self.changed_certainty)
        return f"if {list_text(parts)}, it would be {value}, certain {certain}."

    def _changed_input(self, name: str) -> str:
        change = self.change
        assert change is not None
        attribute = self.decision.plan.attributes[name]
        called = self.wording.name(attribute)
        if isinstance(change, ValueChange):
            return f"{called} were {change.replacements[name].words(self.wording)}"
        value = change.readings[name]
        text = self.wording.values_sentence(attribute, [value]).removeprefix(f"{called} is ")
        possible = short_degree(float(change.old[name][value]))
        return f"{called} were {text} (possible {possible})"

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
            input_name = self.wording.name(self.decision.plan.attributes[weakest])
            return f"{firm}. A reading would have to be off by {by}; {input_name} is the weakest."
        if weakest is None:
            return "Yes. No small error in an input changes it."
        attribute = self.decision.plan.attributes[weakest]
        number = self.decision.plain_values[weakest]
        if number in (firmness.least, firmness.most):
            name = self.wording.name(attribute)
            text = self.wording.plain_value(attribute, number)
            return f"Not very. {name} is {text}, near to where rules divide it."
        bounds = [
            f"{side} {number_text(bound, 6)}"
            for side, bound in (("above", firmness.least), ("below", firmness.most))
            if bound is not None
        ]
        stays = self.wording.with_unit(attribute, list_text(bounds))
        return f"Yes, as long as {self.wording.name(attribute)} stays {stays}."

    def _limit(self, firmness: Firmness) -> str:
        if firmness.limited_by is None:
            return ""
        attribute = self.decision.plan.attributes[firmness.limited_by]
        if firmness.rule is None:
            certainty = self._fact(attribute.name).certainty
            if attribute.name in self.decision.plain_values:
                name = self.wording.name(attribute)
                return f"It is not more certain because {name} is near to where rules divide it."
            known = f"{self.wording.name(attribute)} is certain at {short_degree(certainty)} only"
            return f"It is not more certain because {known}."
        if card_scores(self.decision) is not None:
            lead = f"the lead in points is certain at {short_degree(self.certainty)} only"
            return f"It is not more certain because {lead}."
        certain = short_degree(self.certainty)
        return (
            f"It is not more certain because rule {firmness.rule} is itself certain at {certain}."
        )
