"""Copies of rules with renamed attributes, one or one for each value of some indices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import product
from operator import is_
from typing import Any

from pinesy.exceptions import CascadeError
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import formula_of, premise_of
from pinesy.rules.propositions import Compound, Proposition, Statement
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.lexer import standard_text
from pinesy.rules.syntax.writer import format_name

#: Rule sets, and declared attributes.
Parts = tuple[list[RuleSet], list[Attribute]]


def rename_sets(
    sets: Sequence[RuleSet],
    attributes: Mapping[str, Attribute],
    new_name: Callable[[str], str],
    new_title: Callable[[str], str] = str,
) -> Parts:
    """Return rule sets, and all attributes, with new names, and new titles of those that change."""
    renaming = _Renaming(new_name, new_title)
    declared = [renaming.attribute(a) for a in attributes.values() if a.formula is None]
    if len({a.name for a in declared}) < len(declared):
        raise CascadeError("two attributes would have one name after renaming; choose others")
    return [RuleSet(map(renaming.rule, s.rules)) for s in sets], declared


def expand_indices(
    sets: Sequence[RuleSet],
    attributes: Mapping[str, Attribute],
    indices: Mapping[str, Iterable[object]],
) -> Parts:
    """Return rule sets, and all attributes, for all values of indices; see `Cascade.for_each`."""
    for name in indices:
        if not any(f"{{{name}}}" in a for a in attributes):
            raise CascadeError(f"no attribute's name holds {{{name}}}, such as 'digit_{{{name}}}'")
    rules: dict[str, dict[Rule, None]] = {}
    declared: dict[str, Attribute] = {}
    for values in product(*map(tuple, indices.values())):
        texts = {f"{{{name}}}": str(value) for name, value in zip(indices, values, strict=True)}
        new_name = partial(_fill_indices, texts=texts)
        instance_sets, instance_attributes = rename_sets(sets, attributes, new_name, new_name)
        declared |= {a.name: a for a in instance_attributes}
        for rule_set in instance_sets:
            rules.setdefault(rule_set.output.name, {}).update(dict.fromkeys(rule_set.rules))
    if not rules:
        raise CascadeError("an index has no values, so there are no rules")
    return list(map(RuleSet, rules.values())), list(declared.values())


def _fill_indices(name: str, texts: Mapping[str, str]) -> str:
    """Replace each index in braces in a name by its text."""
    return reduce(lambda filled, index: filled.replace(index, texts[index]), texts, name)


class _Renaming:
    """Copies attributes, propositions and rules; each attribute once."""

    def __init__(self, new_name: Callable[[str], str], new_title: Callable[[str], str]) -> None:
        self.new_name, self.new_title = new_name, new_title
        self.attributes: dict[str, Attribute] = {}

    def attribute(self, attribute: Attribute) -> Attribute:
        """Return the attribute with its new name; the same object if nothing changes."""
        old_name = attribute.name
        if old_name not in self.attributes:
            name = self.new_name(old_name)
            factors = [self.attribute(f) for f in attribute.factors]
            same = name == attribute.name and all(map(is_, factors, attribute.factors))
            if not same:
                title = None if attribute.title is None else self.new_title(attribute.title)
                attribute = attribute.renamed(name, tuple(factors)).with_title(title)
            self.attributes[old_name] = attribute
        return self.attributes[old_name]

    def rule(self, rule: Rule) -> Rule:
        """Return a rule on the new attributes."""
        premise = premise_of(*map(self._statement, rule.premise.propositions))
        return Rule(premise, self._proposition(rule.conclusion), rule.s, rule.r)

    def _statement(self, statement: Statement) -> Any:
        content = formula_of(statement)
        if isinstance(content, Compound):
            parts = tuple(map(self._statement, content.parts))
            return Compound(parts, content.least, content.most)
        assert isinstance(content, Proposition)
        return self._proposition(content)

    def _proposition(self, proposition: Proposition) -> Proposition:
        attribute = self.attribute(proposition.attribute)
        if attribute is proposition.attribute:
            return proposition
        text = proposition.condition
        condition = None if text is None else standard_text(text, self._new_name_text)
        return Proposition(attribute, proposition.mask, condition)

    def _new_name_text(self, name: str) -> str | None:
        """Return the written form of the new name of an attribute; None for other words."""
        return format_name(self.attributes[name].name) if name in self.attributes else None
