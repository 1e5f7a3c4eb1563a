"""Sums of several digits as one verdict."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loans import LOAN
from pinesy import antipignistic, load, parse
from pinesy.exceptions import DataError
from pinesy.problems import addition
from pinesy.verdicts import digit_sum


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_sums_are_those_of_arithmetic(first: int, second: int) -> None:
    digits = f"{first:04}{second:04}"
    found = digit_sum(addition(4), {f"a_{i}": int(d) for i, d in enumerate(digits, 1)})
    assert found.answer == f"{first} + {second} = {first + second}, certain 1"


def test_the_least_certain_digit_counts_and_changes_the_sum() -> None:
    sees: dict[str, Any] = {"a_1": 3, "a_2": 8, "a_3": antipignistic({4: 0.95, 9: 0.05}), "a_4": 7}
    for rules in (addition(2), load("examples/addition_k.rules")):
        found = digit_sum(rules, sees)
        assert found.answer == "38 + 47 = 85, certain 0.90"
        assert found.what_would_change_it == (
            "If a_3 were 9 (possible 0.10), it would be 38 + 97 = 135."
        )
        assert found.to_dict()["weakest"]["certainty"] == pytest.approx(0.9)
        assert str(found).startswith("38 + 47 = 85, certain 0.90\nBecause: a_1 is 3 and a_3 is 4")


def test_unknown_digits_leave_the_sum_open() -> None:
    found = digit_sum(addition(2), {"a_1": 3, "a_2": None, "a_3": 4, "a_4": 7})
    assert found.answer == "3? + 47 = ??, undecided"
    assert found.certainty == 0.0


def test_other_rules_are_refused() -> None:
    with pytest.raises(DataError, match="do not add two numbers digit by digit"):
        digit_sum(parse(LOAN), {"debt_ratio": 0.5, "history": "bad", "job": None})
    with pytest.raises(DataError, match="digit by digit"):
        digit_sum(addition(2, base=8), {f"a_{i}": 1 for i in range(1, 5)})
