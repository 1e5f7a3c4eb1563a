"""Rules as the page shows them: rule cards with numbers and words, and the score card."""

from collections.abc import Sequence
from typing import Any

from pinesy.evidence.evidence_form import evidence_rows
from pinesy.explanations.labels import Wording
from pinesy.induction.points_cascade import card_of
from pinesy.induction.score_card import ScoreCard
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.definitions import Defined
from pinesy.rules.outcomes import list_text
from pinesy.rules.propositions import Compound, Logical, Proposition
from pinesy.rules.rule import Rule
from pinesy.samples import Batch

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
        "premise": rule_premise_text(rule.premise.propositions, wording),
        "conclusion": conclusion_text(rule.conclusion, wording),
        "certainty": round(1.0 - rule.r, 12),
        "converse": round(1.0 - rule.s, 12),
    }


def rule_premise_text(propositions: Sequence[Proposition], wording: Wording) -> str:
    """Return a premise in words, with its formulas; of a long one the first parts.

    Examples
    --------
    >>> from pinesy import Attribute, If
    >>> debt, risk = Attribute("debt", ["low", "high"]), Attribute("risk", ["low", "high"])
    >>> rule = If(debt.isin({"high"}) | Attribute("job", ["no", "yes"]).isin({"no"})).then(
    ...     risk.isin({"high"})
    ... )
    >>> rule_premise_text(rule.premise.propositions, Wording())
    'debt is high or job is no'
    """
    parts = [p for p in propositions if p.mask != p.attribute.full]
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
    1, 2, ... points, ``unused`` the columns that no line uses, ``kept`` the rules of the user.
    """
    card = card_of(rules)
    if card is None:
        return None
    wording = Wording.of(None, card.attributes)
    lines = [_line_data(card, number, wording) for number in range(1, len(card.lines) + 1)]
    used_names = {a.name for a in card.inputs}
    return {
        "output": wording.name(card.output),
        "classes": [
            {
                "value": wording.value(card.output, value),
                "start": card.start[value],
                "lines": [data for data in lines if card.lines[data["number"] - 1].value == value],
            }
            for value in card.output.domain
        ],
        "leads": list(card.certainties),
        "unused": [wording.name(a) for a in card.columns if a.name not in used_names],
        "kept": [
            f"{rule_premise_text(rule.premise.propositions, wording)} → "
            f"{conclusion_text(rule.conclusion, wording)}"
            for rule in card.user_rules
        ],
    }


def _line_data(card: ScoreCard, number: int, wording: Wording) -> dict[str, Any]:
    """Return a line of a score card: its number, premise, points, and how often it was right."""
    line = card.lines[number - 1]
    return {
        "number": number,
        "premise": rule_premise_text(line.conditions, wording),
        "points": line.points,
        "undetermined": line.undetermined,
        "record": line.record,
    }


def line_counts(card: ScoreCard, rules: Cascade, batch: Batch) -> tuple[list[int], list[int]]:
    """Return in how many samples each line of a score card holds, and how many have its class."""
    rows = evidence_rows(rules, batch.evidence)
    holds, right = card.line_counts(rows, batch.targets[card.output.name].labels)
    return holds.tolist(), right.tolist()
