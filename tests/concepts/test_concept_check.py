"""Measures of how a network reads concepts, and which shortcut it looks like."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    DataError,
    DegreeError,
    DomainError,
    UnknownAttributeError,
    check_concepts,
    function,
    joint,
    shortcuts,
)

DIGIT = Attribute("digit", range(5))
HALF = [(0, 0), (0, 1), (2, 3), (2, 4)]


def addition() -> object:
    left, right = Attribute("left", range(5)), Attribute("right", range(5))
    return function("total", joint("pair", left, right), "left + right")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(4, 10)), min_size=1))
def test_measures_are_those_of_the_definition(cases: list[tuple[int, int, int]]) -> None:
    seen = np.full((len(cases), 5), 0.0)
    for row, (_, read, sure) in enumerate(cases):
        seen[row] = (1 - sure / 10) / 4
        seen[row, read] = sure / 10
    check = check_concepts(DIGIT, seen, [true for true, _, _ in cases])
    assert check.n == len(cases)
    assert check.accuracy == pytest.approx(np.mean([true == read for true, read, _ in cases]))
    for true in range(5):
        for read in range(5):
            count = sum((t, r) == (true, read) for t, r, _ in cases)
            assert check.confusion[true, read] == count
    present, used = {t for t, _, _ in cases}, {r for _, r, _ in cases}
    assert check.collapse == pytest.approx(max(0.0, 1 - len(used) / len(present)))
    # each probability has a bin of its own: 0.4 is in (0.3, 0.4], and so on
    error = sum(
        abs(sum((t == r) - s / 10 for t, r, s in cases if s == sure)) for sure in range(4, 11)
    )
    assert check.calibration_error == pytest.approx(error / len(cases))


def test_a_collapsed_network_is_seen() -> None:
    check = check_concepts(DIGIT, np.eye(5)[[0, 0, 2, 2, 2]], range(5))
    assert check.used == (0, 2)
    assert check.collapse == pytest.approx(0.6)
    assert check.read_as == {0: 0, 1: 0, 2: 2, 3: 2, 4: 2}
    assert "collapse 0.60: 2 of 5" in str(check)


def test_one_bin_compares_means() -> None:
    seen = np.array([[0.9, 0.1, 0, 0, 0], [0.6, 0.4, 0, 0, 0]])
    assert check_concepts(DIGIT, seen, [0, 1], bins=1).calibration_error == pytest.approx(0.25)


def test_bins_hold_their_upper_ends() -> None:
    def probability(p: float) -> list[float]:
        return [p, *[(1 - p) / 4] * 4]

    # 0.5 is in (0.4, 0.5] with 0.45, where gaps cancel out; 0.55 is in the next one
    together = check_concepts(DIGIT, [probability(0.5), probability(0.45)], [0, 1])
    assert together.calibration_error == pytest.approx(0.05 / 2)
    apart = check_concepts(DIGIT, [probability(0.5), probability(0.55)], [0, 1])
    assert apart.calibration_error == pytest.approx((0.5 + 0.55) / 2)


@pytest.mark.parametrize("number", range(3))
def test_a_network_looks_like_the_shortcut_it_learned(number: int) -> None:
    found = shortcuts(addition(), HALF)  # type: ignore[arg-type]
    alpha = found.remappings[number].readings["left, right"]
    values = np.repeat(np.arange(5), 20)
    read = np.array([alpha[v] for v in values])
    read[::10] = (read[::10] + 1) % 5  # a tenth of the images is read as something else
    near, share = found.looks_like(check_concepts(DIGIT, np.eye(5)[read], values))
    assert near == found.remappings[number]
    assert share == pytest.approx(0.9)


def test_kinds_are_looked_at_together() -> None:
    a, op = Attribute("a", range(3)), Attribute("op", ["+", "-"])
    rules = function("b", [a, op], lambda a, op: (a + 1) % 3 if op == "+" else (a - 1) % 3)
    found = shortcuts(rules, [(0, "+"), (1, "+")])
    assert found.count == 2
    number = check_concepts(a, np.eye(3)[[2, 0]], [0, 1])
    sign = check_concepts(op, np.eye(2)[[1, 1]], ["+", "+"])
    near, share = found.looks_like({"a": number, op: sign})
    assert (str(near), share) == ('a: 0 as 2, 1 as 0; op: "+" as "-"', 1.0)
    with raises_saying(UnknownAttributeError, "kind 'op'", "dict with all kinds"):
        found.looks_like(number)
    with raises_saying(UnknownAttributeError, "no kind of inputs 'c'"):
        found.looks_like({"c": sign})


def test_doubt_covers_the_truth_whatever_was_learned() -> None:
    found = shortcuts(addition(), HALF)  # type: ignore[arg-type]
    for one in found.remappings:
        alpha = one.readings["left, right"]
        seen = np.eye(5)[np.array([alpha[v] for v in range(5)])]
        doubt = found.cautious({"left": seen})["left"]
        assert (doubt[np.arange(5), np.arange(5)] == 1.0).all()
        assert (doubt[:2] == np.eye(5)[:2]).all() or one is not found.remappings[0]
    one_sample = found.cautious({"right": [0.2, 0.5, 1.0, 0.0, 0.0]})["right"]
    assert one_sample.tolist() == [0.2, 0.5, 1.0, 1.0, 1.0]
    with raises_saying(DegreeError, "'left' has 5 values", "(3,)"):
        found.cautious({"left": [1, 0, 0]})


def test_what_is_wrong_is_said() -> None:
    with raises_saying(DegreeError, "(2, 3)", "'digit' has 5 values", "(n, 5)"):
        check_concepts(DIGIT, np.ones((2, 3)), [0, 1])
    with raises_saying(DegreeError, "from 0 to 1", "softmax"):
        check_concepts(DIGIT, [[2.0, -1.0, 0, 0, 0]], [0])
    with raises_saying(DegreeError, "from 0 to 1"):
        check_concepts(DIGIT, [[np.nan, 1.0, 0, 0, 0]], [0])
    with raises_saying(DataError, "no inputs"):
        check_concepts(DIGIT, np.ones((0, 5)), [])
    with raises_saying(DataError, "2 values", "give 1"):
        check_concepts(DIGIT, np.eye(5)[:1], [0, 1])
    with raises_saying(DomainError, "7"):
        check_concepts(DIGIT, np.eye(5)[:1], [7])
    with raises_saying(DomainError, "bins is 0"):
        check_concepts(DIGIT, np.eye(5)[:1], [0], bins=0)


# --- kinds of readings -------------------------------------------------------------------------

LABELS = np.repeat([0, 1, 2, 3], 5)


@pytest.mark.parametrize(
    ("names", "kind", "says", "accuracy"),
    [
        ([0, 1, 2, 3], "right", "right", 0.95),
        ([2, 1, 0, 3], "permuted", "permuted: 0 as 2, 2 as 0", 0.45),
        ([1, 2, 3, 0], "permuted", "permuted: 0 as 1, 1 as 2, 2 as 3, 3 as 0", 0.0),
        ([0, 1, 1, 3], "merged", "merged: 2 as 1", 0.7),
    ],
)
def test_readings(names: list[int], kind: str, says: str, accuracy: float) -> None:
    read = np.array(names)[LABELS]
    read[-1] = 2  # one input is read otherwise than its like
    found = check_concepts(Attribute("digit", range(4)), np.eye(4)[read], LABELS)
    assert (found.kind, found.reading) == (kind, says)
    assert says in str(found)
    assert found.accuracy == pytest.approx(accuracy)


def test_values_without_inputs_are_not_spoken_of() -> None:
    found = check_concepts(Attribute("digit", range(4)), np.eye(4)[[3, 3]], [3, 3])
    assert (found.read_as, found.kind) == ({3: 3}, "right")


def test_readings_name_values() -> None:
    bar = Attribute("bar", ["top", "middle", "bottom"])
    read = check_concepts(bar, np.eye(3)[[1, 1, 0, 2]], ["top", "top", "middle", "bottom"])
    assert read.reading == "permuted: top as middle, middle as top"
