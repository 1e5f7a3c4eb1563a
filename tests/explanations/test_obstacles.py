"""Obstacles: what is said of a value that no readings make win is true, and names rules."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from explanations import attempts
from explanations.small_functions import MOST, functions, listed, questions
from inverse.conditioning_problems import trees
from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet, parse
from pinesy.exceptions import DomainError, UnreachableError
from pinesy.explanations import is_coherent, smallest_change, why_not
from pinesy.rules.syntax.writer import show_value
from strategies import random_batch, shaped_cascades

TWO = "attribute a in {x, y}\nattribute b in {0, 1, 2}\n"
THREE = "attribute a in {x, y, z}\nattribute b in {0, 1, 2}\n"
SEES = {"a": {"x": 1.0, "y": 0.4}}


def obstacle(rules: Cascade, value: Any, clear: float = 0.1) -> str:
    with pytest.raises(UnreachableError) as caught:
        smallest_change(rules, SEES, value, clearance=clear)
    return str(caught.value)


def test_values_that_no_inputs_make_win() -> None:
    a, b = Attribute("a", range(2)), Attribute("b", range(3))
    twins = Cascade(RuleSet([Iff(a.isin({0})).then(b.isin({0}))]))
    with raises_saying(UnreachableError, "b = 2 the only winner: no rule distinguishes it from 1"):
        smallest_change(twins, {"a": [1.0, 0.0]}, 2)
    never = Cascade(RuleSet([Iff(a.isin({0, 1})).then(b.isin({0, 1}), r=0.3)]))
    never = Cascade(RuleSet([*never.rule_sets[0].rules, Iff(a.isin({0})).then(b.isin({0}))]))
    with raises_saying(
        UnreachableError,
        "b = 2",
        "even if",
        "b = 2 is possible at 0.3 at most, because of rule 1",
        "parameter r is 0.3",
    ):
        smallest_change(never, {"a": [1.0, 0.0]}, 2)


def test_rules_that_say_nothing_do_not_tell_values_apart() -> None:
    rules = parse(
        TWO + "iff a in {x} then b in {0} [s=0.2, r=0.1]\niff a in {y} then b in {1} [s=1, r=1]"
    )
    assert why_not(rules, SEES, 1).obstacle == (
        "no readings make b = 1 the only winner: no rule distinguishes it from 2, which is always "
        "as possible"
    )


def test_a_value_that_is_always_as_possible_is_named_with_the_rules_that_differ() -> None:
    rules = parse(TWO + "iff a in {x} then b in {0, 1}\niff a in {x} then b in {0}")
    assert obstacle(rules, 1).endswith(
        ": 0 is always as possible; where a rule distinguishes them, 0 is not less possible: "
        "rule 2 (iff a in {x} then b in {0})"
    )


def test_where_no_value_is_seen_to_be_always_as_possible() -> None:
    rules = parse(
        TWO + "iff a in {x, y} then b in {0, 1, 2}\niff a in {x} then b in {0}\n"
        "iff a in {y} then b in {2}"
    )
    assert is_coherent(rules)
    assert obstacle(rules, 1).endswith(
        ": whatever the inputs are read as, another value is at least as possible"
    )


NOT_COHERENT = parse(
    THREE + "iff a in {y} then b in {0} [s=0.3, r=0]\n"
    "iff a in {y, z} then b in {1} [s=0.3, r=0.95]\n"
    + "iff a in {y} then b in {0} [s=0.3, r=0]\niff a in {y, z} then b in {1} [s=0.3, r=0.95]\n"
    "iff a in {x, z} then b in {0, 1} [s=0.5, r=0]"
)


def test_where_another_clearance_does_no_more_is_claimed() -> None:
    assert not is_coherent(NOT_COHERENT)
    found = obstacle(NOT_COHERENT, 0)
    assert "left at up to 0.9" in found
    assert "other clearances were not tried" in found
    assert "whatever" not in found
    assert smallest_change(NOT_COHERENT, SEES, 0, clearance=1.0).readings == {"a": "y"}
    with raises_saying(UnreachableError, "more than 0.999", "other clearances were not tried"):
        smallest_change(NOT_COHERENT, SEES, 0, clearance=0.00001)


def test_a_clearance_that_is_lost_in_rounding_proves_nothing() -> None:
    rules = parse("attribute a in {x, y}\nattribute b in {0, 1}\niff a in {x} then b in {0}")
    with raises_saying(UnreachableError, "left at up to 1,", "other clearances were not tried"):
        smallest_change(rules, SEES, 1, clearance=1e-17)
    assert smallest_change(rules, SEES, 1).readings == {"a": "y"}


RIVAL = re.compile(r"distinguishes it from (.*), which is always|^(.*) is always as possible;")


@given(questions(trees(sizes=(2, 3)) | shaped_cascades() | functions()), st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_what_is_said_is_true(question: Any, seed: int) -> None:
    """A rival is as possible on random inputs; what clearance cannot change, none changes."""
    cascade, evidence, output = question
    assume(attempts.count(evidence) <= MOST)
    for value in output.domain:
        try:
            smallest_change(cascade, evidence, value, output)
        except DomainError:
            continue
        except UnreachableError as error:
            text = str(error).split("the only winner: ", 1)[1]
            check(cascade, evidence, output, value, text, seed)


def check(
    cascade: Cascade, evidence: Any, output: Attribute, value: Any, text: str, seed: int
) -> None:
    rival = RIVAL.search(text)
    event("rival" if rival else "clearance" if "other clearances" in text else "coherent")
    if rival:
        rng = np.random.default_rng(seed)
        rows = {a.name: random_batch(rng, 50, len(a.domain)) for a in cascade.inputs}
        found = cascade.infer(rows, [output])[output.name].degrees
        names = [show_value(v) for v in output.domain]
        other = names.index(rival[1] or rival[2])
        assert (found[:, other] >= found[:, output.position(value)]).all()
    elif "other clearances were not tried" not in text:
        for clear in (0.01, 0.5, 1.0):
            assert listed(cascade, evidence, output, value, clear) is None


def test_no_more_than_some_of_many_rules_are_named() -> None:
    lines = [f"iff a in {{x}} then b in {{0}} [s=0.{i}]" for i in range(1, 8)]
    only = TWO.replace(", 2", "")
    rules = parse(only + "iff a in {x} then b in {0, 1}\n" + "\n".join(lines))
    found = obstacle(rules, 1)
    assert "rule 6 (" in found
    assert found.endswith(" and 2 more rules")
