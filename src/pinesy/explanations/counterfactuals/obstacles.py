"""Why no readings make a value the only winner."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pinesy.explanations.counterfactuals.decisions import Decision, is_coherent
from pinesy.explanations.counterfactuals.holding import held_down, rule_text, shortened
from pinesy.explanations.labels import number_text
from pinesy.rules.attributes import Premise
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import show_value


def never(decision: Decision, place: int, clearance: float) -> str:
    """Say why no readings of a clearance make a value the only winner.

    Where another value is always as possible, no inputs at all do. Nor do they where the rules are
    coherent, for then only degrees of 1 count, and these no clearance changes. Else another
    clearance may do, and the text says so.
    """
    rival = _always_as_possible(decision, place)
    if rival:
        return rival
    ignorant = replace(decision, row=np.ones_like(decision.row))
    own = [str(h) for h in held_down(ignorant, place)[0] if h.attribute == decision.output]
    held = f"even if every value of every input were possible, {own[0]}" if own else ""
    left = 1.0 - clearance
    if is_coherent(decision.cascade, decision.output) and left < 1.0:
        return held or "whatever the inputs are read as, another value is at least as possible"
    bound = (
        f"where the other values of an input that is read anew are left at up to "
        f"{number_text(left)}, another value is at least as possible; another clearance may do"
    )
    return f"{bound} ({held})" if held else bound


def _always_as_possible(decision: Decision, place: int) -> str:
    """Name a value that is as possible whatever the inputs are, and the rules where they differ."""
    rules = decision.cascade[decision.output].rules
    rivals = _rivals(rules, place, len(decision.output.domain))
    if not rivals:
        return ""
    apart = {u: [j for j, rule in enumerate(rules) if _differ(rule, place, u)] for u in rivals}
    nearest = min(rivals, key=lambda u: len(apart[u]))
    shown = show_value(decision.output.domain[nearest])
    if not apart[nearest]:
        return f"no rule tells it from {shown}, which is always as possible"
    texts = [f"rule {j + 1} ({rule_text(rules[j])})" for j in apart[nearest]]
    return (
        f"{shown} is always as possible; where a rule tells them apart, it does not hold {shown} "
        f"lower: {' and '.join(shortened(texts, 'rules'))}"
    )


def _rivals(rules: Sequence[Rule], place: int, size: int) -> list[int]:
    """Return the other values that are seen to be always as possible, by the rules one by one.

    A rule bounds a value by ``max(z, d)``, with ``(z, d) = (s, lambda)`` inside its conclusion and
    ``(r, rho)`` outside. A value is as possible if each of its bounds is 1 or no lower than one of
    the other value: the same `d`, and no lower `z`.
    """
    premises: dict[Premise, int] = {}
    kinds = [premises.setdefault(rule.premise, len(premises)) for rule in rules]
    least: dict[tuple[int, bool], float] = {}
    for kind, rule in zip(kinds, rules, strict=True):
        side = kind, _inside(rule, place)
        least[side] = min(least.get(side, 1.0), _parameter(rule, place))

    def is_rival(other: int) -> bool:
        return other != place and all(
            _parameter(rule, other) >= least.get((kind, _inside(rule, other)), 1.0)
            for kind, rule in zip(kinds, rules, strict=True)
        )

    return [other for other in range(size) if is_rival(other)]


def _differ(rule: Rule, one: int, other: int) -> bool:
    """Tell whether a rule that says anything has just one of two values in its conclusion."""
    return min(rule.s, rule.r) < 1.0 and _inside(rule, one) != _inside(rule, other)


def _inside(rule: Rule, place: int) -> bool:
    return bool(rule.conclusion.mask >> place & 1)


def _parameter(rule: Rule, place: int) -> float:
    return rule.s if _inside(rule, place) else rule.r
