"""The smallest change: it wins when applied, and no smaller one of the kind does."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import oracles
from explanations import attempts
from explanations.small_functions import DIGITS, MOST, functions, listed, questions
from inverse.conditioning_problems import trees
from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet, antipignistic, parse
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    UnknownAttributeError,
    UnreachableError,
)
from pinesy.explanations import Change, is_coherent, smallest_change, why_not
from pinesy.problems import addition, sudoku
from strategies import shaped_cascades


def check_all_readings(question: Any, clear: float) -> None:
    """Ask of every value of the output."""
    cascade, evidence, output = question
    assume(attempts.count(evidence) <= MOST)
    before = cascade.infer(evidence, [output])[output.name]
    for value in output.domain:
        if attempts.leaders(before) == [value]:
            with raises_saying(DomainError, "wins already"):
                smallest_change(cascade, evidence, value, output)
            continue
        expected = listed(cascade, evidence, output, value, clear)
        event(f"{'can' if expected is not None else 'cannot'} win")
        if expected is None:
            with raises_saying(UnreachableError, "no readings make", "only winner: ") as caught:
                smallest_change(cascade, evidence, value, output, clearance=clear)
            assert isinstance(caught.value, UnreachableError)
            assert caught.value.proven
        else:
            change = smallest_change(cascade, evidence, value, output, clearance=clear)
            assert change.exact
            assert change.size == expected
            check(cascade, evidence, change, clear)


def check(cascade: Cascade, evidence: Any, change: Change, clear: float) -> None:
    """The change is of the kind, wins by the definition, and has no part without need."""
    new = {**evidence, **{n: pi.degrees.tolist() for n, pi in change.new.items()}}
    assert attempts.distance(evidence, new) == change.size
    changed = {n for n in evidence if list(evidence[n]) != new[n]}
    assert changed == set(change.readings)
    for name in changed:
        assert new[name] in list(attempts.ways(evidence[name], clear))
        assert change.new[name].best == change.readings[name]
    found = attempts.infer(cascade, new, change.attribute)
    assert attempts.reaches(cascade, new, change.attribute, change.value, change.decides)
    assert change.result.degrees.tolist() == [float(d) for d in found.values()]
    for name in changed:
        fewer = {**new, name: evidence[name]}
        output, value = change.attribute, change.value
        assert not attempts.reaches(cascade, fewer, output, value, change.decides)


CLEARANCES = st.sampled_from([0.1, 0.1, 0.25, 1.0])


@given(questions(trees(sizes=(2, 3))), CLEARANCES)
def test_no_smaller_change_wins_on_trees(question: Any, clear: float) -> None:
    check_all_readings(question, clear)


@given(questions(shaped_cascades()), CLEARANCES)
def test_no_smaller_change_wins_on_any_shape(question: Any, clear: float) -> None:
    check_all_readings(question, clear)


@given(questions(functions()), CLEARANCES)
def test_no_smaller_change_wins_for_functions(question: Any, clear: float) -> None:
    check_all_readings(question, clear)


@given(questions(trees(sizes=(2, 3)) | shaped_cascades() | functions()), CLEARANCES)
def test_no_fewer_readings_win(question: Any, clear: float) -> None:
    """The fewest inputs and, of these, the least size, by trying all."""
    cascade, evidence, output = question
    assume(attempts.count(evidence) <= MOST)
    tried = list(attempts.changes(evidence, clear))
    rows = {n: np.array([new[n] for _, new in tried]) for n in evidence}
    results = cascade.infer(rows, [output])[output.name]
    before = attempts.leaders(cascade.infer(evidence, [output])[output.name])
    for place, value in enumerate(output.domain):
        won = attempts.winning(results, place)
        sizes = [(sum(evidence[n] != tried[k][1][n] for n in evidence), tried[k][0]) for k in won]
        if not sizes or before == [value]:
            continue
        change = smallest_change(cascade, evidence, value, output, mode="fewest", clearance=clear)
        event(f"{len(change.readings)} inputs")
        assert change.exact
        assert (len(change.readings), change.size) == min(sizes)
        check(cascade, evidence, change, clear)


def test_rules_that_are_not_coherent() -> None:
    """Both inputs must be read as 1, though the first would do with the best of the second."""
    a, b, c = (Attribute(n, range(2)) for n in "abc")
    both = Iff(a.isin({1}), b.isin({1})).then(c.isin({1}))
    rules = Cascade(RuleSet([both, Iff(a.isin({0, 1})).then(c.isin({1}), r=0.5)]))
    assert not is_coherent(rules)
    sees = {"a": [1.0, 0.2], "b": [1.0, 0.2]}
    change = smallest_change(rules, sees, 1)
    assert change.readings == {"a": 1, "b": 1}
    check(rules, sees, change, 0.1)


def test_a_change_that_decides_is_preferred() -> None:
    """Read as 1 the rules contradict each other; read as 2, which is further away, they do not."""
    rules = parse("""
        attribute a in {0, 1, 2}
        attribute c in {no, yes}
        iff a in {1, 2} then c == yes
        if a == 1 then c == no [certainty=0.5]
    """)
    sees = {"a": [1.0, 0.9, 0.4]}
    change = smallest_change(rules, sees, "yes", clearance=1)
    assert (change.readings, change.decides, change.exact) == ({"a": 2}, True, True)
    assert change.result.to_dict() == {"no": 0.0, "yes": 1.0}
    assert "contradict" not in str(change)
    answer = why_not(rules, sees, "yes", clearance=1).change
    assert answer is not None
    assert answer.readings == {"a": 2}
    only = parse(str(rules).replace("{0..2}", "{0, 1}").replace("{1, 2}", "{1}"))
    none = smallest_change(only, {"a": [1.0, 0.9]}, "yes", clearance=1)
    assert (none.readings, none.decides) == ({"a": 1}, False)
    assert str(none).endswith(
        "(though the rules contradict each other then, by 0.5; no change decides)"
    )


def test_a_contradiction_behind_the_output_does_not_decide() -> None:
    rules = parse("""
        attribute a in {0, 1, 2}
        attribute b in {0, 1}
        attribute c in {no, yes}
        iff a == 0 then b == 0
        if a == 1 then b == 0 [certainty=0.5]
        iff b == 1 or a == 1 then c == yes
    """)
    sees = {"a": [1.0, 0.9, 0.4]}
    assert rules.infer({"a": 1}, ["c"])["c"].to_dict() == {"no": 0.0, "yes": 1.0}
    assert not rules.infer({"a": 1}, ["c"])["c"].normalised
    for mode in ("smallest", "fewest"):
        change = smallest_change(rules, sees, "yes", mode=mode, clearance=1)
        assert (change.readings, change.decides) == ({"a": 2}, True)


# --- the problems of the paper -------------------------------------------------------------------


def test_a_sum_of_two_digits() -> None:
    change = smallest_change(addition(1), DIGITS, 2, "y_1")
    assert (change.readings, change.size, change.exact) == ({"a_1": 8}, 0.6, True)
    assert change.winners == (7,)
    assert change.new["a_1"].to_dict() == {d: {8: 1.0, 3: 0.9}.get(d, 0.0) for d in range(10)}
    assert change.new["a_2"].to_dict() == change.old["a_2"].to_dict()
    assert str(change) == (
        "if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2"
    )
    assert repr(change) == f"Change(size 0.6: {change})"


def test_a_tie_is_broken_by_the_clearance() -> None:
    tie = {"a_1": {3: 1.0, 8: 1.0}, "a_2": {4: 1.0}}
    change = smallest_change(addition(1), tie, 2, "y_1", clearance=0.25)
    assert (change.readings, change.size) == ({"a_1": 8}, 0.25)
    assert change.winners == (2, 7)
    assert "a_1 were read as 8 rather than 3 (possibility of 3: 1 -> 0.75)" in str(change)
    unknown = {"a_1": [0.8] + [1.0] * 8 + [0.95], "a_2": {4: 1.0}}
    assert str(smallest_change(addition(1), unknown, 2, "y_1")).endswith(
        "(possibility of 1: 1 -> 0.9, of 2: 1 -> 0.9, of 3: 1 -> 0.9, of 4: 1 -> 0.9, "
        "of 5: 1 -> 0.9, 3 more values), y_1 would be 2"
    )


def test_degrees_that_are_not_1_are_not_written_as_1() -> None:
    nearly = {"a_1": {3: 1.0, 8: 0.99999999}, "a_2": {4: 1.0}}
    change = smallest_change(addition(1), nearly, 2, "y_1", clearance=0.00001)
    assert "(possibility more than 0.999 -> 1)" in str(change)
    assert repr(change).startswith("Change(size less than 0.001: if a_1")


def test_probabilities_before_and_after() -> None:
    """The network would have to say 0.55 for 8 and 0.45 for 3."""
    change = smallest_change(addition(1), DIGITS, 2, "y_1")
    old, new = change.probabilities["a_1"]
    for found, pi in ((old, change.old["a_1"]), (new, change.new["a_1"])):
        exact = oracles.antipignistic_inverse([oracles.decimal(d) for d in pi.degrees.tolist()])
        assert found == pytest.approx([float(p) for p in exact])
    assert old[[3, 8]] == pytest.approx([0.8, 0.2])
    assert new[[3, 8]] == pytest.approx([0.45, 0.55])
    assert change.probability_size == pytest.approx(0.35)
    spoken = {name: antipignistic(p) for name, (_, p) in change.probabilities.items()}
    assert addition(1).infer({**DIGITS, **spoken})["y_1"].best == 2


@given(questions(functions()))
@settings(max_examples=20)
def test_no_smaller_change_of_probabilities(question: Any) -> None:
    """The same kind of change, measured by what a network would have to say."""
    cascade, evidence, output = question
    assume(attempts.count(evidence) <= 64)
    before = attempts.leaders(cascade.infer(evidence, [output])[output.name])
    for value in output.domain:
        tried = [new for _, new in attempts.changes(evidence, 0.1)]
        won = [
            [n for n in tried if attempts.reaches(cascade, n, output, value, decides)]
            for decides in (True, False)
        ]
        sizes = [max(_spoken(evidence[n], new[n]) for n in evidence) for new in won[0] or won[1]]
        if sizes and before != [value]:
            change = smallest_change(cascade, evidence, value, output, measure="probability")
            assert change.exact
            assert change.measure == "probability"
            assert change.size == pytest.approx(float(min(sizes)))
            assert change.probability_size == pytest.approx(change.size)


def _spoken(old: list[float], new: list[float]) -> Fraction:
    """The largest change of a probability."""
    pairs = zip(
        *(oracles.antipignistic_inverse(list(map(Fraction, p))) for p in (old, new)), strict=True
    )
    return max((abs(a - b) for a, b in pairs), default=Fraction(0))


def test_many_digits() -> None:
    """Fifteen places: the carry into the second last place comes from the last one."""
    rules = addition(15)
    rng = np.random.default_rng(5)
    sees = {a.name: antipignistic(rng.dirichlet(np.full(10, 0.2))) for a in rules.inputs}
    before = rules.infer(sees)["y_3"]
    for value in range(10):
        if value != before.best:
            change = smallest_change(rules, sees, value, "y_3")
            assert change.exact
            after = rules.infer(change.new, ["y_3"])["y_3"]
            assert (after.best, after.outcome) == (value, "decided")
            # All parameters are 0 and there is no loop: the degree tells the best readings.
            assert change.size == pytest.approx(max(1 - before[value], 0.1))


def test_a_sudoku_with_one_wrong_cell() -> None:
    rules = sudoku(4)
    grid = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]])
    sees = {
        f"a_{i + 1}_{j + 1}": np.maximum(np.eye(4)[grid[i, j]], 0.1) for i, j in np.ndindex(4, 4)
    }
    sees["a_3_1"] = np.array([1.0, 0.4, 0.2, 0.1])
    change = smallest_change(rules, sees, 1)
    assert change.readings == {"a_3_1": 1}
    assert change.size == pytest.approx(0.6)
    assert change.exact
    right = {**sees, "a_3_1": np.array([0.4, 1.0, 0.2, 0.1])}
    assert smallest_change(rules, right, 0).readings == {"a_3_1": 0}


def test_a_search_that_is_given_up() -> None:
    """All cells unknown: a valid grid is found late, or not within the effort."""
    rules = sudoku(4)
    sees = {a.name: np.array([1.0, 0.9, 0.8, 0.7]) for a in rules.inputs}
    with raises_saying(UnreachableError, "no readings were found", "effort=3; raise it") as caught:
        smallest_change(rules, sees, 1, effort=3)
    assert isinstance(caught.value, UnreachableError)
    assert not caught.value.proven
    change = smallest_change(rules, sees, 1, effort=2000)
    assert rules.infer(change.new)["c"].best == 1


# --- bad input -----------------------------------------------------------------------------------


def test_bad_input() -> None:
    rules = addition(1)
    with raises_saying(DomainError, "'y_1' has no value 10"):
        smallest_change(rules, DIGITS, 10, "y_1")
    with raises_saying(DomainError, "y_1 = 7 wins already; name another value"):
        smallest_change(rules, DIGITS, 7, "y_1")
    with raises_saying(CascadeError, "have 2 outputs", "output="):
        smallest_change(rules, DIGITS, 2)
    with raises_saying(UnknownAttributeError, "no rule set concludes on 'z'"):
        smallest_change(rules, DIGITS, 2, "z")
    with raises_saying(DataError, "one sample", "batch"):
        smallest_change(rules, {"a_1": np.eye(10), "a_2": np.eye(10)}, 2, "y_1")
    with raises_saying(DegreeError, "'a_2'", "not normalised"):
        smallest_change(rules, {**DIGITS, "a_2": {4: 0.5}}, 2, "y_1")
    with raises_saying(DegreeError, "clearance is 0; "):
        smallest_change(rules, DIGITS, 2, "y_1", clearance=0)
    with raises_saying(DegreeError, "clearance is 1.5; it must be a number in [0, 1]"):
        smallest_change(rules, DIGITS, 2, "y_1", clearance=1.5)
    with raises_saying(DataError, "measure is 'cost'; choose 'possibility' or 'probability'"):
        smallest_change(rules, DIGITS, 2, "y_1", measure="cost")  # type: ignore[arg-type]
    with raises_saying(DataError, "effort is 0"):
        smallest_change(rules, DIGITS, 2, "y_1", effort=0)
