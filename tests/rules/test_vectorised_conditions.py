"""Conditions computed with NumPy mean what they mean one value at a time."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_work import calls
from pinesy import Attribute, DomainError
from pinesy.rules.syntax.conditions import (
    NotVectorisedError,
    column_of,
    parse_condition,
    vectorised_mask,
)
from pinesy.rules.syntax.expressions import FAILURES, evaluator

NUMBERS = st.integers(-3, 4) | st.sampled_from([2**53 + 1, 2**62, -(2**63), 10**30])
DOMAINS = st.one_of(
    st.lists(NUMBERS, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(-3, 4), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from([0.0, -0.5, 1e308, 3.0, 2.0**53]), min_size=1, unique=True),
    st.lists(st.sampled_from(["a", "b", "ab", "a\0", ""]), min_size=1, unique=True),
    st.just([False, True]),
    st.lists(st.sampled_from([0, 1.5, "a", None]), min_size=1, unique=True),
)
LITERALS = st.sampled_from(
    ["0", "1", "2", "3", "-1", "0.5", "3.0", "1e308", '"a"', "true", "none", "(x, 1)", "pair"]
    + [str(2**53), str(2**53 + 1), str(2**62), str(10**30)]
)
OPERANDS = st.one_of(st.sampled_from(["x", "y"]), LITERALS)
SETS = st.sampled_from(
    ["{0, 1, 2}", "{}", '{a, "", 1}', "{1.5, 2}", "{true}", f"{{{2**53 + 1}, 0.5}}", "{(1, 2)}"]
    + ["{-3..4}", f"{{{10**30}}}", "0..2"]
)


def sums(operands: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["+", "-", "*", "//", "%"])
    return st.builds("({} {} {})".format, operands, signs, operands) | operands.map("(- {})".format)


TERMS = st.recursive(OPERANDS, sums, max_leaves=4)
TESTS = st.one_of(
    st.builds("{} {} {}".format, TERMS, st.sampled_from(["==", "!=", "<", "<=", ">"]), TERMS),
    st.builds("{} {} {}".format, TERMS, st.sampled_from(["in", "not in"]), SETS),
    st.builds("{} <= {} < {}".format, TERMS, TERMS, TERMS),
    st.builds("{} in {} == {}".format, TERMS, SETS, TERMS),
    st.builds("(x, {}) == ({}, y)".format, TERMS, TERMS),
)
CONDITIONS = st.recursive(
    TESTS | TERMS,
    lambda part: st.one_of(
        st.builds("({} and {})".format, part, part),
        st.builds("({} or {})".format, part, part),
        part.map("(not {})".format),
    ),
    max_leaves=3,
)


def one_by_one(text: str, x: Attribute, y: Attribute) -> int | None:
    """Return the mask by Python's arithmetic; None where the condition means nothing."""
    holds = evaluator(parse_condition(text, ("x", "y", "pair")).expression)
    mask = 0
    for position, values in enumerate(product(x.domain, y.domain)):
        try:
            answer = holds((*values, values))
        except FAILURES:
            return None
        if not isinstance(answer, bool):
            return None
        mask |= answer << position
    return mask


@settings(max_examples=100)
@given(DOMAINS, DOMAINS, CONDITIONS)
def test_a_condition_means_the_same_at_once_and_one_by_one(
    first: list[Any], second: list[Any], text: str
) -> None:
    x, y = Attribute("x", first), Attribute("y", second)
    expected = one_by_one(text, x, y)
    pair = Attribute.product("pair", x, y)
    if expected is None:
        with pytest.raises(DomainError):
            pair.where(text)
    else:
        assert pair.where(text).mask == expected


@pytest.mark.parametrize(
    "text",
    ["x + y == 3", "(x + y) % 3 == 0", "x < y", "x == 1", "x in {1, 3}", "not (x > 1 or y > 2)"]
    + ["(x, y) == (1, 2)", "pair != (1, 2)", "x // 2 == y % 2", "- x + 1 < 2 * y", "true"],
)
def test_common_conditions_are_computed_at_once(text: str) -> None:
    expression = parse_condition(text, ("x", "y", "pair")).expression
    columns = [column_of(range(4)), column_of(range(5))]
    mask = vectorised_mask(expression, [c for c in columns if c is not None], is_product=True)
    assert mask == one_by_one(text, Attribute("x", range(4)), Attribute("y", range(5)))


@pytest.mark.parametrize("text", ["x % y == 0", "x", "x and true", "x < none", "x * y > 1e300"])
def test_what_could_mean_another_thing_is_computed_one_by_one(text: str) -> None:
    expression = parse_condition(text, ("x", "y", "pair")).expression
    columns = [column_of([2**60, 1]), column_of(range(5))]
    with pytest.raises(NotVectorisedError):
        vectorised_mask(expression, [c for c in columns if c is not None], is_product=True)


@pytest.mark.parametrize("text", ["x + y == 100", "x == 3", "x < y", "(x + y) % 3 == 0"])
def test_a_condition_takes_as_many_calls_for_any_number_of_values(text: str) -> None:
    def work(size: int) -> int:
        x, y = Attribute("x", range(size)), Attribute("y", range(size))
        pair = Attribute.product("pair", x, y)
        pair.where(text)  # what is done once for a domain
        pair.masks.clear()
        parse_condition.cache_clear()
        return calls(lambda: pair.where(text))

    assert work(100) < 1.5 * work(10)
    assert work(100) < 1_000  # for 10,000 values
