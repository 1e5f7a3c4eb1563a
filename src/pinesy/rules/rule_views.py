"""Attributes and rules to look at in a notebook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinesy._common.markup import LINES, Markup, code, counted, cut, first_lines, more, tag
from pinesy.rules.syntax.writer import show_value

if TYPE_CHECKING:
    from pinesy.rules.attributes import Attribute
    from pinesy.rules.rule import Rule

#: Propositions of a premise that are shown.
PROPOSITIONS = 20


def attribute_html(attribute: "Attribute") -> Markup:
    """Return the name of an attribute and its values."""
    shown = [code(cut(show_value(value), 60)) for value in attribute.domain[:LINES]]
    between = [part for one in shown for part in (Markup(", "), one)][1:]
    kind = "numeric, " * (attribute.scale is not None)
    if attribute.factors:
        kind = f"product of {cut(', '.join(f.name for f in attribute.factors))}, "
    said = f" ({kind}{counted(len(attribute.domain), 'value')}): "
    start = tag("span", tag("b", cut(attribute.name)), said, *between)
    return tag("div", start, more(len(attribute.domain) - LINES, "values"))


def rule_html(rule: "Rule") -> Markup:
    """Return a rule, and how certain it and its converse are."""
    certain = f"certainty of the rule {1.0 - rule.r:.4g}, of its converse {1.0 - rule.s:.4g}"
    return tag("div", code(rule.line(PROPOSITIONS)), tag("div", certain))


def rules_table(rules: Sequence["Rule"]) -> Markup:
    """Return a table of the first rules with their parameters."""
    lines = (
        [
            str(number),
            code(_premise(rule)),
            code(str(rule.conclusion)),
            f"{rule.s:g}",
            f"{rule.r:g}",
        ]
        for number, rule in enumerate(rules, 1)
    )
    return first_lines(["rule", "if", "then", "s", "r"], lines, len(rules), "rules")


def _premise(rule: "Rule") -> str:
    parts = rule.premise.propositions
    left = len(parts) - PROPOSITIONS
    text = " and ".join(map(str, parts[:PROPOSITIONS])) if left > 0 else str(rule.premise)
    return text + f" and {left} more propositions" * (left > 0)


def first_names(attributes: Sequence["Attribute"]) -> str:
    """Return the names of the first attributes."""
    return ", ".join(a.name for a in attributes[:4]) + ", ..." * (len(attributes) > 4)
