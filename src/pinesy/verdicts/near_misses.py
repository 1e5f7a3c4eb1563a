"""Near misses: where no rule decides, the rule that lacks least, and what it needs."""

from dataclasses import dataclass, field
from typing import NamedTuple

from pinesy.explanations.decision import Decision
from pinesy.rulebase.readable_rules import is_generated, is_inner
from pinesy.rules.propositions import Proposition

#: Rule sets behind one another that are searched for inputs.
MAX_DEPTH = 4


class Need(NamedTuple):
    """A proposition that has to be certain for a rule.

    Attributes
    ----------
    output, rule : the rule that readers see it in: the attribute that it concludes on, its index
    proposition : on an input, or on an attribute whose rules cannot conclude it
    """

    output: str
    rule: int
    proposition: Proposition


@dataclass(frozen=True)
class NearMiss:
    """A rule that would help to decide, and what it needs.

    Attributes
    ----------
    rule : its number in the rule base
    attributes : the names of those that it needs to know more of
    text : what it needs in words, such as ``job is unemployed``
    needs : the same as propositions
    """

    rule: int
    attributes: tuple[str, ...]
    text: str
    needs: tuple[Proposition, ...] = field(repr=False)


def nearest_rule(decision: Decision) -> tuple[int, list[Proposition]] | None:
    """Return the number of the rule that lacks least, and what it needs, the fewest propositions.

    It is the rule that the inputs enter; where these are several, the one on the output. None
    where readers can name no needs: no rule of a function is nearer than others.
    """
    name, plan = decision.output.name, decision.plan
    if is_generated(plan.rule_sets[name]):
        return None
    rules = range(len(plan.tables[name].rules))
    options = [(r, _needs(decision, name, r, (name, r), MAX_DEPTH)) for r in rules]
    names = plan.cascade.attributes
    readable = [
        (rule, needs)
        for rule, needs in options
        if needs and not any(is_inner(need.proposition.attribute, names) for need in needs)
    ]
    if not readable:
        return None
    rule, needs = min(readable, key=lambda option: len(option[1]))
    readers = {(need.output, need.rule) for need in needs}
    reader = readers.pop() if len(readers) == 1 else (name, rule)
    return plan.rule_number(*reader), [need.proposition for need in needs]


def _needs(
    decision: Decision, name: str, rule: int, reader: tuple[str, int], depth: int
) -> list[Need]:
    """Return what has to be known for a rule to hold; `reader` is the rule that readers see."""
    plan = decision.plan
    table, measures = plan.tables[name], decision.measures[name]
    needs: list[Need] = []
    for index in table.premises[rule].tolist():
        proposition = table.propositions[index]
        if measures[1, index] < 1.0:
            continue
        source = proposition.attribute
        if source.name in plan.slices:
            needs.append(Need(*reader, proposition))
            continue
        hidden = is_inner(source, plan.cascade.attributes)
        options = [
            _needs(decision, source.name, i, reader if hidden else (source.name, i), depth - 1)
            for i, r in enumerate(plan.tables[source.name].rules)
            if depth and not r.conclusion.mask & ~proposition.mask
        ]
        fewest = min((len(option) for option in options if option), default=0)
        needs += next((o for o in options if o and len(o) == fewest), [Need(*reader, proposition)])
    return needs
