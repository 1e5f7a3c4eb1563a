"""The reason chain of a verdict as plain data: what the page draws in layers.

Formulas and products are inside the rules that use them: an edge leads from what they are made of
to the rule.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pinesy.rulebase.readable_rules import is_inner
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import rule_numbers_text
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.verdicts.reasons import DecidingRules
from pinesy.verdicts.sentences import MAX_NAMED, Sentences

#: Rules that decide, and others that apply, of an attribute that are shown; more are counted.
MAX_DECIDING, MAX_APPLYING = 6, 3
#: Values of an attribute that a card shows, the most possible.
MAX_VALUES = 4


def reason_chain(analysis: Sentences) -> dict[str, Any]:
    """Return the facts, and for each attribute on the way its rules and degrees.

    ``given`` has the inputs that decide; ``steps`` the attributes that rules conclude on, in the
    order of inference, each with the ``rules`` that decide or apply, each with its ``sources``, and
    ``others``: how many rules do not apply, in words.
    """
    chain = {rules.attribute.name: rules for rules in analysis.chain}
    return {
        "given": [_given(analysis, name) for name in analysis.deciding_inputs],
        "steps": [_step(analysis, chain, rules) for rules in chain.values() if not rules.is_inner],
    }


def _given(analysis: Sentences, name: str) -> dict[str, Any]:
    """Return an input that decides; with degrees where it is a reading."""
    attribute = analysis.decision.plan.attributes[name]
    title = analysis.wording.name(attribute)
    [fact] = [fact for fact in analysis.facts if fact.attribute == name]
    text = fact.text.removeprefix(f"{title} is ")
    content: dict[str, Any] = {"name": name, "title": title, "text": text}
    if name not in analysis.decision.plain_values:
        content["degrees"] = _degrees(analysis, attribute)
    return content


def _degrees(analysis: Sentences, attribute: Attribute) -> list[dict[str, Any]]:
    """Return the most possible values of an attribute with their degrees, in domain order."""
    degrees = analysis.decision.degrees[attribute.name]
    pi = Possibility(attribute, degrees)
    most = np.sort(np.argsort(-degrees, kind="stable")[:MAX_VALUES]).tolist()
    is_normal = degrees.max() == 1.0
    return [
        {
            "text": analysis.wording.value(attribute, attribute.domain[i]),
            "possible": float(degrees[i]),
            "certain": max(0.0, float(pi.necessity([attribute.domain[i]]))) if is_normal else 0.0,
        }
        for i in most
    ]


def _step(
    analysis: Sentences, chain: dict[str, DecidingRules], rules: DecidingRules
) -> dict[str, Any]:
    """Return an attribute that rules conclude on, with its rules."""
    attribute, decision = rules.attribute, analysis.decision
    table = decision.plan.tables[attribute.name]
    holds = dict(zip(rules.rules, rules.holds, strict=True))
    applying = [i for i in _applying(analysis, attribute.name) if i not in holds]
    deciding = list(holds)[:MAX_DECIDING]
    others = [i for i in range(len(table.rules)) if i not in holds and i not in applying]

    def numbers(indices: Sequence[int]) -> list[int]:
        return [decision.plan.rule_number(attribute.name, i) for i in indices]

    return {
        "name": attribute.name,
        "title": analysis.wording.name(attribute),
        "degrees": _degrees(analysis, attribute),
        "rules": [_rule(analysis, chain, rules, i, holds[i], True) for i in deciding]
        + [_rule(analysis, chain, rules, i, True, False) for i in applying[:MAX_APPLYING]],
        "others": [
            text
            for text in (
                _counted(numbers(list(holds)[MAX_DECIDING:]), "decides", "decide", "more "),
                _counted(numbers(applying[MAX_APPLYING:]), "applies", "apply", "more "),
                _counted(numbers(others), "does not apply", "do not apply"),
            )
            if text
        ],
    }


def _applying(analysis: Sentences, name: str) -> Iterator[int]:
    """Yield the rules on an attribute whose premises hold to some degree."""
    table, measures = analysis.decision.plan.tables[name], analysis.decision.measures[name]
    for index, premise in enumerate(table.premises):
        if measures[1, premise].max(initial=0.0) < 1.0 and table.r[index] < 1.0:
            yield index


def _counted(rules: Sequence[int], verb: str, plural_verb: str, adjective: str = "") -> str:
    """Return how many rules do something, with their numbers if they are few."""
    if not rules:
        return ""
    count = f"{len(rules)} {adjective}rules {plural_verb}"
    if len(rules) == 1:
        count = f"1 {adjective}rule {verb}"
    numbers_text = rule_numbers_text(rules).partition(" ")[2]
    return f"{count}: {numbers_text}" if len(rules) <= MAX_DECIDING else count


def _rule(
    analysis: Sentences,
    chain: dict[str, DecidingRules],
    rules: DecidingRules,
    index: int,
    holds: bool,
    decides: bool,
) -> dict[str, Any]:
    """Return a rule in words; one that does not hold excludes what it concludes."""
    table, wording = analysis.decision.plan.tables[rules.attribute.name], analysis.wording
    rule = table.rules[index]
    propositions = rule.premise.propositions
    premise = " and ".join(
        proposition_words(analysis, p, len(propositions) > 1) for p in propositions
    )
    conclusion = rule.conclusion if holds else ~rule.conclusion
    title = wording.name(rules.attribute)
    text = wording.proposition_sentence(conclusion, MAX_NAMED).removeprefix(f"{title} is ")
    sources = [p.attribute for p in propositions]
    if decides:
        sources = [a for a in sources if a.name in rules.inputs]
    names = (name for a in sources for name in _visible(analysis, chain, a, decides))
    return {
        "number": analysis.decision.plan.rule_number(rules.attribute.name, index),
        "premise": premise if holds else f"not ({premise})",
        "conclusion": text,
        "certainty": 1.0 - float((table.r if holds else table.s)[index]),
        "decides": decides,
        "sources": list(dict.fromkeys(names)),
    }


def proposition_words(analysis: Sentences, proposition: Proposition, compact: bool) -> str:
    """Return a proposition in words; of a formula that holds, the formula."""
    text = analysis.wording.proposition_sentence(proposition, MAX_NAMED, compact)
    if proposition.attribute.formula is None or not text.endswith(" is true"):
        return text
    formula = text.removesuffix(" is true")
    return f"({formula})" if compact and " or " in formula else formula


def _visible(
    analysis: Sentences, chain: dict[str, DecidingRules], attribute: Attribute, decides: bool
) -> Iterator[str]:
    """Yield the attributes that readers see behind one: of formulas and products their parts."""
    if not is_inner(attribute, analysis.decision.plan.cascade.attributes):
        yield attribute.name
        return
    if attribute.name not in analysis.decision.plan.rule_sets:
        yield attribute.name  # an input
        return
    parts = analysis.decision.plan.rule_sets[attribute.name].inputs
    for part in parts:
        if not decides or part.name in chain[attribute.name].inputs:
            yield from _visible(analysis, chain, part, decides)
