"""What readers name of a rule base: not inner attributes, and of functions the equation."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import format_name, show_value


def is_inner(attribute: Attribute, names: Container[str]) -> bool:
    """Return whether readers do not name an attribute: a formula, a product, or a part of another.

    Parameters
    ----------
    attribute : that rules conclude on
    names : of all attributes; ``total.3`` is a part of ``total``

    Examples
    --------
    >>> is_inner(Attribute("total.3", range(10)), {"total", "total.3"})
    True
    """
    if attribute.formula is not None or attribute.factors:
        return True
    name = attribute.name
    return any(name[:i] in names for i, character in enumerate(name) if character == ".")


def is_generated(rule_set: RuleSet) -> bool:
    """Return whether `function` or an aggregate wrote the rules: they rest on its own parts."""
    return any(a.name.startswith(f"{rule_set.output.name}.") for a in rule_set.inputs)


@dataclass(frozen=True)
class Equation:
    """The right side of ``total = left + right``.

    Attributes
    ----------
    parts : the texts between the attributes, one more than there are attributes
    factors : the attributes, in their order in the text
    """

    parts: tuple[str, ...]
    factors: tuple[Attribute, ...]

    def with_values(self, values: Mapping[str, str]) -> str:
        """Return the expression with values, by the names of their attributes.

        Examples
        --------
        >>> digits = Attribute("left", range(10)), Attribute("right", range(10))
        >>> Equation(("", " + ", ""), digits).with_values({"left": "7", "right": "1"})
        '7 + 1'
        """
        texts = [values[factor.name] for factor in self.factors] + [""]
        return "".join(part + text for part, text in zip(self.parts, texts, strict=True))


def equation_of(rule_set: RuleSet) -> Equation | None:
    """Return the equation of rules ``iff pair where left + right == t then total in {t}``.

    None if they have another form.

    Examples
    --------
    >>> from pinesy import function, joint
    >>> left, right = Attribute("left", range(10)), Attribute("right", range(10))
    >>> rules = function("total", joint("pair", left, right), "left + right")
    >>> equation_of(rules["total"]).parts
    ('', ' + ', '')
    """
    expressions = set()
    for rule in rule_set.rules:
        values, [first, *others] = rule.conclusion.values, rule.premise.propositions
        if others or first.condition is None or len(values) != 1:
            return None
        expression = first.condition.removesuffix(f" == {show_value(values[0])}")
        expressions.add((first.attribute, expression, expression == first.condition))
    if len(expressions) != 1 or next(iter(expressions))[2]:
        return None
    [(attribute, expression, _)] = expressions
    factors = {format_name(factor.name): factor for factor in attribute.factors or (attribute,)}
    names = "|".join(map(re.escape, sorted(factors, key=len, reverse=True)))
    parts = re.split(rf"(?<![\w`])({names})(?![\w`])", expression)
    return Equation(tuple(parts[::2]), tuple(factors[name] for name in parts[1::2]))
