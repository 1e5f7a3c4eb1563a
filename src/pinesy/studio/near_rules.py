"""Where no rule decides: what the rules still need, the nearest first, as plain data."""

from typing import Any

from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import list_text
from pinesy.studio.reason_chain import proposition_words
from pinesy.studio.rule_cards import conclusion_text
from pinesy.verdicts.sentences import Sentences

#: Rules that are shown.
MAX_RULES = 5


def near_rules(analysis: Sentences) -> list[dict[str, Any]]:
    """Return the rules that lack least, with what each needs of the inputs; empty of an answer.

    ``needs`` has the propositions that are not certain at all. Of rules that lack as much, those
    come first that what is known leaves possible.
    """
    if analysis.outcome != "no_rule":
        return []
    plan, ranked = analysis.decision.plan, []
    for name, rule_set in plan.rule_sets.items():
        if rule_set.output.formula is not None or _is_computed(rule_set.inputs):
            continue
        table, measures = plan.tables[name], analysis.decision.measures[name]
        for index, premise in enumerate(table.premises):
            missing = [i for i in premise.tolist() if measures[1, i] == 1.0]
            sources = [table.propositions[i].attribute for i in missing]
            if not missing or not all(a.name in plan.slices or a.formula for a in sources):
                continue
            is_excluded = measures[0, missing].min() == 0.0
            number = plan.rule_number(name, index)
            ranked.append((len(missing), is_excluded, number, name, index, missing))
    nearest = []
    for _, _, number, name, index, missing in sorted(ranked)[:MAX_RULES]:
        table = plan.tables[name]
        texts = [
            proposition_words(analysis, table.propositions[i], len(missing) > 1) for i in missing
        ]
        nearest.append(
            {
                "number": number,
                "needs": list_text(texts),
                "title": analysis.wording.name(table.rules[index].conclusion.attribute),
                "conclusion": conclusion_text(table.rules[index].conclusion, analysis.wording),
            }
        )
    return nearest


def _is_computed(inputs: tuple[Attribute, ...]) -> bool:
    """Return whether rules were generated from a function: they rest on a product."""
    return any(a.factors for a in inputs)
