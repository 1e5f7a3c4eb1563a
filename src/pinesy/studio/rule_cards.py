"""Rules as the page shows them: rule cards with numbers and words, and the score card."""

from typing import Any

from pinesy.explanations.labels import Wording
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.point_sums import PointSum, point_sums, points_of
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import Defined
from pinesy.rules.outcomes import list_text
from pinesy.rules.propositions import Compound, Logical, Proposition
from pinesy.rules.rule import Rule
from pinesy.samples import Batch
from pinesy.studio.row_answers import infer_rows

#: A rule with its number in the rule base and its set.
NumberedRule = tuple[int, RuleSet, Rule]
#: Values of an attribute, and parts of a premise, that a rule card names; others are counted.
MAX_NAMED, MAX_PARTS = 6, 8


def numbered_rules(rules: Cascade) -> list[NumberedRule]:
    """Return the rules that were stated, numbered from 1 through the rule base."""
    stated = [(rule_set, rule) for rule_set in rules.stated for rule in rule_set.rules]
    return [(number, *pair) for number, pair in enumerate(stated, 1)]


def rule_data(numbered: NumberedRule, wording: Wording) -> dict[str, Any]:
    """Return a rule card: number, premise and conclusion in words, and certainties.

    ``certainty`` is that of the conclusion where the premise holds; ``converse`` that of its
    negation where the premise fails, 0 for an implication.
    """
    number, _, rule = numbered
    return {
        "number": number,
        "set": rule.conclusion.attribute.name,
        "premise": premise_text(rule, wording),
        "conclusion": conclusion_text(rule.conclusion, wording),
        "certainty": round(1.0 - rule.r, 12),
        "converse": round(1.0 - rule.s, 12),
    }


def premise_text(rule: Rule, wording: Wording) -> str:
    """Return a premise in words, with its formulas; of a long one the first parts.

    Examples
    --------
    >>> from pinesy import If
    >>> debt, risk = Attribute("debt", ["low", "high"]), Attribute("risk", ["low", "high"])
    >>> rule = If(debt.isin({"high"}) | Attribute("job", ["no", "yes"]).isin({"no"})).then(
    ...     risk.isin({"high"})
    ... )
    >>> premise_text(rule, Wording())
    'debt is high or job is no'
    """
    parts = [p for p in rule.premise.propositions if p.mask != p.attribute.full]
    texts = [_proposition_text(p, wording, len(parts) > 1) for p in parts[:MAX_PARTS]]
    hidden = len(parts) - MAX_PARTS
    return list_text([*texts, *([f"{hidden} more"] if hidden > 0 else [])]) or "always"


def _proposition_text(proposition: Proposition, wording: Wording, is_part: bool) -> str:
    """Return a proposition in words; of the truth of a formula, the formula."""
    attribute = proposition.attribute
    if not isinstance(attribute, Defined):
        return wording.proposition_sentence(proposition, MAX_NAMED, is_part)
    text = _formula_text(attribute.content, wording)
    if proposition.mask == 1:  # false
        return f"not ({text})"
    return f"({text})" if is_part else text


def _formula_text(formula: Logical, wording: Wording) -> str:
    """Return a formula in words."""
    if isinstance(formula, Proposition):
        return _proposition_text(formula, wording, is_part=True)
    if not isinstance(formula, Compound):
        return str(formula)
    n, parts = len(formula.parts), formula.parts[:MAX_PARTS]
    texts = [_formula_text(part, wording) for part in parts]
    nested = [
        f"({text})" if isinstance(part, Compound) and n > 1 else text
        for part, text in zip(parts, texts, strict=True)
    ]
    if n > MAX_PARTS:
        nested.append(f"{n - MAX_PARTS} more")
    if formula.most == 0:
        return f"not ({list_text(nested, 'or')})"
    if formula.least == n:
        return list_text(nested)
    if (formula.least, formula.most) == (1, n):
        return list_text(nested, "or")
    count = f"{formula.least} to {formula.most}"
    if formula.most == n:
        count = f"at least {formula.least}"
    elif formula.least in (0, formula.most):
        count = f"{'exactly' if formula.least else 'at most'} {formula.most}"
    return f"{count} of ({', '.join(nested)})"


def conclusion_text(conclusion: Proposition, wording: Wording) -> str:
    """Return the values of a conclusion."""
    return wording.value_list(conclusion.attribute, conclusion.values, MAX_NAMED)


# --- score cards ----------------------------------------------------------------------------------


def score_card_data(rules: Cascade) -> dict[str, Any] | None:
    """Return the score card of induced rules; None of others.

    ``classes`` have their points at the start and their lines, ``leads`` the certainty of a lead of
    1, 2, ... points.
    """
    cards = [(a, sums) for a in rules.outputs if (sums := point_sums(rules, a))]
    if len(cards) != 1:
        return None
    [(output, sums)] = cards
    wording = Wording.of(None, rules.attributes)
    classes, number = [], 0
    for point_sum in sums:
        lines = []
        for rule_set in _ordered(point_sum):
            number += 1
            [rule] = rule_set.rules
            lines.append(
                {
                    "number": number,
                    "premise": premise_text(rule, wording),
                    "points": points_of(rule_set),
                }
            )
        value = wording.value(output, point_sum.value)
        classes.append({"value": value, "start": point_sum.start, "lines": lines})
    inputs = {
        p.attribute.name for s in sums for g in s.gives for p in g.rules[0].premise.propositions
    }
    return {
        "output": wording.name(output),
        "classes": classes,
        "leads": lead_certainties(rules, output),
        "unused": [
            wording.name(a)
            for name, a in rules.attributes.items()
            if name not in rules.sets and name not in inputs and a.formula is None
        ],
    }


def _ordered(point_sum: PointSum) -> list[RuleSet]:
    """Return the rules that give points to a class, those that give most first."""
    return sorted(point_sum.gives, key=lambda rule_set: -points_of(rule_set))


def line_counts(rules: Cascade, batch: Batch, output: str) -> tuple[list[int], list[int]]:
    """Return in how many samples each line of a score card holds, and how many have its class."""
    target = batch.targets[output]
    holds, right = [], []
    for index, point_sum in enumerate(point_sums(rules, target.attribute)):
        names = [rule_set.output.name for rule_set in _ordered(point_sum)]
        for name in names:
            inferred = infer_rows(rules, batch.evidence, [name])[name]
            mask = inferred.degrees[:, 0] == 0.0  # that it gives no points is impossible
            holds.append(int(mask.sum()))
            right.append(int((mask & (target.labels == index)).sum()))
    return holds, right


def lead_certainties(rules: Cascade, output: Attribute) -> list[float]:
    """Return the certainty of a lead of 1, 2, ... points, as the rules on the classes state it."""
    certainties: dict[int, float] = {}
    for rule in rules[output.name].rules:
        for proposition in rule.premise.propositions:
            lead = _lead(proposition)
            if lead is not None:
                certainties[lead] = max(certainties.get(lead, 0.0), 1.0 - rule.r)
    leads, last = [], 0.0
    for lead in range(1, max(certainties, default=0) + 1):
        last = certainties.get(lead, last)
        leads.append(round(last, 4))
    return leads


def _lead(proposition: Proposition) -> int | None:
    """Return the least difference of two totals, or the least total, in a proposition."""
    differences = [
        value[0] - value[1] if isinstance(value, tuple) and len(value) == 2 else value
        for value in proposition.values
    ]
    if not all(type(d) is int for d in differences):
        return None
    low, high = min(differences, default=0), max(differences, default=0)  # type: ignore[type-var]
    return low if low > 0 else -high if high < 0 else None  # type: ignore[operator, return-value]
