"""Splits a rule set into factors.

Rules that share no input attribute meet in the output alone, so a set is the min of several
factors: one for each group of attributes that premises tie together.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.inverse.conditioning.factors import Classes, Conjunction, Factor, Table
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule

#: The most entries of a table over the classes of a factor's attributes. Rules that would need a
#: larger one become a factor each, which makes what is computed from them an upper bound.
MAX_TABLE = 1 << 14

Bools = npt.NDArray[np.bool_]


def factors_of(rule_set: RuleSet) -> list[Factor]:
    """Return the factors whose min is the rule set.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> [factor.names for factor in factors_of(addition(2)["c_1"])]
    [('c_1', 'a_1'), ('c_1', 'a_3'), ('c_1', 'w_2')]
    """
    attributes = {a.name: a for a in (*rule_set.inputs, rule_set.output)}
    found: list[Factor] = []
    for rules in _tied(rule_set.rules):
        premises = [_inside(rule) for rule in rules]
        names = tuple(dict.fromkeys(name for masks in premises for name in masks))
        parts = [rule_set.output, *(attributes[name] for name in names)]
        if len(rules) == 1 and len(names) > 1:
            found.append(_conjunction(rules[0], parts))
        elif (table := _table(rules, parts)) is not None:
            found.append(table)
        else:
            found += [
                _conjunction(rule, [parts[0], *(attributes[name] for name in masks)])
                for rule, masks in zip(rules, premises, strict=True)
            ]
    return found


def _inside(rule: Rule) -> dict[str, int]:
    """Return the subset of each attribute that a premise asks for, as a mask."""
    masks: dict[str, int] = {}
    for p in rule.premise.propositions:
        masks[p.attribute.name] = masks.get(p.attribute.name, -1) & p.mask
    return masks


def _tied(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Group the rules whose premises share attributes, directly or through others."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for rule in rules:
        first, *others = _inside(rule)
        for name in others:
            leader[find(name)] = find(first)
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(find(next(iter(_inside(rule)))), []).append(rule)
    return list(groups.values())


def _conjunction(rule: Rule, parts: Sequence[Attribute]) -> Conjunction:
    masks = [rule.conclusion.mask, *_inside(rule).values()]
    classes = (
        Classes(tuple(map(int, _bits(mask, len(a.domain)))), 2)
        for mask, a in zip(masks, parts, strict=True)
    )
    return Conjunction(tuple(a.name for a in parts), tuple(classes), rule.s, rule.r)


def _table(rules: Sequence[Rule], parts: Sequence[Attribute]) -> Table | None:
    """Return the table of some rules, or None where it would be too large."""
    premises = [_inside(rule) for rule in rules]
    masks = [tuple(rule.conclusion.mask for rule in rules)]
    masks += [tuple(p.get(a.name, a.full) & a.full for p in premises) for a in parts[1:]]
    pairs = [_classes(len(a.domain), m) for a, m in zip(parts, masks, strict=True)]
    if prod(classes.count for classes, _ in pairs) > MAX_TABLE:
        return None
    entries = _entries(rules, [signs for _, signs in pairs])
    return Table(tuple(a.name for a in parts), tuple(classes for classes, _ in pairs), entries)


@lru_cache(maxsize=1024)
def _classes(size: int, masks: tuple[int, ...]) -> tuple[Classes, Bools]:
    """Return the classes of values that the masks tell apart, and which class is in which mask."""
    signs = np.stack([_bits(mask, size) for mask in masks], axis=1)
    distinct, of = np.unique(signs, axis=0, return_inverse=True)
    return Classes(tuple(of.ravel().tolist()), len(distinct)), distinct


def _entries(rules: Sequence[Rule], signs: Sequence[Bools]) -> FloatArray:
    """Return ``pi*(b | x)`` for all classes: `signs` tell which class is in which rule's set."""
    entries = np.ones([len(s) for s in signs])
    for j, rule in enumerate(rules):
        axes = np.eye(len(signs), dtype=np.intp) * -2 + 1  # each along its own axis: -1, else 1
        inside, *held = (s[:, j].reshape(axis) for s, axis in zip(signs, axes, strict=True))
        premise = _all(held)
        bound = np.where(inside, np.maximum(premise, rule.s), np.maximum(~premise, rule.r))
        np.minimum(entries, bound, out=entries)
    return entries


def _all(held: Iterable[Bools]) -> Bools:
    result = np.array(True)
    for one in held:
        result = result & one
    return result


def _bits(mask: int, size: int) -> Bools:
    return np.array([mask >> i & 1 for i in range(size)], dtype=np.bool_)
