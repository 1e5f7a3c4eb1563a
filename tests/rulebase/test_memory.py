"""What is compiled for rules is stored on the rules, and goes with them."""

import gc
import weakref
from collections.abc import Callable
from itertools import combinations, islice
from typing import Any

import pytest

from pinesy import Attribute, Cascade, Iff, RuleSet, parse
from pinesy._common.caching import MAX_RESULTS
from pinesy.engine.rule_set_kinds import circuit_of
from pinesy.engine.templates import _cached_template, rule_template
from pinesy.engine.wide import wide_set
from pinesy.rules.partition import partition_of

TEXT = """
    attribute sky in {clear, cloudy, dark}
    attribute rain in {no, yes}
    iff sky in {dark} then rain in {yes} [s=0.3, r=0.2]
"""
EVIDENCE = {"sky": {"dark": 1.0, "cloudy": 0.4}}
EVIDENCE_OF_WORLDS = {"sky": {"dark": 0.6, "cloudy": 0.4}}

CASCADE_USES: list[Callable[[Cascade], Any]] = [
    lambda c: c.infer(EVIDENCE),
    lambda c: c.trace(EVIDENCE),
    lambda c: c.infer(EVIDENCE, [c.attributes["rain"].isin({"yes"})]),
    lambda c: c.check(),
    lambda c: c.compile().derivatives,
    lambda c: c.compile(dtype="uint8")(EVIDENCE),
    lambda c: c.infer({"sky": [0.2, 0.3, 0.5]}, transform="antipignistic"),
]
RULE_SET_USES: list[Callable[[RuleSet], Any]] = [
    lambda s: s.infer(EVIDENCE),
    lambda s: s.equations(EVIDENCE, "yes"),
    lambda s: s.relation.matrix,
]


def is_freed(make: Callable[[], Any], use: Callable[[Any], Any]) -> bool:
    """Use what is made, let go of it and of the result, and tell whether it is gone."""
    thing = make()
    use(thing)
    reference = weakref.ref(thing)
    del thing
    gc.collect()
    return reference() is None


@pytest.mark.parametrize("use", CASCADE_USES)
def test_cascades_are_freed(use: Callable[[Cascade], Any]) -> None:
    assert is_freed(lambda: parse(TEXT), use)


def test_cascades_are_freed_of_worlds() -> None:
    certain = TEXT.replace(" [s=0.3, r=0.2]", "")
    assert is_freed(lambda: parse(certain), lambda c: c.infer(EVIDENCE_OF_WORLDS, semantics="mpe"))


@pytest.mark.parametrize("use", RULE_SET_USES)
def test_rule_sets_are_freed(use: Callable[[RuleSet], Any]) -> None:
    assert is_freed(lambda: parse(TEXT)["rain"], use)


def test_the_check_sees_what_is_still_held() -> None:
    held: list[Any] = []
    assert not is_freed(lambda: parse(TEXT), held.append)


@pytest.mark.parametrize(
    "cached", [circuit_of, wide_set, rule_template, _cached_template, partition_of]
)
def test_what_rule_sets_of_one_shape_share_is_bounded(cached: Any) -> None:
    assert 0 < cached.cache_parameters()["maxsize"] <= 1024


def test_shared_expressions_of_many_subsets_are_built_anew() -> None:
    a, b = Attribute("a", range(12)), Attribute("b", range(12))
    kind = RuleSet([Iff(a.isin({0})).then(b.isin({1, 2}), s=0.1)]).unit.structure({"a"})
    for first in range(0, 2 * kind.max_subsets, 12):
        rule_template(kind, tuple(range(first + 1, first + 13)), False)
    assert circuit_of(kind).remaining >= -24


def test_programs_of_propositions_are_held_up_to_a_number() -> None:
    """Users may ask for any propositions: a program for each must not stay for ever."""
    value, other = Attribute("value", range(40)), Attribute("other", range(40))
    rules = Cascade(RuleSet([Iff(value.isin({i})).then(other.isin({i})) for i in range(40)]))
    first, second = other.isin({0, 1}), other.isin({2, 3})
    program = weakref.ref(rules.compile([first]))
    assert rules.compile([first]) is program()
    for pair in islice(combinations(range(4, 40), 2), MAX_RESULTS - 1):
        rules.compile([other.isin(pair)])
    assert rules.compile([first]) is program()
    rules.compile([second])
    gc.collect()
    assert program() is None
    possible = rules.infer({"value": {0: 1.0, 5: 0.25}}, [first])
    assert possible.possibility(first) == 1.0
