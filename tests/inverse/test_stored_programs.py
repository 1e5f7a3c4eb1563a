"""Programs are stored on the rules that they belong to, and go with them."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.inverse import backpropagate, posterior

SEES = {"a": [1.0, 0.5], "c": [0.5, 1.0]}


def rule_set() -> RuleSet:
    """A conjunction, so that the search for a choice of conjuncts runs too."""
    a, b, c = (Attribute(name, (0, 1)) for name in "abc")
    return RuleSet([Iff(a.isin([1]), c.isin([1])).then(b.isin([1]), s=0.2)])


def looped() -> Cascade:
    """Two ways from one attribute to another, which are swept again and again."""
    a, b, c, d = (Attribute(name, (0, 1)) for name in "abcd")
    copies = [RuleSet([Iff(x.isin([1])).then(y.isin([1]))]) for x, y in ((a, b), (c, d))]
    e = Attribute("e", (0, 1))
    both = [Iff(b.isin([v]), d.isin([v])).then(e.isin([1]), s=1.0) for v in (0, 1)]
    again = RuleSet([Iff(e.isin([1]), a.isin([1])).then(Attribute("f", (0, 1)).isin([1]))])
    return Cascade(*copies, RuleSet(both), again)


def explained(rules: Any, name: str) -> None:
    result = backpropagate(rules, SEES, {name: 0})
    assert result.inputs
    assert result.conflicts is not None


def conditioned(rules: Any, name: str) -> None:
    assert posterior(rules, SEES, {name: 0}).keys() == SEES.keys()


@pytest.mark.parametrize("use", [explained, conditioned])
@pytest.mark.parametrize(
    ("make", "name"), [(rule_set, "b"), (lambda: Cascade(rule_set()), "b"), (looped, "f")]
)
def test_rules_are_freed(make: Callable[[], Any], name: str, use: Callable[..., None]) -> None:
    rules = make()
    sets = [rules] if isinstance(rules, RuleSet) else [rules, *rules.rule_sets]
    alive = [weakref.ref(one) for one in sets]
    use(rules, name)
    del rules, sets
    gc.collect()
    assert [ref() for ref in alive] == [None] * len(alive)
